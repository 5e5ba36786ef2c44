"""`python -m bench` prints every figure; with --save it writes bench/RESULTS.md too."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import endurance, engine, lanes, peers, search, workers
from bench.engine import BARE_ASKED, Row
from bench.timing import load, machine, processor

HEAD = """# Results of the benchmarks

What `make bench` printed, on {machine}. Peers are measured
where the extra `bench` is installed; `make bench BENCH=--save` keeps the results here.

The machine is shared, so read the ratios. A ratio is to the rate of the bare loop
(bench/bare.py), which took turns with what is measured; absolute figures are the best of
many. The targets were set on a machine where this bare loop would play {asked:,} games/s;
durations are converted to that machine ("there"). Peers have no figures for what they do not
offer through Python. The load below each table is the number of processes that wanted a core
in the last minute, the benchmark's own included."""


def table(title: str, rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table, each as soon as it has been measured, and the load below."""
    yield f"\n## {title}\n"
    yield "| what | figure | ratio, or time there | asked |"
    yield "|---|---|---|---|"
    for row in rows:
        yield f"| {row.what} | {row.figure} | {row.ratio} | {row.asked} |"
    yield f"\n{processor()}, load {load():.1f}"


def lines() -> Iterator[str]:
    """Yield the whole text."""
    yield HEAD.format(machine=machine(), asked=BARE_ASKED)
    yield from table("The engine", engine.rows())
    yield from table("Bots that search", search.rows())
    yield from table("A run, by workers", workers.rows())
    yield from table("A bot in a process of its own", lanes.rows())
    yield from table("A long run of uniform and greedy on two workers", endurance.rows())
    yield from table("Peers, random play through Python", peers.rows())


def main() -> None:
    """Print the text, and save it if asked to."""
    text = []
    for line in lines():
        print(line, flush=True)
        text.append(line)
    if "--save" in sys.argv[1:]:
        Path(__file__).with_name("RESULTS.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
