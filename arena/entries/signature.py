"""Params: whether a bot takes the parameters it is given."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import msgspec


def problem(bot: Any, params: dict[str, Any]) -> str | None:
    """Return what is wrong with the parameters of a bot as one line, None if nothing is.

    A bot says by its signature what it takes, and by its annotations of what types.
    """
    try:
        signature = inspect.signature(bot)
    except (TypeError, ValueError):
        return None  # a callable without a signature: the game will show
    takes = list(signature.parameters)[1:]
    try:
        signature.bind(None, **params)
    except TypeError as error:
        known = f"takes {', '.join(takes)}" if takes else "takes no parameters"
        return f"{error}; the bot {known}"
    return _wrong_type(params, _hints(bot))


def _wrong_type(params: dict[str, Any], hints: dict[str, Any]) -> str | None:
    for name, value in params.items():
        try:
            msgspec.convert(value, hints.get(name, Any))
        except msgspec.ValidationError as error:
            return f"parameter {name}={value!r}: {error}"
        except TypeError:
            continue  # a type that only the bot understands
    return None


def _hints(bot: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(
            inspect.unwrap(bot) if inspect.isfunction(bot) else bot.__init__
        )
    except (NameError, TypeError, AttributeError):
        return {}
