"""One seat of a game as a Gymnasium environment; a bot plays the other seat.

Importing this module registers DistrictNoir-v0 with Gymnasium.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from arena.addons.rl import decisions
from arena.addons.rl.decisions import Given
from arena.batch.lockstep import Bits, draw_game, mask
from arena.batch.replay import find_end, find_reward
from engine import TAKE, IllegalAction, Rules, State, Strategy, View
from engine.encoding import ACTIONS
from engine.play import setup
from engine.view import view

try:
    import gymnasium
    from gymnasium.error import ResetNeeded
except ImportError:
    raise decisions.missing("gymnasium") from None

ID = "DistrictNoir-v0"


class DistrictNoirEnv(gymnasium.Env[Bits, np.int64]):
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

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        opponent: Given | Sequence[Given] = "greedy",
        seat: int | str = "both",
        rules: Mapping[str, Any] | Rules | None = None,
        observation: str = "observation",
    ) -> None:
        self.rules = decisions.read_rules(rules)
        size, self._observe = decisions.read_observation(observation, self.rules)
        self.observation_space = gymnasium.spaces.Box(0, 1, (size,), np.int8)
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)
        self._seats = decisions.read_seats(seat)
        self._opponents = decisions.find_opponents(opponent, self.rules)
        self._done = True
        self._seat = self._seats[0]
        self._view: View
        self._opponent: decisions.Opponent
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

    def _info(self) -> dict[str, Any]:
        """Return the `info` that goes with an observation."""
        legal, opponent = self._find_legal(), self._opponent.name
        return {"action_mask": legal, "seat": self._seat, "opponent": opponent}

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


gymnasium.register(
    ID,
    entry_point="arena.addons.rl.env:DistrictNoirEnv",
    vector_entry_point="arena.addons.rl.vector:DistrictNoirVectorEnv",
)
