"""How games are won: what the tables cost, beside playing the games."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from random import Random
from statistics import median
from time import process_time

from arena.entries.resolve import resolve
from arena.store.store import Store
from arena.tables.game_arrays import Batch, Row, read_batches
from arena.tables.points_and_takes import Cards, Sides, Takes, Wins
from arena.tables.win_tables import WinTables, make_win_tables
from arena.tournament.match import Finished, GameResult, result_of
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from bench.engine import Row as Line
from bench.timing import peak
from engine import STANDARD, Setup, State
from engine.play import play, playout

GAMES = 4_000
ROUNDS = 8
MANY = 100_000


def rows() -> Iterator[Line]:
    """Yield the cost of a game, of its tables, and of each table; then memory of many games."""
    cup = tournament("majority", GAMES // 2)
    store = Store(None)
    playing = []
    shares = []
    for chunk in range(ROUNDS):  # in turns, so that a change of the machine's speed affects both
        first, end = (chunk * cup.pairs // ROUNDS for chunk in (chunk, chunk + 1))
        games = 2 * (end - first)
        playing.append(_seconds(lambda a=first, b=end: add(store, cup, a, b)) / games)  # type: ignore[misc]
        made = _seconds(lambda: _tables(cup, store)) / (2 * end)
        shares.append(made / playing[-1])
    yield Line("majority - majority: a game, us", f"{1e6 * median(playing):,.0f}", "1")
    share = f"{median(shares[ROUNDS // 2 :]):.3f} of a game"
    yield Line("the tables: a game, us", f"{1e6 * made:,.0f}", share, "at most 0.1")
    yield from _parts(cup, store)
    two = Store(None)
    add(two, cup, 0, 1)
    own = min(_seconds(lambda: _tables(cup, two)) for _ in range(20))
    yield Line("the tables of two games, ms", f"{1e3 * own:.0f}")
    yield from _memory()


def tournament(bot: str, pairs: int) -> Tournament:
    """Return a tournament of a bot against itself."""
    return Tournament("wins", 0, pairs, [resolve(f"{n}={bot}") for n in "ab"], STANDARD)


def add(store: Store, cup: Tournament, first: int, end: int, *, random: bool = False) -> None:
    """Play pairs of a tournament into a store, with its bots or at random."""
    results = [
        _game(cup, pair, seat, random=random) for pair in range(first, end) for seat in (0, 1)
    ]
    store.add(Played(Chunk(0, first, end - first), results, {}, 0.0))


def _game(cup: Tournament, pair: int, seat: int, *, random: bool) -> GameResult:
    draw = cup.draw(cup.fixture(0, pair, seat))
    state = State(draw.deal)
    if random:
        playout(state, Random(2 * pair + seat))
    else:
        bots = [
            entry.create(Setup(Random(luck), place, STANDARD))
            for place, (entry, luck) in enumerate(zip(cup.entries, draw.lucks, strict=True))
        ]
        play(state, bots)
    return result_of(Finished(state), pair, seat)


def _tables(cup: Tournament, store: Store) -> WinTables:
    return make_win_tables(cup, store.count(), store.records)


def _seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def _parts(cup: Tournament, store: Store) -> Iterator[Line]:
    """Yield what of the tables takes how long."""
    labels, rules = cup.labels, cup.rules
    batches: list[Batch] = []
    spent = {"reading": _seconds(lambda: batches.extend(_read(cup, store)))}
    (batch,) = batches
    sides = Sides(batch, len(labels))
    spent["replaying"] = _seconds(lambda: batch.replay)
    for name, table in (
        ("wins", Wins(labels, rules)),
        ("takes", Takes(labels, rules)),
        ("cards", Cards(labels, rules)),
    ):
        spent[name] = _seconds(lambda table=table: table.add(sides))  # type: ignore[misc]
        spent[name] += _seconds(table.table)
    for name, seconds in spent.items():
        yield Line(f"of it {name}: a game, us", f"{1e6 * seconds / batch.games:.0f}")


def _read(cup: Tournament, store: Store) -> Iterator[Batch]:
    return read_batches(cup, map(Row._make, store.records([cup.pairs])), GAMES)


def _memory() -> Iterator[Line]:
    """Yield what the tables of many games take, in a process of their own."""
    command = [sys.executable, "-m", "bench.wins", str(MANY)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, before, after = map(float, done.stdout.split())
    yield Line(f"{MANY:,} random games: a game, us", f"{1e6 * seconds / MANY:.0f}")
    what = f"{MANY:,} random games: memory for the tables, MB"
    yield Line(what, f"{after - before:.0f}", f"{after:.0f} with all", "under 300 with all")


def main(games: int) -> None:
    """Print the seconds that the tables of random games take, and the memory before and after."""
    cup, store = tournament("uniform", games // 2), Store(None)
    for first in range(0, cup.pairs, 1000):
        add(store, cup, first, min(cup.pairs, first + 1000), random=True)
    two = Store(None)
    add(two, cup, 0, 1, random=True)
    _tables(cup, two)
    before = peak()
    seconds = _seconds(lambda: _tables(cup, store))
    print(seconds, before, peak())


if __name__ == "__main__":
    main(int(sys.argv[1]))
