"""Random games of a tournament as rows, with their states: the plain way to replay them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from types import SimpleNamespace
from typing import NamedTuple

from arena.entries.resolve import resolve
from arena.lanes.faults import Fault
from arena.statistics.counts import WIN_TYPES
from arena.store.column_titles import TABLES
from arena.store.store import Store
from arena.tables.game_arrays import Row
from arena.tables.win_tables import make_win_tables
from arena.tournament import plan
from arena.tournament.match import GameResult
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules, State, outcome, to_text
from engine.errors import RulesError
from engine.play import playout

FAULT = Fault("illegal", "no")


class Played(NamedTuple):
    """One game: its row, its position after every ply, and whether it was forfeited."""

    row: Row
    states: list[State]
    forfeited: bool


def tournament(bots: int = 3, pairs: int = 10, rules: Rules = STANDARD) -> Tournament:
    """Return a tournament of bots a, b, c and so on."""
    entries = [resolve(f"{chr(ord('a') + n)}=uniform") for n in range(bots)]
    return Tournament("cup", 7, pairs, entries, rules)


def play(cup: Tournament, *, forfeits: bool = False) -> Iterator[Played]:
    """Yield random games in the order of a store; some are forfeited in play, some unplayed."""
    for number in range(len(cup.pairings)):
        for pair in range(cup.pairs):
            for seat in (0, 1):
                rng = Random(f"{number} {pair} {seat}")
                broken = rng.choice((0.0, 0.0, 0.0, 0.5, 1.0)) if forfeits else 0.0
                yield _game(cup, number, pair, seat, rng, broken)


def _game(cup: Tournament, number: int, pair: int, seat: int, rng: Random, broken: float) -> Played:
    """Play a game, of which this part is not played."""
    deal = cup.draw(cup.fixture(number, pair, seat)).deal
    state = State(deal, cup.rules)
    playout(state, rng)
    actions = state.history[: round(len(state.history) * (1 - broken))]
    states = [State(deal, cup.rules)]
    for action in actions:
        states.append(states[-1].copy())
        states[-1].apply(action)
    winner, win_type, _ = outcome(state.piles, cup.rules)
    if broken:
        winner, win_type = rng.randrange(2), "forfeit"
    first = None if winner is None else winner ^ seat
    row = Row(number, pair, seat, first, win_type, to_text(actions))
    return Played(row, states, bool(broken))


def rows_of(games: Sequence[Played]) -> list[Row]:
    """Return the rows of games."""
    return [game.row for game in games]


def tables_of(
    cup: Tournament, rows: Sequence[Row], games: int | None = None, **limits: int
) -> SimpleNamespace:
    """Return the tables of these rows as DataFrames, from a store that has the games."""
    store = store_of(rows)
    tables = make_win_tables(cup, store.count(), store.records, games=games, **limits)
    store.close()
    return SimpleNamespace(
        **{name: TABLES[name].frame(table) for name, table in vars(tables).items()}
    )


def store_of(rows: Sequence[Row]) -> Store:
    """Return a store that has these games."""
    store = Store(None)
    for row in rows:
        fault = FAULT if row.win_type == "forfeit" else None
        ending = row.winner, row.win_type, 0, 0, len(row.actions), fault, row.actions
        result = GameResult(row.pair, row.seat, *ending)
        store.add(plan.Played(plan.Chunk(row.pairing, row.pair, 1), [result], {}, 0.0))
    return store


def random_results(rng: Random, pairs: int) -> list[GameResult]:
    """Return made up results of the games of some pairs, with every ending."""
    games = []
    for number in range(2 * pairs):
        win_type, points = rng.choice(WIN_TYPES), (rng.randrange(30), rng.randrange(30))
        winner = None if win_type == "draw" else rng.randrange(2)
        fault = FAULT if win_type == "forfeit" else None
        games.append(GameResult(*divmod(number, 2), winner, win_type, *points, 48, fault, ""))
    return games


def random_rules(rng: Random) -> Rules:
    """Return rules with random numbers."""
    while True:
        copies = [rng.randrange(9) for _ in range(11)]
        hand, rounds, opening = rng.randint(1, 6), rng.randint(1, 5), rng.randint(0, 6)
        try:
            return Rules(
                copies=tuple(copies),
                hand_size=hand,
                rounds=rounds,
                opening_row=opening,
                removed=sum(copies) - opening - 2 * hand * rounds,
                take_size=rng.randint(1, 8),
                cities_needed=rng.randint(1, 4),
                set_bonus=rng.randint(-5, 9),
                majority_values=tuple(rng.randrange(12) for _ in range(4)),
                tiebreak=rng.choice(("cities", "supports")),
            )
        except RulesError:
            continue
