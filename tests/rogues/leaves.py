"""Starts a process that runs much longer than the game, and plays on."""

import subprocess
import sys

PROGRAM = "import time; time.sleep(100)"


class Leaves:
    """With `hides`, the process has an empty environment; `mark` is one of its arguments."""

    def __init__(self, _setup, hides: bool = False, mark: str = ""):
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", PROGRAM, mark],
            start_new_session=True,
            env={} if hides else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def choose(self, view, /):
        """Return the first legal action."""
        return view.legal[0]


bot = Leaves
