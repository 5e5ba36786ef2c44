"""Loop: a bot in one process with the whole game, as in the lane `inproc`, only not in ours."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from arena.check import trial
from arena.check.table import Number, Table
from arena.lanes.faults import Forfeit, one_line
from arena.lanes.launch import hello, launch
from arena.lanes.process import BotProcess
from engine import EngineError, Record
from engine.cards import to_text

_PATIENCE = 5.0  # seconds
_SLOWER = 5  # times that a decision may take of what it took in a process of its own


class Loop:
    """Has the games of a table played again by `trial`; what it says is not to be trusted.

    `touched` is what the bot has touched that everybody shares, and where first.
    """

    def __init__(self, table: Table) -> None:
        candidate = table.candidate
        entry = replace(candidate.entry, lane="process")
        started = launch(entry, candidate.limits, candidate.new_folder())
        words = [*started.words[:-1], trial.__file__]
        said = hello(entry, table.rules)
        self.table = table
        self.process = BotProcess(
            started._replace(words=words), said, candidate.limits, candidate.beat
        )
        self.patience = candidate.limits.decision + _PATIENCE
        self.patience += _SLOWER * table.timing.mean * table.rules.game_plies
        self.touched: dict[str, str] = {}

    def play(self, number: Number, **more: Any) -> str:
        """Return the actions of a game, played as `more` says; raise Forfeit for a fault."""
        self.table.candidate.beat()
        self.process.start()
        message = json.dumps(self.table.message(number, **more))
        self.process.send([message[1:].encode() + b"\n"])
        answer = self.process.receive(self.patience)
        for line in answer.output.splitlines():
            what, _, where = line.partition(": ")
            self.touched.setdefault(what, one_line(where))
        return answer.action or ""

    def whole(self, number: Number) -> str:
        """Return the actions of a game, once it is seen to be one; raise Forfeit if it is none."""
        actions = self.play(number)
        try:
            over = Record(to_text(self.table.deal(number)), actions, self.table.rules).replay().over
        except EngineError as error:
            raise Forfeit(
                "protocol", f"its process tells of a game that is none: {error}"
            ) from None
        if not over:
            raise Forfeit("protocol", "its process tells of a game that has no end")
        return actions

    def close(self) -> None:
        """Kill the process."""
        self.process.kill()
