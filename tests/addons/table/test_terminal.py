"""A terminal waits for a line without missing Ctrl-C."""

from __future__ import annotations

import io
import os
import signal

import pytest

from arena.addons.table.player import Terminal


class Keyboard:
    """A terminal's input; reading is an error while nothing is typed, for it would block."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def fileno(self) -> int:
        return self.descriptor

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        raise AssertionError("a signal that came just before this read would wait for a key")


def test_ctrl_c_is_seen_before_a_line_is_read() -> None:
    """A read that has begun without a line misses a signal that came a moment before."""
    reads, writes = os.pipe()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            Terminal(Keyboard(reads), io.StringIO()).ask("? ")  # type: ignore[arg-type]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        os.close(reads)
        os.close(writes)
