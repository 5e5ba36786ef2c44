"""Mutant: one small change of one module, by the operator that makes it and its place."""

from __future__ import annotations

from typing import NamedTuple

TOPS = ("engine", "bots", "arena")
"""The folders whose modules are changed."""


class Mutant(NamedTuple):
    """The change that an operator of cosmic-ray makes at one of its places in a module."""

    module: str
    operator: str
    occurrence: int
    line: int
    column: int

    @property
    def place(self) -> str:
        """The place in the source, at which several operators may change something."""
        return f"{self.module}:{self.line}:{self.column}"

    @property
    def room(self) -> str:
        """The folder of the room: engine, bots, arena, or one of arena's.

        >>> Mutant("arena/executors/sites/wire.py", "AddNot", 0, 1, 0).room
        'arena/executors'
        """
        parts = self.module.split("/")[:-1]
        return "/".join(parts[: 2 if parts[0] == "arena" else 1])
