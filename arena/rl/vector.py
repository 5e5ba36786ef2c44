"""Vector: thousands of games as a Gymnasium vector environment; the learner plays both seats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.errors import InputError
from arena.rl.deals import random_deals
from arena.rl.encoding import Bits
from arena.rl.lockstep import Indices, Lockstep
from arena.rl.options import missing, read_observation, read_rules
from arena.rl.tally import DRAW
from engine import Rules
from engine.encoding import ACTIONS
from engine.errors import show

try:
    import gymnasium
    from gymnasium.error import ResetNeeded
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise missing("gymnasium") from None

Numbers: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Step: TypeAlias = tuple[Bits, Numbers, Flags, Flags, dict[str, Any]]


class DistrictNoirVectorEnv(VectorEnv[Bits, npt.NDArray[Any], npt.NDArray[Any]]):
    """So many games at once, each stepped by an action for the seat that is to act in it.

    A row of the observations is what that seat knows, the field "seat" included. A reward is
    that of the seat whose action ended the game: 1, 0 or -1; the other seat's is its opposite.
    An illegal action loses its game. A game that is over begins anew in the same step, with a
    new deal. With `copy=False` observations and masks are arrays that the next step
    overwrites. Raises InputError for rules that cannot be played, and for other options.

    >>> games = DistrictNoirVectorEnv(num_envs=3)
    >>> observations, infos = games.reset(seed=7)
    >>> observations.shape, infos["action_mask"].shape, infos["seat"].tolist()
    ((3, 354), (3, 12), [0, 0, 0])
    >>> takes = np.full(3, 11)
    >>> observations, rewards, terminated, truncated, infos = games.step(takes)
    >>> infos["seat"].tolist()
    [1, 1, 1]
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": [],
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: Mapping[str, Any] | Rules | None = None,
        copy: bool = True,
        **others: object,
    ) -> None:
        if others:
            raise InputError(
                f"the vector environment has no option {', '.join(others)}: the learner plays "
                f"both seats; vectorization_mode='sync' makes many games against opponents"
            )
        if type(num_envs) is not int or num_envs < 1:
            raise InputError(f"num_envs: {show(num_envs)} is not a number from 1")
        self.num_envs = num_envs
        self.copy = copy
        self.rules = read_rules(rules)
        self.games = Lockstep(num_envs, self.rules)
        size, _ = read_observation("observation", self.rules)
        self.single_observation_space = gymnasium.spaces.Box(0, 1, (size,), np.int8)
        self.single_action_space = gymnasium.spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._columns = np.arange(num_envs)
        self._masks: Bits | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bits, dict[str, Any]]:
        """Begin all games with new deals; return the observations and what else is known.

        `infos` has `action_mask`, a row for each game, and `seat`, which is to act. Without a
        seed the deals go on where the last seed's stand. There are no `options`.
        """
        super().reset(seed=seed, options=options)
        self._begin(self._columns)
        return self._observe()

    def step(self, actions: npt.NDArray[Any]) -> Step:
        """Carry out an action in each game, and begin those that are over anew.

        Returns the observations, the rewards, which games are over, a row of False, and
        `infos`, as `reset` does. Where games are over, infos also has `final_obs`, an array of
        observations or None, and `final_info` with `seat`, which acted last, `returns`, the
        rewards (game, seat), and `illegal`; `_final_obs` and `_final_info` say which are over.
        Raises InputError for anything but a whole number for each game.
        """
        games = self.games
        illegal = ~self._find_legal(actions)
        seats = games.to_act.copy()
        games.over |= illegal  # not stepped
        games.step(actions)
        over = games.over.copy()
        returns = np.zeros((self.num_envs, 2))
        final: dict[str, Any] = {}
        ended = np.flatnonzero(over)
        if len(ended):
            returns[ended] = self._find_returns(ended, illegal)
            final = self._describe_end(over, seats, returns, illegal)
            self._begin(ended)
        observations, infos = self._observe()
        rewards = returns[self._columns, seats]
        return observations, rewards, over, np.zeros(self.num_envs, np.bool_), infos | final

    def _find_legal(self, actions: npt.NDArray[Any]) -> Flags:
        """Return where an action is legal; raises InputError for what are no actions."""
        wanted = (self.num_envs,)
        if not isinstance(actions, np.ndarray) or actions.dtype.kind not in "iu":
            raise InputError(f"actions: {show(actions)} is not an array of whole numbers")
        if actions.shape != wanted:
            raise InputError(f"actions: an array of shape {actions.shape}, and not {wanted}")
        if self._masks is None:
            raise ResetNeeded("call reset() before step()")
        known = (actions >= 0) & (actions < ACTIONS)
        legal: Flags = self._masks[self._columns, np.where(known, actions, 0)] > 0
        return legal & known

    def _find_returns(self, ended: Indices, illegal: Flags) -> Numbers:
        """Return the rewards (game, seat) of games that are over."""
        games = self.games
        winners = games.winners(ended)
        winners = np.where(illegal[ended], 1 - games.to_act[ended], winners)
        first = np.where(winners == DRAW, 0.0, 1.0 - 2.0 * winners)
        return np.stack([first, -first], axis=1)

    def _describe_end(
        self, over: Flags, seats: Indices, returns: Numbers, illegal: Flags
    ) -> dict[str, Any]:
        """Return what infos has where games are over."""
        ended = np.flatnonzero(over)
        last = np.full(self.num_envs, None, dtype=object)
        observations, _ = self.games.select(ended).observe()
        for game, observation in zip(ended, observations, strict=True):
            last[game] = observation
        info = {"seat": seats, "returns": returns, "illegal": illegal}
        final = info | {f"_{name}": over.copy() for name in info}
        return {
            "final_obs": last,
            "_final_obs": over.copy(),
            "final_info": final,
            "_final_info": over.copy(),
        }

    def _begin(self, games: Indices) -> None:
        self.games.begin(games, random_deals(len(games), self.np_random, self.rules))

    def _observe(self) -> tuple[Bits, dict[str, Any]]:
        """Return the observations of the seats to act, and infos."""
        observations, masks = self.games.observe()
        self._masks = masks
        if self.copy:  # in the order in which they lie in memory: three times as fast
            observations, masks = observations.copy(order="K"), masks.copy(order="K")
        info = {"action_mask": masks, "seat": self.games.to_act.copy()}
        everywhere = np.ones(self.num_envs, np.bool_)
        return observations, info | {f"_{name}": everywhere for name in info}
