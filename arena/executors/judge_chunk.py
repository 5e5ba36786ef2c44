"""Judge the recorded games of a chunk in a worker.

The pairing's first bot is the judge: it plays sampled worlds to the end of the round. The second
bot estimates the value of the position after the round. Both are called in the worker for thousands
of games at once, so they must be Python bots with the methods for that.
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
from arena.lanes.faults import one_line
from arena.tournament.judged import ILLEGAL, PARTS, Judged, JudgedGame, Recorded
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD, Setup
from engine.notation import parse_actions, parse_cards
from engine.seeds import address, digest


def judge_chunk(chunk: Chunk, tournament: Tournament, reporter: Reporter) -> Played:
    """Return the games of a chunk, judged as its question asks."""
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
    """Return the judged decisions of games, without forced ones.

    The first of `bots` judges, the second estimates the value of a position after a round. `beat`
    is called regularly, as a sign of life. Raises InputError for bots that cannot do this.
    """
    try:
        return _judge(games, worlds, seed, *_find_judge(*bots), beat)
    except InputError:
        raise
    except Exception as error:  # raised by the code of a bot
        raise InputError(one_line(f"{type(error).__name__}: {error}")) from None


def _find_judge(judge: Entry, valuer: Entry) -> tuple[Policy, Values]:
    """Return the policy of the judge and the values of the other bot; passes on what a bot raises.

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
    """Return the judged decisions of each game."""
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
    """Return arrays: deals (game, card), actions (game, ply), and wanted decisions (game, ply)."""
    deals = np.frombuffer(b"".join(parse_cards(game.deal) for game in games), np.uint8)
    actions = in_rows([parse_actions(game.actions) for game in games], STANDARD.game_plies)
    wanted = np.zeros(actions.shape, np.bool_)
    for row, game in zip(wanted, games, strict=True):
        row[slice(None) if game.plies is None else [*game.plies]] = True
    return deals.reshape(len(games), -1), actions, wanted


def _in_parts(numbers: Any) -> Any:
    """Convert chances from units of 1/WHOLE to 1/PARTS; ILLEGAL stays ILLEGAL."""
    parts = np.rint(numbers * (PARTS / WHOLE)).astype(np.int64)
    return np.where(numbers == ILLEGAL, ILLEGAL, parts)
