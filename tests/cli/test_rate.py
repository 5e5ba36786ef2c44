"""`arena rate`: runs, exported records and lists of others, rated together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import arena as library
from tests.conftest import Arena, Once, run_here


def play(folder: Path) -> None:
    """Play two runs of one seed, and export the records of one."""
    for name, pairs, bots in (
        ("one", "4", "greedy uniform majority"),
        ("two", "6", "greedy uniform"),
    ):
        done = run_here(folder, "play", *bots.split(), "--pairs", pairs, "--out", name, "-q")
        assert done.returncode == 0, done.stderr
    assert run_here(folder, "export", "one", "-o", "one.jsonl").returncode == 0
    (folder / "mine.csv").write_text("bot,opponent,winner\ngreedy,new,new\nnew,greedy,draw\n")


@pytest.fixture
def runs(once: Once, tmp_path: Path) -> Path:
    """Return the folder of the test, with a copy of the runs."""
    shutil.copytree(once("rated", play), tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_one_run_is_rated_as_it_was(arena: Arena, runs: Path) -> None:
    """The same bytes, from its store, from games.csv and from its records."""
    shutil.copytree(runs / "one", runs / "copy", ignore=shutil.ignore_patterns("*.sqlite"))
    for number, place in enumerate(("one", "copy", "one/games.csv", "one.jsonl")):
        done = arena("rate", place, "--out", f"rated{number}")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert done.stdout.startswith("24 games of 3 bots: 12 pairs\nrank  bot")
        assert done.stdout.endswith(f"results in rated{number}/\n")
        for name in ("standings", "head_to_head", "win_types"):
            written = (runs / f"rated{number}" / f"{name}.csv").read_bytes()
            assert written == (runs / "one" / f"{name}.csv").read_bytes(), name


@pytest.mark.slow
def test_a_run_that_chooses_its_pairs_is_rated_as_it_rates_itself(tmp_path: Path) -> None:
    """Its pairings weigh the same, and its bounds hold at every look."""
    bots = ["uniform", "greedy", "denier"]
    how: dict[str, Any] = {"until": "resolved", "max_pairs": 12, "seed": 5, "progress": False}
    results = library.run(bots, pairs=4, out=tmp_path / "run", **how)
    rated = library.rate(tmp_path / "run")
    assert rated.verdicts.equals(results.verdicts)
    assert rated.standings.equals(results.standings)
    plain = library.rate(results.games)
    assert not plain.verdicts.equals(results.verdicts)


@pytest.mark.slow
def test_several_runs_and_a_list_are_rated_together(arena: Arena, runs: Path) -> None:
    """The games of the seed that both runs have count once; the report has the lists."""
    done = arena("rate", "one", "two", "mine.csv", "--anchor", "uniform=1000", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("30 games of 4 bots: 14 pairs and 2 single games\n")
    assert done.stderr.splitlines() == [
        "note: 8 games there twice, by seed and pair: counted once",
        "note: no table says how games were won: 1 of 30 have no win_type",
    ]
    report = (runs / "out" / "report.md").read_text()
    assert "| mine.csv | 2 |" in report
    assert "profile-1" not in report
    assert arena("rate", "one", "--out", "out").returncode == 0  # written again
    assert "mine.csv" not in (runs / "out" / "report.md").read_text()
    found = library.rate(runs / "one", runs / "mine.csv")
    assert found.standings["bot"].iloc[0] == "new"
    assert " ".join(str(found).split()).endswith(found.headline)


MISTAKES = {
    "one one": "error: one: named twice; name different ones",
    "one ./one": "error: one: named twice; name different ones",
    "nowhere": "error: nowhere: No such file or directory",
    ".": "error: .: not a run, but holds runs: one, two",
    "one --out two": "error: two: holds other files; choose a new folder",
    "one --out mine.csv": "error: mine.csv: cannot be written: Not a directory",
    "one --anchor new=3": "error: anchor: no bot 'new' in this run; there are greedy, uniform,",
    "one --anchor greedy": "error: anchor: expected a bot and its Elo",
    "one --anchor greedy=1+-nan": "error: anchor: expected a bot and its Elo",
    "one --anchor greedy=1+--1": "error: anchor: expected a bot and its Elo",
    "one --anchor greedy=1 --anchor greedy=2": "error: anchor: 'greedy' is named twice",
    "one/standings.csv": "error: one/standings.csv: column opponent is missing",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(arena: Arena, runs: Path, words: str) -> None:
    """With exit status 2, and nothing is written."""
    before = sorted(runs.rglob("*"))
    done = arena("rate", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(MISTAKES[words])
    assert done.stderr.count("\n") == 1
    assert sorted(runs.rglob("*")) == before


def test_unfinished_records_are_left_out(arena: Arena, runs: Path) -> None:
    """And counted; a record without bots is an error."""
    lines = (runs / "one.jsonl").read_text().splitlines()
    record = json.loads(lines[0])
    half = json.dumps(record | {"actions": record["actions"][:9]})
    (runs / "more.jsonl").write_text("\n".join([*lines, "", half]) + "\n")
    done = arena("rate", "more.jsonl")
    assert done.stdout.startswith("24 games of 3 bots: 12 pairs\n")
    assert done.stderr == "note: more.jsonl: not finished: 1 game, left out\n"
    del record["bots"]
    (runs / "none.jsonl").write_text(json.dumps(record))
    done = arena("rate", "none.jsonl")
    assert done.stderr == "error: none.jsonl: row 1: the record does not name its bots\n"
