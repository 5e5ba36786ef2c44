"""What the table shows of the folder of results, and that it shows nothing else."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from arena.addons.league.league_site import write_site
from arena.addons.table import looking_up, own_games
from arena.addons.table.looking_up import (
    describe_progress,
    describe_run,
    list_games,
    show_game,
)
from arena.addons.table.shelf import Shelf
from arena.entries import syntax
from arena.entries.catalogue import catalogue
from arena.store.reader import read_run
from engine import Record
from tests.addons.league.small import a_league, play
from tests.addons.table import Client, running
from tests.addons.table.results import HOSTILE
from tests.threads import changing_places


def query(path: str, **values: object) -> str:
    return f"api/{path}?{urlencode(values)}"


def test_the_runs_are_listed_and_nothing_that_is_none(client: Client) -> None:
    """Links, hidden folders, and a report that is a link are left out."""
    runs = {run["name"]: run for run in client.ask("api/runs")["runs"]}
    assert {*runs} == {"cup", "series/faults"}
    assert runs["cup"]["report"] == "cup/report.html"
    assert runs["cup"]["verdict"] == "greedy is stronger than uniform."
    assert not runs["series/faults"]["report"]
    assert {(run["kind"], run["state"]) for run in runs.values()} == {("run", "finished")}
    assert client.ask(query("runs", name="cup"))["runs"] == [runs["cup"]]


def _copy(run: Path, to: Path, *names: str) -> None:
    to.mkdir(parents=True)
    for name in names:
        shutil.copyfile(run / name, to / name)


def test_a_tuning_and_an_ablation_are_one_row_each_with_their_runs_inside(
    tmp_path: Path, results: Path
) -> None:
    """A finished tuning's rungs have no files but their stores, and are no rows."""
    whole = "run.sqlite", "manifest.json", "report.md", "report.html"
    for number in (1, 2):
        _copy(results / "cup", tmp_path / "tune" / "rungs" / f"{number:02}", "run.sqlite")
    _copy(results / "cup", tmp_path / "tune" / "proof", *whole)
    (tmp_path / "tune" / "candidates.csv").write_text("")
    (tmp_path / "tune" / "linked").symlink_to(results / "cup")
    for name in ("base", "set_bonus=0", "<i>"):
        _copy(results / "cup", tmp_path / "rules" / name, *whole)

    def rows() -> dict[str, tuple[object, ...]]:
        found = Shelf(tmp_path).listing()
        keys = "kind", "state", "verdict", "report", "runs", "inner"
        return {one["name"]: tuple(one[key] for key in keys) for one in found}

    tuning, variants = ["rungs/01", "rungs/02", "proof"], ["<i>", "base", "set_bonus=0"]
    assert rows() == {
        "tune": ("tuning", "not finished", "", "", tuning, 3),
        "rules": ("ablation", "not finished", "", "", variants, 3),
    }
    for name in ("tune", "rules"):
        (tmp_path / name / "report.md").write_text("<!-- x -->\n# T\n\nSo \\*it\\* is.\n\nMore.\n")
        (tmp_path / name / "report.html").write_text(name)
    assert rows() == {
        "tune": ("tuning", "finished", "So *it* is.", "tune/report.html", tuning, 3),
        "rules": ("ablation", "finished", "So *it* is.", "rules/report.html", variants, 3),
    }
    assert Shelf(tmp_path).report("tune/report.html") == b"tune"
    (tmp_path / "tune" / "rungs" / "02" / "run.sqlite-wal").touch()
    assert rows()["tune"][1:4] == ("running", "", "tune/report.html")
    (tmp_path / "rules" / "base" / "run.sqlite").write_text("noise")
    assert rows()["rules"][1] == "damaged"


