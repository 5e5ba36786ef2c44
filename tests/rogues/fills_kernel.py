"""Fills memory of the kernel that no process has: sockets, pipes and names of files.

Each of its processes stops after 20 MB, and all of them end.
"""

import os
import socket
import struct

CHILDREN = 30
MOST = 20 << 20  # bytes for each process
MOST_FILES = 20_000  # for each process
A_FILE = 1 << 10  # bytes
ALLOWED = 102 << 20  # a fifth of 512 MB


def fill(descriptor):
    """Return how many bytes one end takes."""
    os.set_blocking(descriptor, False)
    taken = 0
    try:
        while taken < MOST:
            taken += os.write(descriptor, bytes(1 << 16))
    except OSError:
        return taken
    return taken


def sockets():
    """Return the bytes in pairs of sockets."""
    held, taken = [], 0
    try:
        while taken < MOST:
            held += socket.socketpair()
            taken += fill(held[-1].fileno()) + fill(held[-2].fileno())
    except OSError:
        pass
    return held, taken


def pipes():
    """Return the bytes in pipes."""
    taken = 0
    try:
        while taken < MOST:
            _, write = os.pipe()
            taken += fill(write)
    except OSError:
        pass
    return None, taken


def files(number):
    """Return the bytes that the names of files take."""
    count = 0
    try:
        while count < MOST_FILES:
            os.close(os.open(f"/tmp/{number}-{count}", os.O_CREAT | os.O_WRONLY))
            count += 1
    except OSError:
        pass
    return count * A_FILE


def work(number, said, end):
    """Fill all of them, say how much that is, and hold it until the parent has heard of all."""
    held, of_sockets = sockets()
    _, of_pipes = pipes()
    os.write(said, struct.pack("q", of_sockets + of_pipes + files(number)))
    os.read(end, 1)
    os._exit(len(held) > MOST)


class FillsKernel:
    """Does so in its first decision."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Raise if all processes together hold more than a fifth of the memory."""
        if view.history[1:]:
            return view.legal[0]
        hears, says = os.pipe()
        waits, ends = os.pipe()
        children = 0
        try:
            while children < CHILDREN:
                if os.fork() == 0:
                    os.close(ends)
                    work(children, says, waits)
                children += 1
        except OSError:
            pass
        taken = sum(struct.unpack("q", os.read(hears, 8))[0] for _ in range(children))
        os.close(ends)
        for _ in range(children):
            os.wait()
        if taken > ALLOWED:
            raise RuntimeError(f"{children} processes held {taken >> 20} MB of the kernel's")
        return view.legal[0]


bot = FillsKernel
