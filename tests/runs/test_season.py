"""Seasons: each comparison has a place of its own, and the ledger loses nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import arena
from arena.errors import InputError
from arena.lanes.scratch import lock_file
from arena.runs import season
from arena.runs.run import Playing
from arena.runs.season import keep_result, take_place
from arena.statistics.sprt import bounds, season_level
from arena.statistics.stopped import estimate_mean, season_interval
from arena.store.folder import locate
from arena.tournament.stop import MOST_PLACES, Sprt
from arena.tournament.tournament import Tournament
from tests.conftest import Arena
from tests.runs.test_compare import comparison_of

FOLDER = Path("results/season-spring")
LEDGER = FOLDER / "ledger.jsonl"

TAKE = """
import os, signal
from arena.runs import season
from tests.runs.test_season import begin
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
{change}
print(begin({new!r}).folder)
kill()
"""
BEFORE = "season.write_text = kill"


class Placed(NamedTuple):
    """A comparison with its place in a season, and the folder of its games."""

    tournament: Tournament
    folder: Path


def begin(new: str = "new=greedy", out: Path | None = None, **changes: Any) -> Placed:
    """Take a place of the season `spring` for a comparison with greedy, tested at 5 %."""
    asked = comparison_of(new, "greedy")
    tournament = dataclasses.replace(asked, **changes)
    placed, how = take_place("spring", tournament, Playing(out=out))
    assert how.out is not None
    return Placed(placed, how.out)


def stop_of(placed: Placed) -> Sprt:
    """Return the test of a comparison of a season."""
    stop = placed.tournament.comparison
    assert stop
    assert stop.season
    return stop


def place(placed: Placed) -> int:
    """Return the place of a comparison."""
    season_of = stop_of(placed).season
    assert season_of
    return season_of.place


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_comparison_has_the_level_of_its_place() -> None:
    """Half of it for either verdict, so that a false claim of any kind is as rare as it says."""
    for number in (1, 2, 3):
        placed = begin(f"new{number}=greedy")
        stop = stop_of(placed)
        assert place(placed) == number
        assert stop.level == season_level(number) == stop.alpha + stop.beta
        assert placed.folder == FOLDER / f"{number}-compare-new{number}-greedy"
    assert stop.interval == "99.52 %"
    assert sum(map(season_level, range(1, MOST_PLACES + 1))) < 0.05


def test_the_ledger_is_a_line_of_text_for_each_comparison() -> None:
    """With labels, hashes, settings, level, folder and at last the result."""
    placed, later = begin(), begin("other=greedy(patience=3)")
    keep_result("spring", placed.tournament, "better: new is stronger")
    first, second = map(json.loads, LEDGER.read_text().splitlines())
    assert (first["place"], first["result"]) == (1, "better: new is stronger")
    assert (second["place"], second["result"], second["level"]) == (2, "", season_level(2))
    assert first["new"]["label"] == "new"
    assert first["new"]["sha256"] == first["old"]["sha256"]
    assert second["new"]["params"] == {"patience": 3}
    assert second["settings"]["stop"] == {"kind": "sprt", "elo0": 0, "elo1": 30, "max_pairs": 64}
    assert second["folder"] == f"{FOLDER}/2-compare-other-greedy"
    keep_result("spring", later.tournament, "undecided")
    results = [json.loads(line)["result"] for line in LEDGER.read_text().splitlines()]
    assert results == ["better: new is stronger", "undecided"]


def test_a_manifest_that_is_played_again_writes_no_ledger() -> None:
    """It has the season of its run, and took no place."""
    placed = begin()
    os.rename(FOLDER, "kept")
    keep_result(None, placed.tournament, "undecided")
    assert not FOLDER.exists()


def test_the_same_comparison_counts_once() -> None:
    """Same bots, settings and folder: it has the level and the deals that it had."""
    first, other = begin(), begin(seed=8)
    keep_result("spring", first.tournament, "undecided")
    assert [place(begin()), place(begin(seed=8))] == [1, 2]
    assert begin() == first
    assert begin().tournament.seed != other.tournament.seed
    assert place(begin(max_faults=3)) == 3
    assert place(begin("new=greedy(patience=3)")) == 4
    assert place(begin(out=Path("elsewhere"))) == place(begin(out=Path("elsewhere"))) == 5
    assert json.loads(LEDGER.read_text().splitlines()[0])["result"] == "undecided"


def test_an_edited_bot_is_another_comparison_on_other_deals(tmp_path: Path) -> None:
    """Its hash differs; on the deals of before it might have been chosen by their luck."""
    bot = tmp_path / "mine.py"
    bot.write_text("from bots.greedy import bot\n")
    first = begin("new=./mine.py")
    bot.write_text("from bots.greedy import bot  # better\n")
    second = begin("new=./mine.py")
    assert [place(first), place(second)] == [1, 2]
    assert first.tournament.labels == second.tournament.labels
    assert first.tournament.seed != second.tournament.seed


def test_comparisons_that_begin_at_once_have_different_places() -> None:
    """A lock is of a descriptor, so that threads keep each other out as processes do."""
    with ThreadPoolExecutor(8) as pool:
        placed = [*pool.map(begin, [f"new{number}=greedy" for number in range(24)])]
    assert sorted(map(place, placed)) == [*range(1, 25)]
    assert len(LEDGER.read_text().splitlines()) == 24


def start(new: str, change: str = "") -> subprocess.Popen[str]:
    """Start a process that takes a place, and is killed then, or by a change of the module."""
    return subprocess.Popen(
        [sys.executable, "-c", TAKE.format(new=new, change=change)],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_processes_at_once_have_different_places_and_kills_lose_nothing() -> None:
    """One that was killed while it held the lock has no place; the others keep theirs."""
    started = [start(f"new{number}=greedy", BEFORE if not number else "") for number in range(4)]
    printed = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [-9] * 4
    assert len(LEDGER.read_text().splitlines()) == 3
    assert place(begin("new0=greedy")) == 4
    again = [begin(f"new{number}=greedy") for number in (1, 2, 3)]
    assert sorted(map(place, again)) == [1, 2, 3]
    assert {one.folder for one in again} <= {FOLDER / one.folder.name for one in again}
    assert printed[0] == ""


def damage(edit: Callable[[str], str]) -> None:
    """Edit a ledger of three comparisons."""
    for number in (1, 2, 3):
        begin(f"new{number}=greedy")
    LEDGER.write_text(edit(LEDGER.read_text()), errors="surrogateescape")


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda text: text[:-40], "line 3: "),
        (lambda text: text[:0], "line 1: "),
        (lambda text: text + "\n", "line 4: "),
        (lambda text: "[" * 10**5 + text, "line 1: "),
        (lambda text: "\udcff" + text, "line 1: "),
        (lambda text: text.replace("spring", "autumn"), "line 1 is not comparison 1 of season"),
        (lambda text: text.replace('"level":0.01', '"level":0.05'), "line 1 is not comparison 1"),
        (lambda text: "".join(text.splitlines(keepends=True)[::2]), "line 2 is not comparison 2"),
        (lambda text: text.replace('"place":3', '"place":4'), "line 3 is not comparison 3"),
        (lambda text: text.replace('"old"', '"older"'), "line 1: Object contains unknown field"),
        (lambda text: text.replace('"place":1', '"place":"\\u001b[2J"'), "line 1: Expected `int`"),
    ],
)
def test_a_damaged_ledger_is_refused(edit: Callable[[str], str], reason: str) -> None:
    """In one printable line that names the file and its line, and the file stays as it is."""
    damage(edit)
    kept = LEDGER.read_bytes()
    with pytest.raises(InputError) as caught:
        begin("new4=greedy")
    assert str(caught.value).startswith(f"{LEDGER}: damaged: ")
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()
    assert LEDGER.read_bytes() == kept


def test_an_older_ledger_is_refused() -> None:
    """The games of its last comparison are there: it has no budget for another one."""
    damage(lambda text: "".join(text.splitlines(keepends=True)[:2]))
    (FOLDER / "3-compare-new3-greedy").mkdir()
    with pytest.raises(InputError, match="it lacks comparison 3, 3-compare-new3-greedy"):
        begin("new4=greedy")
    (FOLDER / "3-compare-new3-greedy").rmdir()
    placed = begin("new4=greedy")
    damage(lambda text: text.splitlines(keepends=True)[0])
    with pytest.raises(InputError, match="comparison 3 is missing"):
        keep_result("spring", placed.tournament, "better")


def test_what_is_no_file_is_refused() -> None:
    """A pipe would be waited for, and a folder cannot be read."""
    FOLDER.mkdir(parents=True)
    os.mkfifo(LEDGER)
    with pytest.raises(InputError, match=r"ledger.jsonl: not a regular file"):
        begin()
    LEDGER.unlink()
    LEDGER.mkdir()
    with pytest.raises(InputError, match=r"ledger.jsonl: a folder in the place of a file"):
        begin()
    LEDGER.rmdir()
    LEDGER.symlink_to(__file__)
    with pytest.raises(InputError, match=r"ledger.jsonl: damaged: line 1"):
        begin()


def test_a_lock_that_is_held_is_waited_for_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for ever for a process that was stopped."""
    begin()
    monkeypatch.setattr(season, "_TRIES", 2)
    descriptor = lock_file(FOLDER)
    with pytest.raises(InputError, match=r"season-spring: another process has locked it for 0.1 s"):
        begin()
    os.close(descriptor)
    assert place(begin()) == 1


