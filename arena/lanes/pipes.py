"""Write to and read from a bot's process with time limits, and keep the evidence of a fault.

Text that varies from run to run (addresses, folders, numbers) is replaced. A bot's process imports
this module, so it uses the standard library only.
"""

from __future__ import annotations

import errno
import os
import select
import subprocess
import sys
from contextlib import suppress
from typing import IO

from arena.lanes.evidence import MOST_OUTPUT

_READ = 1 << 16


class Pipes:
    """The three streams of a process that was started with pipes; None for no process.

    `received` holds answers that were not taken yet. Its output is what it writes to standard
    error. `first` bytes lie in its input already.
    """

    def __init__(self, process: subprocess.Popen[bytes] | None, first: int = 0) -> None:
        self.received = b""
        self._sent = first  # bytes
        self._unsent = memoryview(b"")
        self._output = b""
        self._files: list[IO[bytes]] = []
        if process is None:
            return
        self._files = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe]
        self._stdin, self._stdout, self._stderr = map(_descriptor, self._files)
        self._poll = select.poll()
        for descriptor in (self._stdout, self._stderr):
            self._poll.register(descriptor, select.POLLIN)

    def send(self, data: bytes) -> None:
        """Write as much of the data as possible now, and leave the rest to `transfer`."""
        self._unsent = memoryview(bytes(self._unsent) + data if self._unsent else data)
        self._write()

    def transfer(self, seconds: float) -> bool:
        """Read and write for up to this many seconds; return False at the end of the output."""
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._stdin:
                self._write()
            elif descriptor == self._stderr:
                self._read_output()
            else:
                data = os.read(descriptor, _READ)
                if not data:
                    return False
                self.received += data
        return True

    @property
    def taken(self) -> int:
        """How many bytes of what was sent the process has read, also if it has ended."""
        return self._sent - self._unread()

    def _unread(self) -> int:
        """Return how many bytes lie in the pipe to the process."""
        import fcntl  # not on Windows
        import termios

        waiting = bytearray(4)
        with suppress(OSError, ValueError):  # it was closed
            fcntl.ioctl(self._files[0].fileno(), termios.FIONREAD, waiting)
        return int.from_bytes(waiting, sys.byteorder)

    @property
    def is_read(self) -> bool:
        """Whether the process has read everything that was sent."""
        return not self._unsent and not self._unread()

    @property
    def answers(self) -> int:
        """The inode of the pipe into which the process writes its answers."""
        return os.fstat(self._stdout).st_ino

    def take_line(self) -> bytes:
        """Remove and return the first received line, without its line break."""
        line, _, self.received = self.received.partition(b"\n")
        return line

    def forget_output(self) -> None:
        """Discard the output so far."""
        self._drain()
        self._output = b""

    def printed(self) -> str:
        """Return the end of the output since `forget_output`."""
        self._drain()
        return self._output.decode("utf-8", "replace")[-MOST_OUTPUT:]

    def close(self) -> None:
        """Read the remaining output, and close all pipes."""
        self._drain()
        for pipe in self._files:
            pipe.close()

    def _write(self) -> None:
        try:
            while self._unsent:
                written = os.write(self._stdin, self._unsent)
                self._unsent = self._unsent[written:]
                self._sent += written
        except BlockingIOError:
            self._poll.register(self._stdin, select.POLLOUT)
            return
        except OSError as error:  # reading the output detects the end of the process
            if error.errno != errno.EPIPE:
                raise
            self._unsent = memoryview(b"")
        with suppress(KeyError):
            self._poll.unregister(self._stdin)

    def _read_output(self) -> None:
        data = os.read(self._stderr, _READ)
        if not data:
            self._poll.unregister(self._stderr)
        self._keep(data)

    def _drain(self) -> None:
        if not self._files or self._files[2].closed:
            return
        with suppress(BlockingIOError):
            while data := os.read(self._stderr, _READ):
                self._keep(data)

    def _keep(self, data: bytes) -> None:
        self._output = (self._output + data)[-2 * MOST_OUTPUT :]


def _descriptor(pipe: IO[bytes]) -> int:
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()
