"""Play one seat of one game, by a bot in this process or in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from arena.entries.entry import Entry
from arena.lanes.evidence import MOST_OUTPUT, Output
from arena.lanes.faults import Fault, Forfeit, idle_forfeit, late_forfeit
from arena.lanes.limits import Allowed, Budget
from arena.lanes.messages import Answer, Choose, End, Message, New
from arena.tournament.match import Asking, Doubt, Question, blame, close_after, warn_of_close
from arena.tournament.timing import Timing
from engine import Setup, Strategy
from engine.cards import CHARS, Action, pack_text, to_text
from engine.state import Seat, checked, refusal
from engine.strategy import Clock, Spent
from engine.view import View

if TYPE_CHECKING:  # a run without processes starts 8 ms sooner
    from arena.lanes.process import BotProcess

_pack_text = lru_cache(4096)(pack_text)
_failed: dict[tuple[str, str], Fault] = {}  # bots that cannot be imported
_legal_text = lru_cache(4096)(lambda legal: to_text(bytes(legal)))


@dataclass
class InprocPlayer:
    """A bot in this process; its clock is checked only after each answer.

    `beat` is called before each call of the bot; `output` collects what the bot prints.
    """

    entry: Entry
    setup: Setup
    beat: Callable[[], None]
    timing: Timing
    output: Output
    budget: Budget
    printed: str = ""
    strategy: Strategy | None = None

    @property
    def clock(self) -> Clock:
        """The clock of the bot."""
        return self.setup.clock

    def begin(self) -> None:
        """Load the bot, and make its strategy."""
        self.output.take()
        self.beat()
        self._load()
        self.output.take()  # output of an import belongs to no game
        self.beat()
        self.clock.start()
        try:
            self.strategy = self.entry.create(self.setup)
            self._stop_clock()
        except BaseException as error:
            raise self._forfeit(error) from None
        self.output.stay()

    def _load(self) -> None:
        """Load the bot, unless loading it has failed before in this process: then forfeit again.

        A second try could fail differently, as the modules imported before the failure stay loaded.
        """
        name = (self.entry.module, self.entry.sha256)
        try:
            if name not in _failed:
                self.entry.load()
                return
        except BaseException as error:
            _failed[name] = blame(self.entry, error, self.output.take(), "import").fault
        raise Forfeit(*_failed[name])

    def choose(self, view: View, /) -> Action:
        """Return the bot's action, checked."""
        assert self.strategy
        self.beat()
        if self.output.kept:  # printed by a bot of another game that has just ended
            self.output.take()
        self.clock.start()
        try:
            action = self.strategy.choose(view)
            self._stop_clock()
            if type(action) is not int or action not in view.legal:
                action = checked(action, view.legal, len(view.history))
        except BaseException as error:
            raise self._forfeit(error) from None
        return action

    def end(self) -> None:
        """Close the strategy, if there is one."""
        self.beat()
        if self.strategy is not None:
            close_after(self.entry, self.strategy)

    def _stop_clock(self) -> None:
        spent, in_time = self.clock.stop()
        self.timing.add(spent)
        if self.output.kept:
            self.printed = (self.printed + self.output.take())[-MOST_OUTPUT:]
        self.budget.spend(spent)
        if not in_time:
            raise late_forfeit(self.clock, spent, self.printed)
        if self.budget.left < 0:
            raise idle_forfeit(self.budget.seconds, self.printed)

    def _forfeit(self, error: BaseException) -> Forfeit:
        return blame(self.entry, error, self.printed + self.output.take())


