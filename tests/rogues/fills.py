"""Fills memory, the disk, or the kernel's tables, or forks, each up to a bound of its own."""

import mmap
import os
import signal
import socket
import struct
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PLACES = ("/", "/dev", "/dev/shm", "/etc", "/proc", "/root", "/run", "/usr", "/var", "/var/tmp")
MB = 1 << 20
SECONDS = 20.0  # that a child lives
KERNEL_ALLOWED = 102 * MB  # a fifth of 512 MB
held = []


def memory(swallows=False):
    """Allocate up to 6 GB; if it swallows errors, to the last bytes."""
    size = MB
    while size and len(held) < 6 << 10:
        try:
            held.append(b"x" * size)
        except MemoryError:
            if not swallows:
                raise
            size //= 16


def all_memory():
    """Allocate all memory, catch the errors, and play on."""
    memory(swallows=True)


def shared_memory(most=1500 * MB):
    """Fill memory that no limit on one process counts, or its own where there is none."""
    step = 16 * MB
    for _ in range(most // step):
        try:
            held.append(mmap.mmap(-1, step))
        except OSError:
            held.append(bytearray(step))
        held[-1][:] = b"x" * step


def shared_memory_of_children():
    """Let ten processes fill a tenth each, and keep it for 20 seconds."""
    for _ in range(10):
        if os.fork() == 0:
            shared_memory(150 * MB)
            time.sleep(SECONDS)
            os._exit(0)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.1)


def children():
    """Keep up to 150 children alive for a moment; raise if there are more than 32."""
    born = []
    with suppress(OSError):
        while len(born) < 150:
            if (child := os.fork()) == 0:
                time.sleep(SECONDS)
                os._exit(0)
            born.append(child)
    for child in born:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if len(born) > 32:
        raise RuntimeError(f"{len(born)} children lived at one time")


def disk():
    """Write up to 100 MB wherever it can, and remove them; raise if it was more than 64 at home."""
    home = os.path.realpath(tempfile.gettempdir())
    written = {place: fill_folder(place) for place in PLACES if os.path.realpath(place) != home}
    written = {place: size for place, size in written.items() if size}
    private = fill_folder(home)
    if written or not 0 < private <= 64 * MB:
        raise RuntimeError(f"wrote {written}, and {private} in the private folder")


def fill_folder(folder):
    """Return how many bytes could be written to files in a folder."""
    written, name = 0, ""
    with suppress(OSError):
        name = tempfile.mkdtemp(dir=folder)
        while written < 100 * MB:
            with open(f"{name}/{written}", "wb") as file:
                written += file.write(bytes(MB))
    with suppress(OSError):
        for path in Path(name or "/nowhere").iterdir():
            path.unlink()
        os.rmdir(name)
    return written


def kernel():
    """Let 30 processes fill 20 MB each of sockets, pipes and names; raise if they could."""
    hears, says = os.pipe()
    waits, ends = os.pipe()
    born = 0
    with suppress(OSError):
        while born < 30:
            if os.fork() == 0:
                os.close(ends)
                work(born, says, waits)
            born += 1
    taken = sum(struct.unpack("q", os.read(hears, 8))[0] for _ in range(born))
    os.close(ends)
    for _ in range(born):
        os.wait()
    if taken > KERNEL_ALLOWED:
        raise RuntimeError(f"{born} processes held {taken >> 20} MB of the kernel's")


def work(number, said, end):
    """Fill all of them, say how much that is, and hold it until the parent has heard of all."""
    taken = {"sockets": 0, "pipes": 0, "names": 0}
    with suppress(OSError):
        while taken["sockets"] < 20 * MB:
            held.extend(socket.socketpair())
            taken["sockets"] += sum(fill_end(one.fileno()) for one in held[-2:])
    with suppress(OSError):
        while taken["pipes"] < 20 * MB:
            taken["pipes"] += fill_end(os.pipe()[1])
    with suppress(OSError):
        while taken["names"] < 20_000 << 10:  # a name takes about a kilobyte
            os.close(os.open(f"/tmp/{number}-{taken['names']}", os.O_CREAT | os.O_WRONLY))
            taken["names"] += 1 << 10
    os.write(said, struct.pack("q", sum(taken.values())))
    os.read(end, 1)
    os._exit(0)


def fill_end(descriptor):
    """Return how many bytes one end of a pipe or of a pair of sockets takes."""
    os.set_blocking(descriptor, False)
    taken = 0
    with suppress(OSError):
        while taken < 20 * MB:
            taken += os.write(descriptor, bytes(1 << 16))
    return taken


def processes(most, away):
    """Fork, and so do its children, for 4 seconds or up to `most` processes; then exit.

    Where no more processes are allowed, the first one ends, and the others wait.
    """
    with tempfile.TemporaryFile() as file:
        file.truncate(8)
        forked = mmap.mmap(file.fileno(), 8)  # shared by all processes
    counts = memoryview(forked).cast("q")
    first, deadline = os.getpid(), time.monotonic() + 4.0
    while counts[0] < most and time.monotonic() < deadline:
        counts[0] += 1
        try:
            if os.fork() == 0 and away:
                os.setsid()
        except OSError:
            if os.getpid() == first:
                os._exit(1)
            break
    while time.monotonic() < deadline:
        time.sleep(0.1)
    os._exit(1)


class Fills:
    """`what` is one of the functions above; with `away`, every child begins a session."""

    def __init__(self, _setup, what: str, most: int = 0, away: bool = False):
        self.what = what
        self.more = (most, away) if what == "processes" else ()

    def choose(self, view, /):
        """Fill it: memory in each decision, the others in the first."""
        if self.what in ("memory", "all_memory") or not view.history[1:]:
            globals()[self.what](*self.more)
        return view.legal[0]


bot = Fills