def test_a_report_is_shown_only_of_what_is_listed(tmp_path: Path, results: Path) -> None:
    """No other page of a folder, and none that a link or a hidden name leads to."""
    _copy(results / "cup", tmp_path / "cup", "run.sqlite", "report.html")
    for place in ("cup/other.html", "cup/.hidden.html", "none/report.html", "none/site/x.html"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("private")
    for folder in (tmp_path / "club" / "site" / "bots", tmp_path / "club" / "bots"):
        folder.mkdir(parents=True)
        (folder / "mine.html").write_text("of the league")
    site = tmp_path / "club" / "site"
    (site / "league.json").write_text("{}")
    (site / "index.html").symlink_to(tmp_path / "none" / "report.html")
    (site / "linked").symlink_to(tmp_path / "none")
    shelf = Shelf(tmp_path)
    assert shelf.report("club/site/bots/mine.html") == b"of the league"
    assert shelf.report("cup/report.html").startswith(b"<!doctype html>")
    for name in (
        *("cup/other.html", "cup/.hidden.html", "cup", "none/report.html", "none/site/x.html"),
        *("club/site/index.html", "club/site/league.json", "club/bots/mine.html", "report.html"),
        *("club/site/linked/report.html", "club/site/../../none/report.html", "club/site/.html"),
        *("club/site/bots/..\\x.html", "club/site/x\0.html", "", "/", "club/site/"),
    ):
        with pytest.raises(LookupError):
            shelf.report(name)


@pytest.mark.slow
def test_runs_are_found_four_folders_deep(tmp_path: Path) -> None:
    """The one that was changed last is the first of the list; there are 500 at most."""
    names = ["/".join("abcde"[:depth]) + "/run" for depth in range(5)]
    for number, name in enumerate(names):
        run = tmp_path / name.lstrip("/")
        run.mkdir(parents=True)
        (run / "run.sqlite").touch()
        os.utime(run / "run.sqlite", (9 - number, 9 - number))
    found = [(run["name"], run["changed"]) for run in Shelf(tmp_path).listing()]
    assert found == [(name.lstrip("/"), 9 - number) for number, name in enumerate(names[:4])]
    for number in range(600):
        (tmp_path / f"z{number}").mkdir()
        (tmp_path / f"z{number}" / "run.sqlite").touch()
    assert len(Shelf(tmp_path).listing()) == 500


def test_a_run_is_read_while_somebody_writes_and_left_as_it_is(
    tmp_path: Path, results: Path
) -> None:
    """Nobody waits for the other: a writer that holds the whole store does not stop a reader."""
    run = tmp_path / "cup"
    shutil.copytree(results / "cup", run)
    writer = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("UPDATE games SET plies = 1")

    def look() -> dict[str, tuple[int, int, int]]:
        facts = {path.name: path.stat() for path in (run, *run.rglob("*"))}
        return {name: (one.st_mtime_ns, one.st_size, one.st_ino) for name, one in facts.items()}

    before = look()
    assert Shelf(tmp_path).listing()[0]["state"] == "running"
    assert describe_run(run)["played"] == 60
    assert describe_progress(run)["played"] == 60
    assert list_games(run, 0, 0)["games"][0]["plies"] > 1
    assert show_game(run, 0, 0, 0)["frames"]
    assert look() == before
    writer.execute("ROLLBACK")
    writer.close()


OUTSIDE = [
    *("", ".", "..", "../cup", "cup/..", "cup/../cup", "cup/", "/cup", "//cup", "cup//"),
    *("linked", ".hidden", "cup/.", "cup\\..", "cup\0", "empty", "nothing", "~", "%2e%2e"),
    *("/etc", "human", "series", "cup/run.sqlite", "x" * 5000),
]


@pytest.mark.parametrize("name", OUTSIDE, ids=range(len(OUTSIDE)))
def test_no_name_leads_out_of_the_results(client: Client, results: Path, name: str) -> None:
    """Neither for a run, nor for its report, its games and its news."""
    with pytest.raises(LookupError):
        Shelf(results).find(name)
    for path in ("run", "run/events", "run/games", "run/game"):
        numbers = {"pairing": 0, "first": 0, "pair": 0, "seat": 0}
        assert client.ask(query(path, name=name, **numbers), status=404)
    for address in (quote(name, safe=""), quote(name), quote(f"{name}/report.html")):
        for place in ("report", "alone"):
            answer, _ = client.send("GET", f"{client.root}/{place}/{address}", client.headers)
            assert answer.status in (400, 404), address


def test_a_report_that_is_a_link_is_not_followed(client: Client) -> None:
    """It may lead to any file of this machine."""
    assert client.ask("report/series/faults/report.html", status=404)


def test_a_report_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody may ever write to it, and the server could not end."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.sqlite").touch()
    os.mkfifo(run / "report.html")
    asking = threading.Thread(target=_find_no_report, args=(Shelf(tmp_path),), daemon=True)
    asking.start()
    asking.join(5)
    assert not asking.is_alive()


