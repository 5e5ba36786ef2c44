"""`python -m bench [TABLE ...]` prints figures; with --save it writes bench/RESULTS.md too."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import dropwhile
from pathlib import Path
from time import perf_counter

from bench import (
    analyse,
    engine,
    gym,
    lanes,
    many,
    pages,
    peers,
    search,
    small,
    tail,
    wins,
    workers,
)
from bench.engine import BARE_ASKED
from bench.saving import chosen, make
from bench.timing import load, machine, processor

HEAD = """# Results of the benchmarks

What `make bench` printed, on two cores; the processor is below each table.
`make bench BENCH=--save` keeps the results here, and `make bench BENCH="lanes --save"` those of
one table. What takes long is made only where it is named: {long}.

What users wait for is in these rows:

| what | rows | command |
|---|---|---|
{felt}

The machine is shared, so read the ratios. A ratio is to the rate of the bare loop
(bench/bare.py), which took turns with what is measured; absolute figures are the best of
many. The targets were set on a machine where this bare loop would play {asked:,} games/s;
durations are converted to that machine ("there"). Below each table are the number of processes
that wanted a core in the last minute, the benchmark's own included, and the seconds it took."""

COLUMNS = ("what", "figure", "ratio, or time there", "asked")


def table(
    title: str, rows: Iterable[Sequence[str]], columns: Sequence[str] = COLUMNS, note: str = ""
) -> Iterator[str]:
    """Yield the lines of a table, each as soon as it has been measured, and the load below."""
    start = perf_counter()
    yield f"\n## {title}\n"
    if note:
        yield f"{note}\n"
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield f"\n{processor()}, load {load():.1f}, {perf_counter() - start:.0f} s"


TABLES: Mapping[str, tuple[str, Callable[[], Iterable[Sequence[str]]]]] = {
    "engine": ("The engine", engine.rows),
    "search": ("Bots that search", search.rows),
    "gym": ("Thousands of games in lockstep, and views as arrays", gym.rows),
    "workers": ("A run, by workers", workers.rows),
    "small": ("Ten games, with all that a command does", small.rows),
    "lanes": ("A bot in a process of its own", lanes.rows),
    "many": ("Many bots, one pair of each two", many.rows),
    "tail": ("The end of a long run alone, of repeated games", tail.table),
    "wins": ("How games are won: the tables beside the games", wins.rows),
    "pages": ("The page of a report in Chromium", pages.rows),
    "analyse": ("Judging decisions: `arena analyse`", analyse.rows),
    "peers": ("Peers: a decision through other frameworks", peers.rows),
}


OWN = {"peers": (peers.COLUMNS, peers.NOTE)}
"""Columns and a note of tables that have others than all."""

LONG = ("tail",)
"""Tables that are made only where they are named."""

FELT = (
    ("a game of each shipped bot", "uniform - BOT, microseconds a game", "engine"),
    ("the whole protocol beside a bare loop", "whole protocol", "engine"),
    ("a run beside its two engines", "of two engines at once", "workers"),
    ("ten games, from the command to the last file", "10 games, to the last file", "small"),
    ("a run of 300 bots that play one pair each", "all", "many"),
    ("a learner against `greedy`", "make_vec against greedy", "gym"),
    ("the first game of a jailed bot", "jail: first game", "lanes"),
    ("a decision through other frameworks", "all", "peers"),
)
"""What users wait for, the rows that have it, and their table."""


def main() -> None:
    """Print the named tables, or all but long ones, and save them beside the others if asked to."""
    names = chosen(TABLES, LONG)
    head = _head()
    print(head, machine(), sep="\n\n", flush=True)
    is_alone = len(names) == 1
    measure = _here if is_alone else _apart
    parts = {name: (title, partial(measure, name)) for name, (title, _) in TABLES.items()}
    start = perf_counter()
    try:
        make(Path(__file__).with_name("RESULTS.md"), head, parts, names)
    finally:
        if not is_alone:
            print(f"\n{len(names)} tables in {(perf_counter() - start) / 60:.1f} minutes")


def _head() -> str:
    rows = [f"| {what} | {rows} | `python -m bench {name}` |" for what, rows, name in FELT]
    long = " and ".join(", ".join(f"`{name}`" for name in LONG).rsplit(", ", 1))
    return HEAD.format(asked=BARE_ASKED, long=long, felt="\n".join(rows))


def _here(name: str) -> Iterator[str]:
    title, rows = TABLES[name]
    return table(title, rows(), *OWN.get(name, ()))


def _apart(name: str) -> Iterator[str]:
    """Yield the lines of a table from a process of its own: its memory is of no other table."""
    words = [sys.executable, "-m", "bench", name]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = (line.rstrip("\n") for line in process.stdout)
        yield ""
        yield from dropwhile(lambda line: not line.startswith("## "), lines)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)


if __name__ == "__main__":
    main()
