"""Wording: what is wrong with a config, in the words of YAML."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from arena.tournament.bounds import advise_whole
from arena.tournament.document import Items, Lines
from engine.errors import show

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_ENUM = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_WORDS = {"object": "mapping", "array": "list"}
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def explain(
    message: str, data: Any, keys: Mapping[str, Sequence[str]], choices: Mapping[str, Sequence[str]]
) -> str:
    """Return msgspec's "what - at `$.place`" as "place: what".

    `keys` are those that there can be at a place, `choices` the texts that a key can have; of
    places in a list the number is left out.

    >>> explain("Expected `int`, got `array` - at `$.pairs`", {}, {}, {})
    'pairs: expected `int`, got `list`'
    >>> explain("Object contains unknown field `piars`", {}, {"": ["pairs", "seed"]}, {})
    "unknown key 'piars'; did you mean 'pairs'?"
    """
    what, _, place = message.partition(" - at ")
    place = place.replace("`", "").replace("$.", "").replace("$[", "[").removeprefix("$")
    general = re.sub(r"\[\d+\]", "", place)
    steps = _find_steps(place)
    if match := _UNKNOWN.fullmatch(what):
        what = unknown_key(match[1], keys.get(general, ()))
        steps.append(match[1])
    elif match := _MISSING.fullmatch(what):
        what = f"key {match[1]!r} is missing"
    elif match := _ENUM.fullmatch(what):
        what = f"{match[1]} is not one of {', '.join(choices[general.rpartition('.')[2]])}"
    else:
        what = re.sub(r"\b(object|array)\b", lambda word: _WORDS[word[0]], what)
        what = what[0].lower() + what[1:] + _describe_value(what, _find(data, steps)[0])
        steps = steps or [what.partition(":")[0]]
    place = place.replace("$", "the config")
    return line_of(data, steps) + (f"{place}: {what}" if place else what)


def _describe_value(what: str, value: Any) -> str:
    """Return the value that has a wrong type, and what to write in place of one for a number."""
    if ", got `" not in what or not isinstance(value, str | int | float):
        return ""
    advice = f"; {advise_whole(value)}" if what.startswith("Expected `int`") else ""
    return f": {show(value)}{advice}"


def unknown_key(key: str, known: Sequence[str]) -> str:
    """Return what is said of a key that there is not, with the one that was meant."""
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"unknown key {show(key)}; {hint}"


def line_of(data: Any, steps: Sequence[str | int]) -> str:
    """Return "line 3: " for the place in the data to which the steps lead, or the one around it.

    It is nothing where no line is known.
    """
    line = _find(data, steps)[1]
    return f"line {line}: " if line else ""


def _find(data: Any, steps: Sequence[str | int]) -> tuple[Any, int]:
    """Return the value to which the steps lead, and the line on which it stands, 0 if unknown."""
    line = 0
    for step in steps:
        try:
            if isinstance(data, Lines | Items):
                line = data.lines[step]  # type: ignore[index]
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None, line
    return data, line


def _find_steps(place: str) -> list[str | int]:
    """Return the keys and numbers of a place.

    >>> _find_steps("bots[1].params")
    ['bots', 1, 'params']
    """
    found = _STEP.findall(place.removeprefix("key in "))
    return [int(number) if number else key for key, number in found]