def test_a_full_season_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its levels would be too small for any claim."""
    monkeypatch.setattr(season, "MOST_PLACES", 2)
    begin()
    begin("other=greedy")
    with pytest.raises(InputError, match="season spring: it has 2 comparisons; begin another"):
        begin("third=greedy")
    assert place(begin()) == 1


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a\n", "ü", "x" * 61, 7])
def test_names_are_those_of_folders(name: Any) -> None:
    """Nothing is made for another one."""
    with pytest.raises(InputError, match=r"^season: .* is not a name of letters"):
        take_place(name, comparison_of("new=greedy", "greedy"), Playing())
    assert not Path("results").exists()


WORDS = ("compare", "new=greedy(patience=3)", "greedy", "--season", "spring", "--workers", "1")


@pytest.mark.slow
def test_the_command_names_the_season(arena: Arena) -> None:
    """In its sentence and files; the manifest gives the same bytes where there is no ledger."""
    begin()
    done = arena(*WORDS, "--against", "uniform", "--max-pairs", "16")
    assert done.returncode == 0, done.stderr
    end = "; comparison 2 of season spring, error level 0.67 %"
    said = " ".join(done.stdout.split())
    assert f"{end}. Elo difference " in said
    assert ", 99.33 % interval " in said
    assert "repeat with" not in done.stdout
    folder = FOLDER / "2-compare-new-greedy-against"
    document = json.loads((folder / "details" / "comparison.json").read_text())
    assert document["season"] == {"name": "spring", "place": 2, "level": season_level(2)}
    assert document["alpha"] == document["beta"] == season_level(2) / 2
    assert json.loads(LEDGER.read_text().splitlines()[1])["result"] == document["sentence"]
    assert end in (folder / "report.md").read_text()
    os.rename(FOLDER, "kept")
    again = arena("run", f"kept/{folder.name}/manifest.json", "--out", "again", "--workers", "1")
    assert again.stdout.splitlines()[:4] == done.stdout.splitlines()[:4]
    for name in ("comparison.json", "manifest.json", "games.csv", "differences.csv", "report.md"):
        two = (locate(Path(place), name) for place in ("again", f"kept/{folder.name}"))
        assert len({place.read_bytes() for place in two}) == 1
    assert not FOLDER.exists()


def test_a_season_gives_the_error_rates(arena: Arena) -> None:
    """One line, before anything is played."""
    done = arena(*WORDS, "--alpha", "0.2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: alpha, beta: a season gives the error rates of its comparisons\n"
    )
    assert not Path("results").exists()


@pytest.mark.slow
def test_a_program_goes_on_with_its_comparison() -> None:
    """Its games are kept in the season's folder, and it counts once."""
    for _ in range(2):
        comparison = arena.compare(
            "greedy", "uniform", season="spring", max_pairs=16, workers=1, progress=False
        )
    assert comparison.sentence.endswith("; comparison 1 of season spring, error level 1 %")
    assert comparison.document()["season"]["place"] == 1
    evidence = comparison._found.evidence
    assert evidence.ends == bounds(0.005, 0.005)
    level = season_interval(1, 16)
    mean = estimate_mean(*evidence[:4], evidence.looks, evidence.ends, level)
    elos = [round(evidence.elo(score), 1) for score in mean[:2]]
    assert [comparison.elo, comparison.elo_low] == elos
    assert (FOLDER / "1-compare-greedy-uniform" / "details" / "comparison.json").exists()
    assert len(LEDGER.read_text().splitlines()) == 1
