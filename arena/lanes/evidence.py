"""Keep the end of a bot's output, which is evidence of a fault.

A bot's process imports this module, so it uses the standard library only, and little of it.
"""

from __future__ import annotations

import io
import os
import sys
import warnings

MOST_OUTPUT = 20_000
"""Characters of output that are kept; a fault shows the end of them."""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""The folder of the arena; importing `pathlib` would delay a bot's start by 6 ms."""


class Output(io.TextIOBase):
    """Replaces standard output: keeps the end of the text, and writes all to a descriptor."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = descriptor
        self.kept = ""
        self._captures = False

    def capture(self) -> None:
        """Replace standard output and standard error, and show every warning each time.

        By default Python shows a warning once in a process, but a process may play many games.
        """
        self._captures = True
        self.stay()
        warnings.simplefilter("always", append=True)  # after the filters that ignore some

    def stay(self) -> None:
        """Replace standard output and standard error again if a bot has changed them."""
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
        """Return the kept text, and discard it."""
        kept, self.kept = self.kept, ""
        return kept


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, however many writes it takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