def _find_no_report(shelf: Shelf) -> None:
    with pytest.raises(LookupError):
        shelf.report("run/report.html")


def test_a_folder_whose_name_is_not_a_text_is_left_out(tmp_path: Path) -> None:
    """It cannot be sent, and the other runs can."""
    for name in (b"cup", b"\xff"):
        run = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        run.mkdir()
        (run / "run.sqlite").touch()
    assert [run["name"] for run in Shelf(tmp_path).listing()] == ["cup"]


def test_a_run_is_shown_as_it_was_played(client: Client, results: Path) -> None:
    """Its standings, its games, and each game with what led to its end."""
    run = client.ask(query("run", name="cup"))
    assert (run["played"], run["total"], run["pairings"]) == (60, 60, [["greedy", "uniform"]])
    assert [row["bot"] for row in run["standings"]] == ["greedy", "uniform"]
    games = client.ask(query("run/games", name="cup", pairing=0, first=0))
    assert (len(games["games"]), games["more"]) == (50, True)
    rest = client.ask(query("run/games", name="cup", pairing=0, first=50))
    assert (len(rest["games"]), rest["more"]) == (10, False)
    place = {"pairing": 0, "pair": 3, "seat": 1}
    timeline = client.ask(query("run/game", name="cup", **place))
    _, store = read_run(results / "cup")
    game = store.game(0, 3, 1)
    store.close()
    assert game is not None
    (listed,) = (one for one in games["games"] if (one["pair"], one["seat"]) == (3, 1))
    assert timeline["players"] == listed["players"] == ["uniform", "greedy"]
    assert timeline["ending"].endswith("{} : {}".format(*sorted(listed["points"], reverse=True)))
    assert [part["total"] for part in timeline["frames"][-1]["points"]] == listed["points"]
    assert "".join(frame["action"]["char"] for frame in timeline["frames"][1:]) == game.actions
    assert all(frame["chance"] is not None for frame in timeline["frames"])


NOWHERE = [
    {"pairing": 1, "pair": 0, "seat": 0},
    {"pairing": -1, "pair": 0, "seat": 0},
    {"pairing": "x", "pair": 0, "seat": 0},
    {"pairing": 0, "pair": 0, "seat": "\u0665"},
    {"pairing": 0, "pair": 10**12, "seat": 0},
    {"pairing": 0, "pair": 30, "seat": 0},
    {"pairing": 0, "pair": 0, "seat": 2},
    {"pairing": 0},
]


@pytest.mark.parametrize("place", NOWHERE, ids=range(len(NOWHERE)))
def test_a_game_that_is_not_there_is_refused(client: Client, place: dict[str, object]) -> None:
    """In one line."""
    path = f"{client.root}/{query('run/game', name='cup', **place)}"
    answer, content = client.send("GET", path, client.headers)
    assert answer.status in (400, 404)
    assert content.startswith(b'{"error":')


def test_faults_come_with_their_evidence(client: Client, results: Path) -> None:
    """Labels and messages are data: the page shows them as text."""
    run = client.ask(query("run", name="series/faults"))
    assert [fault["bot"] for fault in run["faults"]] == [HOSTILE] * 2
    fault = run["faults"][0]
    assert (fault["kind"], fault["ply"]) == ("exception", 0)
    assert "</script><script>" in fault["message"]
    assert "arena game" in fault["command"]
    assert fault["place"] == {"pair": 0, "seat": 0}
    assert describe_run(results / "series" / "faults") == run


