"""Take turns between owners, and run the checks of several submissions at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from arena.addons.league.submission import Desk, Submitting
from arena.errors import ArenaError

_T = TypeVar("_T")


def take_turns(items: Iterable[_T], owner: Callable[[_T], Hashable]) -> Iterator[list[_T]]:
    """Yield the first item of every owner, then the second ones, and so on.

    So an owner with fifty items holds nobody, and no turn has two items of one owner.

    >>> [*take_turns(["a1", "a2", "a3", "b1"], lambda item: item[0])]
    [['a1', 'b1'], ['a2'], ['a3']]
    """
    of_owner: dict[Hashable, list[_T]] = {}
    for item in items:
        of_owner.setdefault(owner(item), []).append(item)
    for turn in range(max(map(len, of_owner.values()), default=0)):
        yield [waiting[turn] for waiting in of_owner.values() if turn < len(waiting)]


def submit_together(desk: Desk, submissions: Iterable[Submitting[_T]], checks: int) -> Iterator[_T]:
    """Run submissions, with some `checks` at a time, and yield in order what each of them returns.

    All but the checks runs in this thread, and starts no process while one goes on. If the caller
    stops, the checks in progress are ended.
    """
    stopped = threading.Event()

    def working(_: str) -> None:
        if stopped.is_set():
            raise ArenaError("the check was stopped")

    begun = [_Begun(one) for one in submissions]
    pool = ThreadPoolExecutor(checks)
    try:
        for one in begun:
            if not one.has_ended:
                one.check = pool.submit(desk.check, one.spec, working)
        for one in begun:
            yield one.finish()
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)


class _Begun:
    """A submission that waits for its check, or has ended without one."""

    def __init__(self, submission: Submitting[Any]) -> None:
        self.submission = submission
        self.check: Future[Any] | None = None
        self.has_ended = False
        self.result: Any = None
        self.spec = ""
        try:
            self.spec = next(submission)
        except StopIteration as done:
            self.has_ended, self.result = True, done.value

    def finish(self) -> Any:
        """Wait for the check, and return what the submission returns."""
        if self.check:
            try:
                self.submission.send(self.check.result)
            except StopIteration as done:
                self.result = done.value
        return self.result
