"""Trial: the program around a bot whose game is played in one process with it.

It is the host of `arena.lanes` with one message more, `play`: the engine's own loop plays a
whole game, so that the truth lies where the lane `inproc` has it, in the frames that call
the bot. Standard library only.
"""

from __future__ import annotations

import pickle
import random
import sys
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

_ROOT = str(Path(__file__).resolve().parent.parent.parent)
if _ROOT not in sys.path:
    sys.path.append(_ROOT)

from arena.entries import source  # noqa: E402
from arena.lanes import faults  # noqa: E402
from arena.lanes.host import Host, main  # noqa: E402
from arena.lanes.output import Printed  # noqa: E402
from engine.cards import Action, to_text  # noqa: E402
from engine.notation import parse_actions, parse_cards  # noqa: E402
from engine.play import play  # noqa: E402
from engine.state import State  # noqa: E402
from engine.strategy import Clock, Setup, Strategy  # noqa: E402
from engine.view import View  # noqa: E402

RANDOM = "global random"
STDOUT = "standard output"

_getstate = random.getstate


class Enough(Exception):
    """The game has come as far as it was asked for, or goes another way."""


class Recorded:
    """Plays what a record says, up to a ply."""

    def __init__(self, actions: bytes, last: int) -> None:
        self.actions = actions
        self.last = last

    def choose(self, view: View, /) -> Action:
        """Return the action of the record; raise Enough where there is no more to learn."""
        ply = len(view.history)
        if ply > self.last or view.history != self.actions[:ply]:
            raise Enough
        return self.actions[ply]


class Watched:
    """A bot's strategy, with a clock, and a look at what it must not touch."""

    def __init__(self, trial: Trial, strategy: Strategy, clock: Clock) -> None:
        self.trial = trial
        self.strategy = strategy
        self.clock = clock

    def choose(self, view: View, /) -> Action:
        """Return the strategy's action."""
        self.clock.start()
        action = self.strategy.choose(view)
        if not self.clock.stop()[1]:
            raise faults.late(self.clock, self.trial.printed.taken())
        self.trial.look(f"at ply {len(view.history)}")
        return action


class Trial(Host):
    """Answers the inspector for one bot; `touched` is what it has touched first, and where."""

    def __init__(self, printed: Printed) -> None:
        super().__init__(printed)
        self.touched: dict[str, str] = {}
        self.before = generators()

    def answer(self, message: dict[str, Any]) -> str:
        """Return the answer to a message, all but its id, as the inside of a JSON object."""
        if message["type"] == "hello":
            said = super().answer(message)
            self.look("in its import")
            return said
        try:
            history = self._played(message)
        except BaseException as error:  # a bot may raise anything, SystemExit too
            return self.error(error, "exception")
        told = "\\n".join(f"{what}: {where}" for what, where in self.touched.items())
        return f'"action":"{to_text(history)}","output":"{told}"'

    def _played(self, message: dict[str, Any]) -> bytes:
        seat = message["seat"]
        clock = Clock(message["seconds_per_decision"], message["seconds_per_game"])
        setups = [
            Setup(Random(int(luck, 16)), who, self.rules, clock)
            for who, luck in enumerate(message["seeds"])
        ]
        clock.start()
        mine = self.bot(setups[seat], **deepcopy(self.params))
        clock.stop()
        self.look("as a game begins")
        theirs = self._opponent(message, setups[1 - seat])
        watched = Watched(self, mine, clock)
        state = State(parse_cards(message["deal"]), self.rules)
        with suppress(Enough):
            play(state, [watched, theirs] if seat == 0 else [theirs, watched])
        return state.history

    def _opponent(self, message: dict[str, Any], setup: Setup) -> Strategy:
        if message["actions"]:
            return Recorded(parse_actions(message["actions"]), message["last"])
        name = message["opponent"]
        bot = source.bound(f"bots.{name}", f"bots/{name}.py", None)
        strategy: Strategy = bot(setup)
        return strategy

    def look(self, where: str) -> None:
        """Note what has been touched since the last look."""
        now = generators()
        for name in now.keys() & self.before.keys():
            if now[name] != self.before[name]:
                self.touched.setdefault(RANDOM, f"{name}, {where}")
        if sys.stdout is not self.printed or self.printed.closed:
            self.touched.setdefault(STDOUT, where)
            self.printed.stand_in()
        self.before = now


def generators() -> dict[str, Any]:
    """Return the state of every generator that all code in this process shares."""
    found: dict[str, Any] = {"random": _getstate()}
    numpy: Any = sys.modules.get("numpy.random")
    if hasattr(numpy, "get_state"):
        found["numpy.random"] = pickle.dumps(numpy.get_state())
    return found


if __name__ == "__main__":
    main(Trial)
