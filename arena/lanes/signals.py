"""Let signals end a program, a command or a block as Ctrl-C does, however they come."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

TERMINATION = tuple(one for one in signal.Signals if one.name in ("SIGTERM", "SIGHUP"))
"""Signals that end the program, as Ctrl-C does; Windows lacks the second."""

_interrupts = False  # whether SIGTERM and SIGHUP raise KeyboardInterrupt
_terminations: list[int] = []  # the signals received


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise SystemExit, so that `finally` blocks run as after Ctrl-C.

    Inside `interrupt_on_termination` they raise KeyboardInterrupt. SIGHUP stays ignored under
    nohup.
    """

    def end(number: int, _frame: object) -> None:
        _terminations.append(number)
        if not _interrupts:
            sys.exit(128 + number)
        raise KeyboardInterrupt

    heard = [one for one in TERMINATION if signal.getsignal(one) is not signal.SIG_IGN]
    with _handling(heard, end):
        yield


@contextmanager
def _handling(
    numbers: Sequence[int], handler: Callable[[int, FrameType | None], object]
) -> Iterator[dict[int, Any]]:
    """Handle signals in this way during the block; yield how they were handled before.

    Only the main thread can handle signals: in another one nothing is changed.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in numbers if is_main}
    try:
        for number in before:
            signal.signal(number, handler)
        yield before
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def interrupt_on_termination() -> Iterator[None]:
    """Let `exit_on_termination` raise KeyboardInterrupt, so that a command can report its state.

    `interrupted_by` then returns the signal.
    """
    global _interrupts
    _terminations.clear()
    _interrupts = True
    try:
        yield
    finally:
        _interrupts = False


def interrupted_by() -> int:
    """Return the signal that interrupted a command, SIGINT if no other was received."""
    return _terminations[0] if _terminations else signal.SIGINT


def hang_up() -> None:
    """Act as on SIGHUP, because the terminal was closed, unless SIGHUP was received already."""
    if signal.SIGHUP not in _terminations:
        os.kill(os.getpid(), signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Defer signals: handle the first one that arrives when the block ends.

    So a new folder or process is registered for its removal, and a removal is not interrupted. A
    signal that Python does not handle is not deferred.
    """
    came: list[tuple[int, FrameType | None]] = []
    heard = [one for one in (signal.SIGINT, *TERMINATION) if callable(signal.getsignal(one))]
    with _handling(heard, lambda *signalled: came.append(signalled)) as before:
        yield
    if came:
        before[came[0][0]](*came[0])
