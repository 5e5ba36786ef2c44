"""Read the decisions of recorded games to train on, and check the options of environments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from math import inf
from numbers import Real
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Bits, Encoding, Lockstep
from arena.batch.positions import Indices
from arena.batch.replay import DRAW, find_reward
from arena.batch.rollouts import Policy, Scores, pick_in
from arena.entries.loader import checked_strategy
from arena.entries.resolve import resolve
from arena.errors import InputError, not_installed
from arena.replays.finished_game import Game
from arena.store.reader import Choice, chosen_games, read_run
from engine import Action, Bot, Rules, Setup, Strategy, View
from engine.encoding import ACTIONS
from engine.errors import RulesError, show
from engine.notation import parse_actions, parse_cards
from engine.state import Seat


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
    by_ply = [np.concatenate(parts) for parts in zip(*plies, strict=True)]
    order = np.argsort(by_ply[0], kind="stable")
    rows, observations, masks, seats = (part[order] for part in by_ply)
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


Observe: TypeAlias = Callable[[View], Bits]

OBSERVATIONS = ("observation", "information_state")


def read_rules(rules: Mapping[str, Any] | Rules | None) -> Rules:
    """Return the published rules with these changes; raises InputError.

    >>> read_rules({"set_bonus": 4})
    Rules(set_bonus=4)
    """
    if isinstance(rules, Rules):
        return rules
    try:
        return Rules.from_changes({} if rules is None else rules)
    except RulesError as error:
        raise InputError(f"rules: {error}") from None


def read_observation(name: str, rules: Rules, *others: str) -> tuple[int, Observe]:
    """Return the size of the arrays of a kind of observation, and the function that makes them.

    `others` are names that the caller handles itself. Raises InputError for unknown names.

    >>> read_observation("information_state", Rules())[0]
    952
    """
    encoding = Encoding(rules)
    if name == "observation":
        return encoding.size, encoding.observation
    if name == "information_state":
        return encoding.information_size, encoding.information_state
    known = ", ".join((*OBSERVATIONS, *others))
    raise InputError(f"observation: {show(name)} is not one of: {known}")


def missing(library: str) -> InputError:
    """Return the error that says how to install a library of the extra `rl`."""
    return InputError(f"arena.addons.rl: {not_installed(library, 'rl')}")


Choose: TypeAlias = Callable[[View], Action]

Given: TypeAlias = "str | os.PathLike[str] | Bot | Choose"
"""A spec, a class of strategies, or a function from a View to an action."""

Many: TypeAlias = "str | os.PathLike[str] | Bot | Policy"
Field: TypeAlias = "Many | Sequence[Many] | Mapping[Many, float]"
"""Opponents in many games at once; a function gets all games."""


def read_seats(seat: int | str) -> tuple[Seat, ...]:
    """Return the seats of which the learner's is drawn; raises InputError."""
    if seat not in (0, 1, "both") or isinstance(seat, bool):
        raise InputError(f"seat: {show(seat)} is not 0, 1 or 'both'")
    return (0, 1) if seat == "both" else (int(seat),)


class Opponent(NamedTuple):
    """A bot with the name by which errors and infos refer to it."""

    name: str
    bot: Bot

    def begin(self, setup: Setup) -> Strategy:
        """Return a strategy for one game; any exception of the bot becomes an InputError."""
        try:
            strategy: Strategy = checked_strategy(self.bot(setup))
        except (Exception, SystemExit) as error:
            raise self.explain(error) from error
        return strategy

    def explain(self, error: BaseException) -> InputError:
        """Return the error that reports an exception of this opponent."""
        return InputError(f"opponent {self.name!r}: {type(error).__name__}: {error}")


