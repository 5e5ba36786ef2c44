"""Show the progress of a run on standard error, only in the parent process.

On a terminal it is a bar with the state and the standings so far below, elsewhere a line from time
to time. A separate thread writes it, so that the thread that plays never waits for the terminal.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from arena.errors import count_of

LINE_EVERY = 30.0  # seconds
TABLE_EVERY = 3.0
DRAW_EVERY = 0.2
_PATIENCE = 5.0  # seconds for the last drawing: Ctrl-S can block a terminal for ever
_MOST_LINES = 12  # of the standings so far
_KEPT_FREE = 3  # lines of the terminal: the bar, and some of the earlier output
_COLUMNS, _LINES = 80, 24  # of a terminal of unknown size
_UP = "\x1b[A"

Lines = Callable[[], Sequence[str]]
"""A function that returns the state so far as lines, an empty list at first."""


class Progress:
    """The progress of a run, updated by the thread that plays.

    `kept` games are from before. A run that ends early has `at_most` so many `games`: nobody knows
    how long it still takes.
    """

    def __init__(self, games: int, kept: int, *, at_most: bool = False) -> None:
        self.games, self.kept, self.at_most = games, kept, at_most
        self.played = 0
        self.started = time.monotonic()

    def add(self, games: int) -> None:
        """Count games that have been played."""
        self.played += games

    def line(self) -> str:
        """Return the progress as a line."""
        seconds = time.monotonic() - self.started
        return format_line(self.games, self.kept, self.played, seconds, at_most=self.at_most)

    def bar(self, columns: int) -> str:
        """Return the progress as a bar, as a line if its end is unknown."""
        if self.at_most:
            return self.line()[:columns]
        from tqdm import tqdm  # takes 30 ms, which a program without a terminal saves

        return tqdm.format_meter(
            self.kept + self.played,
            self.games,
            time.monotonic() - self.started,
            ncols=columns,
            ascii=not (sys.stderr.encoding or "").lower().startswith("utf"),
            unit=" games",
            initial=self.kept,
        )


class _InNotebook(Progress):
    """Shows the progress of a run in a notebook, as tqdm's widget."""

    def __init__(self, games: int, kept: int, *, at_most: bool = False) -> None:
        super().__init__(games, kept, at_most=at_most)
        from tqdm.auto import tqdm as form  # takes 50 ms; it looks for widgets

        # tqdm's own lock would fix the program's start method; its monitor thread would stay
        own = {"_lock": threading.RLock(), "monitor_interval": 0}
        made: Any = type("Bar", (form,), own)
        self.widget = made(total=games, initial=kept, unit=" games", leave=False)

    def add(self, games: int) -> None:
        super().add(games)
        self.widget.update(self.kept + self.played - self.widget.n)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config


def is_terminal() -> bool:
    """Return whether standard error is a terminal on which the cursor can be moved."""
    return bool(sys.stderr and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")


@contextmanager
def show_progress(
    games: int,
    kept: int = 0,
    standings: Lines | None = None,
    log: logging.StreamHandler[Any] | None = None,
    *,
    shown: bool = True,
    at_most: bool = False,
) -> Iterator[Progress]:
    """Yield a Progress, which the caller updates with the number of games played.

    Lines of `log` are written above the bar. At the end the bar and the standings are erased; after
    Ctrl-C their last state stays. Without a terminal, only progress with `standings` is shown.
    """
    progress = Progress(games, kept, at_most=at_most)
    if not shown or not sys.stderr:  # a daemon may have no stderr
        yield progress
    elif _in_notebook():
        in_notebook = _InNotebook(games, kept, at_most=at_most)
        with in_notebook.widget:
            yield in_notebook
    elif sys.stderr.isatty():
        screen = _Screen(progress, standings if is_terminal() else None)
        with (
            _repeat_action(screen.draw, DRAW_EVERY, screen.clear, screen.leave),
            _above(screen, log),
        ):
            yield progress
    elif standings:

        def write() -> None:
            _write("; ".join([progress.line(), *standings()]) + "\n")

        with _repeat_action(write, LINE_EVERY, stopped=write):
            yield progress
    else:
        yield progress


def format_line(
    games: int, kept: int, played: int, seconds: float, *, at_most: bool = False
) -> str:
    """Return the progress in words: games done, games per second, and the time left, if known.

    >>> format_line(games=1000, kept=200, played=100, seconds=50.0)
    '300 of 1,000 games, 2.0 games/s, 5 min 50 s left'
    """
    done = kept + played
    text = count_of(done, games, at_most=at_most)
    if not played:
        return f"{text}, none finished yet in {format_duration(seconds)}"
    rate = played / seconds
    speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}" if rate >= 0.1 else f"{rate:.3f}"
    left = "" if at_most else f", {format_duration((games - done) / rate)} left"
    return f"{text}, {speed} games/s{left}"


