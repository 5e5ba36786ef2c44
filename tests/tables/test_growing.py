"""Tables that grow while games are played are those of the games when they are read at the end."""

from __future__ import annotations

from random import Random

import pytest

from arena.runs.interim import GrowingTables
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tables.win_tables import WinTables, make_win_tables
from arena.tournament.plan import Chunk, Played
from tests.tables.games import FAULT, GameResult, play, tournament

CUP = tournament(bots=3, pairs=6)


def chunks_of(pairs: int, *, damaged: bool = False) -> list[Played]:
    """Return the games of the first pairs of all pairings, two pairs in a chunk."""
    chunks: dict[tuple[int, int], list[GameResult]] = {}
    for game in play(CUP, forfeits=True):
        row = game.row
        if row.pair < pairs:
            fault = FAULT if game.forfeited else None
            actions = "?" if damaged and not row.pair else row.actions
            ending = row.winner, row.win_type, 0, 0, len(row.actions), fault, actions
            result = GameResult(row.pair, row.seat, *ending)
            chunks.setdefault((row.pairing, row.pair // 2), []).append(result)
    return [
        Played(Chunk(pairing, 2 * number, 2), results, {}, 0.0)
        for (pairing, number), results in chunks.items()
    ]


def grow(chunks: list[Played], store: Store) -> WinTables | None:
    growing = GrowingTables(CUP, lambda: None)
    for played in chunks:
        growing.add([played])
    try:
        return growing.finish(store.count())
    finally:
        growing.close()


def stored(chunks: list[Played]) -> Store:
    store = Store(None)
    for played in chunks:
        store.add(played)
    return store


@pytest.mark.slow
def test_chunks_in_any_order_give_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a batch holds a few games."""
    monkeypatch.setattr("arena.tables.run_games.CELLS", 48 * 5)
    chunks = chunks_of(6)
    store = stored(chunks)
    wanted = make_win_tables(CUP, store.count(), store.records)
    Random(1).shuffle(chunks)
    found = grow(chunks, store)
    assert found is not None
    assert len(vars(found)) == 3
    for name, table in vars(found).items():
        assert table.frame.equals(vars(wanted)[name].frame), name


def test_they_are_given_up_where_games_are_missing_or_cannot_be_replayed() -> None:
    """The end of the run then reads the games."""
    chunks = chunks_of(6)
    assert grow(chunks[1:], stored(chunks)) is None
    assert grow([*chunks, chunks[0]], stored(chunks)) is None
    assert grow(chunks_of(6, damaged=True), stored(chunks)) is None
    assert grow([], stored(chunks)) is None


@pytest.mark.slow
def test_a_run_reads_no_game_again(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tables are there when the last game is."""
    from arena.executors.local import LocalExecutor

    monkeypatch.setattr(Store, "records", None)
    folder = tmp_path_factory.mktemp("run") / "out"
    run(CUP, LocalExecutor(1), RunFolder(folder))
    assert (folder / "details" / "cards.csv").read_text().count("\n") > 1


def test_they_are_given_up_where_their_games_change() -> None:
    """Also after all of them have come."""
    chunks = chunks_of(6)
    growing = GrowingTables(CUP, lambda: None)
    for played in chunks:
        growing.add([played])
    growing.invalidate()
    assert growing.finish(stored(chunks).count()) is None
