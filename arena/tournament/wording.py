"""Wording: what is wrong with a config, in the words of YAML."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from arena.tournament.document import Lines
from engine.errors import show

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_ENUM = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_WORDS = {"object": "mapping", "array": "list"}
_STEP = re.compile(r"[^.\[\]]+")


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
    line = ""
    if match := _UNKNOWN.fullmatch(what):
        what = _unknown_key(match[1], keys.get(general, ()))
        line = _line_of(data, place, match[1])
    elif match := _MISSING.fullmatch(what):
        what = f"key {match[1]!r} is missing"
    elif match := _ENUM.fullmatch(what):
        what = f"{match[1]} is not one of {', '.join(choices[general.rpartition('.')[2]])}"
    else:
        what = re.sub(r"\b(object|array)\b", lambda word: _WORDS[word[0]], what)
        what = what[0].lower() + what[1:]
    place = place.replace("$", "the config")
    return line + (f"{place}: {what}" if place else what)


def _unknown_key(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"unknown key {show(key)}; {hint}"


def _line_of(data: Any, place: str, key: str) -> str:
    """Return "line 3: " for a key of the mapping at a place, nothing if it is not known."""
    for step in _STEP.findall(place):
        data = data[int(step)] if isinstance(data, list) else data[step]
    return f"line {data.lines[key]}: " if isinstance(data, Lines) and key in data.lines else ""
