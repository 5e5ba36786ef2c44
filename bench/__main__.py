"""`python -m bench [TABLE ...]` prints figures; with --save it writes bench/RESULTS.md too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bench import (
    analyse,
    cluster,
    endurance,
    engine,
    gym,
    lanes,
    leagues,
    many,
    pages,
    peers,
    rating,
    search,
    sites,
    small,
    store,
    summary,
    tail,
    ten_million,
    wins,
    workers,
)
from bench.engine import BARE_ASKED, Row
from bench.saving import chosen, make
from bench.timing import load, machine, processor

HEAD = """# Results of the benchmarks

What `make bench` printed, on two cores; the processor is below each table. Peers are measured
where the extra `bench` is installed; `make bench BENCH=--save` keeps the results here, and
`make bench BENCH="lanes --save"` those of one table.

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


TABLES: Mapping[str, tuple[str, Callable[[], Iterable[Row]]]] = {
    "engine": ("The engine", engine.rows),
    "search": ("Bots that search", search.rows),
    "gym": ("Thousands of games in lockstep, and views as arrays", gym.rows),
    "workers": ("A run, by workers", workers.rows),
    "small": ("Ten games, with all that a command does", small.rows),
    "sites": ("Two sites of a Dask cluster, beside two workers", sites.rows),
    "lanes": ("A bot in a process of its own", lanes.rows),
    "leagues": ("A large league", leagues.rows),
    "many": ("Many bots, one pair of each two", many.rows),
    "endurance": ("A long run of uniform and greedy on two workers", endurance.rows),
    "cluster": ("A simulated cluster: one client, many sites of 16 cores", cluster.rows),
    "store": ("The store, with checksums", store.rows),
    "summary": ("From the store of a run to its files", summary.rows),
    "rating": ("Games rated together: `arena.rate`", rating.rows),
    "ten_million": ("Ten million games on two workers", ten_million.table),
    "tail": ("The end of a long run alone, of repeated games", tail.table),
    "wins": ("How games are won: the tables beside the games", wins.rows),
    "pages": ("The page of a report in Chromium", pages.rows),
    "analyse": ("Judging decisions: `arena analyse`", analyse.rows),
    "peers": ("Peers, random play through Python", peers.rows),
}


LONG = ("tail", "ten_million")
"""Tables that are made only where they are named."""


def main() -> None:
    """Print the named tables, or all but long ones, and save them beside the others if asked to."""
    names = chosen(TABLES, LONG)
    head = HEAD.format(asked=BARE_ASKED)
    print(head, machine(), sep="\n\n", flush=True)
    parts = {name: (title, partial(_lines, title, rows)) for name, (title, rows) in TABLES.items()}
    make(Path(__file__).with_name("RESULTS.md"), head, parts, names)


def _lines(title: str, rows: Callable[[], Iterable[Row]]) -> Iterator[str]:
    return table(title, rows())


if __name__ == "__main__":
    main()
