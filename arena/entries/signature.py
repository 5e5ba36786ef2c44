"""Check whether a bot accepts the parameters in its spec."""

from __future__ import annotations

import inspect
import typing
from typing import Any

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)


def find_parameter_error(bot: Any, params: dict[str, Any]) -> str | None:
    """Return the error in a bot's parameters as one line, None if they are valid.

    They are checked against the names and the type annotations of the bot's signature.
    """
    try:
        signature = inspect.signature(bot)
    except (TypeError, ValueError):
        return None  # a callable without a signature: its first game shows an error
    if error := find_missing_setup(bot):
        return error
    takes = list(signature.parameters)[1:]
    try:
        signature.bind(None, **params)
    except TypeError as error:
        known = f"takes {', '.join(takes)}" if takes else "takes no parameters"
        return f"{error}; the bot {known}"
    return _find_wrong_type(params, _hints(bot))


def find_missing_setup(bot: Any) -> str | None:
    """Return a suggestion if a bot has no parameter for the setup, else None."""
    parameters = inspect.signature(bot).parameters.values()
    if any(value.kind in _POSITIONAL for value in parameters):
        return None
    name = getattr(bot, "__name__", type(bot).__name__)
    if not inspect.isclass(bot):
        return f"{name} takes no setup; write `def {name}(setup)`"
    if bot.__init__ is object.__init__:
        return f"class {name} has no __init__; write `__init__(self, setup)`"
    return f"the __init__ of class {name} takes no setup; write `__init__(self, setup)`"


def _find_wrong_type(params: dict[str, Any], hints: dict[str, Any]) -> str | None:
    if not params:
        return None
    import msgspec  # a jail shows it to bots with parameters

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
