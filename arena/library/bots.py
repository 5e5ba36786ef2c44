"""Bots: as a program names them, and as a config does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from arena.entries.resolve import Code
from arena.library.closure import bundle

Bot: TypeAlias = "str | os.PathLike[str] | Callable[..., Any] | Mapping[str, Any] | tuple[str, Any]"
"""A spec, a class or function, a mapping as in a config, or a label with one of these."""


class Bots:
    """Takes the classes and functions out of lists of bots, and keeps their code.

    What is left is data for a config, in which a text stands for each of them.
    """

    def __init__(self) -> None:
        self.code: dict[str, Code] = {}

    def take(self, bots: Any) -> Any:
        """Return a list of bots without its classes and functions; anything else as it is."""
        if isinstance(bots, str | bytes | Mapping) or not isinstance(bots, Iterable):
            return bots  # which the config refuses
        return [self._take(bot) for bot in bots]

    def _take(self, bot: Any) -> Any:
        if isinstance(bot, tuple) and len(bot) == 2:
            label, rest = bot
            return {**self._as_mapping(self._take(rest)), "label": label}
        if isinstance(bot, Mapping):
            return {**bot, "bot": self._take(bot["bot"])} if "bot" in bot else bot
        if isinstance(bot, os.PathLike):
            return os.fspath(bot)
        if callable(bot):
            return self._stand_in(bundle(bot))
        return bot

    def _stand_in(self, code: Code) -> str:
        text = f"{code.name} {len(self.code)}"
        self.code[text] = code
        return text

    @staticmethod
    def _as_mapping(bot: Any) -> Mapping[str, Any]:
        return bot if isinstance(bot, Mapping) else {"bot": bot}
