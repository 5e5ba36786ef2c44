"""The progress of a run: on a terminal, in a log file, and without standard error."""

from __future__ import annotations

import fcntl
import io
import logging
import os
import struct
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO
from unicodedata import east_asian_width

import pytest

from arena.runs import progress_bar
from arena.runs.progress_bar import show_progress
from tests.waiting import until


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "LINE_EVERY", 0.0)
    monkeypatch.setattr(progress_bar, "STATUS_EVERY", 0.0)


@pytest.fixture
def log() -> Iterator[logging.StreamHandler[io.StringIO]]:
    """Return the handler that shows the log on standard error."""
    handler = logging.StreamHandler(io.StringIO())
    yield handler
    handler.close()


def say(handler: logging.StreamHandler[io.StringIO], text: str) -> None:
    handler.handle(logging.LogRecord("arena", logging.WARNING, "", 0, text, None, None))


def test_on_a_terminal_there_is_one_line_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bar counts the games from before; what was there before stays."""
    with terminal(monkeypatch, 24, 80) as screen:
        print("before", file=sys.stderr)
        with show_progress(1000, 100) as progressed:
            until(lambda: "100/1000" in screen.text()[-1])
            until(lambda: progressed.add(100) or "games/s" in screen.text()[-1])
            assert len(screen.text()) == 2
            assert len(screen.text()[-1]) <= 80
    assert screen.text() == ["before"]


def test_a_run_of_unknown_length_has_its_state_in_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After Ctrl-C it stays, and what is said then stands below it."""

    def interrupted() -> None:
        with show_progress(1000, 0, lambda: "16 pairs", at_most=True) as progressed:
            progressed.add(300)
            raise KeyboardInterrupt

    with terminal(monkeypatch, 24, 80) as screen:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        print("interrupted", file=sys.stderr)
    bar, last = screen.text()
    assert bar.startswith("300 of at most 1,000 games, ")
    assert bar.endswith("; 16 pairs")
    assert last == "interrupted"


def test_the_log_is_shown_above_the_bar(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO]
) -> None:
    """Its lines stay when the bar is gone, and later ones go to the stream from before."""
    with terminal(monkeypatch, 24, 80) as screen:
        with show_progress(1000, 0, lambda: "a state", log):
            say(log, "x is out after 10 faults")
            until(lambda: screen.text()[:1] == ["x is out after 10 faults"])
            until(lambda: "0/1000" in "".join(screen.text()[1:]))
        say(log, "later")
    assert screen.text() == ["x is out after 10 faults"]
    assert log.stream.getvalue() == "later\n"


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts the games from before; runs without a state are not shown there."""
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    with show_progress(1000, 100, lambda: "a state") as progressed:
        progressed.add(400)
    (line,) = errors.getvalue().splitlines()
    assert line.startswith("500 of 1,000 games, ")
    assert line.endswith(" left; a state")
    with show_progress(1000) as progressed:
        progressed.add(400)
    assert errors.getvalue() == f"{line}\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_that_is_gone_holds_up_no_run(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    """Each write fails."""

    class Gone(io.StringIO):
        def isatty(self) -> bool:
            return is_terminal

        def write(self, _text: str) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stderr", Gone())
    with show_progress(10, 0, lambda: "a state") as progressed:
        progressed.add(10)


def test_a_terminal_that_is_held_up_holds_up_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads what is written: when there is no room, nothing is written any more."""
    reader, writer = os.openpty()
    with open(writer, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        file = progress_bar._Terminal()
        for _ in range(20_000):
            file.write(f"\r{79 * 'x'}")
            file.flush()
    os.close(reader)


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
