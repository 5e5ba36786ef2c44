"""`arena worth`: the table of a run, and the experiment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import arena as library
from tests.conftest import Arena, Once, run_here

BOT = """
class Plays:
    def __init__(self, setup):
        pass
    def choose(self, view, /):
        return {}
bot = Plays
"""


def play(folder: Path) -> None:
    """Play a run of a bot that has a file."""
    (folder / "mine.py").write_text(BOT.format("view.legal[0]"))
    words = ("play", "mine=./mine.py", "greedy", "--pairs", "12", "--seed", "3", "--out", "run")
    assert run_here(folder, *words, "-q").returncode == 0


@pytest.fixture
def run(once: Once, tmp_path: Path) -> Path:
    """Return the run in the folder of the test."""
    shutil.copytree(once("worth", play), tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


@pytest.mark.slow
def test_what_cards_add_is_not_called_a_cause(arena: Arena, run: Path) -> None:
    """The table of all bots, and what it is not."""
    done = arena("worth", "run")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 1 + 11 + 2
    assert lines[-2].startswith("adds: a correlation")
    assert "--intervene" in lines[-1]
    cards = library.open(run).cards
    (city,) = cards[cards["bot"].isna() & (cards["card"] == "C")]["adds"]
    if pd.notna(city):
        assert lines[11].split()[:2] == ["City", f"{100 * city:+.1f}%"]


@pytest.mark.slow
def test_the_experiment_is_the_same_as_text_json_csv_and_in_the_library(
    arena: Arena, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its seed, on any number of workers."""
    monkeypatch.chdir(run.parent)
    words = ("worth", "run", "--intervene", "--swaps", "24", "--workers", "1")
    done = arena(*words, "--json", "--out", "cards.csv")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    read = pd.read_csv(run.parent / "cards.csv")
    table = library.open(run).worth(intervene=True, swaps=24, workers=2, progress=False)
    assert list(read.columns) == list(table.columns)
    for rows in (read.to_dict("records"), document["cards"]):
        assert [row["swaps"] for row in rows] == table["swaps"].tolist()
        effects = pd.Series([row["effect"] for row in rows], dtype=float)
        assert effects.equals(table["effect"].astype(float).reset_index(drop=True))
    assert table[table["bot"].isna()]["swaps"].sum() == 24
    text = arena(*words).stdout.splitlines()
    assert [int(line.split()[-1]) for line in text[1:12]] == table[table["bot"].isna()][
        "swaps"
    ].tolist()
    assert text[-1].startswith("effect: what the swap")


@pytest.mark.slow
def test_quiet_says_nothing_where_a_file_has_the_table(arena: Arena, run: Path) -> None:
    """And without a file the table alone."""
    quiet = arena("worth", run.name, "--quiet")
    assert len(quiet.stdout.splitlines()) == 12
    done = arena("worth", run.name, "--quiet", "-o", "cards.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--swaps", "10"), "--swaps: only with --intervene"),
        (("--seed", "1"), "--seed: only with --intervene"),
        (("--intervene", "--swaps", "0"), "range"),
        (("--intervene", "-o", "mine.py"), "mine.py: exists already, and is not changed"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    arena: Arena, run: Path, words: tuple[str, ...], message: str
) -> None:
    """With status 2, before a game is played."""
    done = arena("worth", run.name, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_bot_that_has_changed_or_is_gone_is_refused_in_a_line(arena: Arena, run: Path) -> None:
    """It would play other games; the table of the run's own games is still there."""
    file = run.parent / "mine.py"
    file.write_text(BOT.format("view.legal[-1]"))
    done = arena("worth", run.name, "--intervene", "-o", "cards.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: run: mine: its source has changed\n"
    assert not (run.parent / "cards.csv").exists()
    file.unlink()
    done = arena("worth", run.name, "--intervene")
    assert done.returncode == 2
    assert done.stderr.startswith("error: run: mine: bot './mine.py': ")
    assert arena("worth", run.name).returncode == 0
