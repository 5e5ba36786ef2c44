"""Write the texts of profiles: names of measures, values and differences in their units."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Final

from arena.differences.profiles import Group, Measure, Unit
from arena.errors import counted
from arena.insight.table_columns import WIN_TYPES
from arena.reports.blocks import write_cell
from arena.reports.take_section import CARD_NAMES
from arena.statistics.wording import signed

GROUPS: Final[Mapping[Group, Mapping[str, str]]] = {
    "games": {"title": "How games end", "head": "Share of the games"},
    "takes": {
        "title": "Takes: when, and what they bring",
        "head": "Value",
        "note": "Shares are of all takes of a bot, by its action in the round: at 1 it takes at "
        "once.",
    },
    "losses": {
        "title": "What a decision gives away",
        "head": "Loss",
        "note": "Points of 100 of the chance to win, as arena analyse has judged them.",
    },
    "cards": {
        "title": "What cards are worth",
        "head": "Adds, percentage points",
        "note": "How much more often a bot wins that takes one such card, over all its games: an "
        "adjusted correlation, and no cause.",
    },
}
"""For each group of measures its title, the head of its values, and a note on it."""

_NAMES: Final = {
    "score": "Score",
    **{
        f"{how} by {name}": f"{how.capitalize()} by {name}"
        for how in ("won", "lost")
        for name in WIN_TYPES.values()
    },
    "drawn": "Drawn",
    "cards": "Cards of a take",
    "gain": "Points that a take adds",
    "loss": "Loss of a decision",
    **CARD_NAMES,
}
"""The names of measures, except shares of takes."""


def describe_opponents(number: int) -> str:
    """Return the text on how many opponents two bots have in common.

    >>> describe_opponents(38), describe_opponents(0)
    ('Compared by 38 common opponents, each of which weighs the same', 'Without a common opponent')
    """
    if not number:
        return "Without a common opponent"
    each = ", each of which weighs the same" if number > 1 else ""
    return f"Compared by {counted(number, 'common opponent')}{each}"


def describe_sure(number: int, tested: int) -> str:
    """Return the text on how many differences are significant.

    >>> describe_sure(1, 26)
    '1 of 26 differences is significant when all of them are looked at together'
    """
    if not tested:
        return "No difference can be tested"
    be = "is" if number == 1 else "are"
    of = f"{number} of {counted(tested, 'difference')}"
    return f"{of} {be} significant when all of them are looked at together"


def name_measure(measure: Measure) -> str:
    """Return the name of a measure.

    >>> name_measure(Measure("takes", "at 6", "share"))
    'Taken at action 6'
    """
    return _NAMES.get(measure.name) or f"Taken {measure.name.replace('at ', 'at action ')}"


def write_value(value: float | None, unit: Unit) -> str:
    """Return a value formatted for readers, or "" if it is not known.

    >>> write_value(0.5134, "share"), write_value(0.0123, "change"), write_value(0.0098, "loss")
    ('51.3 %', '+1.2', '0.98')
    """
    if value is None or isnan(value):
        return ""
    if unit == "change":
        return write_change(value, unit)
    return write_cell(value, "share") if unit == "share" else signed(_scaled(value, unit), ".2f")


def write_change(value: float, unit: Unit) -> str:
    """Return a difference formatted for readers: one of shares is in percentage points.

    >>> write_change(-0.0312, "share"), write_change(0.25, "number")
    ('-3.1', '+0.25')
    """
    if isnan(value):
        return ""
    return signed(_scaled(value, unit), "+.1f" if unit in ("share", "change") else "+.2f")


def _scaled(value: float, unit: Unit) -> float:
    return value if unit == "number" else 100 * value
