"""Play whole games in the bot's own process, where it could find what its view does not show.

It is the host of `arena.lanes` with one more message, `play`, for which the engine's loop plays a
whole game. So the State with both hands is in the stack frames that call the bot, as in the lane
`inproc`. Imports the standard library only.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

from arena.entries.loader import checked_strategy, load_bot
from arena.lanes import host
from arena.lanes.host import Host, Message
from engine.cards import Action, to_text
from engine.notation import parse_actions, parse_cards
from engine.play import play
from engine.rules import Rules
from engine.state import State
from engine.strategy import Clock, Setup, Strategy, close
from engine.view import View


class Enough(Exception):
    """The game has reached the wanted ply, or has left the record."""


class Recorded:
    """An opponent that plays the actions of a record, up to a ply."""

    def __init__(self, actions: bytes, last: int) -> None:
        self.actions = actions
        self.last = last

    def choose(self, view: View, /) -> Action:
        """Return the action of the record; raise Enough after `last` or outside the record."""
        ply = len(view.history)
        if ply > self.last or view.history != self.actions[:ply]:
            raise Enough
        return self.actions[ply]


class Timed:
    """A bot's strategy with a clock that runs while it chooses."""

    def __init__(self, strategy: Strategy, clock: Clock) -> None:
        self.strategy = strategy
        self.clock = clock

    def choose(self, view: View, /) -> Action:
        """Return the strategy's action."""
        self.clock.start()
        action = self.strategy.choose(view)
        self.clock.stop()
        return action


class Trial(Host):
    """Answers the check for one bot."""

    def answer(self, message: Message) -> Message:
        """Return the answer to a message, without its id."""
        if message["type"] != "play":
            return super().answer(message)
        self.output.take()
        try:
            return {"action": to_text(self._play(message))}
        except BaseException as error:  # a bot may raise anything, SystemExit too
            return self.report(error, "exception")

    def _play(self, message: Message) -> bytes:
        seat, rules = message["seat"], Rules.from_changes(message["rules"])
        clock = Clock(message["seconds_per_decision"], message["seconds_per_game"])
        mine, other = (
            Setup(Random(int(message["seeds"][side], 16)), side, rules, clock)
            for side in (seat, 1 - seat)
        )
        clock.start()
        bot = checked_strategy(self.bot(mine, **self.params()))
        clock.stop()
        state = State(parse_cards(message["deal"]), rules)
        players: list[Strategy] = [Timed(bot, clock), self._opponent(message, other)]
        try:
            with suppress(Enough):
                play(state, players if seat == 0 else players[::-1])
        finally:
            with suppress(Exception):
                close(bot)
        return state.history

    def _opponent(self, message: Message, setup: Setup) -> Strategy:
        if message["actions"]:
            return Recorded(parse_actions(message["actions"]), message["last"])
        uniform: Strategy = load_bot("bots.uniform", "bots/uniform.py", None)(setup)
        return uniform


def main() -> None:
    """Answer the arena as a Trial."""
    host.main(Trial)
