"""Literal: plain values as source."""

from __future__ import annotations

import math
from typing import TypeAlias

from arena.library.unshippable import Unshippable

_ATOMS = (type(None), type(...), bool, int, str, bytes)
_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}
_Items: TypeAlias = list[object] | tuple[object, ...] | set[object] | frozenset[object]


def write_literal(value: object) -> str:
    """Return an expression that makes an equal value, the same one in every process.

    Raises Unshippable for other values than numbers, texts, bytes, booleans, None, and lists,
    tuples, sets and dicts of these.

    >>> write_literal({"deep": [1, (2.5,)], "names": {"b", "a"}, "most": float("inf")})
    "{'deep': [1, (2.5,)], 'names': {'a', 'b'}, 'most': float('inf')}"
    """
    try:
        return _write(value)
    except (RecursionError, ValueError):  # a list in itself, an int of too many digits
        raise Unshippable("a value nested too deep or too long") from None


def _write(value: object) -> str:
    kind = type(value)
    if kind in _ATOMS:
        return repr(value)
    if isinstance(value, float) and kind is float:
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(value, dict) and kind is dict:
        items = [f"{_write(key)}: {_write(value[key])}" for key in value]
        return ", ".join(items).join("{}")
    if isinstance(value, list | tuple | set | frozenset) and kind in _BRACKETS:
        return _write_items(value)
    raise Unshippable(f"a value of the type {kind.__name__}")


def _write_items(values: _Items) -> str:
    kind = type(values)
    items = [_write(value) for value in values]
    if isinstance(values, set | frozenset):
        items.sort()
        text = ", ".join(items).join("{}") if items else "set()"
        return text if kind is set else f"frozenset({text})"
    if kind is tuple and len(items) == 1:
        return f"({items[0]},)"
    return ", ".join(items).join(_BRACKETS[kind])
