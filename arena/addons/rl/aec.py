"""The game as a PettingZoo AEC environment, in which two agents act in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from arena.addons.rl.decisions import missing, read_observation, read_rules
from arena.batch.lockstep import Bits, draw_game, mask
from arena.batch.replay import find_end, find_reward
from engine import IllegalAction, Rules, State
from engine.encoding import ACTIONS
from engine.view import view

try:
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv
    from pettingzoo.utils import turn_based_aec_to_parallel, wrappers
except ImportError:
    raise missing("pettingzoo") from None

AGENTS = ("seat_0", "seat_1")


class DistrictNoirAEC(AECEnv):  # type: ignore[misc]
    """A game between the agents `seat_0`, which begins, and `seat_1`.

    An observation has the agent's View as encoded by `Encoding` ("observation" or
    "information_state"), and `action_mask`. When the game ends, an agent's reward is 1, 0 or -1,
    and `infos` have the `winner`, a seat or -1 for a draw, and the `win_type`. An illegal action
    loses the game; the win type is then "forfeit", and `illegal` has the reason. Raises InputError
    for invalid options.

    >>> game = env()
    >>> game.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = game.last()
    >>> game.agent_selection, observation["observation"].shape
    ('seat_0', (354,))
    >>> observation["action_mask"]  # it holds 5, 6, 3, y and a city, and may take
    array([1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1], dtype=int8)
    >>> game.step(11)
    >>> game.agent_selection
    'seat_1'
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "district_noir_v0",
        "render_modes": [],
        "is_parallelizable": False,
    }
    render_mode = None  # PettingZoo asks every environment for it

    def __init__(
        self,
        rules: Mapping[str, Any] | Rules | None = None,
        observation: str = "observation",
    ) -> None:
        super().__init__()
        self.rules = read_rules(rules)
        size, self._observe = read_observation(observation, self.rules)
        self.possible_agents = [*AGENTS]
        self.observation_spaces = {agent: _make_space(size) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in AGENTS}
        self._rng: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> None:
        """Begin a game with a new deal.

        Without a seed the sequence of games from the last seed continues. `options` is not used.
        """
        if seed is not None or self._rng is None:
            self._rng, _ = seeding.np_random(seed)
        deal, _ = draw_game(self._rng, self.rules)
        self._state = State(deal, self.rules)
        self.agents = [*AGENTS]
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self._state.to_act]

    def observe(self, agent: str) -> dict[str, Bits]:
        """Return an agent's observation and its legal actions, none if it is not its turn."""
        seen = view(self._state, AGENTS.index(agent))
        legal = np.zeros(ACTIONS, np.int8) if self.terminations.get(agent, True) else mask(seen)
        return {"observation": self._observe(seen), "action_mask": legal}

    def step(self, action: int | None) -> None:
        """Carry out the action of the agent to act; it is None once the game is over."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        state, seat = self._state, AGENTS.index(agent)
        try:
            state.apply(state.checked(action))  # type: ignore[arg-type]
        except IllegalAction as error:
            self._end(1 - seat, win_type="forfeit", illegal=str(error))
        if state.over:
            winner, win_type = find_end(state)
            self._end(winner, win_type=win_type)
        self.agent_selection = AGENTS[1 - seat if state.over else state.to_act]
        self._accumulate_rewards()

    def _end(self, winner: int, **info: str) -> None:
        """End the game."""
        for seat, agent in enumerate(AGENTS):
            self.rewards[agent] = find_reward(winner, seat)
            self.terminations[agent] = True
            self.infos[agent] = {"winner": winner, **info}


raw_env = DistrictNoirAEC


def env(**options: Any) -> AECEnv:
    """Return the environment, with checks of the order of calls and the range of actions."""
    game = wrappers.AssertOutOfBoundsWrapper(DistrictNoirAEC(**options))
    return wrappers.OrderEnforcingWrapper(game)


def parallel_env(**options: Any) -> Any:
    """Return the parallel environment, in which only the action of the agent to act counts."""
    return turn_based_aec_to_parallel(env(**options))


def _make_space(size: int) -> spaces.Dict:
    """Return the space of observations of `size` bits."""
    sizes = {"observation": size, "action_mask": ACTIONS}
    return spaces.Dict({name: spaces.Box(0, 1, (bits,), np.int8) for name, bits in sizes.items()})
