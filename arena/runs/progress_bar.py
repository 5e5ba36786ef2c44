"""Show the progress of a run and the first fault of each bot, only in the parent process.

On a terminal and in a notebook the progress is tqdm's bar, elsewhere a line from time to time. It
is drawn as games arrive, by the thread that plays: nothing else happens while games are played.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.entries.needs import explain_missing
from arena.errors import arena_command, count_of
from arena.executors.log import logger
from arena.tournament.match import GameResult
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament, replay_commands

if TYPE_CHECKING:
    from arena.store.store import Store


class FirstFaults:
    """Logs the first fault of each bot in this run: what, where, and the command to replay it."""

    def __init__(self, tournament: Tournament) -> None:
        self.pairings = tournament.pairings
        self.targets = {entry.label: entry.target for entry in tournament.entries}
        self.command = replay_commands(tournament)
        self._told: set[str] = set()

    def tell(self, pairing: int, result: GameResult) -> None:
        """Log a game of this pairing that ended by a fault, if it is the first of its bot."""
        label = self.pairings[pairing][result.winner == 0]
        if label in self._told or result.fault is None:
            return
        self._told.add(label)
        kind, message, traceback, _ = result.fault
        message += explain_missing(self.targets[label], message)
        # why a bot does not start was reported before the run
        why = "" if kind == "import" else f": {message}"
        logger.warning("%s forfeits a game (%s, ply %d)%s", label, kind, result.plies, why)
        if place := find_place(traceback):
            logger.warning("  %s", place)
        fixture = Fixture(self.pairings[pairing], result.pair, result.seat)
        if command := self.command(fixture):
            logger.warning("  to see it again: %s", command)


class FirstFault(NamedTuple):
    """The first fault of a bot in a run: what, where, and the command that shows the game."""

    kind: str
    message: str
    ply: int
    game: str
    show: str


def find_first_faults(store: Store, tournament: Tournament, place: object) -> dict[str, FirstFault]:
    """Return the first fault of each bot that had one, by label; `place` is the run's folder."""
    found: dict[str, FirstFault] = {}
    for number, game in store.first_faults(1):
        fixture = tournament.fixture(number, game.pair, game.seat)
        label = fixture.pairing[int(game.winner == 0)]
        if game.fault and label not in found:
            told = game.fault.kind, game.fault.message, game.plies, fixture.name
            found[label] = FirstFault(*told, arena_command("show", [place, fixture.name]))
    return found


def find_place(traceback: str) -> str:
    """Return the location of a traceback's last frame, with its line of code; "" without frames.

    >>> lines = ["Traceback (most recent call last):", '  File "x.py", line 3, in choose']
    >>> find_place("\\n".join([*lines, "    return {}[1]", "           ~~^^^", "KeyError: 1"]))
    'File "x.py", line 3, in choose: return {}[1]'
    """
    lines = traceback.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    if not places:
        return ""
    place, *rest = lines[places[-1] :]
    code = f": {rest[0].strip()}" if rest and rest[0].startswith("    ") else ""
    return place.strip() + code


LINE_EVERY = 30.0  # seconds
STATUS_EVERY = 3.0


class Progress:
    """The progress of a run, updated by the thread that plays.

    `kept` games are from before. A run that ends early has `at_most` so many `games`: nobody knows
    how long it still takes. `status` returns its state in a few words.
    """

    def __init__(self, games: int, kept: int, status: Callable[[], str], *, at_most: bool) -> None:
        self.games, self.kept, self.at_most = games, kept, at_most
        self.played = 0
        self.status, self.state = status, ""
        self.started = time.monotonic()
        self.due = 0.0  # when the status is asked for again
        self.draw: Callable[[], object] = lambda: None

    def add(self, games: int) -> None:
        """Count games that have been played."""
        self.played += games
        self.draw()

    def line(self) -> str:
        """Return the progress and the state as a line."""
        now = time.monotonic()
        if now >= self.due:
            self.state, self.due = self.status(), now + STATUS_EVERY
        seconds = now - self.started
        line = format_line(self.games, self.kept, self.played, seconds, at_most=self.at_most)
        return "; ".join(filter(None, [line, self.state]))


