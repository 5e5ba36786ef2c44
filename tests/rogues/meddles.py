"""Meddles with what its process has, and plays the first legal action: no fault by itself."""

import os
import random
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

CHUNK = "x" * 79 + "\n"
CHUNK *= 1_000_000 // len(CHUNK)
SLEEPS = "import time; time.sleep(100)"


class Meddles:
    """`what` is a method below; `mark` is an argument of the process that it leaves."""

    def __init__(self, setup, what: str, megabytes: int = 100, port: int = 9, mark: str = ""):
        self.setup = setup
        self.meddle = getattr(self, what)
        self.left = megabytes
        self.port = port
        if what in ("process", "hidden_process"):
            leave_process(mark, None if what == "process" else {})
        if what == "seeds":
            random.seed(0)

    def choose(self, view, /):
        self.meddle(view)
        return view.legal[0]

    def prints(self, _view):
        """Print so many megabytes before the first decision of a game."""
        while self.left > 0:
            print(CHUNK, end="")
            self.left -= 1

    def stdout(self, _view):
        sys.stdout.close()

    def descriptors(self, _view):
        os.closerange(0, 1024)

    def seeds(self, _view):
        """Seed the global random numbers, as at construction."""
        random.seed(0)

    def process(self, _view):
        """Have left a process that runs much longer than the game, at construction."""

    hidden_process = process

    def files(self, _view):
        """Leave files in the current and the temporary folder."""
        for folder in (Path(), Path(tempfile.gettempdir())):
            litter = folder / "litter"
            litter.mkdir(exist_ok=True)
            (litter / "wrapper.txt").write_text("x" * 1000)
            (litter / "link").unlink(missing_ok=True)
            (litter / "link").symlink_to("/")
        descriptor, _ = tempfile.mkstemp()
        os.close(descriptor)

    def network(self, view):
        """Send the cards of its hand to a listener of this machine; raise if that succeeds."""
        with suppress(OSError):
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.2) as listener:
                listener.sendall(repr(view.hand).encode())
            raise RuntimeError("told the listener")

    def view(self, view):
        """Try to change every part of its view, the view's rules and its setup; raise if it can."""
        before = repr(view), tuple(view), view.legal[0]
        for thing in (view, view.rules, self.setup):
            for name in ("hand", "legal", "piles", "cities_needed", "seat"):
                with suppress(AttributeError, TypeError):
                    setattr(thing, name, 0)
                with suppress(AttributeError, TypeError):
                    vars(thing)[name] = 0
        for part in view:
            with suppress(AttributeError, TypeError):
                part[0] = 0
            with suppress(AttributeError, TypeError):
                part.append(0)
        if (repr(view), tuple(view), view.legal[0]) != before:
            raise RuntimeError("the view can be changed")


def leave_process(mark, environment):
    """Start a process in a session of its own; with an empty environment it is hidden."""
    subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", SLEEPS, mark],
        start_new_session=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


bot = Meddles
