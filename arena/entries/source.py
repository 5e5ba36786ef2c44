"""Source: from the text of a bot's module to what the module binds to `bot`.

The process of a bot imports this module: standard library only.
"""

from __future__ import annotations

import importlib
import sys
import types
from functools import cache
from importlib.machinery import ModuleSpec
from typing import Any

from arena.entries.archive import MAGIC, Alone, keep_lines, load


@cache
def load_bot(module: str, filename: str, source: bytes | None) -> Any:
    """Return what a module binds to `bot`; without a source the module is imported by name.

    The source is a Python text, or an archive of a bot with further files. A process loads
    each module once. Raises whatever the module raises, and ImportError where it binds no bot.
    """
    if source is None:
        loaded = importlib.import_module(module)
    elif source.startswith(MAGIC):
        loaded = load(module, filename, source)
    else:
        loaded = _execute(module, filename, source)
    if not hasattr(loaded, "bot"):
        raise ImportError(f"{filename} does not bind `bot`")
    if not callable(loaded.bot):
        raise ImportError(
            f"{filename} binds `bot` to {type(loaded.bot).__name__}, which is not callable"
        )
    return loaded.bot


def checked_strategy(strategy: Any) -> Any:
    """Return what a bot returned for a game; raise TypeError if it forgot to return anything."""
    if strategy is None:
        raise TypeError("bot(setup) returned None, and not a strategy")
    return strategy


def _execute(name: str, filename: str, source: bytes) -> types.ModuleType:
    """Return the module of a source, registered by its name as an import would."""
    module = types.ModuleType(name)
    module.__file__ = filename
    module.__spec__ = ModuleSpec(name, Alone(), origin=filename)  # type: ignore[arg-type]
    sys.modules[name] = module
    keep_lines(filename, source)
    exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    return module
