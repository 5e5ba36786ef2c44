"""Timing on a machine that is shared and noisy: best of many, and paired ratios."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from timeit import Timer
from typing import Any

from arena.processes import read_status
from arena.threads import count_cores

Work = Callable[[], object]


def seconds(work: Work, times: int) -> float:
    """Return the seconds one call takes, on average over so many."""
    start = perf_counter()
    for _ in range(times):
        work()
    return (perf_counter() - start) / times


def times_for(work: Work, wanted: float) -> int:
    """Return how many calls take about the wanted seconds."""
    return max(1, int(wanted / max(1e-9, seconds(work, 3))))


def paired(work: Work, yardstick: Work, rounds: int = 40) -> tuple[float, float, float]:
    """Return the best seconds of both, and the median over rounds of their rates' ratio.

    The two take turns of about 30 ms, so that a change of the machine's speed affects both.
    A second of each comes first, in which their caches fill.
    """
    for one in (work, yardstick):
        seconds(one, times_for(one, 1.0))
    calls = [(one, times_for(one, 0.03)) for one in (work, yardstick)]
    pairs = [tuple(seconds(one, times) for one, times in calls) for _ in range(rounds)]
    ratio = median(other / own for own, other in pairs)
    return min(own for own, _ in pairs), min(other for _, other in pairs), ratio


def each(statement: str, make: Callable[[], list[Any]], **names: Any) -> float:
    """Return the best seconds of a statement about `item`, without those of the loop around it.

    The items are made again for every repetition, because the statement may change them.
    """

    def best(body: str) -> float:
        found = []
        for _ in range(20):
            items = make()
            timer = Timer(f"for item in items: {body}", globals=names | {"items": items})
            found.append(timer.timeit(1) / len(items))
        return min(found)

    return best(statement) - best("pass")


def machine() -> str:
    """Return the processor, the number of cores and the Python, as a line."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{processor()}, {count_cores()} cores, {python}"


def peak() -> float:
    """Return the MB that this process has had at most; ru_maxrss has those of its parent, too."""
    kilobytes = read_status(os.getpid()).get("VmHWM", "").partition("kB")[0].strip()
    return int(kilobytes or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


def load() -> float:
    """Return how many processes wanted a core, on average over the last minute."""
    return os.getloadavg()[0]


def processor() -> str:
    """Return the model of the processor, or its architecture where the model is unknown."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    return model
