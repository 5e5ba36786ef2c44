"""Play a few games of a run again, in new processes, to find bots whose moves differ.

Such a bot depends on earlier games, on its clock, or on unseeded randomness. Its games can differ
in another run, or with another number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import zip_longest
from math import ceil
from typing import Final

from arena.executors.contract import Executor
from arena.executors.local import LocalExecutor
from arena.executors.log import RunLog
from arena.store.store import Store
from arena.tournament.keys import MOST_PAIRS
from arena.tournament.plan import Plan
from arena.tournament.schedule import Fixture
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import State
from engine.notation import parse_actions
from engine.seeds import stream

LEAST: Final = 100
"""The least number of games of a run for a repetition."""

_SHARE = 100  # one game of this many is played again
_SEAT = 0  # of the pairing's first bot in the games that are played again
_SECONDS = 5.0  # seconds of play that are worth one more worker


def choose_pairs(tournament: Tournament, lengths: Sequence[int]) -> list[list[int]]:
    """Draw the pairs of each pairing of which a game is played again.

    They come from the later half of a pairing's pairs, whose processes have played games before.
    Every bot has at least one. `lengths` are the numbers of pairs of the pairings.
    """
    rng = stream(tournament.seed, "repeat")
    chosen: list[list[int]] = []
    seen: set[str] = set()
    for pairing, pairs in zip(tournament.pairings, lengths, strict=True):
        games = int(2 * pairs / _SHARE + rng.random())
        if not {*pairing} <= seen:
            games = max(1, games)
        later = range(pairs // 2, pairs)
        chosen.append(sorted(rng.sample(later, min(games, len(later)))))
        seen |= {*pairing} if chosen[-1] else set()
    return chosen


def find_varying(
    tournament: Tournament,
    store: Store,
    lengths: Sequence[int],
    executor: Executor,
    log: RunLog,
    seconds: float,
) -> Iterator[tuple[str, Fixture, int]]:
    """Yield each bot whose moves differ in a repeated game, with the game and the ply.

    `seconds` is the time that all games took together.
    """
    if isinstance(executor, LocalExecutor):
        wanted = ceil(seconds / _SHARE / _SECONDS)
        executor = replace(executor, workers=max(1, min(executor.workers, wanted)))
    missing = [
        [range(pair, pair + 1) for pair in pairs] for pairs in choose_pairs(tournament, lengths)
    ]
    strikes = Strikes(tournament.pairings, max(lengths), MOST_PAIRS)  # faults drop no bot here
    plan = Plan(missing, strikes, seats=(_SEAT,))
    found: set[str] = set()
    with closing(executor.play(plan, tournament, log)) as chunks:
        for played in chunks:
            plan.learn(played)
            for again in played.results:
                stored = store.game(played.chunk.pairing, again.pair, again.seat)
                if stored is None or stored.fault or stored.actions == again.actions:
                    continue
                fixture = Fixture(tournament.pairings[played.chunk.pairing], *again[:2])
                label, ply = _find_difference(tournament, fixture, stored.actions, again.actions)
                if label not in found:
                    found.add(label)
                    yield label, fixture, ply


def _find_difference(
    tournament: Tournament, fixture: Fixture, first: str, second: str
) -> tuple[str, int]:
    """Return the bot whose action differs first between two games on one deal, and the ply."""
    both = enumerate(zip_longest(first, second))
    ply = next(ply for ply, (one, other) in both if one != other)
    state = State(tournament.draw(fixture).deal, tournament.rules)
    state.follow(parse_actions(first[:ply]))
    return fixture.labels[state.to_act], ply