def test_long_lists_are_cut(tmp_path: Path, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first 200 faults of a run, and the last 200 of a person's games."""
    assert (looking_up._MOST_FAULTS, own_games._MOST_LISTED) == (200, 200)
    monkeypatch.setattr(looking_up, "_MOST_FAULTS", 1)
    assert len(describe_run(results / "series" / "faults")["faults"]) == 1
    deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    file = tmp_path / "games.jsonl"
    file.write_text(f"{Record(deal, '').to_json()}\n" * 201)
    found = [row["line"] for row in own_games.list_own(own_games.read_games(file))]
    assert found == [*range(201, 1, -1)]


@pytest.mark.slow
def test_requests_that_come_side_by_side_are_all_answered(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones parse the bots, one at a time; each bot is parsed once."""
    monkeypatch.setattr(syntax, "_kept", {})
    parsed: list[bytes] = []
    parse = syntax.make_outline

    def keep(source: bytes) -> list[str]:
        parsed.append(source)
        time.sleep(0.01)  # the others come meanwhile
        return parse(source)

    monkeypatch.setattr(syntax, "make_outline", keep)
    asked = [query("run", name="cup"), "api/home", "api/records", "api/home"] * 10
    with changing_places(), ThreadPoolExecutor(len(asked)) as threads:
        answers = [*threads.map(client.ask_bytes, asked)]
    assert len({*answers[1::4], *answers[3::4]}) == 1
    assert b"champion" in answers[1]
    assert len(parsed) == len({*parsed}) >= len(catalogue())


def test_a_run_under_way_is_followed(tmp_path: Path, results: Path) -> None:
    """What has been added is told, each fault once, until nobody writes any more."""
    run = tmp_path / "faults"
    shutil.copytree(results / "series" / "faults", run)
    log = run / "run.sqlite-wal"
    log.touch()  # as if somebody were writing
    with running(tmp_path) as client:
        news = client.news_of_run("faults")
        first = next(news)
        assert (first["played"], first["rate"], first["over"]) == (2, None, False)
        assert {row["bot"] for row in first["standings"]} == {HOSTILE, "greedy"}
        assert [fault["bot"] for fault in first["faults"]] == [HOSTILE] * 2
        log.unlink()
        last = next(news)
        assert (last["over"], last["faults"]) == (True, [])
        assert last["rate"] == 0.0


def test_games_of_a_person_are_listed_and_replayed(tmp_path: Path) -> None:
    """A line that is no record is left out, and does not hide the others."""
    deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    lines = [
        Record(deal, "5").to_json(bots=["human", "a<b>"]),
        "noise",
        Record(deal, "qq").to_json(),
        Record(deal, "").to_json(),
    ]
    (tmp_path / "human").mkdir()
    (tmp_path / "human" / "games.jsonl").write_text("\n".join(lines))
    with running(tmp_path) as client:
        records = client.ask("api/records")["records"]
        assert [record["line"] for record in records] == [4, 1]
        assert records[1]["players"] == ["human", "a<b>"]
        assert records[1]["win_type"] == "unfinished"
        assert len(client.ask("api/record?line=1")["frames"]) == 2
        assert "not JSON" in client.ask("api/record?line=2", status=400)["error"]
        assert client.ask("api/record?line=3", status=400)
        assert client.ask("api/record?line=5", status=404)


@pytest.mark.slow
def test_a_league_is_listed_without_its_rounds_and_shown(tmp_path: Path) -> None:
    """Its standings and news; a round is a run that can be found; no path of this machine."""
    with a_league(tmp_path / "club", panel=["uniform", "greedy", "timing"]) as league:
        play(league)
        write_site(league)
    for name, text in (("broken", "{"), ("pipe", "")):
        (tmp_path / name / "site").mkdir(parents=True)
        (tmp_path / name / "league.sqlite").touch()
        (tmp_path / name / "site" / "league.json").write_text(text)
    (tmp_path / "pipe" / "site" / "league.json").unlink()
    os.mkfifo(tmp_path / "pipe" / "site" / "league.json")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "site").symlink_to(tmp_path / "club" / "site")
    (tmp_path / "elsewhere").symlink_to(tmp_path / "club")
    with running(tmp_path) as client:
        runs = {run["name"]: run for run in client.ask("api/runs")["runs"]}
        assert {name: run["state"] for name, run in runs.items()} == {
            "club": "open",
            "broken": "damaged",
            "pipe": "open",
        }
        listed = runs["club"]
        assert (listed["kind"], listed["runs"]) == ("league", ["rounds/000001"])
        assert listed["report"] == "club/site/index.html"
        assert b"All bots" in client.ask_bytes("report/club/site/bots/timing.html")
        shown = client.ask(query("league", name="club"))
        assert [row["bot"] for row in shown["standings"]] == ["timing", "greedy", "uniform"]
        assert len(shown["news"]) == 3
        assert shown["round"] == 1
        assert str(tmp_path) not in json.dumps(shown)
        assert client.ask(query("run", name="club/rounds/000001"))["played"] == 120
        for name in (
            "broken",
            "pipe",
            "linked",
            "elsewhere",
            "club/rounds",
            "../club",
            "nobody",
            "",
            "club/rounds/000001",
        ):
            assert client.ask(query("league", name=name), status=404)