@dataclass
class RemotePlayer:
    """A bot in a process of its own, which may also play other games.

    `slot` is this game's number in the process. `asking` is called before each question to the bot,
    with the history, or with None before the game begins. `at_most` are the seconds of the game's
    limit that may have been used.
    """

    process: BotProcess
    slot: int
    seat: Seat
    luck: int
    clock: Clock
    timing: Timing
    asking: Callable[[bytes | None], None] = lambda _: None
    label: str = "a bot"
    at_most: float = 0.0

    def begin(self) -> Asking[None]:
        """Start the process if it does not run, and announce the game."""
        self.asking(None)
        self.process.start()
        self.process.forget_output()
        yield from self._ask(self.begin_message())

    def choose(self, view: View, /) -> Asking[Action]:
        """Return the bot's action, checked."""
        self.asking(view.history)
        answer = yield from self._ask(self.choose_message(view))
        if answer.action is None:
            raise Forfeit("protocol", "the answer has no action", "", self.process.printed())
        number = CHARS.find(answer.action) if len(answer.action) == 1 else -1
        if number not in view.legal:
            shown = f"{number} ({answer.action})" if number >= 0 else ascii(answer.action)[:80]
            error = refusal(shown, view.legal, len(view.history))
            raise Forfeit("illegal", str(error), "", self.process.printed())
        return number

    def end(self) -> Asking[None]:
        """Tell the process, if it still runs, that the game is over; it then closes the strategy.

        It has as much time as for a start, which does not count as time of the game. A process that
        fails is replaced.
        """
        if self.process.pid is not None:
            allowed = self.process.limits.of_start
            try:
                yield Question(self.process, End(game=self.slot), allowed)
            except Forfeit as forfeit:
                if forfeit.fault.kind == "protocol":  # a second answer to the last question, say
                    raise
                late = f"it takes more than {allowed.describe(forfeit.spent)}"
                warn_of_close(self.label, late if forfeit.spent else forfeit.fault.message)

    def _ask(self, message: Message) -> Asking[Answer]:
        clock = self.clock if self.process.is_warm else self._first_clock()
        charged, wall = clock.limit(), clock.wall_limit()
        allowed = Allowed(inf if charged is None else charged, inf if wall is None else wall)
        try:
            answer, spent, share = yield Question(self.process, message, allowed)
        except Forfeit as forfeit:
            if forfeit.spent is not None:
                _, detail, _, output = forfeit.fault
                raise late_forfeit(clock, forfeit.spent, output, detail) from None
            raise
        self.timing.add(share)
        if clock is not self.clock:
            return answer
        self.at_most += spent.charged
        if share is not spent and self._may_be_late(spent, allowed):
            raise Doubt
        if not self.clock.spend(share):
            raise late_forfeit(self.clock, share, self.process.printed())
        return answer

    def _first_clock(self) -> Clock:
        """Return the clock for the first decision of a process: it has the limits of a start.

        So a program that warms up is not late in each new process. The time does not count for the
        game.
        """
        charged, wall = self.process.limits.of_start[:2]
        return Clock(max(charged, self.clock.decision or 0.0), None, wall)

    def _may_be_late(self, spent: Spent, allowed: Allowed) -> bool:
        """Return whether an answer may have been late, given the time spent on several together."""
        of_game = inf if self.clock.game is None else self.clock.game
        return (
            spent.charged > allowed.charged or spent.wall > allowed.wall or self.at_most > of_game
        )

    def begin_message(self) -> New:
        """Return the message that begins the game."""
        return New(
            game=self.slot,
            seat=self.seat,
            seed=f"{self.luck:032x}",
            seconds_per_decision=self.clock.decision,
            seconds_per_game=self.clock.game,
        )

    def choose_message(self, view: View) -> Choose:
        """Return the message that asks for the bot's action, with all that its seat sees."""
        first, second = view.piles
        return Choose(
            game=self.slot,
            seat=view.seat,
            legal=_legal_text(view.legal),
            hand=_pack_text(view.hand),
            row=to_text(view.row),
            piles=(_pack_text(first), _pack_text(second)),
            taken=view.taken,
            history=to_text(view.history),
            opening=to_text(view.opening),
            round=view.round,
            opponent_cards=view.opponent_cards,
            seconds_left=self.clock.limit(),
        )
