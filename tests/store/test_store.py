"""The store keeps what was committed, and a run is read as it is at one moment."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError
from arena.executors.log import QUIET
from arena.lanes.faults import Fault
from arena.runs.judge_games import JudgedGames
from arena.runs.run import run
from arena.statistics.counts import MISSING
from arena.store import damage
from arena.store.counting import Counts
from arena.store.database import FORMAT, OLDEST, is_foreign
from arena.store.folder import RunFolder
from arena.store.manifest import manifest_text
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Forfeits, Pairing, PairRange
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.kit import HERE

MANIFEST = {"bots": [{"label": "a"}]}
FAULT = Fault("exception", "boom", "trace", "printed")


def played(pairing: int, first: int, pairs: int, *faulty: tuple[int, int]) -> Played:
    """Return a chunk that the pairing's first bot has won, except its forfeits in `faulty`."""
    results = [
        GameResult(pair, seat, 1, "forfeit", 0, 0, 3, FAULT, "555")
        if (pair, seat) in faulty
        else GameResult(pair, seat, 0, "points", 20, 10, 48, None, "5" * 48)
        for pair in range(first, first + pairs)
        for seat in (0, 1)
    ]
    return Played(Chunk(pairing, first, pairs), results, {}, 1.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.sqlite"


def begun(path: Path, pairs: int = 0) -> Store:
    """Return a new store with so many pairs, which are committed."""
    store = Store(path)
    store.begin(MANIFEST)
    if pairs:
        store.add(played(0, 0, pairs))
    store.commit()
    return store


def pairs_in(path: Path) -> list[range]:
    """Return the pairs that a store has, which is that of the manifest."""
    with closing(Store(path)) as store:
        assert store.manifest == manifest_text(MANIFEST)
        return store.finished([PairRange(0, 0, 999)])[0]


def judged_in(path: Path) -> list[bytes]:
    """Return which of the keys of these tests a store has judged games of."""
    with closing(JudgedGames(path, copied=True)) as kept:
        return [*kept.find([b"key", b"other"])]


def number_of(path: Path) -> int:
    """Return the number of a store's format."""
    with closing(sqlite3.connect(path)) as database:
        (number,) = database.execute("PRAGMA user_version").fetchone()
        return int(number)


def test_the_finished_pairs_are_known_as_ranges_with_gaps() -> None:
    store = Store(None)
    for first, pairs in ((10, 5), (0, 3), (15, 1), (30, 2), (4, 1)):
        store.add(played(4, first, pairs))
    ranges = [range(3), range(4, 5), range(10, 16), range(30, 32)]
    assert store.finished([PairRange(4, 0, 99)])[4] == ranges
    assert store.finished([PairRange(0, 0, 99)])[0] == []


def test_the_pairs_of_two_pairings_differ_by_their_scores() -> None:
    """Only those count that both have finished, in the range that was asked for."""
    store = Store(None)
    store.add(played(3, 0, 6, (1, 0), (2, 0), (2, 1)))  # scores 2, 1, 0, 2, 2, 2
    store.add(played(1, 0, 5, (0, 0), (0, 1), (3, 1)))  # scores 0, 2, 2, 1, 2
    assert store.count_differences(3, 1, 0, 9) == (1, 0, 1, 0, 1, 0, 1, 0, 1)
    assert store.count_differences(3, 1, 1, 4) == (1, 0, 1, 0, 0, 0, 1, 0, 0)
    assert store.count_differences(1, 3, 1, 4) == (0, 0, 1, 0, 0, 0, 1, 0, 1)


def test_the_scores_of_pairs_are_in_the_order_of_play() -> None:
    """In halves, by pairing; a pair that lacks a game, or was not played, has none."""
    store = Store(None)
    store.add(played(3, 4, 2, (5, 1)), played(1, 0, 5, (0, 0), (0, 1), (3, 1)), played(3, 0, 2))
    store.forfeit(Forfeits(3, 4, 8, 1))
    pairing, halves = store.count().sequence or ((), ())
    assert [*pairing] == [1] * 5 + [3] * 4
    assert [*halves] == [0, 4, 4, 2, 4, 4, 4, 4, 2]


def test_a_result_is_read_as_it_was_written() -> None:
    """With its fault and evidence; a forfeit can be selected, and gets its fixture."""
    store = Store(None)
    chunk = played(1, 3, 2, (4, 0))
    store.add(chunk)
    assert list(store.results()) == [(1, result) for result in chunk.results]
    (forfeit,) = chunk.forfeits
    assert store.forfeits([PairRange(1, 3, 5)])[1] == [forfeit]
    assert store.forfeits([PairRange(1, 3, 4)])[1] == store.forfeits([PairRange(0, 0, 9)])[0] == []
    store.add(played(1, 5, 1, (5, 0)))
    assert [*store.first_faults(1)] == [(1, forfeit)]
    assert (store.game(1, 4, 0), store.game(1, 9, 0)) == (forfeit, None)
    assert Counts.of(games=[[3, 4], [0, MISSING], [MISSING, 3]], pairs=[7, 2, 1]).total == 17
    ((fixture, result), _) = store.all_forfeits([Pairing("a", "b"), Pairing("a", "c")])
    assert (fixture.name, result) == ("a/c/4/0", forfeit)


def test_games_beyond_the_last_pair_are_set_aside_and_come_back(path: Path) -> None:
    """With their evidence; the file is as whole as before."""
    pairing, store = [Pairing("a", "b")], begun(path)
    store.add(played(0, 0, 3, (2, 1)))
    before = [*store.results()]
    for pairs in (2, 2):
        store.trim(pairing, {0: pairs})
        assert [*store.results()] == before[: 2 * pairs]
    store.close()
    assert pairs_in(path) == [range(2)]
    with closing(Store(path)) as store:
        store.extend(MANIFEST, pairing, pairing, 3)
        assert [*store.results()] == before


def test_games_go_with_their_bots_when_others_join_and_the_order_changes(path: Path) -> None:
    """Seen from the bot that the pairing names first now; those that it lacks are set aside."""
    before, after = [Pairing("a", "b"), Pairing("a", "c")], [Pairing("c", "a"), Pairing("d", "a")]
    store = begun(path)
    store.add(first := played(0, 0, 1), chunk := played(1, 0, 2, (1, 0)))
    store.commit()
    store.extend(MANIFEST, before, after, 2)
    turned = [
        GameResult(pair, 1 - seat, 1 - (winner or 0), how, theirs, own, *more)
        for pair, seat, winner, how, own, theirs, *more in chunk.results
    ]
    assert [*store.results()] == [(0, game) for game in sorted(turned, key=lambda one: one[:2])]
    store.extend(MANIFEST, after, before, 2)
    assert [*store.results()] == [(0, game) for game in first.results] + [
        (1, game) for game in chunk.results
    ]
    store.close()
    assert pairs_in(path) == [range(1)]


UNPLAYED = Fault("max_faults", "not played: too many faults before it")


def test_a_forfeit_by_rule_replaces_a_played_game() -> None:
    """The played game's fault is gone; the rule counts earlier faults, not forfeits by rule."""
    store = Store(None)
    store.add(played(0, 0, 4, (1, 0), (1, 1), (2, 0)))
    store.forfeit(Forfeits(0, 3, 8, loser=0))
    assert [game[:2] for game in store.forfeits([PairRange(0, 0, 4)])[0]] == [(1, 0)]
    games = [(game[:4], game.fault) for _, game in store.results()]
    assert games[1:3] == [((0, 1, 0, "points"), None), ((1, 0, 1, "forfeit"), FAULT)]
    by_rule = [((*divmod(number, 2), 1, "forfeit"), UNPLAYED) for number in range(3, 8)]
    assert games[3:] == by_rule
    for loser in (0, 1):
        (other := Store(None)).forfeit(Forfeits(0, 0, 1, loser))
        none = GameResult(0, 0, 1 - loser, "forfeit", 0, 0, 0, UNPLAYED, "")
        assert [*other.results()] == [(0, none)]
    # a loses 1/0 and all from 1/1 on: 2, 0, 0 and 0 points in the four pairs
    assert store.count().pair_totals == [(0, 4, 2.0, 4.0, (3, 0, 0, 0, 1))]


def test_another_connection_sees_the_committed_games_only(path: Path) -> None:
    with closing(Store(path)) as store, closing(sqlite3.connect(path)) as database:
        store.add(played(0, 0, 3))
        assert database.execute("SELECT count(*) FROM games").fetchone() == (0,)
        store.commit()
        assert database.execute("SELECT count(*) FROM games").fetchone() == (6,)


def test_a_full_disk_is_an_error_and_committed_games_stay(path: Path) -> None:
    """The chunk that did not fit is not stored in part."""
    with closing(begun(path, 100)) as store:
        (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
        store.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(ArenaError, match=r"run\.sqlite: database or disk is full"):
            store.add(played(0, 100, 1000))
    assert pairs_in(path) == [range(100)]


def test_a_chunk_that_is_ended_before_its_checksum_is_not_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.store.renew_blocks", Mock(side_effect=KeyboardInterrupt))
    with closing(begun(path)) as store, pytest.raises(KeyboardInterrupt):
        store.add(played(0, 0, 3))
    assert pairs_in(path) == []
    with closing(Store(path)) as store:
        assert store.count_games() == 0


def test_a_store_that_was_not_closed_has_its_committed_games(path: Path) -> None:
    """As after kill -9: its files are copied while it is open."""
    with closing(begun(path, 7)) as store, closing(JudgedGames(path)) as kept:
        kept.add({b"key": []})
        store.add(played(0, 7, 2))
        copy = path.parent / "copy"
        copy.mkdir()
        for file in path.parent.glob("run.sqlite*"):
            shutil.copy(file, copy)
    assert pairs_in(copy / "run.sqlite") == [range(7)]
    assert judged_in(copy / "run.sqlite") == [b"key"]


def test_a_log_without_its_index_is_read_and_no_file_is_made(path: Path) -> None:
    """As in a folder that was copied, or one that is only for reading."""
    with closing(begun(path, 7)):
        copy = path.parent / "copy"
        copy.mkdir()
        for name in ("run.sqlite", "run.sqlite-wal"):
            shutil.copy(path.parent / name, copy)
    with closing(Store(copy / "run.sqlite", copied=True)) as store:
        assert store.count_games() == 14
    assert sorted(file.name for file in copy.iterdir()) == ["run.sqlite", "run.sqlite-wal"]


def test_a_run_goes_on_while_its_games_are_judged(path: Path) -> None:
    """It stores games also if others have written since it has counted."""
    with closing(begun(path, 3)) as store, closing(JudgedGames(path)) as kept:
        for first, key in ((3, b"key"), (4, b"other")):
            assert store.count_ranges([PairRange(0, 0, 9)]).total == 2 * first
            kept.add({key: []})
            store.add(played(0, first, 1))
            store.commit()
    assert pairs_in(path) == [range(5)]
    assert judged_in(path) == [b"key", b"other"]


def test_a_run_that_starts_over_loses_nothing_to_an_analysis_of_the_one_before(path: Path) -> None:
    """It removes the files of a store that is open, and makes them anew."""
    begun(path, 3).close()
    with closing(JudgedGames(path)) as before:
        before.add({b"key": []})
        assert "run.sqlite-wal" in RunFolder(path.parent).clear()
        with closing(begun(path, 5)) as store:
            before.add({b"other": []})
            before.close()
            store.add(played(0, 5, 1))
            store.commit()
    assert pairs_in(path) == [range(6)]
    assert judged_in(path) == []


def test_what_was_judged_goes_with_games_that_are_replaced(path: Path) -> None:
    """And stays where a run only gets more pairs."""
    pairings = [Pairing("a", "b")]
    with closing(begun(path, 3)) as store, closing(JudgedGames(path)) as kept:
        kept.add({b"key": []})
        store.extend(MANIFEST, pairings, pairings, 5)
        assert [*kept.find([b"key"])] == [b"key"]
        store.extend(MANIFEST, pairings, pairings, 5, ["a"])
        assert (store.count_games(), kept.find([b"key"])) == (0, {})


def test_judged_games_of_another_arena_are_removed_and_a_damaged_one_is_judged_again(
    path: Path,
) -> None:
    begun(path, 1).close()
    with closing(JudgedGames(path)) as kept:
        kept.add({b"key": [], b"other": []})
        for damage in ("x'ff'", "5", "'text'"):
            kept.connection.execute(
                f"UPDATE judged SET decisions = {damage} WHERE game = ?", (b"key",)
            )
            assert kept.find([b"key", b"other"]) == {b"other": []}
        kept.connection.execute("UPDATE judged SET arena = 'before'")
        assert kept.find([b"key", b"other"]) == {}
        kept.add({b"key": []})
        assert kept.one("SELECT count(*) FROM judged") == 1


def test_a_store_of_1_x_keeps_its_number_until_its_games_are_judged(path: Path) -> None:
    """So the version that has made it still goes on with it."""
    begun(path, 3).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {OLDEST}")
    with closing(Store(path)) as store:
        store.add(played(0, 3, 1))
        store.commit()
    assert (number_of(path), judged_in(path)) == (OLDEST, [])
    with closing(JudgedGames(path)) as kept:
        kept.add({b"key": []})
    assert (number_of(path), judged_in(path)) == (FORMAT, [b"key"])
    assert pairs_in(path) == [range(4)]


def test_a_store_without_tables_is_a_new_store(path: Path) -> None:
    """Its run was killed before the tables were made."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA application_id = 5")
    with closing(Store(path)) as store:
        assert store.manifest is None


STORES = {
    0: "made by a development version before 1.0, in format 0, and this arena reads 5; a run with",
    3: "made by a development version before 1.0, in format 3, and this arena reads 5; a run with",
    6: "made by a later version, in format 6; this is .* and reads 5: update the arena; a run with",
    -1: "format -1: not the number of a format, which is 5",
    2**31 - 1: "format 2147483647: not the number of a format, which is 5",
}


@pytest.mark.parametrize("version", STORES)
def test_a_store_of_another_version_is_refused(path: Path, version: int) -> None:
    Store(path).close()
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        database.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(InputError, match=rf"run\.sqlite: {STORES[version]}"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("application", [0, 1, 2**31 - 1])
def test_a_database_of_another_program_is_refused(path: Path, application: int) -> None:
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA application_id = {application}")
        database.execute("PRAGMA user_version = 2")
        database.execute("CREATE TABLE games (pairing, pair, seat)")
    with pytest.raises(InputError, match=r"run\.sqlite: a database, but not one of a run"):
        Store(path)
    assert is_foreign(path)


DAMAGES = {
    "DROP TABLE games": "not the tables of a run",
    "DROP TABLE evidence": "not the tables of a run",
    "CREATE TABLE judged (arena, game, decisions)": "not the tables of a run",
    "CREATE VIEW more AS SELECT 1": "not the tables of a run",
    "CREATE TRIGGER more AFTER INSERT ON games BEGIN DELETE FROM games; END": "not the tables",
    "INSERT INTO run VALUES ('more', 'x', 0)": "a value of a wrong type at 'more'",
    "UPDATE run SET value = x'ff'": "a value of a wrong type at 'manifest'",
    "UPDATE games SET winner = 2 WHERE pair = 1": "a value of a wrong type at '0/1/0'",
    "UPDATE games SET win_type = 'none' WHERE pair = 1": "a value of a wrong type at '0/1/0'",
    "UPDATE games SET points = 9223372036854775807 WHERE pair = 1": "a value of a wrong type",
    "UPDATE games SET plies = 1.5 WHERE pair = 1": "a value of a wrong type at '0/1/0'",
    "UPDATE games SET actions = NULL WHERE pair = 1": "a value of a wrong type at '0/1/0'",
    "UPDATE games SET pair = -1 WHERE pair = 1": "a value of a wrong type at '0/-1/0'",
    "UPDATE games SET pairing = 'x' WHERE pair = 1": "a value of a wrong type at 'x/1/0'",
    "UPDATE games SET seat = 2 WHERE pair = 1 AND seat = 0": "a value of a wrong type at '0/1/2'",
    "INSERT INTO evidence VALUES (0, 0, 0, x'ff', '', '', 0)": "a value of a wrong type at '0/0/0'",
    "INSERT INTO evidence VALUES (0, 0, 1, 'x', NULL, '', 0)": "a value of a wrong type at '0/0/1'",
    "INSERT INTO left_out SELECT 'b', 'a', pair, seat, winner, win_type, points, opponent_points, "
    "plies, fault, actions, NULL, NULL, NULL, 0 FROM games": "a value of a wrong type at 'b/a/0/0'",
    "INSERT INTO blocks VALUES (0, 'x', 0)": "a value of a wrong type at '0/x'",
    "UPDATE games SET points = 21 WHERE pair = 1": "games: pairs 0 to 63 of pairing 0 are not what",
    "UPDATE bots SET identity = '{}'": "bots: the row of 'a' is not what was written",
    "DELETE FROM blocks": "games: 6 of them, and 0 were written",
}


def test_a_damaged_schema_is_refused(path: Path) -> None:
    """SQLite quotes it in its message, also bytes that are no text."""
    Store(path).close()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE games", b"CREATE TABLE\xa0games"))
    with pytest.raises(InputError, match=r"run\.sqlite: "):
        Store(path)


@pytest.mark.parametrize(("statement", "damage"), DAMAGES.items())
def test_a_damaged_store_is_refused_and_kept(path: Path, statement: str, damage: str) -> None:
    """Its tables are not ours, or a value is not of its column's type."""
    begun(path, 3).close()
    with sqlite3.connect(path) as database:
        database.execute(statement)
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        Store(path)
    assert str(caught.value).startswith(f"{path}: damaged: {damage}")
    assert str(caught.value).endswith("; a run with --fresh starts over")
    assert path.read_bytes() == before


@pytest.mark.parametrize(("pairings", "pairs"), [(4, 10), (5, 9)])
def test_a_game_that_the_run_does_not_have_is_refused(pairings: int, pairs: int) -> None:
    store = Store(None)
    store.add(played(4, 9, 1))
    store.check_games(5, 10)
    with pytest.raises(InputError, match="damaged: a game of pair 9 of pairing 4; a run with"):
        store.check_games(pairings, pairs)


def test_records_are_those_of_the_first_pairs_of_each_pairing() -> None:
    """As many as each has to give; a pair of one game is a pair, and numbers may be missing."""
    store = Store(None)
    for number, first in ((0, 0), (1, 3), (3, 5)):
        store.add(played(number, first, 4))
    store.connection.execute("DELETE FROM games WHERE pairing = 1 AND pair = 3 AND seat = 1")
    found = [row[:3] for row in store.records([1, 3, 2, 0])]
    assert found == [(0, 0, 0), (0, 0, 1), (1, 3, 0)] + [(1, n, s) for n in (4, 5) for s in (0, 1)]
    assert len([*store.records([9, 9, 9, 9])]) == 23
    store.close()


def test_labels_that_fail_on_the_way_leave_those_of_before(path: Path) -> None:
    """And no transaction: also where one is open, whose games stay."""

    def fails() -> Iterator[Pairing]:
        yield Pairing("x", "y")
        raise ValueError

    with closing(begun(path)) as store:
        for is_open in (False, True):
            if is_open:
                store.add(played(0, 0, 1))
            store.name_pairings([Pairing("a", "b")])
            with pytest.raises(ValueError, match=r"^$"):
                store.name_pairings(fails())
            assert [*store.rows("SELECT bot, opponent FROM named")] == [("a", "b")]
            assert store.connection.in_transaction == is_open
        store.commit()
        assert store.count_games() == 2


@pytest.mark.slow
def test_a_run_is_copied_and_left_alone(tmp_path: Path) -> None:
    """Games that are added later, by the run or to the copy, are not in the other one."""
    bots = [resolve(name, lane="inproc") for name in ("uniform", "greedy")]
    tournament = Tournament("read", 3, 4, bots, STANDARD)
    run(tournament, HERE, RunFolder(tmp_path), QUIET)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    again, copy = read_run(tmp_path)
    with closing(copy):
        assert (again.labels, again.seed, again.pairs) == (tournament.labels, 3, 4)
        copy.add(played(0, 4, 1))
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
        with closing(Store(tmp_path / "run.sqlite")) as store:
            store.add(played(0, 7, 2))
            assert store.finished([PairRange(0, 0, 99)])[0] == [range(4), range(7, 9)]
        assert copy.finished([PairRange(0, 0, 99)])[0] == [range(5)]


FLIPS = 60


def read(path: Path) -> tuple[set[Any], str | None]:
    """Return all games of a store, with its bots, and its manifest."""
    with closing(Store(path, copied=True)) as store:
        return {*store.results(), *store.rows("SELECT * FROM bots")}, store.manifest


@pytest.mark.slow
@pytest.mark.parametrize("names", [["run.sqlite"], ["run.sqlite", "run.sqlite-wal"]])
def test_a_flip_of_a_bit_is_named_or_harmless_or_loses_commits(
    tmp_path: Path, names: list[str]
) -> None:
    """SQLite leaves out what comes after a bad page of its log, which a killed run has left."""
    path, rng, lost = tmp_path / "run.sqlite", Random(7), 0
    refused: list[str] = []
    with closing(begun(path)) as store:
        for first in range(0, 90, 30):
            store.add(played(0, first, 30, (first, 0), (first + 1, 1)), played(1, first, 30))
            store.commit()
        contents = [(tmp_path / name).read_bytes() for name in names]
    if len(names) == 1:  # it was closed
        contents = [path.read_bytes()]
    whole, manifest = read(path)
    assert len(whole) == 360 + 1
    for _ in range(FLIPS):
        flipped = [*map(bytearray, contents)]
        content = rng.choice(flipped)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        for name, changed in zip(names, flipped, strict=True):
            (tmp_path / name).write_bytes(changed)
        try:
            found, text = read(path)
        except InputError as error:
            refused.append(str(error))
            continue
        lost += found != whole
        assert found <= whole
        assert text in (manifest, None)
    assert (len(refused) > FLIPS // 3, lost > 0) in [(True, False), (False, True)]
    for said in refused:
        assert said.startswith(f"{path}: ")
        assert said.endswith(("; a run with --fresh starts over", "; choose another folder"))


def test_a_pairing_is_part_of_a_checksum(path: Path) -> None:
    """In a node of SQLite's tree a key can change so that a game is found in its old place."""
    with closing(Store(path)) as store:
        store.add(played(0, 0, 2))
        found = damage._sum_games(store.connection, 0, 0)
        store.connection.execute("UPDATE games SET pairing = 1")
        assert damage._sum_games(store.connection, 1, 0) != found