def format_duration(seconds: float) -> str:
    """Return a duration in its two largest units.

    >>> format_duration(59.6), format_duration(3700.0), format_duration(1e6)
    ('1 min 0 s', '1 h 1 min', '11 days 13 h')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if days > 1:
        return f"{days:,} days {hours_left} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class _Screen:
    """The bar, as many lines below it as fit on the terminal, and text to write above it.

    It is also the stream of a log. Between two drawings the cursor is at the start of the bar.
    """

    def __init__(self, progress: Progress, standings: Lines | None) -> None:
        self.progress = progress
        self.standings = standings
        self.due = time.monotonic() + TABLE_EVERY
        self.rows: Sequence[str] = ()
        self.lines: list[str] = []  # as shown now
        self.above: deque[str] = deque()

    def write(self, text: str) -> None:
        """Store a text to show above the bar at the next drawing."""
        self.above.append(text)

    def flush(self) -> None:
        """Do nothing: `draw` writes the text."""

    def draw(self) -> None:
        """Draw the bar and, from time to time, new standings."""
        from tqdm.utils import disp_trim

        columns, lines = terminal_size()
        if self.standings and time.monotonic() >= self.due:
            self.rows = self.standings()
            self.due = time.monotonic() + TABLE_EVERY
        room = min(_MOST_LINES, lines - _KEPT_FREE)
        rows = self.rows[: room if room > 1 else 0]  # no heading without a row
        trimmed = [disp_trim(row, columns - 1) for row in rows]
        self._replace([self.progress.bar(columns - 1), *trimmed])

    def clear(self) -> None:
        """Erase the bar and the lines below it."""
        self._replace([])

    def leave(self) -> None:
        """Leave the last state on the screen, if there is one, and write below it from now on."""
        self.due = 0.0
        self.draw()
        if not self.rows:
            self.clear()
            return
        _write("\n" * len(self.lines))
        self.lines = []

    def _replace(self, lines: list[str]) -> None:
        """Replace the lines shown by these."""
        text = ""
        if self.above:
            text = self._over([])
            while self.above:
                text += self.above.popleft()
        if text or lines != self.lines:
            _write(text + self._over(lines))

    def _over(self, lines: list[str]) -> str:
        """Return the text that draws these lines; spaces overwrite the rest of the earlier ones."""
        from tqdm.utils import disp_len

        rows = max(len(lines), len(self.lines))
        new, old = ([*some, *[""] * (rows - len(some))] for some in (lines, self.lines))
        self.lines = lines
        padded = (
            after + " " * (disp_len(before) - disp_len(after))
            for after, before in zip(new, old, strict=True)
        )
        return "\n".join(f"\r{line}" for line in padded) + _UP * (rows - 1) + "\r"


def _write(text: str) -> None:
    """Write to standard error, which may be closed."""
    with suppress(OSError, ValueError):  # closed
        sys.stderr.write(text)
        sys.stderr.flush()


def terminal_size() -> tuple[int, int]:
    """Return the columns and lines of the terminal on standard error."""
    with suppress(OSError, ValueError):
        columns, lines = os.get_terminal_size(sys.stderr.fileno())
        return columns or _COLUMNS, lines or _LINES
    return _COLUMNS, _LINES


@contextmanager
def _repeat_action(
    action: Callable[[], object],
    seconds: float,
    last: Callable[[], object] = lambda: None,
    stopped: Callable[[], object] = lambda: None,
) -> Iterator[None]:
    """Call an action every few seconds in a thread until the context ends, then call `last`.

    After Ctrl-C `stopped` is called in its place.
    """
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            action()
        last()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    except KeyboardInterrupt:
        last = stopped
        raise
    finally:
        ended.set()
        thread.join(_PATIENCE)


@contextmanager
def _above(screen: _Screen, log: logging.StreamHandler[Any] | None) -> Iterator[None]:
    """Let a log write above the bar."""
    before = log.setStream(screen) if log else None
    try:
        yield
    finally:
        if log:
            log.setStream(before or sys.stderr)
