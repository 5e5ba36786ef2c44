"""Players: a bot at one seat of one game, in this process or in one of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from arena.entries.entry import Entry
from arena.executors.marks import IMPORTING, THINKING
from arena.games.match import Play, Question
from arena.games.timing import Timing
from arena.lanes.faults import MOST_OUTPUT, Forfeit, late, raised
from arena.lanes.output import Printed
from arena.lanes.process import Answer, BotProcess
from engine import IllegalAction, Setup, Strategy
from engine.cards import CHARS, Action, pack_text, to_text
from engine.state import Seat, checked
from engine.strategy import Clock
from engine.view import View

_pack_text = lru_cache(4096)(pack_text)
_legal_text = lru_cache(4096)(lambda legal: to_text(bytes(legal)))
_BOOL = ("false", "true")
Mark: TypeAlias = Callable[[int, bytes], None]
"""Marks what a bot is at: the stage, the history."""

_FOREVER = float("inf")


class LocalPlayer:
    """A bot in this process: the clock is read when it answers.

    `answered` is called after each of its calls, and ends this process if it is spoilt.
    """

    def __init__(
        self,
        entry: Entry,
        setup: Setup,
        mark: Mark,
        answered: Callable[[], None],
        timing: Timing,
        printed: Printed,
    ) -> None:
        self.entry = entry
        self.setup = setup
        self.clock = setup.clock
        self.mark = mark
        self.answered = answered
        self.timing = timing
        self.strategy: Strategy
        self.printed = printed
        self.output = ""

    def begin(self) -> Play[None]:
        """Load the bot, and make its strategy."""
        self.printed.taken()
        self.mark(IMPORTING, b"")
        try:
            _ = self.entry.bot
        except BaseException as error:  # a bot may raise anything, SystemExit too
            raise raised(error, self.printed.taken(), "import") from None
        self.mark(THINKING, b"")
        self.clock.start()
        try:
            self.strategy = self.entry.strategy(self.setup)
        except BaseException as error:
            raise self._raised(error) from None
        self._check_clock()
        return
        yield

    def choose(self, seen: View) -> Play[Action]:
        """Return the bot's action, checked."""
        self.mark(THINKING, seen.history)
        self.clock.start()
        try:
            action = self.strategy.choose(seen)
            self._check_clock()
            if type(action) is not int or action not in seen.legal:
                action = checked(action, seen.legal, len(seen.history))
        except Forfeit:
            raise
        except BaseException as error:
            raise self._raised(error) from None
        return action
        yield

    def end(self) -> Play[None]:
        """Do nothing: there is nobody to tell."""
        return
        yield

    def _check_clock(self) -> None:
        seconds, in_time = self.clock.stop()
        self.answered()
        self.timing.add(seconds)
        if not in_time:
            raise late(self.clock, self.output + self.printed.taken())
        if self.printed.kept:
            self.output = (self.output + self.printed.taken())[-MOST_OUTPUT:]

    def _raised(self, error: BaseException) -> Forfeit:
        self.answered()
        return raised(error, self.output + self.printed.taken())


class RemotePlayer:
    """A bot in a process of its own, which may hold other games beside this one."""

    def __init__(
        self,
        process: BotProcess,
        slot: int,
        seat: Seat,
        luck: int,
        clock: Clock,
        mark: Mark,
        timing: Timing,
    ) -> None:
        self.process = process
        self.slot = slot
        self.seat = seat
        self.luck = luck
        self.clock = clock
        self.mark = mark
        self.timing = timing

    def begin(self) -> Play[None]:
        """Start the process if need be, and tell it of the game."""
        self.mark(IMPORTING, b"")
        self.process.start()
        self.process.forget_output()
        self.mark(THINKING, b"")
        yield from self._asked(
            f'"type":"new","game":{self.slot},"seat":{self.seat},"seed":"{self.luck:032x}",'
            f'"seconds_per_decision":{_number(self.clock.decision)},'
            f'"seconds_per_game":{_number(self.clock.game)}}}\n'
        )

    def choose(self, seen: View) -> Play[Action]:
        """Return the bot's action, checked."""
        self.mark(THINKING, seen.history)
        answer = yield from self._asked(self._choice(seen))
        if answer.action is None:
            raise Forfeit("protocol", "the answer has no action", "", self.process.printed())
        number = CHARS.find(answer.action) if len(answer.action) == 1 else -1
        if number not in seen.legal:
            given: Any = answer.action if number < 0 else number
            try:
                return checked(given, seen.legal, len(seen.history))
            except IllegalAction as error:
                raise Forfeit("illegal", str(error), "", self.process.printed()) from None
        return number

    def end(self) -> Play[None]:
        """Take leave of the process, if it still runs."""
        if self.process.pid is not None:
            yield from self._asked(f'"type":"end","game":{self.slot}}}\n')

    def _asked(self, message: str) -> Play[Answer]:
        limit = self.clock.limit()
        seconds = _FOREVER if limit is None else limit
        try:
            answer = yield Question(self.process, message.encode(), seconds)
        except Forfeit as forfeit:
            if forfeit.kind == "timeout" and self.process.pid is None:
                raise late(self.clock, forfeit.output, forfeit.message) from None
            raise
        self.timing.add(answer.seconds)
        if not self.clock.spend(answer.seconds):
            raise late(self.clock, self.process.printed())
        return answer

    def _choice(self, seen: View) -> str:
        piles, taken = seen.piles, seen.taken
        return (
            f'"type":"choose","game":{self.slot},"seat":{seen.seat},'
            f'"legal":"{_legal_text(seen.legal)}","hand":"{_pack_text(seen.hand)}",'
            f'"row":"{to_text(seen.row)}",'
            f'"piles":["{_pack_text(piles[0])}","{_pack_text(piles[1])}"],'
            f'"taken":[{_BOOL[taken[0]]},{_BOOL[taken[1]]}],'
            f'"history":"{to_text(seen.history)}","opening":"{to_text(seen.opening)}",'
            f'"round":{seen.round},"opponent_cards":{seen.opponent_cards},'
            f'"seconds_left":{_number(self.clock.limit())}}}\n'
        )


def _number(seconds: float | None) -> str:
    return "null" if seconds is None else repr(seconds)
