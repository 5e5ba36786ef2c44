"""Play whole games in the bot's own process, to detect what the bot reads or changes there.

It is the host of `arena.lanes` with one more message, `play`, for which the engine's loop plays a
whole game. So the State with both hands is in the stack frames that call the bot, as in the lane
`inproc`. Imports the standard library only.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

_ROOT = str(Path(__file__).resolve().parents[2])
_OWN = os.path.dirname(os.__file__)
_LAST = max(n for n, place in enumerate(sys.path) if place in (_OWN, f"{_OWN}/lib-dynload"))
sys.path.insert(_LAST + 1, _ROOT)  # before site-packages, which may have another arena

from arena.entries.archive import checked_strategy, load_bot  # noqa: E402
from arena.lanes.evidence import Output  # noqa: E402
from arena.lanes.faults import late_forfeit  # noqa: E402
from arena.lanes.host import Host, Message, main  # noqa: E402
from engine.cards import Action, to_text  # noqa: E402
from engine.notation import parse_actions, parse_cards  # noqa: E402
from engine.play import play  # noqa: E402
from engine.state import State  # noqa: E402
from engine.strategy import Clock, Setup, Strategy, close  # noqa: E402
from engine.view import View  # noqa: E402

RANDOM = "global random"
STDOUT = "standard output"

_getstate = random.getstate


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


class Watched:
    """A bot's strategy with a clock; after each choice, shared generators are checked."""

    def __init__(self, trial: Trial, strategy: Strategy, clock: Clock) -> None:
        self.trial = trial
        self.strategy = strategy
        self.clock = clock

    def choose(self, view: View, /) -> Action:
        """Return the strategy's action."""
        self.clock.start()
        action = self.strategy.choose(view)
        spent, in_time = self.clock.stop()
        if not in_time:
            raise late_forfeit(self.clock, spent, self.trial.output.take())
        self.trial.look(f"at ply {len(view.history)}")
        return action


class Trial(Host):
    """Answers the inspector for one bot; `touched` maps what the bot changed to where, first."""

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self.touched: dict[str, str] = {}
        self.before = generator_states()

    def answer(self, message: Message) -> Message:
        """Return the answer to a message, without its id."""
        if message["type"] == "hello":
            hello = super().answer(message)
            self.look("in its import")
            return hello
        try:
            history = self._play(message)
        except BaseException as error:  # a bot may raise anything, SystemExit too
            return self.report(error, "exception")
        touched = "\n".join(f"{what}: {where}" for what, where in self.touched.items())
        return {"action": to_text(history), "output": touched}

    def _play(self, message: Message) -> bytes:
        seat = message["seat"]
        clock = Clock(message["seconds_per_decision"], message["seconds_per_game"])
        setups = [
            Setup(Random(int(luck, 16)), side, self.rules, clock)
            for side, luck in enumerate(message["seeds"])
        ]
        clock.start()
        mine = checked_strategy(self.bot(setups[seat], **deepcopy(self.params)))
        clock.stop()
        self.look("as a game begins")
        theirs = self._opponent(message, setups[1 - seat])
        watched = Watched(self, mine, clock)
        state = State(parse_cards(message["deal"]), self.rules)
        try:
            with suppress(Enough):
                play(state, [watched, theirs] if seat == 0 else [theirs, watched])
        finally:
            with suppress(Exception):
                close(mine)
        return state.history

    def _opponent(self, message: Message, setup: Setup) -> Strategy:
        if message["actions"]:
            return Recorded(parse_actions(message["actions"]), message["last"])
        name = message["opponent"]
        strategy: Strategy = load_bot(f"bots.{name}", f"bots/{name}.py", None)(setup)
        return strategy

    def look(self, where: str) -> None:
        """Record what has been changed since the last check."""
        now = generator_states()
        for name in now.keys() & self.before.keys():
            if now[name] != self.before[name]:
                self.touched.setdefault(RANDOM, f"{name}, {where}")
        if sys.stdout is not self.output or self.output.closed:
            self.touched.setdefault(STDOUT, where)
            self.output.capture()
        self.before = now


def generator_states() -> dict[str, Any]:
    """Return the states of the random generators that all code in this process shares."""
    states: dict[str, Any] = {"random": _getstate()}
    numpy: Any = sys.modules.get("numpy.random")
    if hasattr(numpy, "get_state"):
        states["numpy.random"] = pickle.dumps(numpy.get_state())
    return states


if __name__ == "__main__":
    main(Trial)
