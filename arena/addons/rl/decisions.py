"""Read the decisions of a run's recorded games as arrays, to train on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Bits, Lockstep
from arena.batch.tally import DRAW, find_reward
from arena.errors import InputError
from arena.store.finished import Game
from arena.store.reader import Choice, chosen_games, read_run
from engine import Rules
from engine.notation import parse_actions, parse_cards


class Decisions(NamedTuple):
    """Decisions of some games, one in each row of the arrays, by game and ply.

    `observations` are `Encoding.observation` of the seat that decides, `masks` its legal actions,
    `actions` the action it played, `results` its result of the game: 1, 0 for a draw, -1. `seats`
    are 0 or 1, `bots` the places of their labels in the run's list, `games` the numbers of the
    games in the order of `arena export`.
    """

    observations: Bits
    masks: Bits
    actions: npt.NDArray[np.int8]
    results: npt.NDArray[np.int8]
    seats: npt.NDArray[np.int8]
    bots: npt.NDArray[np.int32]
    games: npt.NDArray[np.int64]


class _Numbered(NamedTuple):
    number: int
    name: str
    game: Game


def dataset(run: str | os.PathLike[str], games: int = 1000) -> Iterator[Decisions]:
    """Yield the decisions of a run's games, in batches of `games` games.

    A thousand games take 20 MB. A forfeited game is left out, as its result does not follow from
    its actions. Raises InputError if the folder has no run, and for a game whose record is invalid.

    >>> import arena, arena.addons.rl, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = f"{folder}/friday"
    ...     results = arena.run(["greedy", "uniform"], pairs=5, out=out, progress=False)
    ...     blocks = [*arena.addons.rl.dataset(out, games=4)]
    >>> [len(np.unique(block.games)) for block in blocks]
    [4, 4, 2]
    >>> blocks[0].observations.shape[1], blocks[0].masks.shape[1]
    (354, 12)
    """
    if type(games) is not int or games < 1:
        raise InputError(f"games: a number from 1 on, not {games!r}")
    tournament, store = read_run(Path(run))
    places = {label: place for place, label in enumerate(tournament.labels)}
    with closing(store):
        numbered = (
            _Numbered(number, fixture.name, game)
            for number, (fixture, game) in enumerate(chosen_games(tournament, store, Choice()))
            if not game.fault
        )
        while some := [*islice(numbered, games)]:
            yield _replay(some, tournament.rules, places)


def _replay(some: Sequence[_Numbered], rules: Rules, places: dict[str, int]) -> Decisions:
    """Return the decisions of these games."""
    count = len(some)
    actions = np.full((count, rules.game_plies), -1, np.int64)
    for row, one in enumerate(some):
        played = np.frombuffer(parse_actions(one.game.record.actions), np.uint8)
        if len(played) > rules.game_plies:
            raise _unplayable(one)
        actions[row, : len(played)] = played
    games = Lockstep(count, rules)
    deals = b"".join(parse_cards(one.game.record.deal) for one in some)
    games.begin(np.arange(count), np.frombuffer(deals, np.uint8).reshape(count, -1))
    plies = [_step(games, actions[:, ply], some) for ply in range(rules.game_plies)]
    if not games.over.all():
        raise _unplayable(some[int(games.over.argmin())])
    rows = np.concatenate([live for live, *_ in plies])
    order = np.argsort(rows, kind="stable")
    observations, masks, seats = (
        np.concatenate([ply[part] for ply in plies])[order] for part in (1, 2, 3)
    )
    rows = rows[order]
    bots = np.array([[places[label] for label in one.game.seats] for one in some], np.int32)
    won = np.array([_result(one.game) for one in some], np.int8)[rows]
    return Decisions(
        observations,
        masks,
        actions[actions >= 0].astype(np.int8),
        np.where(seats == 0, won, -won).astype(np.int8),
        seats.astype(np.int8),
        bots[rows, seats],
        np.array([one.number for one in some], np.int64)[rows],
    )


def _step(
    games: Lockstep, actions: npt.NDArray[np.int64], some: Sequence[_Numbered]
) -> tuple[npt.NDArray[Any], Bits, Bits, npt.NDArray[Any]]:
    """Play an action in each game; return unfinished games, observations, masks and seats."""
    live = np.flatnonzero(actions >= 0)
    observations, masks = games.observe()
    legal = masks[live, actions[live]] == 1
    if not legal.all():
        raise _unplayable(some[int(live[legal.argmin()])])
    known = live, observations[live], masks[live], games.to_act[live]
    games.step(np.maximum(actions, 0))
    return known


def _result(game: Game) -> float:
    """Return the result of a game for seat 0."""
    return find_reward(DRAW if game.winner is None else game.seats.index(game.winner), 0)


def _unplayable(one: _Numbered) -> InputError:
    return InputError(f"game {one.name}: its record cannot be played")
