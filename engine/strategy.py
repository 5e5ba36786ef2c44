"""The protocols a bot follows: a Bot makes a Strategy from a Setup, for one game."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import perf_counter, process_time
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from engine.cards import Action
from engine.rules import Rules
from engine.state import Seat
from engine.view import View


class Spent(NamedTuple):
    """The wall-clock time and the processor time of a decision, in seconds.

    `before` is the processor time used since the previous decision, while it was not the strategy's
    turn.
    """

    wall: float
    cpu: float
    before: float = 0.0

    @property
    def charged(self) -> float:
        """The time that counts: on a busy machine the wall clock also runs while a strategy waits.

        >>> Spent(wall=3.0, cpu=0.5).charged, Spent(wall=0.5, cpu=2.0, before=1.0).charged
        (0.5, 1.5)
        """
        return min(self.wall, self.cpu) + self.before


class Clock:
    """The time a strategy may use: seconds per decision and per game, None for no limit.

    A decision is charged the smaller of its wall time and its processor time. The backstops
    are limits of wall time, for a strategy that sleeps. The referee starts and stops the
    clock; a strategy reads `decision`, `game` and `left()`.

    >>> Clock(decision=0.5, game=20.0).left()
    0.5
    """

    __slots__ = (
        "_cpu", "_limit", "_since", "backstop", "decision", "game", "game_backstop",
        "used", "waited",
    )  # fmt: skip

    def __init__(
        self,
        decision: float | None = None,
        game: float | None = None,
        backstop: float | None = None,
        game_backstop: float | None = None,
    ) -> None:
        self.decision = decision
        self.game = game
        self.backstop = backstop
        self.game_backstop = game_backstop
        self.used = 0.0
        self.waited = 0.0
        self._since: float | None = None
        self._cpu = 0.0
        self._limit: float | None = None

    def left(self) -> float | None:
        """Return the seconds left for this decision, as it is charged; below 0 when late."""
        if self._since is None:
            return self.limit()
        if self._limit is None:
            return None
        return self._limit - self._spent().charged

    def limit(self) -> float | None:
        """Return the seconds this decision may be charged from its beginning."""
        return _left_of(self.decision, self.game, self.used)

    def wall_limit(self) -> float | None:
        """Return the seconds of wall time this decision may take from its beginning."""
        return _left_of(self.backstop, self.game_backstop, self.waited)

    def start(self, limit: float | None = None) -> None:
        """Begin a decision; `limit` replaces the clock's own."""
        self._limit = self.limit() if limit is None else limit
        self._cpu = process_time()
        self._since = perf_counter()

    def stop(self) -> tuple[Spent, bool]:
        """End the decision; return the time it took, and whether that was within the limits."""
        spent = Spent(0.0, 0.0) if self._since is None else self._spent()
        self._since = None
        return spent, self.spend(spent)

    def _spent(self) -> Spent:
        assert self._since is not None
        wall = perf_counter() - self._since
        return Spent(wall, process_time() - self._cpu)

    def spend(self, spent: Spent) -> bool:
        """Count a decision, and return whether it was within the limits."""
        charged = spent.charged
        for limit, seconds in ((self.limit(), charged), (self.wall_limit(), spent.wall)):
            if limit is not None and seconds > limit:
                return False
        self.used += charged
        self.waited += spent.wall
        return True


def _left_of(decision: float | None, game: float | None, used: float) -> float | None:
    """Return the smaller of a decision's limit and the rest of a game's limit."""
    if game is None:
        return decision
    left = game - used
    return left if decision is None else min(left, decision)


UNLIMITED = Clock()


class Setup(NamedTuple):
    """The setup of a strategy for one game; fields may be added, but will not be removed.

    With one of your own you can ask a bot what it plays, without a game:

    >>> from bots.greedy import bot
    >>> from engine import STANDARD
    >>> strategy = bot(Setup(Random(7), 0, STANDARD))
    >>> strategy.choose(View.from_text("0 5678C xy"))
    10
    """

    rng: Random
    seat: Seat
    rules: Rules
    clock: Clock = UNLIMITED


class Strategy(Protocol):
    """Plays one seat of one game.

    >>> from engine import TAKE, play_game
    >>> class Hasty:
    ...     def __init__(self, setup: Setup) -> None:
    ...         self.rules = setup.rules
    ...
    ...     def choose(self, view: View, /) -> Action:
    ...         return TAKE if TAKE in view.legal else view.legal[0]
    >>> play_game(Hasty, Hasty, seed=7).record.actions[:6]
    'T55T72'

    It may have a method `close()`, which is called after the game, outside its time, to end threads
    or programs, or to close files. An exception in it becomes a warning.
    """

    def choose(self, view: View, /) -> Action:
        """Return one of `view.legal`."""


def close(strategy: Strategy) -> None:
    """Call the method `close` of a strategy whose game is over, if it has one.

    >>> class Hasty:
    ...     def choose(self, view: View, /) -> Action:
    ...         return view.legal[0]
    ...
    ...     def close(self) -> None:
    ...         print("closed")
    >>> close(Hasty())
    closed
    """
    method = getattr(strategy, "close", None)
    if callable(method):
        method()


@runtime_checkable
class Valuer(Protocol):
    """A strategy with the optional method `chance`, which estimates its seat's chance to win.

    `arena show --by BOT` calls it for the plies of a finished game.

    >>> from bots.champion import bot
    >>> from engine import STANDARD
    >>> strategy = bot(Setup(Random(7), 0, STANDARD))
    >>> isinstance(strategy, Valuer), round(strategy.chance(View.from_text("0 5678C 88")), 2)
    (True, 0.56)
    """

    def chance(self, view: View, /) -> float | None:
        """Return the chance of the view's seat to win, from 0 to 1, or None if it is not known.

        A draw is half a win. It may be called with any view of its seat, also if it is not its turn
        (`view.legal` is then empty), in any order, and before or without a `choose`.
        """


def checked_chance(strategy: Strategy, view: View) -> float | None:
    """Return a strategy's estimate of its chance to win.

    Raises TypeError if it is not a Valuer, and ValueError for a number outside 0 to 1.
    """
    if not isinstance(strategy, Valuer):
        raise TypeError("its strategy has no method `chance`, which says how likely it is to win")
    chance = strategy.chance(view)
    if chance is None:
        return None
    number = float(chance)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"`chance` returned {number!r} at ply {len(view.history)}: not 0 to 1")
    return number


Bot: TypeAlias = Callable[..., Strategy]
"""Makes the strategy for one seat of one game, `bot(setup, **params)`; called for each game."""
