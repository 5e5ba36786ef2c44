"""Show on standard error how far a run is, in the parent only.

On a terminal it is a bar, and under it the standings so far; elsewhere a line now and then.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, cast

from tqdm import tqdm
from tqdm.utils import disp_trim

if TYPE_CHECKING:
    from typing import Never

    Bar = tqdm[Never]

LINE_EVERY = 30.0  # seconds
TABLE_EVERY = 3.0
_MOST_LINES = 12  # of the standings so far
_KEPT_FREE = 3  # lines of the terminal: the bar, and what was there before
_COLUMNS, _LINES = 80, 24  # of a terminal that does not say

_LOCK = threading.RLock()


Lines = Callable[[], Sequence[str]]
"""Returns the standings so far as lines, none if there is nothing to show yet."""


def make_bar(games: int, played: int = 0, *, shown: bool = True) -> Bar:
    """Return a progress bar for so many games; without a terminal it shows nothing."""
    return _make_tqdm(
        total=games,
        initial=played,
        unit=" games",
        disable=_is_hidden(shown),
        dynamic_ncols=True,
    )


def _make_tqdm(**settings: Any) -> Bar:
    return _bar_type()(leave=False, **settings)


def _bar_type() -> type[Bar]:
    """Return tqdm, in a notebook in the form that it has there.

    Its usual lock is one of multiprocessing, too, which would fix the program's start method; and
    its thread that looks after bars would stay.
    """
    form: Any = tqdm
    if _in_notebook():
        from tqdm.auto import tqdm as form  # 50 ms, and it looks for widgets
    return cast("type[Bar]", type("Bar", (form,), {"_lock": _LOCK, "monitor_interval": 0}))


def _is_hidden(shown: bool) -> bool | None:
    """Return whether there is no bar; None lets the terminal decide."""
    if not shown or not sys.stderr:  # a daemon may have no stderr
        return True
    return False if _in_notebook() else None


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config


def is_terminal() -> bool:
    """Return whether standard error is a terminal on which the cursor can be moved."""
    return bool(sys.stderr and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")


class Progress(Protocol):
    """What is told how far a run is."""

    def plan(self, games: int, kept: int, status: str = "", /) -> None:
        """The run has so many games as far as is known; so many were kept from before."""

    def add(self, games: int) -> None:
        """So many games have been played."""


@contextmanager
def show_progress(
    games: int, kept: int, standings: Lines, log: logging.StreamHandler[Any], *, shown: bool
) -> Iterator[Progress]:
    """Yield what is to be told of every number of games that have been played.

    `log` writes to the terminal, too: its lines go above the bar. At the end nothing of the
    bar and the standings is left.
    """
    with make_bar(games, kept, shown=shown) as bar:
        if not shown or _in_notebook():
            yield _OnBar(bar)
        elif bar.disable:
            count = _Count(games, kept)
            with _repeated(count.show, LINE_EVERY):
                yield count
        else:
            table = _Table(bar, standings) if is_terminal() else None
            show = table.show if table else bar.refresh
            try:
                with _above(bar, log), _repeated(show, TABLE_EVERY):
                    yield _OnBar(bar)
            finally:
                if table:
                    table.clear()


class _OnBar:
    """Shows on a bar how many games have been played."""

    def __init__(self, bar: Bar) -> None:
        self.bar = bar
        self.played = 0

    def plan(self, games: int, kept: int, _status: str = "", /) -> None:
        self.bar.total = games
        self.bar.initial = kept
        self.bar.n = kept + self.played

    def add(self, games: int) -> None:
        self.played += games
        self.bar.update(games)


class _Count:
    """Says on a line of its own how many games have been played, for a log file."""

    def __init__(self, games: int, kept: int) -> None:
        self.games = games
        self.kept = kept
        self.status = ""
        self.played = 0
        self.started = time.monotonic()

    def plan(self, games: int, kept: int, status: str = "", /) -> None:
        self.games, self.kept, self.status = games, kept, status

    def add(self, games: int) -> None:
        self.played += games

    def show(self) -> None:
        if sys.stderr:
            seconds = time.monotonic() - self.started
            line = format_line(self.games, self.kept, self.played, seconds)
            with suppress(OSError, ValueError):  # closed
                print("; ".join(filter(None, [line, self.status])), file=sys.stderr)


def format_line(games: int, kept: int, played: int, seconds: float) -> str:
    """Return how far a run is that has played so many games in so many seconds.

    >>> format_line(games=1000, kept=200, played=100, seconds=50.0)
    '300 of 1,000 games, 2.0 games/s, 5 min 50 s left'
    """
    done = kept + played
    text = f"{done:,} of {games:,} games"
    if not played:
        return f"{text}, none finished yet in {format_duration(seconds)}"
    rate = played / seconds
    speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}" if rate >= 0.1 else f"{rate:.3f}"
    return f"{text}, {speed} games/s, {format_duration((games - done) / rate)} left"


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


class _Table:
    """Lines under the bar, as many as the terminal has room for."""

    def __init__(self, bar: Bar, standings: Lines) -> None:
        self.bar = bar
        self.standings = standings
        self.bars: list[Bar] = []

    def show(self) -> None:
        """Show the standings as they are now, and the bar with the time that has passed."""
        self.bar.refresh()
        columns, lines = terminal_size()
        room = min(_MOST_LINES, lines - _KEPT_FREE)
        rows = self.standings()[: room if room > 1 else 0]  # a head without a row says nothing
        for _ in range(len(self.bars), len(rows)):
            place = len(self.bars) + 1
            self.bars.append(_make_tqdm(total=0, position=place, bar_format="{desc}"))
        while len(self.bars) > len(rows):
            self.bars.pop().close()
        for bar, row in zip(self.bars, rows, strict=True):
            bar.set_description_str(disp_trim(row, columns - 1))

    def clear(self) -> None:
        """Remove the lines."""
        while self.bars:
            self.bars.pop().close()


def terminal_size() -> tuple[int, int]:
    """Return columns and lines of the terminal on standard error."""
    with suppress(OSError, ValueError):
        columns, lines = os.get_terminal_size(sys.stderr.fileno())
        return columns or _COLUMNS, lines or _LINES
    return _COLUMNS, _LINES


@contextmanager
def _repeated(action: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call something again and again, in a thread, until the end."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class _Above:
    """A stream that writes above the bar."""

    def __init__(self, bar: Bar) -> None:
        self.bar = bar

    def write(self, text: str) -> None:
        self.bar.write(text, file=sys.stderr, end="")

    def flush(self) -> None:
        sys.stderr.flush()


@contextmanager
def _above(bar: Bar, log: logging.StreamHandler[Any]) -> Iterator[None]:
    """Let a log write above the bar."""
    before = log.setStream(_Above(bar))
    try:
        yield
    finally:
        log.setStream(before or sys.stderr)
