"""One seat of a game as a Gymnasium environment; a bot plays the other seat.

Importing this module registers DistrictNoir-v0 with Gymnasium.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from math import inf
from random import Random
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.addons.rl.decisions import Rendered, missing, read_observation, read_rules
from arena.batch.lockstep import Bits, Lockstep, draw_game, mask
from arena.batch.positions import Indices
from arena.batch.replay import Bools, find_end, find_reward
from arena.batch.rollouts import Policy, Scores, pick_in
from arena.entries.archive import checked_strategy
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from engine import TAKE, Action, Bot, IllegalAction, Rules, Seat, Setup, State, Strategy, View
from engine.encoding import ACTIONS
from engine.errors import show
from engine.play import setup
from engine.view import view

try:
    import gymnasium
    from gymnasium.error import ResetNeeded
except ImportError:
    raise missing("gymnasium") from None

ID = "DistrictNoir-v0"

Choice: TypeAlias = Callable[[View], Action]

Given: TypeAlias = "str | os.PathLike[str] | Bot | Choice"
"""A spec, a class or function that makes strategies, or a function from a View to an action."""

Many: TypeAlias = "str | os.PathLike[str] | Bot | Policy"
Field: TypeAlias = "Many | Sequence[Many] | Mapping[Many, float]"
"""Opponents in many games at once; a function gets all games."""


class DistrictNoirEnv(Rendered, gymnasium.Env[Bits, np.int64]):
    """A game of the learner, in one seat, against an opponent.

    `opponent` is a bot or a list of bots, of which one is drawn for each game (see
    `find_opponents`); `seat` is 0, 1 or "both", where one is drawn for each game. `rules` are Rules
    or their changes. An observation is the learner's View as encoded by `Encoding`: "observation"
    or the longer "information_state". Action 11 is to take, the others play a card of that kind.
    The reward at the end of the game is 1, 0 or -1. An illegal action loses the game. Raises
    InputError for invalid options, and if an opponent fails.

    >>> env = DistrictNoirEnv("greedy", seat=0)
    >>> observation, info = env.reset(seed=7)
    >>> observation.shape, info["seat"], info["opponent"], int(info["action_mask"].sum())
    ((354,), 0, 'greedy', 6)
    >>> observation, reward, terminated, truncated, info = env.step(11)
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        opponent: Given | Sequence[Given] = "greedy",
        seat: int | str = "both",
        rules: Mapping[str, Any] | Rules | None = None,
        observation: str = "observation",
        render_mode: str | None = None,
    ) -> None:
        self.rules = read_rules(rules)
        size, self._observe = read_observation(observation, self.rules)
        self.observation_space = gymnasium.spaces.Box(0, 1, (size,), np.int8)
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)
        self.render_mode = render_mode  # `make` warns of others, and SB3 asks for "rgb_array"
        self._seats = read_seats(seat)
        self._opponents = find_opponents(opponent, self.rules)
        self._done = True
        self._seat = self._seats[0]
        self._view: View
        self._opponent: Opponent
        self._strategy: Strategy

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bits, dict[str, Any]]:
        """Begin a game with a new deal; return the first observation and `info`.

        `info` has the mask of the legal actions, the learner's seat and the opponent's name.
        Without a seed the sequence of games from the last seed continues. `options` is not used.
        Under rules by which one or two cities win, the opponent may have won before the learner's
        first turn; then the mask has only action 11, and any action ends the game.
        """
        super().reset(seed=seed, options=options)
        rng = self.np_random
        deal, lucks = draw_game(rng, self.rules)
        self._seat = self._seats[int(rng.integers(len(self._seats)))]
        self._opponent = self._opponents[int(rng.integers(len(self._opponents)))]
        other = 1 - self._seat
        self._state = State(deal, self.rules)
        self._strategy = self._opponent.begin(setup(lucks[other], other, self.rules))
        self._seen = 0
        self._done = False
        self._answer()
        return self._observe(self._view), self._info()

    def step(self, action: SupportsIndex) -> tuple[Bits, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action, and the opponent's actions until the learner's next turn.

        Returns the observation, the reward, whether the game is over, False, and `info` as `reset`
        does. At the end `info` also has `winner`, a seat or -1 for a draw, and `win_type`; after an
        illegal action the win type is "forfeit", and `illegal` has the reason.
        """
        if self._done:
            raise ResetNeeded("the game is over; call reset() to begin another one")
        state = self._state
        if not state.over:
            try:
                state.apply(state.checked(action))
            except IllegalAction as error:
                return self._end(1 - self._seat, win_type="forfeit", illegal=str(error))
            self._answer()
        if state.over:
            winner, win_type = find_end(state)
            return self._end(winner, win_type=win_type)
        return self._observe(self._view), 0.0, False, False, self._info()

    def _end(self, winner: int, **end: str) -> tuple[Bits, float, bool, bool, dict[str, Any]]:
        """Return the values that `step` returns at the end of a game."""
        self._done = True
        reward = find_reward(winner, self._seat)
        info = self._info() | {"winner": winner, **end}
        return self._observe(self._view), reward, True, False, info

    def _answer(self) -> None:
        """Let the opponent act until it is the learner's turn or the game is over."""
        state, other = self._state, 1 - self._seat
        while not state.over and state.to_act == other:
            try:
                action = state.checked(self._strategy.choose(view(state, other)))
            except (Exception, SystemExit) as error:
                self._done = True
                raise self._opponent.explain(error) from error
            state.apply(action)
        self._view = view(state, self._seat)
        if self.render_mode == "human":
            self.render()

    def _info(self) -> dict[str, Any]:
        """Return the `info` that goes with an observation."""
        return {
            "action_mask": self._find_legal(),
            "seat": self._seat,
            "opponent": self._opponent.name,
        }

    def _find_legal(self) -> Bits:
        """Return the mask of the learner's actions."""
        if self._done or self._state.over:
            legal = np.zeros(ACTIONS, np.int8)
            legal[TAKE] = not self._done
            return legal
        return mask(self._view)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal; MaskablePPO of sb3-contrib calls it by this name."""
        return self._find_legal().astype(np.bool_)

    def render(self) -> str | None:
        """Return or print, by render mode, the game as the learner sees it."""
        return self._render(self._seat, self._opponent.name)


gymnasium.register(
    ID,
    entry_point="arena.addons.rl.env:DistrictNoirEnv",
    vector_entry_point="arena.addons.rl.vector:DistrictNoirVectorEnv",
)


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

    A class is a bot, and so is a function whose first parameter is called `setup`. Any other
    function gets a View and returns an action. All of them play in this process, without limits and
    without protection, as in the lane inproc. Raises InputError, which names the opponent, if one
    does not load or cannot begin a game under these rules.

    >>> [opponent.name for opponent in find_opponents(["greedy", "uniform"], Rules())]
    ['greedy', 'uniform']
    >>> find_opponents("greedi", Rules())
    Traceback (most recent call last):
        ...
    arena.errors.InputError: opponent 'greedi': no bot 'greedi' in bots/; did you mean greedy?
    """
    several = given if isinstance(given, list | tuple) else [given]
    if not several:
        raise InputError("opponent: the list is empty")
    opponents = [_find(one) for one in several]
    for opponent in opponents:
        opponent.begin(Setup(Random(0), 0, rules))
    return opponents


def _find(given: object) -> Opponent:
    """Return one opponent; raises InputError."""
    if isinstance(given, str | os.PathLike):
        return _of_spec(os.fspath(given))
    if not callable(given):
        raise InputError(f"opponent {show(given)}: neither a spec, a class nor a function")
    name = getattr(given, "__name__", type(given).__name__)
    if isinstance(given, type) or _first_parameter(given) == "setup":
        return Opponent(name, given)
    return Opponent(name, _Choosing(given))


def _of_spec(spec: str) -> Opponent:
    """Return the bot of a spec, loaded."""
    try:
        entry = resolve(spec)
    except InputError as error:
        raise InputError(f"opponent {str(error).removeprefix('bot ')}") from None
    if entry.command:
        raise InputError(
            f"opponent {spec!r}: a command has its own process; opponents play in the trainer's"
        )
    try:
        return Opponent(entry.label, _Loaded(entry))
    except (Exception, SystemExit) as error:
        raise Opponent(entry.label, entry.create).explain(error) from error


def _first_parameter(function: Callable[..., object]) -> str:
    """Return the name of the first parameter, or "" if it cannot be determined."""
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except (TypeError, ValueError):
        return ""


class Scorer:
    """An opponent that plays many games at once, by the scores of its actions.

    A pickle has only the opponent, because a strategy belongs to the modules of its process.
    """

    def __init__(self, opponent: Opponent, rules: Rules) -> None:
        self.opponent, self.rules = opponent, rules
        policy: Any
        if isinstance(opponent.bot, _Choosing):
            policy = opponent.bot.choose
        else:
            policy = getattr(opponent.begin(Setup(Random(0), 0, rules)), "scores", None)
        if not callable(policy):
            raise InputError(
                f"opponent {opponent.name!r}: it has no method scores(games), so that it plays "
                "only one game at a time: make_vec(..., vectorization_mode='sync')"
            )
        self.policy: Policy = policy

    def __reduce__(self) -> tuple[type[Scorer], tuple[Opponent, Rules]]:
        return Scorer, (self.opponent, self.rules)

    def choose(self, games: Lockstep, some: Indices, masks: Bits) -> Indices:
        """Return its actions in some of the games; any exception becomes an InputError."""
        try:
            actions = pick_in(games, self._score, some, masks)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise self.opponent.explain(error) from error
        if not masks[some, actions].all():
            raise InputError(f"opponent {self.opponent.name!r}: no legal action has a score")
        return actions

    def _score(self, games: Lockstep) -> Scores:
        scores, wanted = self.policy(games), (games.count, ACTIONS)
        if np.shape(scores) != wanted:
            name = repr(self.opponent.name)
            raise InputError(f"opponent {name}: scores of shape {np.shape(scores)}, not {wanted}")
        return scores


class Pool:
    """The opponents of many games, of which one is drawn for each game.

    `given` is as `find_opponents` takes it, or has the weight of each one: {"greedy": 3, "timing":
    1}. Each needs a method `scores`, which gets a Lockstep and returns scores (game, action); a
    function without a parameter `setup` is itself such a method. The legal action of the highest
    score is played, the first if several tie. Raises InputError as `find_opponents` does.

    >>> pool = Pool(4, ["greedy", "timing"], Rules())
    >>> pool.draw(np.arange(4), np.random.default_rng(1))
    >>> pool.names().tolist()
    ['timing', 'timing', 'greedy', 'timing']
    """

    def __init__(self, count: int, given: Field, rules: Rules) -> None:
        self.rules = rules
        self.scorers: list[Scorer] = []
        self.met: Indices = np.zeros(count, np.intp)
        self.change(given, np.zeros(count, np.bool_))

    def change(self, given: Field, live: Bools) -> None:
        """Draw from other opponents; those of games that are `live` play these to their ends."""
        several = given if isinstance(given, list | tuple | Mapping) else [given]
        if not several:
            raise InputError("opponent: none is given")
        weights = _read_weights(given) if isinstance(given, Mapping) else np.ones(len(several))
        drawn = [Scorer(_find(one), self.rules) for one in several]
        kept = np.unique(self.met[live])
        self.met = kept.searchsorted(self.met).clip(0, max(0, len(kept) - 1))
        self._first = len(kept)
        self._shares = weights.cumsum() / weights.sum()
        self.scorers = [*(self.scorers[number] for number in kept), *drawn]
        self._names = np.array([one.opponent.name for one in self.scorers], object)

    def draw(self, games: Indices, luck: np.random.Generator) -> None:
        """Draw the opponents of games that begin."""
        drawn = self._shares.searchsorted(luck.random(len(games)), side="right")
        self.met[games] = self._first + drawn

    def names(self) -> npt.NDArray[np.object_]:
        """Return the name of each game's opponent."""
        return self._names.take(self.met)

    def choose(self, games: Lockstep, some: Indices, masks: Bits, actions: Indices) -> None:
        """Fill in the actions of the opponents in some games, given the masks of all."""
        met = self.met[some]
        for number, scorer in enumerate(self.scorers):
            own = some[met == number]
            if len(own):
                actions[own] = scorer.choose(games, own, masks)


def _read_weights(given: Mapping[Any, Any]) -> npt.NDArray[np.float64]:
    """Return the weights of opponents; raises InputError."""
    for one, weight in given.items():
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not (is_number and 0 < weight < inf):
            raise InputError(f"opponent {show(one)}: its weight {show(weight)} is not above 0")
    return np.array([*given.values()], np.float64)


class _Chooser:
    """A function as a strategy."""

    def __init__(self, choose: Choice) -> None:
        self.choose = choose


class _Choosing:
    """A function as a bot; it can be pickled if the function can."""

    def __init__(self, choose: Choice) -> None:
        self.choose = choose

    def __call__(self, _setup: Setup) -> Strategy:
        return _Chooser(self.choose)


class _Loaded:
    """The bot of a spec. Unpickling it loads the bot first, which its strategies need."""

    def __init__(self, entry: Entry) -> None:
        entry.load()
        self.entry = entry

    def __call__(self, setup: Setup) -> Strategy:
        return self.entry.create(setup)

    def __reduce__(self) -> tuple[type[_Loaded], tuple[Entry]]:
        return _Loaded, (self.entry,)
