"""Results are the tables of a run: shown, saved, copied, and taken apart into charts."""

from __future__ import annotations

import copy
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import arena
from arena.errors import ChangedBots
from arena.library.rating import RunReport
from arena.library.running import Interrupted
from arena.store.folder import locate
from arena.store.store import Store
from tests.conftest import Once, run_here
from tests.kit import content, forge, same_files
from tests.reports.runs import cup, make_store, report_of
from tests.tiers import few

HOSTILE = "<script>alert('x')</script>"
TABLES = (
    "standings",
    "head_to_head",
    "win_types",
    "wins",
    "takes",
    "cards",
    "games",
    "faults",
    "timings",
)


class Faulty:
    """Plays a card that it does not have, after some plies."""

    def __init__(self, setup: Any) -> None:
        self.seat = setup.seat

    def choose(self, view: Any, /) -> int:
        return int(view.legal[0]) if len(view.history) < 9 else 99


@pytest.fixture(scope="module")
def folder(once: Once, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with forfeits, draws left out, and a bot with a label that is HTML."""
    path = tmp_path_factory.mktemp("results") / "friday"
    return shutil.copytree(once("results", play) / "friday", path)


def play(folder: Path) -> None:
    played(out=folder / "friday")


def played(bots: Sequence[Any] = ("uniform", (HOSTILE, "greedy"), Faulty), **more: Any) -> Any:
    """Return the results of a run with this seed."""
    how = {"pairs": 4, "seed": 7, "name": "friday", "max_faults": 3, "lane": "inproc"}
    return arena.run(bots, **{**how, "workers": 1, "progress": False, **more})


def tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.*")}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_what_its_file_holds(folder: Path, name: str) -> None:
    """The same columns, rows and values; nothing is a missing value."""
    table = getattr(arena.open(folder), name)
    file = pd.read_csv(locate(folder, f"{name}.csv"), keep_default_na=False, na_values=[""])
    pd.testing.assert_frame_equal(table, file, check_dtype=False)
    assert len(table) > 0


def test_a_column_has_one_type_whatever_its_values(folder: Path) -> None:
    """With and without forfeits or draws, and rated from games of which win type and seat lack."""
    loud, names = arena.open(folder), [*TABLES, "verdicts", "unresolved"]
    quiet = arena.run(["greedy", "uniform"], pairs=1, seed=7, progress=False)
    assert quiet.faults.empty
    types = {name: getattr(loud, name).dtypes.to_dict() for name in names}
    assert {name: getattr(quiet, name).dtypes.to_dict() for name in names} == types
    rated = arena.rate(loud.games[["bot", "opponent", "winner"]]).tables
    assert rated["win_types"][["seat", "forfeits"]].isna().all(axis=None)
    for name, table in rated.items():
        assert table.dtypes.to_dict() == types[name], name


def test_results_are_shown_as_a_table_and_a_folder_is_only_read(folder: Path) -> None:
    """As `arena run` prints it, in a notebook as HTML; every byte and every file is as before."""
    results = arena.open(folder)
    lines = str(results).splitlines()
    assert lines[0] == "friday: 24 games"
    assert lines[1].startswith("rank  bot")
    assert repr(results) == str(results)
    html = results._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<tr>") == 3
    before = tree(folder)
    assert "run.sqlite-wal" not in before
    changed = folder.stat().st_mtime_ns
    folder.chmod(0o500)
    try:
        results = arena.open(folder)
        assert len(results.games) == 24
        assert results.timings.size
    finally:
        folder.chmod(0o700)
    assert tree(folder) == before
    assert folder.stat().st_mtime_ns == changed  # no file came and went


def test_a_game_says_who_won_why_and_from_which_cards(folder: Path) -> None:
    """In either order of the bots; a forfeit has its kind, ply and message, or was by rule."""
    results = arena.open(folder)
    game = results.game("uniform", HOSTILE, pair=2, seat=1)
    assert game == results.game(HOSTILE, "uniform", pair=2, seat=0)
    assert game.seats == (HOSTILE, "uniform")
    games = results.games
    row = games[(games["opponent"] == HOSTILE) & (games["pair"] == 2) & (games["seat"] == 1)]
    assert row[["winner", "win_type", "plies"]].values.tolist() == [
        [game.winner, game.win_type, game.plies]
    ]
    assert tuple(part.points for part in game.breakdown) == game.points
    assert game.points == tuple(row[["opponent_points", "points"]].values[0])
    assert str(game).splitlines()[0] == f"seat 0: {HOSTILE}"
    assert str(game).splitlines().count(game.ending) == 1
    assert game.record.replay().over
    first = results.game("Faulty", "uniform", pair=0, seat=0)
    assert first.guilty == "Faulty"
    assert first.ending.startswith("Faulty forfeits (illegal at ply ")
    last = results.game(HOSTILE, "Faulty", pair=3, seat=1)
    assert last.ending == "Faulty forfeits: not played: too many faults before it"
    assert last.plies == 0
    assert repr(last) == f"<Game Faulty - {HOSTILE}: {last.ending}>"


WRONG_GAMES: list[tuple[tuple[Any, ...], str]] = [
    (("uniform", "unifrm", 0, 0), "no bot 'unifrm' in this run; there are uniform, <scr"),
    (("uniform", "uniform", 0, 0), "uniform and uniform do not play each other"),
    (("uniform", "Faulty", 4, 0), "pair 4: the run has 4 pairs"),
    (("uniform", "Faulty", -1, 0), "pair -1, seat 0: a pair is a number from"),
    (("uniform", "Faulty", 0, 2), "pair 0, seat 2: a pair is a number from 0 on, a"),
    (("uniform", "Faulty", "0", 0), "pair '0', seat 0: a pair is a number"),
]


def test_a_game_that_is_not_there_is_an_error(folder: Path) -> None:
    for place, message in WRONG_GAMES:
        with pytest.raises(arena.InputError) as caught:
            arena.open(folder).game(*place)
        assert str(caught.value).startswith(message)


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[arena.Results]]:
    """Results of a run that were opened by another process's means after each of its commits."""
    opened: list[arena.Results] = []
    commit = Store.commit

    def commit_and_open(store: Store) -> None:
        commit(store)
        if store.manifest is None:  # the file has just been made
            return
        before = sorted(os.listdir(tmp_path / "run"))
        opened.append(arena.open(tmp_path / "run"))
        assert sorted(os.listdir(tmp_path / "run")) == before
        if len(opened) == 4:
            subprocess.run(["cp", "-r", tmp_path / "run", tmp_path / "killed"], check=True)

    monkeypatch.setattr(Store, "commit", commit_and_open)
    monkeypatch.setattr("arena.runs.stored_run._UNSTORED", 0.0)  # each chunk by itself
    yield opened
    monkeypatch.undo()


@pytest.mark.slow
def test_a_running_run_can_be_opened(tmp_path: Path, seen: list[arena.Results]) -> None:
    """Its tables are those of the games so far, and it ends as if nobody had looked."""
    bots = ["uniform", "greedy", "city_hunter"]
    arena.run(bots, pairs=60, seed=7, out=tmp_path / "run", progress=False)
    counts = [results.played for results in seen]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert 0 < counts[3] < 360
    for results in seen[:6]:
        for name in TABLES[:-1]:
            table = getattr(results, name)
            assert [*table.columns] == [*getattr(seen[-1], name).columns]
        assert len(results.games) == results.played
        assert results.standings["games"].sum() == 2 * results.played
        assert not results.timings.size
    assert str(seen[0]).startswith("run: not finished: 0 of 360 games\nrank")
    with pytest.raises(arena.InputError, match="game greedy/city_hunter/59/1: not played yet"):
        seen[3].game("greedy", "city_hunter", 59, 1)
    undisturbed = arena.run(bots, pairs=60, seed=7, progress=False)
    assert arena.open(tmp_path / "run").games.equals(undisturbed.games)
    for index in ("with", "without"):  # a killed run leaves a log, and perhaps its index
        if index == "without":
            (tmp_path / "killed" / "run.sqlite-shm").unlink()
        before = tree(tmp_path / "killed")
        assert arena.open(tmp_path / "killed").played == counts[3]
        assert tree(tmp_path / "killed") == before


def test_what_is_not_a_run_is_an_error(tmp_path: Path, folder: Path) -> None:
    """One line that names the file; a damaged record is found when its game is asked for."""
    with pytest.raises(arena.InputError, match="nowhere: no such file or run"):
        arena.open(tmp_path / "nowhere")
    path = tmp_path / "copy"
    shutil.copytree(folder, path)
    change = "UPDATE games SET actions = 'TTT' WHERE pairing = 0 AND pair = 0"
    forge(path / "run.sqlite", change)
    with pytest.raises(arena.InputError, match="its record cannot be played: illegal action"):
        arena.open(path).game("uniform", HOSTILE)
    (path / "timings.csv").write_text("bot\n")
    with pytest.raises(arena.InputError, match=r"timings\.csv: not the columns of timings"):
        _ = arena.open(path).timings
    (path / "run.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(arena.InputError, match=r"run\.sqlite: file is not a database"):
        arena.open(path)
    (path / "run.sqlite").write_bytes(b"")
    with pytest.raises(arena.InputError, match="copy: no run has begun"):
        arena.open(path)


def test_what_is_no_path_and_no_results_is_refused(results: arena.Results, tmp_path: Path) -> None:
    """Before anything is played; results are rated as their games are, if there are any."""
    for place in (3, None, b"results"):
        with pytest.raises(arena.InputError, match="folder: expected a path, got "):
            arena.open(place)  # type: ignore[arg-type]
        if place is not None:
            with pytest.raises(arena.InputError, match="out: expected a path, got "):
                arena.run(["greedy", "uniform"], pairs=1, out=place, progress=False)  # type: ignore[arg-type]
    assert (results.finished, results.warnings) == (True, [])
    assert results.seat_advantage is not None
    ratings = arena.rate(results)
    assert str(ratings).startswith("4 games of 2 bots: 2 pairs\nrank  bot")
    assert ratings.verdicts.equals(results.verdicts)
    assert "\n# " in ratings.report().markdown()
    rated = ratings.standings
    assert rated.equals(arena.rate(results.games).standings)
    assert rated.equals(arena.rate(results.games.assign(games=1)).standings)
    with pytest.raises(arena.InputError, match="table 2: expected a DataFrame, got int"):
        arena.rate(results, 3)  # type: ignore[arg-type]
    with pytest.raises(arena.InputError, match="others: expected results, got int"):
        results.report(3)  # type: ignore[arg-type]
    empty = arena.Results(results._tournament, Store(None))
    for report in (empty.report, lambda: results.report(empty)):
        with pytest.raises(arena.InputError, match="run: no game has been played yet"):
            report()
    assert repr(results.report()) == "<report: run: greedy and uniform, seed 7>"
    (tmp_path / "mine").touch()
    with pytest.raises(arena.InputError, match="holds something else than this run; choose a new"):
        results.save(tmp_path)
    page = tmp_path / "game.html"
    made_by = '<meta name="generator" content="District Noir Arena">'
    page.write_text(f'{made_by}<body data-page="arena view">')
    with pytest.raises(arena.InputError, match="holds something else than a report"):
        results.report().save(page)


def test_runs_are_compared_under_the_same_rules_only(results: arena.Results) -> None:
    text = results.report(results).markdown()
    assert "# run (2), compared with run (1)\n" in text
    other = arena.run(["greedy", "uniform"], pairs=1, rules={"set_bonus": 4}, progress=False)
    with pytest.raises(arena.InputError, match=r"^run \(2\) and run \(1\) have different rules"):
        results.report(other)


@pytest.fixture(scope="module")
def results() -> arena.Results:
    """A small run that is in memory."""
    return arena.run(["greedy", "uniform"], pairs=2, seed=7, progress=False)


def test_a_notebook_shows_the_beginning_in_a_frame_of_its_own(results: arena.Results) -> None:
    """Without scripts; with what the report says first, a row for each bot and the standings."""
    report = results.report()
    shown = report._repr_html_()
    (frame,) = re.findall(r"<iframe ([^>]*)></iframe>", shown)
    assert shown == f"<iframe {frame}></iframe>"
    page = unescape(re.findall(r'srcdoc="([^"]*)"', frame)[0])
    assert "script-src 'none'" in unescape(page)
    assert "<script" not in page
    assert report._document.summary[0] in page
    assert page.count('<svg class="plot"') == 4  # the rating and the games of each bot
    assert page.count("<tr>") == 3  # the head, and a row for each bot


@pytest.mark.slow
def test_a_cell_of_many_bots_has_a_hundred_kilobytes_at_most() -> None:
    bots = 40
    run = cup(["<script>alert(1)</script>", *(f"bot number {n:03}" for n in range(1, bots))], 1)
    report = RunReport(report_of(run, make_store(run))[0])
    shown = report._repr_html_()
    assert len(shown.encode()) <= 100_000
    page = unescape(shown)
    assert "<script" not in page
    assert f"The first 20 of {bots} rows." in page
    assert page.count('class="rung ') == 20


def test_a_report_and_each_chart_are_saved_as_pages_or_markdown(
    results: arena.Results, tmp_path: Path
) -> None:
    """By the ending of the file; an earlier report is replaced, another file is kept."""
    report = results.report()
    report.save(tmp_path / "deep" / "page.html")
    report.save(str(tmp_path / "page.md"))
    report.save(tmp_path / "page.md")
    assert (tmp_path / "deep" / "page.html").read_text() == report.html
    assert (tmp_path / "page.md").read_text() == report.markdown()
    (tmp_path / "mine.md").write_text("mine")
    for name in ("mine.md", "page.txt", "page", "deep"):
        with pytest.raises(arena.InputError, match=re.escape(str(tmp_path / name))):
            report.save(tmp_path / name)
    assert (tmp_path / "mine.md").read_text() == "mine"
    charts = results.report().charts
    assert {"leads", "heat-map"} <= {*charts}
    for chart in charts.values():
        assert "<iframe " in chart._repr_html_()
        assert chart.html.count("<figure") == 1
        assert "<script" not in chart.html
    charts["heat-map"].save(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text() == charts["heat-map"].html
    assert repr(charts["heat-map"]) == "<chart: Scores against each opponent>"
    (tmp_path / "mine.html").write_text("mine")
    for name in ("mine.html", "map.png"):
        with pytest.raises(arena.InputError, match=re.escape(str(tmp_path / name))):
            charts["heat-map"].save(tmp_path / name)


@pytest.fixture(scope="module")
def in_memory() -> arena.Results:
    """Return the results of the same run as in the folder."""
    return played()


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def assert_same(one: arena.Results, other: arena.Results) -> None:
    for name in (*TABLES, "verdicts", "unresolved"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert (str(one), one.total) == (str(other), other.total)
    assert one.game(HOSTILE, "uniform", 1, 1) == other.game(HOSTILE, "uniform", 1, 1)


@pytest.mark.parametrize("make", few([pickled, copy.deepcopy, copy.copy], 0, 1))
def test_a_copy_has_the_same_tables(
    in_memory: arena.Results, make: Callable[[arena.Results], arena.Results]
) -> None:
    """Of results in memory, before and after the tables were made."""
    assert_same(in_memory, make(in_memory))


@pytest.mark.slow
@pytest.mark.parametrize("against", ["greedy", None])
def test_a_comparison_is_copied(against: str | None) -> None:
    """With its games, its verdict, and the differences of two versions."""
    how: Any = {"against": against, "seed": 1, "max_pairs": 4, "progress": False}
    comparison = arena.compare("denier", "uniform", **how)
    for make in (pickled, copy.deepcopy):
        again = make(comparison)
        assert str(again) == str(comparison)
        assert again.document() == comparison.document()
        assert again.results.games.equals(comparison.results.games)
        if against:
            pd.testing.assert_frame_equal(again.differences, comparison.differences)


def test_errors_reach_another_process(results: arena.Results) -> None:
    changed = pickled(ChangedBots("results/friday", {"mine": ["sha256: there 1f, here 2e"]}))
    assert changed.labels == ["mine"]
    assert "mine: sha256" in str(changed)
    interrupted = pickled(Interrupted(results, "results/friday"))
    assert interrupted.results.played == results.played
    assert "kept in results/friday/" in str(interrupted)


@pytest.mark.slow
def test_saved_results_are_the_folder_of_the_run(
    folder: Path, in_memory: arena.Results, tmp_path: Path
) -> None:
    """The same files with the same bytes, and a store with the same content."""
    in_memory.save(tmp_path / "deep" / "saved")
    saved = tmp_path / "deep" / "saved"
    names = sorted(path.relative_to(saved) for path in saved.rglob("*.*"))
    assert names == sorted(path.relative_to(folder) for path in folder.rglob("*.*"))
    assert same_files(saved) == same_files(folder)
    assert content(saved) == content(folder)
    assert [*pd.read_csv(saved / "timings.csv")["bot"]] == ["uniform", HOSTILE, "Faulty"]
    done = run_here(tmp_path, "verify", str(saved), "--sample", "0")
    assert (done.returncode, done.stderr) == (0, "")
    with closing(sqlite3.connect(saved / "run.sqlite")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.slow
def test_a_folder_with_anything_else_is_refused(
    folder: Path, in_memory: arena.Results, tmp_path: Path
) -> None:
    """It is left as it is; one with these very games is written again."""
    in_memory.save(tmp_path / "saved")
    (tmp_path / "saved" / "standings.csv").unlink()
    in_memory.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "standings.csv").exists()
    for name in ("notes.txt", "games.csv"):
        place = tmp_path / name
        place.mkdir()
        (place / name).write_text("mine")
        with pytest.raises(arena.InputError, match=f"{place}: holds something else than this run"):
            in_memory.save(place)
        assert [path.name for path in place.iterdir()] == [name]
    other = played(["uniform", "greedy"], pairs=1)
    before = tree(folder)
    with pytest.raises(arena.InputError, match="holds other games than these; choose a new"):
        other.save(folder)
    assert tree(folder) == before
    (tmp_path / "file").write_text("")
    with pytest.raises(arena.InputError, match="file: cannot be read: Not a directory"):
        in_memory.save(tmp_path / "file")


@pytest.mark.slow
def test_a_run_goes_on_from_what_was_saved(tmp_path: Path) -> None:
    """An unfinished run leaves its games and no tables; then nothing is played twice."""
    bots = ["uniform", "greedy"]
    played(bots, out=tmp_path / "whole")
    there = shutil.copytree(tmp_path / "whole", tmp_path / "there")
    forge(there / "run.sqlite", "DELETE FROM games WHERE pair = 1")
    arena.open(there).save(tmp_path / "saved")
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["run.log", "run.sqlite"]
    assert played(bots, out=tmp_path / "saved").played == 8
    assert same_files(tmp_path / "saved") == same_files(tmp_path / "whole")
    assert content(tmp_path / "saved") == content(tmp_path / "whole")
