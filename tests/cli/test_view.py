"""`arena view` writes the replay of a game of a run or of a file as one page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.store.html_page import is_replay
from tests.cli.test_records import LABEL, play
from tests.conftest import Done, Once, run_here
from tests.store.games import random_record


@pytest.fixture(scope="module")
def folder(once: Once, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the run of `test_records` and a file of games."""
    path = tmp_path_factory.mktemp("views")
    shutil.copytree(once("recorded", play), path, dirs_exist_ok=True)
    lines = [random_record(Random(number), plies=7 * number).to_json() for number in range(3)]
    bad = json.loads(lines[2]) | {"actions": "TT"}
    (path / "games.jsonl").write_text("\n".join([*lines, "no JSON", json.dumps(bad), ""]))
    return path


def view(folder: Path, *words: str) -> Done:
    """Run `arena view`."""
    return run_here(folder, "view", *words)


def page_of(done: Done, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the page that was written, and its timeline."""
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    path = folder / line.removeprefix("the replay is in ")
    text = path.read_text(encoding="utf-8")
    data = text.split('id="timeline">')[1].split("</script>")[0]
    assert is_replay(path)
    return path, json.loads(data)


def test_a_game_of_a_run_becomes_a_page_named_after_it(folder: Path) -> None:
    """With its bots, its name, its ending and the chances by `champion`."""
    path, timeline = page_of(view(folder, "results/cup", "greedy/raises/1/1"), folder)
    assert path.name == "greedy-raises-1-1.html"
    assert timeline["title"] == "cup: greedy/raises/1/1"
    assert timeline["players"] == ["raises", "greedy"]
    assert timeline["ending"] == "raises forfeits (exception at ply 0): ValueError: boom"
    assert "raise ValueError('boom')" in timeline["evidence"]
    assert (timeline["winner"], timeline["over"], timeline["seat"]) == (1, False, None)
    assert timeline["frames"][0]["chance"] is not None
    assert str(folder) not in path.read_text(encoding="utf-8")


def test_a_seats_page_has_its_own_name_and_no_message(folder: Path) -> None:
    """The other's fault may say what it held."""
    done = view(folder, "results/cup", "greedy/raises/1/1", "--seat", "1", "--names", "german")
    path, timeline = page_of(done, folder)
    assert path.name == "greedy-raises-1-1-seat-1.html"
    assert timeline["ending"] == "raises forfeits at ply 0"
    assert timeline["frames"][0]["hands"][0] is None
    text = path.read_text(encoding="utf-8")
    assert "boom" not in text
    assert 'id="names">"german"<' in text


def test_a_page_is_replaced_and_any_other_file_is_not(folder: Path) -> None:
    """A second call writes the same bytes."""
    words = ("results/cup", "greedy/raises/0/0", "--out", "page.html")
    path, _ = page_of(view(folder, *words), folder)
    first = path.read_bytes()
    assert page_of(view(folder, *words), folder)[0].read_bytes() == first
    path.write_text("mine")
    done = view(folder, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: page.html: exists already, and is not changed\n"
    assert path.read_text() == "mine"


def test_a_line_of_a_file_becomes_a_page(folder: Path) -> None:
    """The first one, or another; also of standard input."""
    path, timeline = page_of(view(folder, "games.jsonl"), folder)
    assert (path.name, len(timeline["frames"])) == ("games-1.html", 1)
    path, timeline = page_of(view(folder, "games.jsonl", "--line", "3"), folder)
    assert (path.name, len(timeline["frames"])) == ("games-3.html", 15)
    assert timeline["title"] == "games.jsonl, line 3"
    assert timeline["players"] == ["seat 0", "seat 1"]


def judged_in(timeline: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the judged decisions of a timeline by ply."""
    return {frame["ply"]: frame["judged"] for frame in timeline["frames"] if frame["judged"]}


@pytest.mark.slow
def test_what_an_analysis_has_judged_is_shown(folder: Path) -> None:
    """By what it has kept; for a seat its own decisions, and in other games none."""
    game = f"greedy/{LABEL}/3/1"
    words = ("results/cup", game, "-o", "judged.html")
    assert not judged_in(page_of(view(folder, *words), folder)[1])
    how = ("--worst", "0", "--workers", "1")
    analysed = run_here(folder, "analyse", "results/cup", game, *how)
    assert analysed.returncode == 0, analysed.stderr
    _, timeline = page_of(view(folder, *words), folder)
    assert timeline["judge"] == "apprentice, 8 worlds"
    judged = judged_in(timeline)
    seats = {ply: timeline["frames"][ply]["turn"] for ply in judged}
    assert {*seats.values()} == {0, 1}
    again = [seats[ply] for ply, one in judged.items() if one["mistake"]]
    assert max(again.count(0), again.count(1)) in range(1, 5)  # the costliest of each
    _, of_seat = page_of(view(folder, *words, "--seat", "1"), folder)
    assert judged_in(of_seat) == {ply: judged[ply] for ply in judged if seats[ply] == 1}
    other = ("results/cup", f"greedy/{LABEL}/3/0", "-o", "other.html")
    assert not judged_in(page_of(view(folder, *other), folder)[1])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("games.jsonl", "--line", "4"), "games.jsonl: line 4: not JSON: "),
        (("games.jsonl", "--line", "5"), "games.jsonl: line 5, ply 1: illegal action 11 (T)"),
        (("games.jsonl", "--line", "9"), "games.jsonl: there is no line 9"),
        (("games.jsonl", "greedy"), "games.jsonl: not the folder of a run"),
        (("nothing",), "nothing: no such file, and no such run"),
        (("results",), "results"),
        (("results/cup", "--line", "1"), "--line: for a file of records"),
        (("results/cup", "nobody"), "no bot 'nobody' in this run"),
        (("results/cup", "greedy/raises/9/0"), "pair 9: the run has 8 pairs"),
        (("games.jsonl", "--seat", "2"), "'--seat': 2 is not in the range"),
        (("games.jsonl", "--out", "no/such/folder.html"), "cannot be written"),
        (("games.jsonl", "--out", "results"), "results: exists already"),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    folder: Path, words: tuple[str, ...], reason: str
) -> None:
    """With status 2, and no page is written."""
    before = {*folder.iterdir()}
    done = view(folder, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert reason in done.stderr
    assert {*folder.iterdir()} == before
