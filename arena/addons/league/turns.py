"""Run the jobs of submissions, several at a time, in turns between owners."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeAlias, TypeVar

from arena.errors import ArenaError, Exhausted, blaming_machine
from arena.processes import killing_orphans

_Item = TypeVar("_Item")
_T = TypeVar("_T")
Working: TypeAlias = Callable[[str], None]
Job: TypeAlias = Callable[[Working], Any]
"""A part of a submission that may take long; it calls its argument now and then, which may raise.

It can be run in any thread.
"""

Submitting: TypeAlias = Generator[Job, Callable[[], Any], _T]
"""A submission in progress: it yields its jobs, and is sent what returns the result of each."""


def run_job(job: Job, working: Working) -> Any:
    """Run a job of a submission, and kill what its bot has left; raises Exhausted."""
    with blaming_machine("a submission"), killing_orphans():
        return job(working)


def take_turns(owned: Iterable[tuple[Hashable, _Item]]) -> Iterator[tuple[Hashable, _Item]]:
    """Yield the first item of every owner, with the owner, then the second ones, and so on.

    >>> [*take_turns([("ann", 1), ("ann", 2), ("ann", 3), ("bob", 1)])]
    [('ann', 1), ('bob', 1), ('ann', 2), ('ann', 3)]
    """
    of_owner: dict[Hashable, list[_Item]] = {}
    for owner, item in owned:
        of_owner.setdefault(owner, []).append(item)
    for turn in range(max(map(len, of_owner.values()), default=0)):
        yield from ((owner, all_[turn]) for owner, all_ in of_owner.items() if turn < len(all_))


class Turns:
    """Runs the jobs of some `checks` submissions at a time, of each owner one.

    The jobs run in threads. All else runs in the thread of the caller, and starts no process.
    """

    def __init__(self, checks: int) -> None:
        self.checks = checks
        self._stopped = threading.Event()
        self._running: dict[Future[Any], tuple[Hashable, Submitting[Any]]] = {}

    def submit(
        self, begins: Iterable[tuple[Hashable, Callable[[], Submitting[_T] | None]]], seconds: float
    ) -> Iterator[_T]:
        """Yield what each submission returns, as soon as it has ended.

        `begins` has the owner and the beginning of each, which returns None for one that has to
        wait. After some `seconds` none begins. An owner whose submission takes long holds nobody.
        If the caller stops, the jobs in progress are ended.
        """
        end = time.monotonic() + seconds
        waiting = [*take_turns(begins)]
        try:
            while waiting or self._running:
                is_free = len(self._running) < self.checks and time.monotonic() <= end
                busy = {owner for owner, _ in self._running.values()}
                if is_free and (one := next((one for one in waiting if one[0] not in busy), None)):
                    waiting.remove(one)
                    if submission := one[1]():
                        yield from self._go_on(one[0], submission)
                elif self._running:
                    wait(self._running, return_when=FIRST_COMPLETED)
                    for done in [one for one in self._running if one.done()]:
                        yield from self._go_on(*self._running.pop(done), done.result)
                else:
                    return
        finally:
            self._stopped.set()
            for future in self._running:
                future.exception()  # waits for its end

    def _go_on(
        self,
        owner: Hashable,
        submission: Submitting[_T],
        result: Callable[[], Any] | None = None,
    ) -> Iterator[_T]:
        """Start the next job of a submission, or yield its result."""
        try:
            job = submission.send(result) if result else next(submission)
        except StopIteration as done:
            yield done.value
        else:
            self._running[self._start(job)] = owner, submission

    def _start(self, job: Job) -> Future[Any]:
        """Return the future result of a job, which a thread of its own runs if there is one."""
        future: Future[Any] = Future()

        def work() -> None:
            try:
                future.set_result(run_job(job, self._check_stopped))
            except BaseException as error:  # for the caller's thread
                future.set_exception(error)

        try:
            with blaming_machine("no check can begin"):
                threading.Thread(target=work).start()
        except Exhausted as error:
            future.set_exception(error)
        return future

    def _check_stopped(self, _: str) -> None:
        if self._stopped.is_set():
            raise ArenaError("the check was stopped")