def find_opponents(given: Given | Sequence[Given], rules: Rules) -> list[Opponent]:
    """Return the opponents of a spec, a class, a function, or a list of these.

    A class makes strategies; a function gets a View and returns an action. All of them play in this
    process, without limits and without protection, as in the lane inproc. Raises InputError, which
    names the opponent, if one does not load or cannot begin a game under these rules.

    >>> [opponent.name for opponent in find_opponents(["greedy", "uniform"], Rules())]
    ['greedy', 'uniform']
    >>> find_opponents("greedi", Rules())
    Traceback (most recent call last):
        ...
    arena.errors.InputError: opponent 'greedi': no bot 'greedi' in bots/; did you mean greedy?
    """
    several = given if isinstance(given, list | tuple) else [given]
    if not several:
        raise InputError("opponent: none is given")
    opponents = [_find_opponent(one) for one in several]
    for opponent in opponents:
        opponent.begin(Setup(Random(0), 0, rules))
    return opponents


def find_field(given: Field, rules: Rules) -> tuple[list[Scorer], npt.NDArray[np.float64]]:
    """Return the opponents of many games, and their weights.

    They are given as to `find_opponents`, or by a mapping with the weight of each one. Each needs a
    method `scores`, which gets a Lockstep and returns scores (game, action); a function is itself
    such a method. The legal action of the highest score is played, the first if several tie. Raises
    InputError as `find_opponents` does.

    >>> scorers, weights = find_field({"greedy": 3, "timing": 1}, Rules())
    >>> [scorer.name for scorer in scorers], weights.tolist()
    (['greedy', 'timing'], [3.0, 1.0])
    """
    several: Any = [*given] if isinstance(given, Mapping) else given
    scorers = [Scorer(one, rules) for one in find_opponents(several, rules)]
    weights = [*given.values()] if isinstance(given, Mapping) else [1] * len(scorers)
    for scorer, weight in zip(scorers, weights, strict=True):
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not (is_number and 0 < weight < inf):
            why = f"its weight {show(weight)} is no number above 0"
            raise InputError(f"opponent {scorer.name!r}: {why}")
    return scorers, np.array(weights, np.float64)


def _find_opponent(given: object) -> Opponent:
    """Return one opponent; raises InputError."""
    if isinstance(given, str | os.PathLike):
        return _of_spec(os.fspath(given))
    if not callable(given):
        raise InputError(f"opponent {show(given)}: neither a spec, a class nor a function")
    name = getattr(given, "__name__", type(given).__name__)
    return Opponent(name, given if isinstance(given, type) else _Function(given))


def _of_spec(spec: str) -> Opponent:
    """Return the bot of a spec, which is loaded when it begins a game."""
    if spec.endswith(".npz"):
        raise InputError(f"opponent {spec!r}: weights without a bot; give the folder of both")
    try:
        entry = resolve(spec)
    except InputError as error:
        raise InputError(f"opponent {str(error).removeprefix('bot ')}") from None
    if entry.command:
        raise InputError(
            f"opponent {spec!r}: a command has its own process; opponents play in the trainer's"
        )
    return Opponent(entry.label, entry.create)


class Scorer:
    """An opponent that plays many games at once, by the scores of its actions."""

    def __init__(self, opponent: Opponent, rules: Rules) -> None:
        self.opponent = opponent
        self.name = opponent.name
        policy: Any = getattr(opponent.begin(Setup(Random(0), 0, rules)), "scores", None)
        if not callable(policy):
            raise InputError(
                f"opponent {opponent.name!r}: it has no method scores(games), so that it plays "
                "only one game at a time: make_vec(..., vectorization_mode='sync')"
            )
        self.policy: Policy = policy

    def choose(self, games: Lockstep, some: Indices, masks: Bits) -> Indices:
        """Return its actions in some of the games; any exception becomes an InputError."""
        try:
            actions = pick_in(games, self._score, some, masks)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise self.opponent.explain(error) from error
        if not masks[some, actions].all():
            raise InputError(f"opponent {self.name!r}: no legal action has a score")
        return actions

    def _score(self, games: Lockstep) -> Scores:
        scores, wanted = self.policy(games), (games.count, ACTIONS)
        if np.shape(scores) != wanted:
            shape = np.shape(scores)
            raise InputError(f"opponent {self.name!r}: scores of shape {shape}, not {wanted}")
        return scores


class _Function:
    """A function as a bot and as its strategy, which gets a view or many games."""

    def __init__(self, function: Any) -> None:
        self.choose = self.scores = function

    def __call__(self, _setup: Setup) -> Strategy:
        return self
