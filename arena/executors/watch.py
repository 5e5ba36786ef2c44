"""Watch: the keeper's program, which waits for the end of a run's parent.

`python watch.py FOLDER FOLDER_OF_MULTIPROCESSING PARENT PATH...`. Most runs dismiss it before that
end. What it needs then, psutil and the arena, is imported from the paths only then: so it starts
in 15 ms of processor time instead of 70.
"""

from __future__ import annotations

import os
import select
import signal
import sys


def main() -> None:
    """Wait, and then end what is left of the run."""
    folder, of_multiprocessing, parent, *path = sys.argv[1:]
    sys.path += path
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    workers = _hear_of_workers([0, *_handle(int(parent))])
    from arena.executors.keeper import end_run

    end_run([*_running(workers)], folder, of_multiprocessing)


def _hear_of_workers(waited: list[int]) -> dict[int, list[int]]:
    """Return the workers that standard input names until it ends or the parent does."""
    workers: dict[int, list[int]] = {}
    rest = b""
    while 0 in select.select(waited, [], [])[0] and (data := os.read(0, 1 << 16)):
        *lines, rest = (rest + data).split(b"\n")
        running = _running(workers)
        for pid in [pid for pid in workers if pid not in running]:
            for descriptor in workers.pop(pid):
                os.close(descriptor)
        workers |= {int(line): _handle(int(line)) for line in lines}
    return workers


def _handle(pid: int) -> list[int]:
    """Return a descriptor that is readable when a process has ended, if there can be one."""
    try:
        return [os.pidfd_open(pid)]
    except (AttributeError, OSError):
        return []


def _running(workers: dict[int, list[int]]) -> list[int]:
    """Return the workers that have not ended, as far as that is known."""
    ended = {*select.select([fd for handle in workers.values() for fd in handle], [], [], 0)[0]}
    return [pid for pid, handle in workers.items() if not ended & {*handle}]


if __name__ == "__main__":
    main()
