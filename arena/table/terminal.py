"""Terminal: where a person reads and types; any two text streams will do."""

from __future__ import annotations

import os
import select
from collections.abc import Iterable
from typing import Any, TextIO

import click

from arena.lanes.faults import printable
from arena.records.board import Line, Role

_STYLES: dict[Role, dict[str, Any]] = {
    "head": {"bold": True},
    "take": {"fg": "cyan"},
    "wrong": {"fg": "yellow"},
}

_CLEAR_LINE = "\r\x1b[K"
_GLANCE = 0.5  # seconds between looks for a signal


class InputEnded(Exception):
    """There is nothing more to read."""


class Terminal:
    """Writes lines and asks for one; in color where it writes to a real terminal.

    Input that does not come from a terminal is written as well, so that the output of a
    scripted session can be read.
    """

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self.source = source
        self.out = out
        self._is_terminal = out.isatty()
        self._is_colored = self._is_terminal and not os.environ.get("NO_COLOR")
        self._echoes = not source.isatty()
        self._waits = False

    def say(self, lines: Iterable[Line | str]) -> None:
        """Write lines."""
        self._clear_wait()
        for line in lines:
            text, role = line if isinstance(line, Line) else Line(line)
            style = _STYLES.get(role) if self._is_colored else None
            styled = click.style(text, **style) if style else text
            self.out.write(f"{styled}\n")
        self.out.flush()

    def ask(self, prompt: str) -> str:
        """Return what is typed after the prompt, without the line's end.

        Raises InputEnded at the end of the input.
        """
        self._clear_wait()
        self.out.write(prompt)
        self.out.flush()
        self._wait_for_line()
        line = self.source.readline()
        if self._echoes or not line:
            self.out.write(f"{printable(line.rstrip())}\n")
        if not line:
            raise InputEnded
        return line.strip()

    def _wait_for_line(self) -> None:
        """Wait at a terminal until there is a line, and see Ctrl-C whenever it comes.

        A signal that comes just before a system call reads would not end that call.
        """
        while not self._echoes and not select.select([self.source], [], [], _GLANCE)[0]:
            pass

    def wait(self, text: str) -> None:
        """Show on a real terminal what is awaited, until the next line is written."""
        if self._is_terminal:
            self.out.write(text)
            self.out.flush()
            self._waits = True

    def _clear_wait(self) -> None:
        if self._waits:
            self.out.write(_CLEAR_LINE)
            self._waits = False
