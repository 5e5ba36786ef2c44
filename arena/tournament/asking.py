"""Ask bots about finished games: what they thought, what they would play, and what a move lost.

A bot judges each decision of a recorded game by playing on from it in many worlds; questions to
workers about that, and their answers, are plain data. The game is over, and its record is fixed. So
nothing that a bot says, does or draws here can change it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from msgspec.structs import asdict

from arena.entries.entry import Entry
from arena.errors import InputError
from arena.lanes.faults import Forfeit, forfeit_from
from arena.lanes.limits import Limits
from arena.lanes.messages import Answer, Chance, Message, Thoughts
from arena.lanes.temp_and_cache_folders import BOT, scratch_folder
from arena.tokens import SERVE_TOKEN, TOKENS
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from engine import Record, Rules, Seat, State, Thought, View, to_text
from engine.cards import CHARS
from engine.notation import parse_actions, parse_deal
from engine.play import setup
from engine.state import checked
from engine.strategy import checked_chance
from engine.thoughts import checked_thoughts, said_thoughts
from engine.view import view

if TYPE_CHECKING:  # a run without processes starts 8 ms sooner
    from arena.lanes.process import BotProcess

PARTS: Final = 1_000_000
"""The whole number that stands for a chance of 1."""
ILLEGAL: Final = -1
"""Stands for the chance of an action that is not legal."""
ROLLOUTS: Final = (19_000, 19_000, 27_000, 128_000)
SEARCHES: Final = (120_000, 120_000, 120_000, 60_000)
"""The standard errors by round that come from the judge itself, beside those of its worlds.

Measured by `python -m bench.blunders` (docs/analyse.md): rollouts against searches, and searches
against games that strong bots played on.
"""
BLUNDER: Final = PARTS // 10
"""The least loss that is called a blunder."""
_CERTAIN = 2  # standard errors


Habit: TypeAlias = tuple[tuple[str, float], ...]
"""Bots of the arena as which a bot plays, by name, with the probability, the likeliest first."""


class Recorded(NamedTuple):
    """A game under the published rules; its name seeds the worlds that a worker draws.

    An unfinished game can only be judged on its own. The decisions at `plies` are judged, at all
    plies if it is None. `models` say how the bot of each seat plays, if that is known.
    """

    name: str
    deal: str
    actions: str
    plies: tuple[int, ...] | None = None
    models: Sequence[Habit] = ()


class Question(NamedTuple):
    """The games of a chunk by pair and seat, how many worlds to judge them in, and the seed."""

    games: Mapping[tuple[int, Seat], Recorded]
    worlds: int
    seed: int


class Judged(NamedTuple):
    """A judged decision: the action played, each action's chance to win, and the loss.

    Chances and losses are integers in units of 1/PARTS. The chance of an illegal action is ILLEGAL;
    `error` is the standard error of the loss, with that of the judge itself. If a second judge has
    judged the decision again, the numbers are its own, and `first` is the loss by the first one.
    """

    ply: int
    action: int
    chances: list[int]
    loss: int
    error: int
    first: int | None = None

    @property
    def blunder(self) -> bool:
        """Whether it is one by two judges."""
        is_wrong = self.first is not None and self.best != self.action
        return is_wrong and bool(is_blunder(self.loss, self.error))

    @property
    def best(self) -> int:
        """The action with the highest chance, the first among equals."""
        return max(range(len(self.chances)), key=self.chances.__getitem__)


class JudgedGame(NamedTuple):
    """The judged decisions of the game with this pair and seat, without forced ones."""

    pair: int
    seat: Seat
    decisions: Sequence[Judged]


def is_sure(loss: Any, error: Any) -> Any:
    """Return whether a loss is more than two standard errors."""
    return loss > _CERTAIN * error


def is_blunder(loss: Any, error: Any) -> Any:
    """Return whether a loss is at least 10 points of 100, and more than two standard errors.

    Both are in units of 1/PARTS, or arrays of such numbers.

    >>> is_blunder(100_000, 40_000), is_blunder(100_000, 60_000), is_blunder(99_999, 0)
    (True, False, False)
    """
    return (loss >= BLUNDER) & is_sure(loss, error)


T = TypeVar("T")
Asked: TypeAlias = "_Here | _There"
"""A strategy that can be asked; every method may raise Forfeit.

