"""Thousands of games as a Gymnasium vector environment, with both seats or against bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.addons.rl import decisions
from arena.addons.rl.decisions import Field
from arena.batch.lockstep import Bits, History, Lockstep, random_deals
from arena.batch.positions import Indices
from arena.batch.replay import DRAW
from arena.batch.rollouts import Pool
from arena.errors import InputError
from arena.threads import one_thread
from engine import TAKE, Rules
from engine.encoding import ACTIONS
from engine.errors import show

try:
    import gymnasium
    from gymnasium.error import ResetNeeded
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise decisions.missing("gymnasium") from None

Numbers: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Step: TypeAlias = tuple[Bits, Numbers, Flags, Flags, dict[str, Any]]
Seeds: TypeAlias = "int | Sequence[int | None] | None"

_NONE = "none"
NOBODY = -1
"""The seat to act in a game that is over."""


class DistrictNoirVectorEnv(VectorEnv[Bits, npt.NDArray[Any], npt.NDArray[Any]]):
    """Many games at once; an action in each is that of the seat to act.

    A row of the observations is that seat's View as encoded by `Encoding`: "observation", the
    longer "information_state", or "none", which leaves them out. A reward is that of the seat that
    has acted: 1, 0 or -1 at the end of a game; the other seat's is the opposite
    (`arena.rl.by_seat`). An illegal action loses its game. A game that is over begins anew, with a
    new deal, by `autoreset_mode`: in the same step, in the next step, which ignores its action, or
    only by `reset`. With `copy=False` observations and masks are arrays that the next step
    overwrites.

    With an `opponent` (see `find_field`) the learner has one seat of each game, by `seat`: 0, 1 or
    "both", where it is drawn. A step continues until it is the learner's turn again or the game is
    over. With `skip_forced` it also plays actions without an alternative. Raises InputError for
    invalid options.

    >>> games = DistrictNoirVectorEnv(num_envs=3)
    >>> observations, infos = games.reset(seed=7)
    >>> observations.shape, infos["action_mask"].shape, infos["seat"].tolist()
    ((3, 354), (3, 12), [0, 0, 0])
    >>> takes = np.full(3, 11)
    >>> observations, rewards, terminated, truncated, infos = games.step(takes)
    >>> infos["seat"].tolist()
    [1, 1, 1]
    >>> games = DistrictNoirVectorEnv(num_envs=3, opponent="greedy")
    >>> games.reset(seed=1)[1]["seat"].tolist()
    [0, 1, 0]
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
        observation: str = "observation",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        opponent: Field | None = None,
        seat: int | str = "both",
        skip_forced: bool = False,
        **others: object,
    ) -> None:
        if others:
            raise InputError(
                f"the vector environment has no option {', '.join(others)}; with "
                f"vectorization_mode='sync' the options are those of one game"
            )
        if opponent is None and seat != "both":
            raise InputError(f"seat: {show(seat)}; without an opponent the learner plays both")
        if type(num_envs) is not int or num_envs < 1:
            raise InputError(f"num_envs: {show(num_envs)} is not a number from 1")
        if not isinstance(skip_forced, bool):
            raise InputError(f"skip_forced: {show(skip_forced)} is neither True nor False")
        self.num_envs = num_envs
        self.copy = copy
        self.rules = decisions.read_rules(rules)
        self.autoreset_mode = _read_mode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        is_seen = observation != _NONE
        size = decisions.read_observation(observation, self.rules, _NONE)[0] if is_seen else 0
        self.single_observation_space = gymnasium.spaces.Box(0, 1, (size,), np.int8)
        self.single_action_space = gymnasium.spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.games = Lockstep(num_envs, self.rules)
        is_long = observation == "information_state"
        self._history = History(num_envs, self.rules) if is_long else None
        self._size = size
        self._memory = None if copy else np.empty((size, num_envs), np.bool_)
        self._columns = np.arange(num_envs)
        self._lucks: dict[int, np.random.Generator] = {}  # of games with seeds of their own
        self._masks: Bits | None = None
        self._ended = np.ones(num_envs, np.bool_)  # whether the end of a game has been reported
        self._seats = np.array(decisions.read_seats(seat))
        self._own = np.zeros(num_envs, np.intp)  # the learner's seats
        self._pool = None if opponent is None else Pool(num_envs)
        if opponent is not None:
            self.meet(opponent)
        self._skips = skip_forced
        self._none = np.zeros(num_envs, np.bool_)

    def meet(self, opponent: Field) -> None:
        """Let the games that begin from now on be against these opponents.

        Games that are not over continue against theirs. Raises InputError as the constructor does,
        and for games without an opponent.

        >>> games = DistrictNoirVectorEnv(num_envs=3, opponent="greedy")
        >>> _ = games.reset(seed=1)
        >>> games.meet(["timing", "denier"])
        >>> games.reset(options={"reset_mask": np.arange(3) > 0})[1]["opponent"].tolist()
        ['greedy', 'timing', 'denier']
        """
        if self._pool is None:
            raise InputError("meet: these games were made without an opponent")
        self._pool.change(*decisions.find_field(opponent, self.rules), ~self._ended)

    @one_thread()
    def reset(
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[Bits, dict[str, Any]]:
        """Begin games with new deals; return the observations and `infos`.

        `infos` has `action_mask`, a row for each game, and `seat`, the seat to act. A number seeds
        the generator of all deals; a list has a seed for each game's own generator. Without a seed,
        or with None in the list, the sequence of deals from the last seed continues.
        `options={"reset_mask": flags}` begins only the games that are True; `options` is not
        changed. Raises InputError for other options, flags and seeds.
        """
        chosen = self._find_chosen(options)
        if self._masks is None and len(chosen) < self.num_envs:
            raise ResetNeeded("the first reset() begins all games: call it without a reset_mask")
        self._seed(seed, chosen)
        self._begin(chosen)
        while self._play_ply():
            pass
        return self._observe()

    @one_thread()
    def step(self, actions: npt.NDArray[Any]) -> Step:
        """Carry out an action in each game, and begin games that are over anew.

        Returns the observations, the rewards, which games are over, a row of False, and `infos`, as
        `reset` does. For games that are over, `returns` are the rewards (game, seat), and `illegal`
        says whether the last action was illegal; `_returns` marks these games. If they begin anew
        in the same step, these entries and `seat`, the seat that acted last, are in `final_info`,
        and `final_obs` has the last observations, or None. Otherwise `seat` is -1, the observation
        is that of the seat that acted last, the mask has only action 11, and in the next step any
        action begins a new game. Raises InputError for anything but a whole number for each game,
        and ResetNeeded if a game is over that only `reset` begins anew.
        """
        games, waiting = self.games, self._ended.copy()
        illegal = ~(self._find_legal(actions) | games.over)
        if self.autoreset_mode is AutoresetMode.DISABLED and waiting.any():
            raise ResetNeeded(f"games that are over: {show(np.flatnonzero(waiting).tolist())}")
        seats = games.to_act.copy()
        met = {"opponent": self._pool.names()} if self._pool else {}
        games.over |= illegal  # not stepped
        self._carry_out(actions, ~games.over)
        if waiting.any():
            self._begin(np.flatnonzero(waiting))
        over, returns, last = self._go_on(waiting, illegal, seats)
        end: dict[str, Any] = {}
        if over.any():
            again = self.autoreset_mode is AutoresetMode.SAME_STEP
            end = {"returns": returns.copy(), "illegal": illegal}
            end = _marked(end | {"seat": seats} | met if again else end, over)
            end = _marked({"final_obs": last, "final_info": end}, over) if again else end
        observations, infos = self._observe()
        rewards = returns[self._columns, seats]
        return observations, rewards, over, np.zeros(self.num_envs, np.bool_), infos | end

    def _go_on(
        self, waiting: Flags, illegal: Flags, seats: Indices
    ) -> tuple[Flags, Numbers, npt.NDArray[Any]]:
        """Play on to the learner's next turns; return which games ended, returns, and last rows.

        What begins anew in the same step does so between two plies, so that all games play on
        together. `waiting` are games that were over before; `seats` are those that acted.
        """
        games, again = self.games, self.autoreset_mode is AutoresetMode.SAME_STEP
        over = np.zeros(self.num_envs, np.bool_)
        returns = np.zeros((self.num_envs, 2))
        last = np.full(self.num_envs, None, dtype=object)
        while self._play_ply() or (games.over & ~(waiting | over)).any():
            ended = np.flatnonzero(games.over & ~(waiting | over))
            if not len(ended):
                continue
            over[ended] = True
            games.to_act[ended] = seats[ended]
            returns[ended] = self._find_returns(ended, illegal)
            if again:
                self._see_last(ended, last)
                self._begin(ended)
        if not again:
            self._ended |= over
        return over, returns, last

    def _play_ply(self) -> bool:
        """Play a ply in games in which the learner has no choice; return whether there were any."""
        games = self.games
        theirs = ~games.over & (games.to_act != self._own) if self._pool else self._none
        if not (self._skips or theirs.any()):
            return False
        masks = games.legal()
        choices = masks.sum(axis=1, dtype=np.uint8)
        forced = (choices == 1) & (theirs | self._skips)
        acting = theirs | forced
        if not acting.any():
            return False
        actions = np.zeros(self.num_envs, np.intp)
        some = np.flatnonzero(forced)
        actions[some] = masks[some].argmax(axis=1)
        if self._pool:
            self._pool.choose(games, np.flatnonzero(acting & ~forced), masks, actions)
        self._carry_out(actions, acting)
        return True

    def _carry_out(self, actions: npt.NDArray[Any], some: Flags) -> None:
        """Carry out actions in some games."""
        if self._history:
            self._history.note(self.games, actions, some)
        self.games.step(actions, some)

    def _find_legal(self, actions: npt.NDArray[Any]) -> Flags:
        """Return in which games the action is legal; raises InputError for invalid arrays."""
        wanted = (self.num_envs,)
        if not isinstance(actions, np.ndarray) or actions.dtype.kind not in "iu":
            raise InputError(f"actions: {show(actions)} is not an array of whole numbers")
        if actions.shape != wanted:
            raise InputError(f"actions: an array of shape {actions.shape}, and not {wanted}")
        if self._masks is None:
            raise ResetNeeded("call reset() before step()")
        known = (actions >= 0) & (actions < ACTIONS)
        cells = np.where(known, actions, 0).astype(np.intp) * self.num_envs + self._columns
        legal: Flags = self._masks.T.reshape(-1).take(cells, mode="clip").view(np.bool_)
        return legal & known

    def _find_returns(self, ended: Indices, illegal: Flags) -> Numbers:
        """Return the rewards (game, seat) of games that are over."""
        games = self.games
        winners = games.winners(ended)
        winners = np.where(illegal[ended], 1 - games.to_act[ended], winners)
        first = np.where(winners == DRAW, 0.0, 1.0 - 2.0 * winners)
        return np.stack([first, -first], axis=1)

    def _see_last(self, ended: Indices, last: npt.NDArray[Any]) -> None:
        """Fill in the last observations of games that are over."""
        rows: Bits = np.zeros((len(ended), 0), np.int8)
        if self._size:
            memory = np.empty((self._size, len(ended)), np.bool_)
            rows = np.ascontiguousarray(self._see(self.games.select(ended), memory, ended)[0])
        for game, observation in zip(ended.tolist(), rows, strict=True):
            last[game] = observation

    def _begin(self, games: Indices) -> None:
        """Begin these games with new deals."""
        parts = [(self.np_random, games)]
        if self._lucks:
            lucks = [self._lucks.get(game, self.np_random) for game in games.tolist()]
            parts = [*zip(lucks, games[:, None], strict=True)]
        deals = np.concatenate([self._deal(luck, some) for luck, some in parts])
        self.games.begin(games, deals)
        self._ended[games] = False
        if self._history:
            self._history.begin(games, deals)

    def _deal(self, luck: np.random.Generator, games: Indices) -> npt.NDArray[np.uint8]:
        """Return deals of these games, and draw the learner's seats and its opponents."""
        deals = random_deals(len(games), luck, self.rules)
        if self._pool:
            self._own[games] = self._seats[luck.integers(len(self._seats), size=len(games))]
            self._pool.draw(games, luck)
        return deals

    def _observe(self) -> tuple[Bits, dict[str, Any]]:
        """Return the observations of the seats to act, and infos."""
        memory = self._memory
        if memory is None:  # a new array each time, which need not be copied
            memory = np.empty((self._size, self.num_envs), np.bool_)
        over = self.games.over
        if self._pool:
            self.games.to_act[over] = self._own[over]
        observations, masks = self._see(self.games, memory)
        is_final = self._ended & (self.autoreset_mode is AutoresetMode.DISABLED)
        masks[over & ~is_final, TAKE] = True
        self._masks = masks
        seats = np.where(self._ended, NOBODY, self.games.to_act)
        info = {"action_mask": masks.copy(order="K") if self.copy else masks, "seat": seats}
        if self._pool:
            info["opponent"] = self._pool.names()
        return observations, _marked(info, ~self._none)

    def _see(self, games: Lockstep, memory: Flags, some: Any = slice(None)) -> tuple[Bits, Bits]:
        """Return the observations of games, written to `memory` (bit, game), and their masks."""
        if not len(memory):
            return memory.T.view(np.int8), games.legal()
        if not self._history:
            return games.observe(memory)
        size = len(memory) - len(self._history.bits)
        masks = games.observe(memory[:size])[1]
        memory[size:] = self._history.bits[:, some]
        return memory.T.view(np.int8), masks

    def _seed(self, seed: Seeds, chosen: Indices) -> None:
        """Seed the generator of all deals, or one for each game that begins."""
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else _checked(seed))
            for game in chosen.tolist() if seed is not None else ():
                self._lucks.pop(game, None)
            return
        if not isinstance(seed, list | tuple | np.ndarray):
            raise InputError(f"seed: {show(seed)} is neither a whole number nor a list of them")
        if len(seed) != self.num_envs:
            raise InputError(f"seed: a list of {len(seed)} seeds for {self.num_envs} games")
        seeds = {game: _checked(seed[game]) for game in chosen.tolist() if seed[game] is not None}
        self._lucks |= {game: seeding.np_random(one)[0] for game, one in seeds.items()}

    def _find_chosen(self, options: Mapping[str, Any] | None) -> Indices:
        """Return the games that `reset` begins; raises InputError."""
        if not options:
            return self._columns
        for name in options:
            if name != "reset_mask":
                raise InputError(f"options: {show(name)} is not 'reset_mask', the only one")
        flags = options["reset_mask"]
        if not isinstance(flags, np.ndarray) or flags.dtype != np.bool_:
            raise InputError(f"reset_mask: {show(flags)} is not an array of bool")
        if flags.shape != (self.num_envs,) or not flags.any():
            wanted = f"({self.num_envs},) with a game that is to begin"
            raise InputError(f"reset_mask: {show(flags)} is not of shape {wanted}")
        return np.flatnonzero(flags)


def _marked(infos: dict[str, Any], games: Flags) -> dict[str, Any]:
    """Return infos with the entries that say of which games they are."""
    return infos | {f"_{name}": games.copy() for name in infos}


def _checked(seed: object) -> int:
    """Return a valid seed; raises InputError."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed: {show(seed)} is not a whole number from 0")
    return int(seed)


def _read_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return a mode of Gymnasium's by its name or value; raises InputError."""
    for known in AutoresetMode:
        if mode in (known, known.name, known.value):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise InputError(f"autoreset_mode: {show(mode)} is not one of: {names}")
