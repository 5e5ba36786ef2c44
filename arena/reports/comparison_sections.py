"""Make the sections of a report on a sequential test, and on where two versions of a bot differ."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from arena.differences.claims import Look, name_value, read_path
from arena.differences.comparison import describe_paired
from arena.differences.difference_columns import DECIDED, DIFFERENCES, SIGNIFICANCE
from arena.errors import counted
from arena.reports.blocks import Block, Chart, Code, Section, Table, Text
from arena.reports.changes_report import difference_table
from arena.reports.charts import BLUE, GREY, chart, frame_table, plain_rows, quantity, tips
from arena.reports.games import Place, replay_id
from arena.statistics.intervals import Estimate, find_significant
from arena.statistics.wording import as_sentence
from arena.tables.table_columns import TableColumns, list_columns

if TYPE_CHECKING:
    from arena.differences.comparison import SprtResult
    from arena.differences.paired import PairedGames
    from arena.store.store import Store
    from arena.tournament.tournament import Tournament

_PATH = list_columns("""
    -
    pairs | Pairs | count | Pairs that had been played when the test was looked at.
    ratio | Log-likelihood ratio | number | How much better the Elo difference under H1 fits the \
        pairs than that under H0 does.
    """)
_HINTS = (
    "Each interval holds for itself, and one in twenty misses; what is significant is so when all "
    "of them are looked at together. Only the first was tested: the others are hints of where to "
    "look."
)


def comparison_sections(
    comparison: SprtResult, tournament: Tournament, store: Store, replays: Collection[str]
) -> Iterator[Section]:
    """Yield the verdict with the path of its test, and what two versions do otherwise.

    `replays` are the ids of the games whose replay is in the report.
    """
    pairs, out = comparison.evidence.pairs, comparison.out
    path = read_path(tournament, comparison.stop, store, pairs, out)
    yield Section("verdict", "Verdict", [*_verdict(comparison, path)])
    if paired := comparison.paired:
        blocks = [*_differences(comparison, paired)]
        yield Section("differences", "Differences", blocks)
        yield Section(
            "decided",
            "Games in which the change decided",
            [*_list_decided(tournament, paired, replays)],
        )


def _verdict(comparison: SprtResult, path: Sequence[Look]) -> Iterator[Block]:
    statement, lead, *_ = comparison.lines()
    yield Text([statement, f"{lead}."])
    yield from _path(comparison, path)
    yield _counts(comparison)
    if comparison.command:
        yield Code("The command that plays it again", comparison.command, folded=False)


def _path(comparison: SprtResult, path: Sequence[Look]) -> Iterator[Block]:
    """Yield how the ratio went between its bounds."""
    if not path:
        return
    (low, high), stop = comparison.evidence.ends, comparison.stop
    rows = [{"pairs": look.pairs, "ratio": round(look.ratio, 4) + 0.0} for look in path]
    x = quantity("pairs", "Pairs", scale={"nice": False, "zero": True})
    ratio = quantity("ratio", "Log-likelihood ratio", scale={"domain": _around(path, low, high)})
    bounds = [
        {"bound": high, "name": f"{high:.2f}: H1, an Elo difference of {stop.elo1:g}"},
        {"bound": low, "name": f"{low:.2f}: H0, an Elo difference of {stop.elo0:g}"},
    ]
    y = ratio | {"field": "bound"}
    layers = [
        {
            "data": {"values": bounds},
            "mark": {"type": "rule", "strokeDash": [6, 4], "color": GREY, "strokeWidth": 2},
            "encoding": {"y": y},
        },
        {
            "data": {"values": bounds},
            "mark": {"type": "text", "align": "left", "dx": 4, "dy": -7, "fontSize": 12},
            "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name", "type": "nominal"}},
        },
        {
            "mark": {"type": "line", "color": BLUE, "point": {"size": 30, "color": BLUE}},
            "encoding": {
                "x": x,
                "y": ratio,
                "tooltip": tips(("pairs", "Pairs"), ("ratio", "Ratio")),
            },
        },
    ]
    last = path[-1]
    description = (
        f"The log-likelihood ratio each time the test was looked at, "
        f"{counted(len(path), 'time')} in all. It ended at {last.ratio:.2f} after "
        f"{counted(last.pairs, 'pair')}; the bounds are {low:.2f} and {high:.2f}."
    )
    spec = chart(rows, height=260, layer=layers)
    yield Chart("ratio-path", "The path of the test", description, spec, "ratio-path")
    cells = [(row["pairs"], row["ratio"]) for row in rows]
    yield Table("ratio-path", "The test at each look", _PATH.columns, cells, folded=True)


def _around(path: Sequence[Look], low: float, high: float) -> list[float]:
    """Return the ends of an axis with the bounds and all of the path on it."""
    ratios = [look.ratio for look in path]
    ends = min(low, *ratios), max(high, *ratios)
    room = 0.08 * (ends[1] - ends[0])
    return [round(ends[0] - room, 3), round(ends[1] + room, 3)]


def _counts(comparison: SprtResult) -> Table:
    """Return the observations of the test by value."""
    evidence, what = comparison.evidence, "score"
    caption = f"Pairs by the score of {comparison.new}"
    if comparison.paired:
        what = "difference"
        caption = f"Pairs by how much {comparison.new} had more than {comparison.old}"
    columns = list_columns(f"""
        -
        value | {what.capitalize()} in a pair | text | The {what} in a pair, which has two games.
        pairs | Pairs | count | Pairs that came to this.
        share | Share | share | Of all pairs that count.
        """).columns
    total = max(1, evidence.pairs)
    rows = [
        (name_value(value), count, count / total)
        for value, count in zip(evidence.values, evidence.counts, strict=True)
    ]
    return Table("counts", caption, columns, rows)


def _differences(comparison: SprtResult, paired: PairedGames) -> Iterator[Block]:
    frame = paired.differences
    if frame.empty:
        yield Text(["No game is left to compare."])
        return
    same = "Both versions met the same opponents on the same deals with the same luck."
    yield Text([same, *map(as_sentence, describe_paired(paired))])
    shown = plain_rows(frame, ["difference", "low", "high", "error"])
    significant = find_significant([Estimate(*row).scaled(100) for row in shown])
    named = "differences", "Differences in total and by part"
    columns = TableColumns(DIFFERENCES.file, [*DIFFERENCES.columns, SIGNIFICANCE])
    yield Text([_HINTS])
    yield difference_table(named, columns, frame.assign(sure=significant), 100)


def _list_decided(
    tournament: Tournament, paired: PairedGames, replays: Collection[str]
) -> Iterator[Block]:
    table = paired.decided
    if table.empty:
        yield Text(["The change decided no game."])
        return
    text = (
        f"In {counted(len(table), 'game')} the two versions made the same moves up to a ply, then "
        "another one, and the result was another one. That ply need not be the one that turned the "
        "game. Games with a link have their replay on this page."
    )
    yield Text([text])
    made = frame_table(DECIDED, "Decided games", table)
    numbers = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    new = tournament.labels[0]
    by_opponent = {p.opponent: number for p, number in numbers.items() if p.bot == new}
    places = table[["opponent", "pair", "seat"]].head(len(made.rows)).itertuples(index=False)
    ids = [replay_id(Place(by_opponent[opponent], pair, seat)) for opponent, pair, seat in places]
    links = [name if name in replays else None for name in ids]
    yield Table(made.name, made.caption, made.columns, made.rows, links, made.note)
