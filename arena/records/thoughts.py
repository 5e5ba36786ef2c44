"""Read and write what bots thought of their actions, as a game record keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from engine import Action, EngineError, Record, Seat, State, Thought
from engine.cards import CHARS
from engine.notation import parse_actions, parse_deal
from engine.thoughts import checked_thoughts
from engine.view import view

_DIGITS = 4  # of a value
_ACTIONS = {char: action for action, char in enumerate(CHARS)}

Thoughts: TypeAlias = Mapping[int, tuple[Thought, ...]]
"""What was thought of the actions at some plies, in the order of the plies."""


def to_data(thoughts: Thoughts) -> dict[str, list[dict[str, Any]]]:
    """Return thoughts as plain data: for each ply its actions, values and visits.

    >>> to_data({3: (Thought(11, 0.61, 120), Thought(0, 0.5))})
    {'3': [{'action': 'T', 'value': 0.61, 'visits': 120}, {'action': '5', 'value': 0.5}]}
    """
    return {str(ply): [_to_data(*one) for one in of_ply] for ply, of_ply in thoughts.items()}


def _to_data(action: Action, value: float, visits: int | None) -> dict[str, Any]:
    data = {"action": CHARS[action], "value": round(value, _DIGITS)}
    return data | ({} if visits is None else {"visits": visits})


def parse_thoughts(line: bytes | str, record: Record) -> Thoughts:
    """Return the thoughts that a record's line has beside the game.

    `record` is that of the line. Plies whose thoughts are none are left out. Raises EngineError
    for a record that cannot be played.

    >>> deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    >>> line = Record(deal, "5T").to_json(thoughts={"0": [{"action": "T", "value": 0.5}]})
    >>> parse_thoughts(line, Record(deal, "5T"))
    {0: (Thought(action=11, value=0.5, visits=None),)}
    """
    data = json.loads(line).get("thoughts")
    found: dict[int, tuple[Thought, ...]] = {}
    if not isinstance(data, dict):
        return found
    state = State(parse_deal(record.deal, record.rules), record.rules)
    for ply, action in enumerate(parse_actions(record.actions)):
        if thoughts := _parse(data.get(str(ply)), state, state.to_act):
            found[ply] = thoughts
        state.apply(state.checked(action))
    return found


def _parse(data: Any, state: State, seat: Seat) -> tuple[Thought, ...]:
    try:
        said = [(_ACTIONS[one["action"]], one["value"], one.get("visits")) for one in data]
        return checked_thoughts(said, view(state, seat))
    except (EngineError, TypeError, ValueError, KeyError, AttributeError):
        return ()
