"""Run the jobs of submissions in threads, several at a time, in turns between owners."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeAlias, TypeVar

from arena.errors import ArenaError, Exhausted, blaming_machine

_Item = TypeVar("_Item")
Working: TypeAlias = Callable[[str], None]
"""What a job that may take long calls now and then; it may raise, which ends the job."""


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


def run_in_turns(
    owned: Iterable[tuple[Hashable, _Item]],
    job: Callable[[_Item, Working], object],
    checks: int,
    seconds: float,
) -> Iterator[tuple[_Item, Future[object]]]:
    """Run a job for each item of each owner in turns; yield the item and the result when it ends.

    So many `checks` run at a time, of each owner one, in threads; after some `seconds` none begins.
    An owner whose job takes long holds nobody. If the caller stops, the jobs are ended.
    """
    end, stopped = time.monotonic() + seconds, threading.Event()
    waiting, running = [*take_turns(owned)], dict[Future[object], tuple[Hashable, _Item]]()

    def working(_: str) -> None:
        if stopped.is_set():
            raise ArenaError("the check was stopped")

    try:
        while waiting or running:
            busy = {owner for owner, _ in running.values()}
            is_free = len(running) < checks and time.monotonic() <= end
            if is_free and (one := next((one for one in waiting if one[0] not in busy), None)):
                waiting.remove(one)
                running[_start(job, one[1], working)] = one
            elif running:
                wait(running, return_when=FIRST_COMPLETED)
                for done in [one for one in running if one.done()]:
                    yield running.pop(done)[1], done
            else:
                return
    finally:
        stopped.set()
        for future in running:
            future.exception()  # waits for its end


def _start(
    job: Callable[[_Item, Working], object], item: _Item, working: Working
) -> Future[object]:
    """Return the future result of a job, which a thread of its own runs if there is one."""
    future: Future[object] = Future()

    def work() -> None:
        try:
            future.set_result(job(item, working))
        except BaseException as error:  # for the caller's thread
            future.set_exception(error)

    try:
        with blaming_machine("no check can begin"):
            threading.Thread(target=work).start()
    except Exhausted as error:
        future.set_exception(error)
    return future
