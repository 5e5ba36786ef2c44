"""Let a bot play many games at once in its own process, through its method `scores`.

It is the host of `arena.lanes` with two more messages. `meet` begins games on given deals. `reply`
passes on the actions of the other seat, one text for each of its plies, and requests the bot's
actions. So the bot's code runs in its own process, apart from the learner.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random
from typing import Any

_ROOT = str(Path(__file__).resolve().parents[2])
_OWN = os.path.dirname(os.__file__)
_LAST = max(n for n, place in enumerate(sys.path) if place in (_OWN, f"{_OWN}/lib-dynload"))
sys.path.insert(_LAST + 1, _ROOT)  # before site-packages, which may have another arena

from arena.entries.archive import checked_strategy  # noqa: E402
from arena.lanes.host import Host, Message, main  # noqa: E402
from engine.cards import to_text  # noqa: E402
from engine.notation import parse_actions, parse_cards  # noqa: E402
from engine.strategy import Setup  # noqa: E402


class VictimHost(Host):
    """Answers the arena's messages for one bot, which plays all games of `together` at once."""

    together: Any

    def answer(self, message: Message) -> Message:
        """Return the answer to a message, without its id."""
        try:
            if message["type"] == "meet":
                self._meet(message)
                return {}
            if message["type"] == "reply":
                return {"action": self._reply(message)}
        except BaseException as error:  # a bot may raise anything, SystemExit too
            return self.report(error, "exception")
        return super().answer(message)

    def _meet(self, message: Message) -> None:
        """Begin games; raises TypeError for a bot that has no method `scores`."""
        import numpy as np

        from arena.batch.lockstep import Lockstep

        setup = Setup(Random(0), message["seat"], self.rules)
        strategy: Any = checked_strategy(self.bot(setup, **self.params))
        self.scores: Any = getattr(strategy, "scores", None)
        if not callable(self.scores):
            raise TypeError(f"{type(strategy).__name__} has no method scores(games)")
        deals = np.frombuffer(parse_cards("".join(message["deals"])), np.uint8)
        deals = deals.reshape(len(message["deals"]), -1)
        self.together = Lockstep(len(deals), self.rules)
        self.together.begin(np.arange(len(deals)), deals)

    def _reply(self, message: Message) -> str:
        """Apply the other seat's actions, then the bot's own actions, and return these."""
        import numpy as np

        from arena.batch.rollouts import pick

        for actions in message["actions"]:
            self.together.step(np.frombuffer(parse_actions(actions), np.uint8))
        chosen = pick(self.together, self.scores)
        self.together.step(chosen)
        return to_text(chosen.astype(np.uint8).tobytes())


if __name__ == "__main__":
    main(VictimHost)
