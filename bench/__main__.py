"""`python -m bench [TABLE ...]` prints figures; with --save it writes bench/RESULTS.md too."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from bench import endurance, engine, lanes, peers, search, summary, wins, workers
from bench.engine import BARE_ASKED, Row
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
    "workers": ("A run, by workers", workers.rows),
    "lanes": ("A bot in a process of its own", lanes.rows),
    "endurance": ("A long run of uniform and greedy on two workers", endurance.rows),
    "summary": ("From the store of a run to its files", summary.rows),
    "wins": ("How games are won: the tables beside the games", wins.rows),
    "peers": ("Peers, random play through Python", peers.rows),
}


def sections(text: str) -> dict[str, str]:
    """Return the tables of a text by their titles.

    >>> sections("# Results\\n\\n## Peers\\n\\n| a |\\n")
    {'Peers': '\\n## Peers\\n\\n| a |'}
    """
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    return {
        title: f"\n## {title}\n\n{body.strip()}"
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }


def main() -> None:
    """Print the named tables, or all, and save them beside the others if asked to."""
    names = [word for word in sys.argv[1:] if word != "--save"]
    if unknown := {*names} - {*TABLES}:
        sys.exit(f"error: {', '.join(sorted(unknown))}: there are {', '.join(TABLES)}")
    path = Path(__file__).with_name("RESULTS.md")
    head = HEAD.format(asked=BARE_ASKED)
    print(head, machine(), sep="\n\n", flush=True)
    measured = {}
    for name in names or TABLES:
        title, rows = TABLES[name]
        text = []
        for line in table(title, rows()):
            print(line, flush=True)
            text.append(line)
        measured[title] = "\n".join(text)
    if "--save" in sys.argv[1:]:
        kept = sections(path.read_text(encoding="utf-8")) | measured
        tables = [kept[title] for title, _ in TABLES.values() if title in kept]
        path.write_text("\n".join([head, *tables]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
