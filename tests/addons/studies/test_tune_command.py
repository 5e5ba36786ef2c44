"""`arena tune`: one command from a bot to its best setting, and one line for every mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from arena.tables.table_columns import CANDIDATES
from tests.cli.test_mistakes import refusal
from tests.conftest import Arena
from tests.rogues import FOLDER

WEAK = "greedy(patience=1.0)"
WORDS = ("tune", WEAK, "--param", "patience=3,9", "--against", "majority", "--budget", "112")


@pytest.mark.slow
def test_a_search_says_what_it_found_and_goes_on_where_it_was(arena: Arena, tmp_path: Path) -> None:
    """The second time nothing is played; every line of the first 80 columns is whole."""
    done = arena(*WORDS)
    assert done.returncode == 0, done.stderr
    best, *_, games, use, folder = done.stdout.splitlines()
    assert re.fullmatch(r"best of 2 settings, 112 pairs: patience=[39]", best)
    assert re.fullmatch(r"[\d,]+ games played, 0 kept from before", games)
    assert re.fullmatch(r"use it: greedy\(patience=[39]\)", use)
    assert folder == "results in results/tune-greedy-patience-1.0/"
    assert "rung 1: 2 settings, 56 deals each" in done.stderr
    again = arena(*WORDS)
    assert again.stdout.splitlines()[0] == best
    assert "\n0 games played, " in again.stdout
    quiet = arena(*WORDS, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (f"{best}\n", "")
    document = json.loads(arena(*WORDS, "--json", "--quiet").stdout)
    assert document["candidates"][0]["setting"] == best.partition(": ")[2]
    names = {path.name for path in (tmp_path / "results" / "tune-greedy-patience-1.0").iterdir()}
    assert names == {"rungs", "proof", CANDIDATES.file}


STRANGER = str(FOLDER / "tuned.py")
MISTAKES = [
    (("greedy", "--param", "patience=0..5"), "--against: name the bots that the settings meet"),
    (("greedy", "--param", "patienc=0..5"), "bot 'greedy': got an unexpected keyword argument"),
    (("greedy", "--param", "patience=a,b"), "bot 'greedy': parameter patience='a': Expected"),
    ((STRANGER, "--param", "modes=a,b"), f"bot '{STRANGER}': got an unexpected keyword argument"),
    (("nobody", "--param", "patience=0..5"), "bot 'nobody'"),
    (("greedy", "--param", "patience"), "--param 'patience=': write NAME=LOW..HIGH"),
    (("greedy", "--param", "patience=0..5", "--budget", "7"), "budget: 7 pairs, and it takes 8"),
    (("greedy", "--param", "patience=0..5", "--budget", "0"), "Invalid value for '--budget'"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_nothing_is_played(
    arena: Arena, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    """It names the option and the text; no folder is made."""
    against = () if message.startswith("--against") else ("--against", "uniform")
    assert refusal(arena, "tune", *words, *against).startswith(message)
    assert not (tmp_path / "results").exists()


@pytest.mark.study
def test_a_strangers_settings_are_tried_in_processes_of_their_own(arena: Arena) -> None:
    """One that cannot be made and one that prints what is no text; the terminal stays whole."""
    words = ("--param", "mode=plain,broken,tells", "--param", "patience=0..8")
    done = arena("tune", STRANGER, *words, "--against", "uniform", "--budget", "160")
    assert done.returncode == 0, done.stderr
    assert "mode='broken'" not in done.stdout
    assert re.search(
        r"warning: candidate-\d+ \(mode='broken', .*\) failed: exception, ", done.stderr
    )
    assert "\x1b" not in done.stdout + done.stderr
    is_better = "nothing was found that is surely better than tuned" not in done.stdout
    assert (f"use it: {STRANGER}(mode=" in done.stdout) == is_better
