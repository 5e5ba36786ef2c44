"""Games of a run are shown, listed, exported, and written as pages."""

from __future__ import annotations

import io
import json
import re
import shutil
import sqlite3
import sys
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from arena.cli.records import say_coloured
from arena.replays.html_page import is_replay
from engine import Record
from tests.conftest import Arena, Once, run_here
from tests.kit import csv_rows, forge, refused
from tests.replays.games import random_record
from tests.rogues import write
from tests.tiers import few

LABEL = "a/b (c), d"


@pytest.fixture(scope="module")
def folder(once: Once, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of four bots, and a file of games."""
    path = tmp_path_factory.mktemp("runs")
    return shutil.copytree(once("recorded", play), path, dirs_exist_ok=True)


def play(path: Path) -> None:
    """Play a run of four bots, of which two fail, and write a file of games with bad ones."""
    write(path, "raises", "print('hello')\nraise ValueError('boom')")
    (path / "broken.py").write_text("1 / 0\n")
    bots = f"greedy, {{bot: uniform, label: '{LABEL}'}}, raises.py, broken.py"
    (path / "cup.yaml").write_text(f"pairs: 8\nseed: 3\nbots: [{bots}]\n")
    done = run_here(path, "run", "cup.yaml", "--quiet")
    assert done.returncode == 0, done.stderr
    lines = [random_record(Random(number), plies=7 * number).to_json() for number in range(3)]
    bad = json.loads(lines[2]) | {"actions": "TT"}
    (path / "games.jsonl").write_text("\n".join([*lines, "no JSON", json.dumps(bad), ""]))


def show(folder: Path, *words: str) -> list[str]:
    """Return what `arena show` prints of the run."""
    done = run_here(folder, "show", "results/cup", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def exported(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the exported games by name."""
    done = run_here(folder, "export", "results/cup")
    assert done.returncode == 0, done.stderr
    games = [json.loads(line) for line in done.stdout.splitlines()]
    return {game["game"]: game for game in games}


WAYS = [
    ("greedy", LABEL, "--pair", "3", "--seat", "1"),
    (f"{LABEL}/greedy/3/0",),
    (LABEL, "greedy", "--pair", "3", "--seat", "0"),
    (f"greedy/{LABEL}/3/1",),
]


@pytest.mark.parametrize("words", few(WAYS, 0, 2))
def test_a_game_is_chosen_by_bots_pair_and_seat_or_by_its_name(
    folder: Path, words: tuple[str, ...]
) -> None:
    """Whichever bot is named first, the seat is its own; the names stand with the actions."""
    lines = show(folder, *words)
    game = exported(folder)[f"greedy/{LABEL}/3/1"]
    assert lines[:3] == [f"seat 0: {LABEL}", "seat 1: greedy", "the deal"]
    assert f"round 1, {LABEL} begins" in lines
    plies = [line for line in lines if line.startswith("ply ")]
    assert len(plies) == len(game["actions"])
    bots = {re.split(": | plays| takes", line)[1] for line in plies}
    assert bots == {"greedy", LABEL}
    (result,) = (line for line in lines if line.startswith(f"{game['winner']} wins "))
    points = game["points"][:: 1 if game["winner"] == LABEL else -1]
    assert result.endswith(", {} : {}".format(*points))


def test_a_forfeit_is_shown_with_its_kind_and_evidence(folder: Path) -> None:
    """The record up to it, the message, the traceback and what the bot printed."""
    lines = show(folder, "raises", "greedy", "--pair", "0", "--seat", "0")
    assert "unfinished after 0 plies" in lines
    at = lines.index("raises forfeits (exception at ply 0): ValueError: boom")
    assert "traceback:" in lines[at:]
    assert any("raise ValueError('boom')" in line for line in lines[at:])
    assert lines[-2:] == ["printed:", "  hello"]


def test_without_a_game_the_result_is_shown_and_with_one_bot_its_games(folder: Path) -> None:
    """The sentence of the report, who forfeits and why, a row for each bot, and what to do next."""
    lines = show(folder)
    head, sentence, *rest = lines
    assert head == "cup · 4 bots · 96 games"
    assert sentence in (folder / "results" / "cup" / "report.md").read_text()
    failing = {line.split(" forfeits ")[0] for line in rest if line[0:1] == "!"}
    assert failing == {"! raises", "! broken"}
    rows = {line[6:24].strip(): line for line in lines if line[:4].strip().isdecimal()}
    assert rows.keys() == {"greedy", LABEL, "raises", "broken"}
    assert {len(row) for row in rows.values()} == {80}
    assert "not rated" in rows["broken"]
    assert rows["broken"].endswith(" 0.0%   0.0%  " + 20 * "f")
    for row in csv_rows(folder / "results" / "cup" / "standings.csv"):
        assert row["rank"] == rows[row["bot"]][:4].strip()
        assert f" {float(row['score']):.1%} " in rows[row["bot"]]
        assert f" {int(row['city_wins']) / int(row['games']):.1%}  " in rows[row["bot"]]
    assert max(map(len, lines[:-3])) == 80
    assert "Games of a bot: arena show results/cup greedy" in lines
    assert lines[-1] == "The report: results/cup/report.html"
    lines = show(folder, "greedy")
    assert len(lines) == 22
    assert lines[0].startswith("greedy/a/b (c), d/0/0  ")
    assert lines[-2] == "..."
    assert lines[-1] == ("one of them, ply by ply: arena show results/cup 'greedy/a/b (c), d/0/0'")
    of_pair = show(folder, "raises", "--pair", "1", "--seat", "1")
    names = ["greedy/raises/1/0", f"{LABEL}/raises/1/0", "raises/broken/1/1"]
    assert [line.split("  ")[0] for line in of_pair[:-1]] == names
    assert of_pair[0] == "greedy/raises/1/0  raises forfeits (exception at ply 1): ValueError: boom"
    assert len(show(folder, "greedy", LABEL)) == 17


MISTAKES = {
    "show results/cup nobody": "no bot 'nobody' in this run; there are greedy, a/b (c), d, raises,",
    "show results/cup greedy greedy": "greedy and greedy do not play each other in this run",
    "show results/cup greedy raises broken": "a game has two bots, and 3 are named",
    "show results/cup greedy --pair 8": "pair 8: the run has 8 pairs, from 0 on",
    "show results/cup greedy/raises/0/2": "a game is bot/opponent/pair/seat",
    "show results/cup greedy/raises/-1/0": "a game is bot/opponent/pair/seat",
    "show results/cup greedy/raises/\u0663/0": "a game is bot/opponent/pair/seat",
    f"show results/cup greedy/raises/{5000 * '9'}/0": "pair 9999999999: the run has 8 pairs",
    "show results/cup greedy/raises/1/0 --pair 1": "it has its pair and its seat already",
    "show results/cup \x1b/b/0/0": r"game '\x1b/b/0/0': no bot and no game",
    "show results/cup --line 2": "--line: for a file of records",
    "view games.jsonl --line 4": "games.jsonl: line 4: not JSON: ",
    "view games.jsonl --line 5": "games.jsonl: line 5, ply 1: illegal action 11 (T)",
    "view games.jsonl --line 9": "games.jsonl: there is no line 9",
    "view games.jsonl greedy": "games.jsonl: not the folder of a run",
    "view nothing": "nothing: no such file, and no such run",
    "view results": "results",
    "view results/cup --line 1": "--line: for a file of records",
    "view games.jsonl --out no/such/folder.html": "cannot be written",
    "view games.jsonl --out results": "results: exists already",
}


@pytest.mark.parametrize("continues", [False, True])
def test_a_command_that_goes_on_with_a_run_names_its_folder(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, *, continues: bool
) -> None:
    opening = Mock(command="arena compare a b", task="Go on", continues=continues)
    opening.lines.return_value = [("what", "")]
    monkeypatch.setattr("arena.runs.stored_run.read_opening", lambda _: (opening, "a"))
    folder = " --out ." if continues else ""
    assert arena("show", ".").stdout.splitlines() == [
        *("what", "", f"Go on: arena compare a b{folder}"),
        "Games of a bot: arena show . a",
    ]


def test_on_a_terminal_the_letters_of_a_bar_are_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_terminal, no_colour, shown in (
        (True, "", "a\\x1b \x1b[38;5;16m\x1b[48;5;172mCC\x1b[0mx\n"),
        (True, "1", "a\\x1b CCx\n"),
        (False, "", "a\\x1b CCx\n"),
    ):
        monkeypatch.setattr(sys, "stdout", out := io.StringIO())
        monkeypatch.setattr(out, "isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setenv("NO_COLOR", no_colour)
        say_coloured("a\x1b ", "CCx")
        assert out.getvalue() == shown


def test_a_game_that_there_is_not_is_one_line_and_status_2(folder: Path) -> None:
    before = {*folder.iterdir()}
    for words, reason in MISTAKES.items():
        assert reason in refused(run_here(folder, *words.split())), words
    assert {*folder.iterdir()} == before


def test_the_export_has_a_line_for_each_game_that_replays(folder: Path, tmp_path: Path) -> None:
    """With names and results; a forfeit has its fault, and one by rule says so."""
    games = exported(folder)
    assert len(games) == 6 * 8 * 2
    assert len(csv_rows(folder / "results" / "cup" / "games.csv")) == len(games)
    for name, game in games.items():
        state = Record.from_json(json.dumps(game)).replay()
        assert state.over == (game["win_type"] != "forfeit")
        assert name.startswith(game["bots"][int(name[-1])])
        assert game["winner"] in (*game["bots"], None)
    fault = {"bot": "raises", "kind": "exception", "ply": 0, "message": "ValueError: boom"}
    assert games["greedy/raises/0/1"]["fault"] == fault
    assert games["raises/broken/7/1"]["fault"]["kind"] == "max_faults"
    assert "fault" not in games[f"greedy/{LABEL}/0/0"]
    done = run_here(folder, "export", "results/cup", "-o", str(tmp_path / "games.jsonl"))
    assert (done.returncode, done.stdout) == (0, "")
    written = (tmp_path / "games.jsonl").read_text()
    assert written == run_here(folder, "export", "results/cup").stdout
    assert run_here(tmp_path, "replay", "games.jsonl").returncode == 0


def test_a_file_that_exists_is_not_changed_but_for_a_page_of_a_game(
    folder: Path, tmp_path: Path
) -> None:
    """Nor is half a file left; a second call writes the same bytes."""
    (tmp_path / "mine").write_text("mine")
    for out, reason in (("mine", "exists already"), ("none/x", "cannot be written")):
        done = run_here(folder, "export", "results/cup", "-o", str(tmp_path / out))
        assert reason in refused(done)
    assert (tmp_path / "mine").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    words = ("results/cup", "greedy/raises/0/0", "--out", "page.html")
    path, _ = page_of(folder, *words)
    first = path.read_bytes()
    assert page_of(folder, *words)[0].read_bytes() == first
    path.write_text("mine")
    assert (
        refused(run_here(folder, "view", *words)) == "page.html: exists already, and is not changed"
    )
    assert path.read_text() == "mine"


def test_a_run_is_only_read(folder: Path) -> None:
    """No file in its folder changes or appears, also while a run keeps its lock."""
    place = folder / "results" / "cup"
    before = {path: path.read_bytes() for path in place.rglob("*.*")}
    with sqlite3.connect(place / "run.sqlite", isolation_level=None) as database:
        database.execute("BEGIN IMMEDIATE")
        assert show(folder)[0] == "cup · 4 bots · 96 games"
        assert len(show(folder, "greedy")) == 22
        assert len(exported(folder)) == 96
    database.close()
    assert {path: path.read_bytes() for path in place.rglob("*.*")} == before


def test_what_a_run_lacks_is_noted_and_what_is_damaged_is_one_line(
    folder: Path, tmp_path: Path
) -> None:
    """Beside what is printed, on standard error."""
    store = tmp_path / "run" / "run.sqlite"
    store.parent.mkdir()
    store.write_bytes((folder / "results" / "cup" / "run.sqlite").read_bytes())
    forge(store, "DELETE FROM games WHERE pair = 7")
    for words in (("show", "run", "--seat", "0"), ("export", "run")):
        done = run_here(tmp_path, *words)
        assert (done.returncode, bool(done.stdout)) == (0, True)
        assert done.stderr == "note: run: not finished: 84 of 96 games\n"
    shown = run_here(tmp_path, "show", "run").stdout.splitlines()
    assert shown[0] == "cup · 4 bots · not finished: 84 of 96 games"
    forge(store, "UPDATE games SET actions = '99' WHERE pairing = 0")
    done = run_here(tmp_path, "show", "run", "greedy", LABEL, "--pair", "0", "--seat", "0")
    assert (done.returncode, "its record cannot be played" in done.stderr) == (2, True)
    store.write_text("rubbish" * 999)
    for command in ("show", "export"):
        refused(run_here(tmp_path, command, "run"))


def test_a_folder_without_a_run_says_what_is_in_it(arena: Arena, folder: Path) -> None:
    """The runs in it; and `replay` of a run says how its records are judged."""
    told = refused(run_here(folder, "show", "results"))
    assert "results: not a run, but holds runs: results/cup" in told
    told = refused(run_here(folder, "replay", "results/cup"))
    assert "is a directory, of a run: arena export results/cup | arena replay -" in told
    assert refused(run_here(folder, "replay", "results")).endswith("irectory")
    assert "no run: there is no run.sqlite" in refused(arena("show", "."))


def test_a_record_with_names_is_shown_with_them(folder: Path, tmp_path: Path) -> None:
    """Of an exported game, say; names that are none, or that control a terminal, are not used."""
    game = {key: exported(folder)["greedy/raises/0/0"][key] for key in ("deal", "actions")}
    cases = {
        "greedy begins": ["greedy", "raises"],
        "seat 0 begins": ["greedy"],
        r"\x1b[31m begins": ["\x1b[31m", "b"],
        "seat 0 begins ": [["a"], "b"],
        "seat 0  begins": ["x" * 61, "b"],
    }
    for text, bots in cases.items():
        (tmp_path / "one.jsonl").write_text(json.dumps(game | {"bots": bots}))
        done = run_here(tmp_path, "show", "one.jsonl")
        assert done.returncode == 0
        assert f"round 1, {' '.join(text.split())}" in done.stdout


def page_of(folder: Path, *words: str) -> tuple[Path, dict[str, Any]]:
    """Return the page that `arena view` writes, and its timeline."""
    done = run_here(folder, "view", *words)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    path = folder / line.removeprefix("the replay is in ")
    text = path.read_text(encoding="utf-8")
    data = text.split('id="timeline">')[1].split("</script>")[0]
    assert is_replay(path)
    return path, json.loads(data)


def test_a_game_of_a_run_becomes_a_page_named_after_it(folder: Path) -> None:
    """With its ending and chances; a seat's page has no message, which may say what was held."""
    path, timeline = page_of(folder, "results/cup", "greedy/raises/1/1")
    assert path.name == "greedy-raises-1-1.html"
    assert timeline["title"] == "cup: greedy/raises/1/1"
    assert timeline["players"] == ["raises", "greedy"]
    assert timeline["ending"] == "raises forfeits (exception at ply 0): ValueError: boom"
    assert "raise ValueError('boom')" in timeline["evidence"]
    assert (timeline["winner"], timeline["over"], timeline["seat"]) == (1, False, None)
    assert timeline["frames"][0]["chance"] is not None
    assert str(folder) not in path.read_text(encoding="utf-8")
    words = ("results/cup", "greedy/raises/1/1", "--seat", "1", "--names", "german")
    path, timeline = page_of(folder, *words)
    assert path.name == "greedy-raises-1-1-seat-1.html"
    assert timeline["ending"] == "raises forfeits at ply 0"
    assert timeline["frames"][0]["hands"][0] is None
    text = path.read_text(encoding="utf-8")
    assert "boom" not in text
    assert 'id="names">"german"<' in text


def test_a_line_of_a_file_becomes_a_page(folder: Path) -> None:
    path, timeline = page_of(folder, "games.jsonl")
    assert (path.name, len(timeline["frames"])) == ("games-1.html", 1)
    path, timeline = page_of(folder, "games.jsonl", "--line", "3")
    assert (path.name, len(timeline["frames"])) == ("games-3.html", 15)
    assert timeline["title"] == "games.jsonl, line 3"
    assert timeline["players"] == ["seat 0", "seat 1"]


def judged_in(timeline: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the judged decisions of a timeline by ply."""
    return {frame["ply"]: frame["judged"] for frame in timeline["frames"] if frame["judged"]}


@pytest.mark.slow
def test_what_an_analysis_has_judged_is_shown(folder: Path, tmp_path: Path) -> None:
    """By what it has kept; for a seat its own decisions, and in other games none."""
    folder = shutil.copytree(folder, tmp_path / "own")
    game = f"greedy/{LABEL}/3/1"
    words = ("results/cup", game, "-o", "judged.html")
    assert not judged_in(page_of(folder, *words)[1])
    how = ("--worst", "0", "--workers", "1")
    analysed = run_here(folder, "analyse", "results/cup", game, *how)
    assert analysed.returncode == 0, analysed.stderr
    _, timeline = page_of(folder, *words)
    assert timeline["judge"] == "apprentice, 8 worlds"
    judged = judged_in(timeline)
    seats = {ply: timeline["frames"][ply]["turn"] for ply in judged}
    assert {*seats.values()} == {0, 1}
    again = [seats[ply] for ply, one in judged.items() if one["mistake"]]
    assert max(again.count(0), again.count(1)) in range(1, 5)  # the costliest of each
    _, of_seat = page_of(folder, *words, "--seat", "1")
    assert judged_in(of_seat) == {ply: judged[ply] for ply in judged if seats[ply] == 1}
    other = ("results/cup", f"greedy/{LABEL}/3/0", "-o", "other.html")
    assert not judged_in(page_of(folder, *other)[1])
