"""Judge the recorded games of a chunk in a worker: its pairing's first bot plays worlds on.

The second bot of the pairing says what a position after a round is worth. Both are asked in the
worker about thousands of games at once, so they are Python bots that have the methods for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from arena.batch.judging import judge
from arena.batch.replay import in_rows
from arena.batch.rollouts import WHOLE, Policy, Values
from arena.entries.entry import Entry
from arena.errors import InputError
from arena.executors.log import Reporter
from arena.games.judged import ILLEGAL, PARTS, Judged, JudgedGame, Recorded
from arena.lanes.faults import one_line
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD, Setup
from engine.notation import parse_actions, parse_cards
from engine.seeds import address, digest


def judge_chunk(chunk: Chunk, tournament: Tournament, reporter: Reporter) -> Played:
    """Return the games of a chunk as its question wants them judged."""
    start = time.perf_counter()
    question = chunk.question
    assert question is not None
    reporter.playing(chunk.first, chunk.pairs)
    places = [
        (pair, seat)
        for pair in range(chunk.first, chunk.first + chunk.pairs)
        for seat in sorted(chunk.seats)
    ]
    judged: list[JudgedGame] = []
    refusal = ""
    bots = [tournament.by_label[label] for label in tournament.pairings[chunk.pairing]]
    games = [question.games[place] for place in places]
    try:
        found = judge_here(games, bots, question.worlds, question.seed, reporter.beat)
        judged = [JudgedGame(*place, rows) for place, rows in zip(places, found, strict=True)]
    except InputError as error:
        refusal = str(error)
    return Played(chunk, [], {}, time.perf_counter() - start, judged, refusal)


def judge_here(
    games: Sequence[Recorded],
    bots: Sequence[Entry],
    worlds: int,
    seed: int,
    beat: Callable[[], object] = lambda: None,
) -> list[list[Judged]]:
    """Return the decisions of games, without those that were forced.

    Of the `bots` the first judges, and the second says what a position after a round is worth.
    `beat` is called now and then. Raises InputError for bots that cannot do this.
    """
    try:
        return _judge(games, worlds, seed, *_find_judge(*bots), beat)
    except InputError:
        raise
    except Exception as error:  # the code of a bot
        raise InputError(one_line(f"{type(error).__name__}: {error}")) from None


def _find_judge(judge: Entry, valuer: Entry) -> tuple[Policy, Values]:
    """Return what plays on, and what values the end of a round; raises whatever a bot raises.

    Raises InputError for a bot that cannot judge.
    """
    strategy: Any = judge.create(Setup(Random(0), 0, STANDARD))
    if not callable(getattr(strategy, "scores", None)):
        raise InputError("it cannot judge: its strategy has no method scores(games)")
    values: Values = valuer.load().values_after
    return strategy.scores, values


def _judge(
    games: Sequence[Recorded],
    worlds: int,
    seed: int,
    policy: Policy,
    values: Values,
    beat: Callable[[], object],
) -> list[list[Judged]]:
    """Return the decisions of games."""
    deals, actions, wanted = _arrays(games)
    addresses = [address(seed, "judge", game.name) for game in games]
    lucks = [np.random.default_rng(digest(one)) for one in addresses]
    found: list[list[Judged]] = [[] for _ in games]
    more = worlds, policy, values, beat
    for some in judge(deals, actions, wanted, lucks, *more):
        numbers = (_in_parts(array).tolist() for array in (some.chances, some.loss, some.error))
        rows = zip(some.game.tolist(), some.action.tolist(), *numbers, strict=True)
        for game, *row in rows:
            found[game].append(Judged(some.ply, *row))
    return found


def _arrays(games: Sequence[Recorded]) -> tuple[Any, Any, Any]:
    """Return deals (game, card), actions and which decisions are wanted (game, ply)."""
    deals = np.frombuffer(b"".join(parse_cards(game.deal) for game in games), np.uint8)
    actions = in_rows([parse_actions(game.actions) for game in games], STANDARD.game_plies)
    wanted = np.zeros(actions.shape, np.bool_)
    for row, game in zip(wanted, games, strict=True):
        row[slice(None) if game.plies is None else [*game.plies]] = True
    return deals.reshape(len(games), -1), actions, wanted


def _in_parts(numbers: Any) -> Any:
    """Return chances of WHOLE in parts of PARTS; what is not legal stays so."""
    parts = np.rint(numbers * (PARTS / WHOLE)).astype(np.int64)
    return np.where(numbers == ILLEGAL, ILLEGAL, parts)
