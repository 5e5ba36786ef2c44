"""SprtResult: whether one bot is stronger than another, and what a new version does otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from arena.errors import counted
from arena.insight.comparison import describe
from arena.insight.observations import Look, read_path
from arena.insight.verdict import name_value
from arena.reports.chart_rows import frame_table, plain_rows
from arena.reports.charts import BLUE, GREY, chart, quantity
from arena.reports.document import Block, Chart, Code, Column, Section, Table, Text
from arena.reports.dots import Dot, dot_chart
from arena.reports.games import Place, replay_id
from arena.statistics.intervals import Estimate, find_significant

if TYPE_CHECKING:
    from arena.insight.comparison import SprtResult
    from arena.insight.paired import PairedGames
    from arena.store.store import Store
    from arena.tournament.tournament import Tournament

_PARTS = {
    "total": "in all",
    "opponent": "against",
    "seat": "in seat",
    "won_by": "won by",
    "lost_by": "lost by",
}
_LEVELS = ("The 95 % interval by deals; that of the first row is adjusted for stopping.",)
DIFFERENCE_COLUMNS = (
    Column("part", "Part", "text", "What the row counts: all games, or those of one sort."),
    Column("name", "Of", "text", "The opponent, the seat, or the way games were won or lost."),
    Column("deals", "Deals", "count", "Deals that both versions have played, with both seats."),
    Column("new", "New", "share", "The share of the points of the new version, or of its games."),
    Column("old", "Old", "share", "The same of the old version."),
    Column("difference", "Difference, % points", "change", "New less old."),
    Column("difference_low", "Difference, low", "change", *_LEVELS),
    Column("difference_high", "Difference, high", "change", *_LEVELS),
    Column("elo", "Elo", "change", "The Elo points by which the old version would have to rise."),
    Column("elo_low", "Elo, low", "change", *_LEVELS),
    Column("elo_high", "Elo, high", "change", *_LEVELS),
)
DECIDED_COLUMNS = (
    Column("game", "Game", "text", "The new version's game: bot/opponent/pair/seat."),
    Column("old_game", "Old version's game", "text", "The game on the same deal."),
    Column("ply", "Ply", "count", "The first at which the two games differ."),
    Column("new_score", "New", "number", "What the new version scored: 1, 1/2 or 0."),
    Column("old_score", "Old", "number", "What the old version scored."),
    Column("new_type", "New, by", "text", "How the new version's game ended."),
    Column("old_type", "Old, by", "text", "How the old version's game ended."),
)
_PATH_COLUMNS = (
    Column("pairs", "Pairs", "count", "Pairs that had been played when the test was looked at."),
    Column(
        "ratio",
        "Log-likelihood ratio",
        "number",
        "How much better the second guess of the lead fits the pairs than the first one does.",
    ),
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
        yield Section("differences", "Where the two versions differ", blocks)
        yield Section(
            "decided", "Games in which the change decided", [*_decided(tournament, paired, replays)]
        )


def _verdict(comparison: SprtResult, path: Sequence[Look]) -> Iterator[Block]:
    verdict, lead, *_ = describe(comparison)
    elo, stop = comparison.elo, comparison.stop
    yield Text([f"{verdict[:1].upper()}{verdict[1:]}.", f"{lead}."])
    dots = [
        Dot("lead of the new bot", *elo[:3], sure=elo.excludes_zero),
    ]
    lines = [(stop.elo0, f"H0: {stop.elo0:+g}"), (stop.elo1, f"H1: {stop.elo1:+g}")]
    spec = dot_chart(dots, "Elo points", "change", zero=False, lines=lines)
    description = (
        f"{comparison.new} is at {elo.value:+.1f} Elo points from {comparison.old}, 95 % interval "
        f"{elo.low:+.1f} to {elo.high:+.1f}, adjusted for stopping. The test has weighed a lead "
        f"of {stop.elo1:g} (H1) against one of {stop.elo0:g} (H0), which are lines here."
    )
    yield Chart("lead", "The lead in Elo points", description, spec)
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
        {"bound": high, "name": f"{high:.2f}: H1, a lead of {stop.elo1:g}"},
        {"bound": low, "name": f"{low:.2f}: H0, a lead of {stop.elo0:g}"},
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
                "tooltip": [
                    {"field": "pairs", "title": "Pairs"},
                    {"field": "ratio", "title": "Ratio"},
                ],
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
    yield Table("ratio-path", "The test at each look", _PATH_COLUMNS, cells, folded=True)


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
    columns = (
        Column("value", what.capitalize(), "text", f"The {what} in a pair, which has two games."),
        Column("pairs", "Pairs", "count", "Pairs that came to this."),
        Column("share", "Share", "share", "Of all pairs that count."),
    )
    total = max(1, evidence.pairs)
    rows = [
        (name_value(value), count, count / total)
        for value, count in zip(evidence.values, evidence.counts, strict=True)
    ]
    return Table("counts", caption, columns, rows)


def _differences(comparison: SprtResult, paired: PairedGames) -> Iterator[Block]:
    table = paired.differences
    if table.empty:
        yield Text(["No game is left to compare."])
        return
    yield Text([*_describe_paired(paired)])
    names = [
        f"{_PARTS[part]} {name}".rstrip() for part, name in plain_rows(table, ["part", "name"])
    ]
    values = [
        Estimate(*row).scaled(100)
        for row in plain_rows(table, ["difference", "low", "high", "error"])
    ]
    dots = [
        Dot(name, *value[:3], sure)
        for name, value, sure in zip(names, values, find_significant(values), strict=True)
    ]
    description = (
        f"The share of {comparison.new} less that of {comparison.old}, with 95 % intervals by "
        "deal. Each interval holds for itself, and one in twenty misses; what is beyond chance is "
        "so when all of them are looked at together. Only the first was tested: the others are "
        "hints of where to look."
    )
    spec = dot_chart(dots, "New less old, % points", "change")
    yield Chart("differences", "Where the versions differ", description, spec, "differences")
    table = table.rename(columns={"low": "difference_low", "high": "difference_high"})
    ends = ["difference", "difference_low", "difference_high"]
    table[ends] = (100 * table[ends]).round(2) + 0.0
    caption = "Differences in total and by part"
    yield frame_table("differences", caption, DIFFERENCE_COLUMNS, table, "differences.csv")


def _describe_paired(paired: PairedGames) -> Iterator[str]:
    """Yield how much the two versions have in common, and what that saves."""
    games = paired.games
    yield (
        f"Both versions met the same opponents on the same deals with the same luck. "
        f"{2 * paired.same_games:,} of {games:,} games are the same move by move for both."
    )
    times = paired.separate_games / games if games else 0
    yield (
        f"Two separate round robins would need {paired.separate_games:,} games to be as sure, "
        f"{times:.1f} times as many."
    )


def _decided(
    tournament: Tournament, paired: PairedGames, replays: Collection[str]
) -> Iterator[Block]:
    table = paired.decided
    if table.empty:
        yield Text(["The change decided no game."])
        return
    yield Text(
        [
            f"In {counted(len(table), 'game')} the two versions made the same moves up to a ply, "
            "then another one, and the result was another one. That ply need not be the one that "
            "turned the game. Games with a link have their replay on this page."
        ]
    )
    made = frame_table("decided", "Decided games", DECIDED_COLUMNS, table, "decided.csv")
    numbers = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    new = tournament.labels[0]
    by_opponent = {p.opponent: number for p, number in numbers.items() if p.bot == new}
    places = table[["opponent", "pair", "seat"]].head(len(made.rows)).itertuples(index=False)
    ids = [replay_id(Place(by_opponent[opponent], pair, seat)) for opponent, pair, seat in places]
    links = [name if name in replays else None for name in ids]
    yield Table(made.name, made.caption, made.columns, made.rows, links, made.note)