`choose` returns the character of its action, `thoughts` what it thought at this choice, None if it
has no such method, and `chance` its estimate of its chance to win.
"""


@contextmanager
def asked(
    entry: Entry, seat: Seat, luck: int, rules: Rules, limits: Limits | None = None
) -> Iterator[Asked]:
    """Yield a new strategy of a bot, as `asking` makes it."""
    with asking(entry, rules, limits) as make:
        yield make(seat, luck)


@contextmanager
def asking(
    entry: Entry, rules: Rules, limits: Limits | None = None
) -> Iterator[Callable[[Seat, int], Asked]]:
    """Yield what makes new strategies: in this process for a bot of the arena, else in its own.

    It gets a seat and the seed of the strategy's generator. Each new strategy
    replaces the one before. Raises Forfeit for a bot that cannot be made.
    """
    limits = limits or Limits()
    if entry.is_ours and entry.lane == "inproc":
        yield partial(_Here, entry, rules, limits)
        return
    from arena.lanes.process import bot_process

    more = _own_variables() if entry.lane == "inproc" else {}
    with (
        scratch_folder() as folder,
        bot_process(
            entry, rules, limits, folder / BOT, check=not entry.command, environment=more
        ) as process,
    ):
        process.start()
        yield partial(_There, process)


def _own_variables() -> dict[str, str]:
    """Return the environment that a bot in the lane inproc had in its game, such as keys.

    Those of Python itself are left out, which decide what a process imports, and our tokens.
    """
    out = ("PYTHON", TOKENS, SERVE_TOKEN)
    return {name: value for name, value in os.environ.items() if not name.startswith(out)}


class _Here:
    """A strategy in this process."""

    def __init__(self, entry: Entry, rules: Rules, limits: Limits, seat: Seat, luck: int) -> None:
        self.clock = limits.clock()
        self.strategy = _guard(lambda: entry.create(setup(luck, seat, rules, self.clock)))

    def choose(self, view: View, /) -> str:
        """Return the character of the strategy's action."""
        self.clock.start()
        action = _guard(lambda: checked(self.strategy.choose(view), view.legal, len(view.history)))
        self.clock.stop()
        return to_text(bytes([action]))

    def thoughts(self, view: View, /) -> tuple[Thought, ...] | None:
        """Return its thoughts at its last choice."""
        return _guard(lambda: said_thoughts(self.strategy, view))

    def chance(self, view: View, /) -> float | None:
        """Return the strategy's estimate of its chance to win."""
        return _guard(lambda: checked_chance(self.strategy, view))


class _There:
    """A strategy in a process of its own."""

    def __init__(self, process: BotProcess, seat: Seat, luck: int) -> None:
        self.process = process
        self.player = RemotePlayer(process, 0, seat, luck, process.limits.clock(), Timing())
        self._answer(self.player.begin_message())

    def choose(self, view: View, /) -> str:
        """Return the character of the strategy's action."""
        return self._answer(self.player.choose_message(view)).action or ""

    def thoughts(self, view: View, /) -> tuple[Thought, ...] | None:
        """Return its thoughts at its last choice; the data from its process is checked here."""
        said = self._answer(Thoughts(game=self.player.slot)).thoughts
        return None if said is None else _guard(lambda: checked_thoughts(said, view))

    def chance(self, view: View, /) -> float | None:
        """Return the strategy's estimate of its chance to win."""
        return self._answer(Chance(**asdict(self.player.choose_message(view)))).chance

    def _answer(self, message: Message) -> Answer:
        (answer,), _ = self.process.ask([message], self.process.limits.longest)
        if isinstance(answer, Forfeit):
            raise answer
        return answer


def _guard(ask: Callable[[], T]) -> T:
    """Return the result of a call of a bot's code; raise Forfeit for any exception in it."""
    try:
        return ask()
    except Exception as error:
        raise forfeit_from(error) from None


class Found(NamedTuple):
    """The thoughts by ply, and the plies at which a bot chose another action this time.

    Such plies have no thoughts; a search limited by time, for example, may differ each time.
    """

    thoughts: dict[int, tuple[Thought, ...]]
    strayed: list[int]


def find_thoughts(
    record: Record, bots: Mapping[Seat, tuple[Entry, int]], limits: Limits | None = None
) -> Found:
    """Return the thoughts of bots at each of their choices, in the order of the plies.

    `bots` has the bot of each seat, with the seed of its generator in the game. A bot that is not
    an `engine.Thinker`, or is a command, has no thoughts. Raises InputError for a bot that fails or
    gives invalid thoughts, and EngineError for an invalid record.
    """
    state = State(parse_deal(record.deal, record.rules), record.rules)
    found, thinkers, seat = Found({}, []), dict[Seat, Asked](), 0
    try:
        with ExitStack() as stack:
            for seat, (entry, luck) in bots.items():
                if not entry.command:
                    of_seat = asked(entry, seat, luck, record.rules, limits)
                    thinkers[seat] = stack.enter_context(of_seat)
            for ply, action in enumerate(parse_actions(record.actions)):
                seat = state.to_act
                if seat in thinkers:
                    seen = view(state, seat)
                    again, thoughts = thinkers[seat].choose(seen), thinkers[seat].thoughts(seen)
                    if thoughts is None:
                        del thinkers[seat]
                    elif again != CHARS[action]:
                        found.strayed.append(ply)
                    elif thoughts:
                        found.thoughts[ply] = thoughts
                state.apply(state.checked(action))
    except Forfeit as forfeit:
        raise InputError(f"bot {bots[seat][0].target!r}: {forfeit.fault.message}") from None
    return found
