"""Capture what bots print, and keep the end of it as evidence.

The process of a bot imports this module: standard library only.
"""

from __future__ import annotations

import io
import os
import sys
import warnings

from arena.lanes.faults import MOST_OUTPUT


class Output(io.TextIOBase):
    """Takes the place of standard output: keeps the end, and passes all of it to a descriptor."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = descriptor
        self.kept = ""
        self._captures = False

    def capture(self) -> None:
        """Take the place of standard output and standard error, and get every warning.

        Python itself shows a warning once in a process, which may play many games.
        """
        self._captures = True
        self.stay()
        warnings.simplefilter("always", append=True)  # after the filters that ignore some

    def stay(self) -> None:
        """Take the place again, where a bot has put something else there."""
        if self._captures:
            sys.stdout = sys.stderr = self
            sys.__stdout__ = sys.__stderr__ = self  # type: ignore[assignment,misc]

    def write(self, text: str) -> int:
        """Keep the end of the text."""
        self.kept = (self.kept + text)[-MOST_OUTPUT:]
        if self.descriptor is not None:
            write_all(self.descriptor, text.encode("utf-8", "replace"))
        return len(text)

    def take(self) -> str:
        """Return what was kept, and forget it."""
        kept, self.kept = self.kept, ""
        return kept


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, however many writes it takes."""
    while data:
        data = data[os.write(descriptor, data) :]
