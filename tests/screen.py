"""A terminal's screen: what is to be seen after some bytes, as far as a run's progress needs it."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO
from unicodedata import east_asian_width

import pytest

UP = "\x1b[A"


class Screen:
    """Lines of characters and a cursor; it scrolls, wraps and knows the sequence for up."""

    def __init__(self, lines: int, columns: int) -> None:
        self.columns = columns
        self.cells = [[" "] * columns for _ in range(lines)]
        self.line = self.column = 0
        self.sequence = ""
        self.lock = threading.Lock()

    def text(self) -> list[str]:
        """Return the lines from the first to the last that is not empty."""
        with self.lock:
            text = "\n".join("".join(line).rstrip() for line in self.cells)
        return text.rstrip().split("\n")

    def write(self, char: str) -> None:
        """Show a character, or take note of a part of a sequence."""
        with self.lock:
            self.sequence += char
            if self.sequence == UP:
                self.line = max(0, self.line - 1)
            elif UP.startswith(self.sequence):
                return
            else:
                assert len(self.sequence) == 1, f"not known to this screen: {self.sequence!a}"
                self._show(self.sequence)
            self.sequence = ""

    def _show(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self._down()
        else:
            assert char >= " ", f"not known to this screen: {char!a}"
            width = 2 if east_asian_width(char) in "WF" else 1
            if self.column + width > self.columns:
                self.column = 0
                self._down()
            self.cells[self.line][self.column : self.column + width] = [char, ""][:width]
            self.column += width

    def _down(self) -> None:
        self.line += 1
        if self.line == len(self.cells):
            self.cells = [*self.cells[1:], [" "] * self.columns]
            self.line -= 1


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, lines: int, columns: int) -> Iterator[Screen]:
    """Make standard error a terminal, and yield its screen; at the end all has been read."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    screen = Screen(lines, columns)
    monkeypatch.setenv("TERM", "xterm")

    def read(reader: TextIO) -> None:
        try:
            while char := reader.read(1):
                screen.write(char)
        except OSError:  # the other end is closed
            pass

    with (
        open(master, encoding="utf-8", newline="") as reader,
        open(slave, "w", encoding="utf-8", buffering=1) as writer,
    ):
        reading = threading.Thread(target=read, args=(reader,))
        reading.start()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stderr", writer)
            yield screen
        writer.close()
        reading.join()
