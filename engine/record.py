"""One game as data: its deal and actions, as a JSON line, and its replay."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from engine.cards import to_text
from engine.errors import RecordError, show, show_start
from engine.notation import parse_actions, parse_deal
from engine.rules import STANDARD, Rules
from engine.state import State

FORMAT = 1
"""The version of the JSON of a record; a record of version 1 does not state it."""


class Record(NamedTuple):
    """A game's deal and actions as text (engine.notation), finished or not.

    >>> record = Record("555556666667777777888888882222334xxxyyyyzzCCC", "56T")
    >>> record.replay().to_act
    1
    >>> Record.from_json(record.to_json()) == record
    True
    """

    deal: str
    actions: str
    rules: Rules = STANDARD

    def replay(self) -> State:
        """Return the position after the last action.

        Raises NotationError, DealError, IllegalAction or AfterEnd.
        """
        actions = parse_actions(self.actions)
        state = State(parse_deal(self.deal, self.rules), self.rules)
        state.follow(actions)
        return state

    def to_json(self, **more: Any) -> str:
        """Return the record as one JSON line, with the keys `more` at its end."""
        rules = self.rules.changes()
        data = {"deal": self.deal, "actions": self.actions}
        return json.dumps(data | ({"rules": rules} if rules else {}) | more)

    @classmethod
    def from_json(cls, text: str | bytes) -> Record:
        """Return the record of a JSON line; keys that are not the engine's are ignored.

        Raises RecordError for a text that is not a record, or one of another format (a record
        without a key `format` has the first), RulesError for unplayable rules.

        >>> Record.from_json('{"deal": "56", "actions": ""}')
        Record(deal='56', actions='', rules=Rules())
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            start = f", in {show_start(text)}" if text.strip() else ""
            raise RecordError(f"not JSON: {error}{start}") from None
        if not isinstance(data, dict):
            raise RecordError("a record is a JSON object")
        if (number := data.get("format", FORMAT)) != FORMAT or type(number) is not int:
            raise RecordError(f"a record of format {show(number)}; this version reads {FORMAT}")
        for key in ("deal", "actions"):
            if not isinstance(data.get(key), str):
                raise RecordError(f"a record needs a string {key!r}")
        return cls(data["deal"], data["actions"], Rules.from_changes(data.get("rules", {})))

    @classmethod
    def of(cls, deal: bytes, state: State) -> Record:
        """Return the record of a game, its hands in the order they were dealt."""
        return cls(to_text(deal), to_text(state.history), state.rules)
