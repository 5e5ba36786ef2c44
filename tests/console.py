"""The real command in a pseudo-terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import click

from arena.cli import cli, find_commands
from tests.waiting import PATIENCE


def find_command(words: str) -> click.Command:
    """Return a command by its words, such as `league host`; without words, the whole program."""
    found: click.Command = cli
    for word in words.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word)
        assert found is not None, words
    return found


COMMANDS = find_commands()
"""All commands of the program, those of add-ons too."""


class Console:
    """A command in a terminal, whose keys and end send signals if it is `controlling`.

    Without `hears_hang_up` the command ignores SIGHUP, as under nohup.
    """

    def __init__(
        self, folder: Path, *words: str, controlling: bool = True, hears_hang_up: bool = True
    ) -> None:
        self.master, slave = pty.openpty()

        def prepare() -> None:
            if controlling:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where tests are in background
            signal.signal(signal.SIGHUP, signal.SIG_DFL if hears_hang_up else signal.SIG_IGN)

        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", *words],
            cwd=folder,
            env=os.environ | {"NO_COLOR": "", "TERM": "xterm"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=prepare,
        )
        os.close(slave)
        self.seen = ""

    def until(self, text: str) -> str:
        """Wait for this text, and return what is shown before it."""
        while text not in self.seen:
            self.seen += self._read()
        before, _, self.seen = self.seen.partition(text)
        return before

    def _read(self) -> str:
        assert select.select([self.master], [], [], PATIENCE)[0], self.seen
        return os.read(self.master, 4096).decode(errors="replace")

    def type(self, text: str) -> None:
        """Type at the prompt."""
        os.write(self.master, text.encode())

    def end(self) -> tuple[int, str]:
        """Return the exit status and the rest of what is shown."""
        try:
            while part := self._read():
                self.seen += part
        except OSError:  # the terminal was closed
            pass
        return self.process.wait(PATIENCE), self.seen

    def close(self) -> None:
        """Close the terminal, if it is open."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def kill(self) -> None:
        """Leave nothing of it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.close()
