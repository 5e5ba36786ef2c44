"""Play against a bot in many games at once; it plays in its own process, by its `scores`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from arena.batch.lockstep import Lockstep
from arena.batch.piles import Cards, Indices
from arena.entries.entry import Entry
from arena.errors import InputError
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.messages import Message
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.runs import victim_host
from arena.runs.opponents import NO_SCORES
from arena.runs.prepare import start_apart
from engine import STANDARD, EngineError, Seat, to_text
from engine.notation import parse_actions


class NoScores(InputError):
    """A bot has no method `scores`."""


class Meet(Message, kw_only=True):
    """The message that begins games on these deals, in which the bot has this seat."""

    type: str = "meet"
    deals: list[str]
    seat: int


class Reply(Message, kw_only=True):
    """The message with the other seat's actions since the bot's last turn; asks for the bot's."""

    type: str = "reply"
    actions: list[str]


class Victim:
    """A Rival (`arena.batch.ppo`) in a process of its own, whose answers are checked."""

    def __init__(self, label: str, process: BotProcess) -> None:
        self.label = label
        self.process = process
        self.seen: list[str] = []

    def begin(self, deals: Cards, seat: Seat, /) -> None:
        """Begin games on these deals, in which the bot has this seat."""
        self.seen = []
        self._ask(Meet(deals=[to_text(deal.tobytes()) for deal in deals], seat=seat))

    def follow(self, _games: Lockstep, actions: Indices, /) -> None:
        """Record the actions that the learning seat is about to play, one for each game."""
        self.seen.append(to_text(actions.astype(np.uint8).tobytes()))

    def choose(self, games: Lockstep, /) -> Indices:
        """Return the bot's action in each game; raises InputError for an illegal one."""
        said = self._ask(Reply(actions=self.seen))
        self.seen = []
        try:
            actions = np.frombuffer(parse_actions(said), np.uint8).astype(np.intp)
        except EngineError:
            actions = np.zeros(0, np.intp)
        rows = np.arange(games.count)
        if len(actions) != len(rows) or not (games.legal()[rows, actions] | games.over).all():
            raise InputError(f"{self.label}: its process reported illegal actions")
        return actions

    def _ask(self, message: Message) -> str:
        try:
            self.process.start()
            (answer,), _ = self.process.ask([message], self.process.limits.longest)
            if isinstance(answer, Forfeit):
                raise answer
        except Forfeit as forfeit:
            said = forfeit.fault.message
            if NO_SCORES in said:
                raise NoScores(f"{self.label}: it {NO_SCORES}") from None
            raise InputError(f"{self.label}: its method scores fails: {said}") from None
        return answer.action or ""


@contextmanager
def meet_victim(entry: Entry) -> Iterator[Victim]:
    """Yield a bot as a Rival, and end its process afterwards.

    Raises InputError for a bot that does not load.
    """
    apart = start_apart(entry)
    with (
        scratch_folder() as folder,
        bot_process(
            apart, STANDARD, Limits(), folder / BOT, program=victim_host.__file__
        ) as process,
    ):
        yield Victim(entry.label, process)
