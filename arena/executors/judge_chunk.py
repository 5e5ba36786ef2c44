"""Judge the recorded games of a chunk in a worker.

The pairing's first bot is the judge. One with a method `scores` plays sampled worlds to the end of
the round, and the second bot estimates the value of the position after it: both are called in the
worker for thousands of games at once. One with a method `appraise` gets one view at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from random import Random
from typing import Any

import numpy as np

from arena.batch.judging import Decisions, weigh
from arena.batch.judging import judge as rollouts
from arena.batch.replay import record_arrays
from arena.batch.rollouts import WHOLE, Values
from arena.entries.entry import Entry
from arena.errors import InputError
from arena.executors.log import Reporter
from arena.lanes.faults import one_line
from arena.threads import one_thread
from arena.tournament.asking import ILLEGAL, PARTS, ROLLOUTS, SEARCHES, Judged, JudgedGame, Recorded
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD, Setup, State
from engine.encoding import ACTIONS
from engine.notation import parse_actions, parse_deal
from engine.seeds import address, digest, stream
from engine.view import view


def judge_chunk(chunk: Chunk, tournament: Tournament, reporter: Reporter) -> Played:
    """Return the games of a chunk, judged as its question asks."""
    start = time.perf_counter()
    question = chunk.question
    assert question is not None
    reporter.playing(*chunk[:3])
    judged: list[JudgedGame] = []
    refusal = ""
    bots = [tournament.by_label[label] for label in tournament.pairings[chunk.pairing]]
    games = [question.games[place] for place in chunk.places]
    try:
        found = judge_here(games, bots, question.worlds, question.seed, reporter.beat)
        judged = [JudgedGame(*place, rows) for place, rows in zip(chunk.places, found, strict=True)]
    except InputError as error:
        refusal = str(error)
    return Played(chunk, [], {}, time.perf_counter() - start, judged, refusal)


@one_thread()
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
    judge, valuer = bots
    try:
        strategy: Any = judge.create(Setup(Random(0), 0, STANDARD))
        if callable(getattr(strategy, "appraise", None)):
            by_game = (_appraise(*one, worlds, seed, judge, beat) for one in enumerate(games))
            return _write(chain.from_iterable(by_game), SEARCHES, len(games))
        if callable(getattr(strategy, "scores", None)):
            deals, actions = record_arrays([(game.deal, game.actions) for game in games])
            wanted = np.zeros(actions.shape, np.bool_)
            for row, game in zip(wanted, games, strict=True):
                row[slice(None) if game.plies is None else [*game.plies]] = True
            addresses = [address(seed, "judge", game.name) for game in games]
            lucks = [np.random.default_rng(digest(one)) for one in addresses]
            values: Values = valuer.load().values_after
            how = worlds, strategy.scores, values, beat
            return _write(rollouts(deals, actions, wanted, lucks, *how), ROLLOUTS, len(games))
        raise InputError("it cannot judge: its strategy has no method scores(games)")
    except InputError:
        raise
    except Exception as error:  # raised by the code of a bot
        raise InputError(one_line(f"{type(error).__name__}: {error}")) from None


def _appraise(
    number: int, game: Recorded, worlds: int, seed: int, judge: Entry, beat: Callable[[], object]
) -> Iterator[Decisions]:
    """Yield the decisions of a game with this number, each appraised `worlds` times by its view."""
    state = State(parse_deal(game.deal, STANDARD), STANDARD)
    for ply, played in enumerate(parse_actions(game.actions)):
        seen = view(state, state.to_act)
        if len(seen.legal) > 1 and (game.plies is None or ply in game.plies):
            beat()
            setup = Setup(stream(seed, "judge", game.name, ply), seen.seat, STANDARD)
            strategy: Any = judge.create(setup)
            if game.models and game.models[seen.opponent]:
                strategy.expect(dict(game.models[seen.opponent]))
            found = np.zeros((1, ACTIONS, worlds), np.int64)
            for world in range(worlds):
                chances = strategy.appraise(seen, world)
                found[0, [*chances], world] = [round(WHOLE * one) for one in chances.values()]
            masks = np.isin(np.arange(ACTIONS), seen.legal)[None]
            action = np.array([played])
            yield Decisions(np.array([number]), ply, action, *weigh(found, masks, action))
        state.apply(played)


def _write(decisions: Iterable[Decisions], own: Sequence[int], games: int) -> list[list[Judged]]:
    """Return the judged decisions of each game, given the judge's `own` errors by round."""
    found: list[list[Judged]] = [[] for _ in range(games)]
    for some in decisions:
        error = np.hypot(_in_parts(some.error), own[some.ply // STANDARD.round_plies])
        error = np.minimum(np.rint(error), PARTS).astype(np.int64)
        numbers = (array.tolist() for array in (*map(_in_parts, some[3:5]), error))
        rows = zip(some.game.tolist(), some.action.tolist(), *numbers, strict=True)
        for game, *row in rows:
            found[game].append(Judged(some.ply, *row))
    return found


def _in_parts(numbers: Any) -> Any:
    """Convert chances from units of 1/WHOLE to 1/PARTS; ILLEGAL stays ILLEGAL."""
    parts = np.rint(numbers * (PARTS / WHOLE)).astype(np.int64)
    return np.where(numbers == ILLEGAL, ILLEGAL, parts)