class _Terminal:
    """Standard error, which may be closed or held up (Ctrl-S): then nothing is written."""

    def __init__(self) -> None:
        self.file: Any = sys.stderr

    def write(self, text: str) -> None:
        self._call(lambda: self.file.write(text))

    def flush(self) -> None:
        self._call(self.file.flush)

    def _call(self, function: Callable[[], object]) -> None:
        is_ready = True
        with suppress(OSError, ValueError):  # no file of the system
            is_ready = bool(select.select([], [self.file.fileno()], [], 0)[1])
        with suppress(OSError, ValueError):  # closed
            if is_ready:
                function()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class _Above:
    """The stream of a log whose lines are written above a bar."""

    def __init__(self, bar: Any, file: Any) -> None:
        self.bar, self.file = bar, file

    def write(self, text: str) -> None:
        self.bar.write(text, file=self.file, end="")

    def flush(self) -> None:
        """Do nothing: the bar flushes."""


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config


@contextmanager
def show_progress(
    games: int,
    kept: int = 0,
    status: Callable[[], str] | None = None,
    log: logging.StreamHandler[Any] | None = None,
    *,
    shown: bool = True,
    at_most: bool = False,
) -> Iterator[Progress]:
    """Yield a Progress, which the caller updates with the number of games played.

    Lines of `log` are written above the bar. At the end the bar is erased; after Ctrl-C that of a
    run with a `status` stays. Without a terminal, only such a run is shown.
    """
    progress = Progress(games, kept, status or str, at_most=at_most)
    if not shown or not sys.stderr:  # a daemon may have no stderr
        yield progress
    elif _in_notebook() or (sys.stderr.isatty() and os.environ.get("TERM") != "dumb"):
        bar = _make_bar(progress)
        before = log.setStream(_Above(bar, bar.fp)) if log else None
        try:
            yield progress
        except KeyboardInterrupt:
            bar.leave = bool(status)
            raise
        finally:
            bar.close()
            if log:
                log.setStream(before or sys.stderr)
    else:
        with _lines(progress) if status else nullcontext():
            yield progress


def _make_bar(progress: Progress) -> Any:
    """Return tqdm's bar, which is drawn as the progress grows."""
    name = "tqdm.auto" if _in_notebook() else "tqdm"  # which take 50 ms, for widgets, and 30 ms
    # tqdm's own lock would fix the program's start method; its monitor thread would stay
    own = {"_lock": threading.RLock(), "monitor_interval": 0}
    made: Any = type("Bar", (import_module(name).tqdm,), own)
    file = _Terminal()
    is_wide = (getattr(file.file, "encoding", None) or "").lower().startswith("utf")
    form_of = "{desc}" if progress.at_most else None  # no end is known
    how: dict[str, Any] = {"file": file, "unit": " games", "leave": False}
    how |= {"dynamic_ncols": True} if _has_size() else {"ncols": 79}
    how |= {"ascii": not is_wide, "bar_format": form_of, "initial": progress.kept}
    bar = made(total=progress.games or None, **how)

    def draw() -> None:
        if progress.at_most:
            bar.set_description_str(progress.line(), refresh=False)
        bar.update(progress.kept + progress.played - bar.n)

    progress.draw = draw
    draw()
    return bar


def _has_size() -> bool:
    """Return whether the size of the terminal is known, in which the bar then stays."""
    with suppress(OSError, ValueError):
        return bool(os.get_terminal_size(sys.stderr.fileno()).columns)
    return False


@contextmanager
def _lines(progress: Progress) -> Iterator[None]:
    """Write a line from time to time, and the last one after Ctrl-C."""
    file, due = _Terminal(), time.monotonic() + LINE_EVERY

    def draw() -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + LINE_EVERY
            file.write(f"{progress.line()}\n")
            file.flush()

    progress.draw = draw
    try:
        yield
    except KeyboardInterrupt:
        due = progress.due = 0.0
        draw()
        raise


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
