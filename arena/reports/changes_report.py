"""Make the report of several runs: how each differs from the first one, the base.

The comparison of two versions, the report of several runs and the ablation of rules all have their
differences by these functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from arena.differences.changes import Changes
from arena.differences.claims import Shown, find_moved, read_differences
from arena.differences.difference_columns import (
    RATING_CHANGES,
    SCORE_CHANGES,
    TOTAL_CHANGES,
    WIN_CHANGES,
)
from arena.errors import counted, name_some
from arena.reports.about import RunFacts, runs_section, with_glossary
from arena.reports.blocks import (
    Block,
    Cell,
    Chart,
    Report,
    Section,
    Table,
    Text,
    write_cell,
    write_interval,
)
from arena.reports.charts import (
    BLUE,
    GREY,
    STEP,
    Spec,
    chart,
    cut_table,
    find_window,
    interval_layers,
    nominal,
    plain_rows,
    quantity,
    tips,
    zero_line,
)
from arena.tables.table_columns import Kind, TableColumns

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 40
"""Rows of a chart; more cannot be told apart."""

SIGNIFICANT, NOT_SIGNIFICANT, NOT_TESTED = "significant", "not significant", "not tested"
"""What is said of a difference, by whether it is significant: True, False, None."""

_SHAPES = {SIGNIFICANT: "circle", NOT_SIGNIFICANT: "diamond", NOT_TESTED: "cross"}
_COLOURS = {SIGNIFICANT: BLUE, NOT_SIGNIFICANT: GREY, NOT_TESTED: GREY}
_ENDS = {"low": "difference_low", "high": "difference_high"}


def name_verdict(significant: bool | None) -> str:
    """Return what is said of a difference.

    >>> name_verdict(True), name_verdict(None)
    ('significant', 'not tested')
    """
    return NOT_TESTED if significant is None else SIGNIFICANT if significant else NOT_SIGNIFICANT


def name_significant(points: Sequence[Shown]) -> str:
    """Return which differences are significant, the first ones by their names.

    >>> from arena.statistics.intervals import Estimate
    >>> name_significant([Shown("a", Estimate(1, 0.5, 1.5), True), Shown("b", Estimate(0, -1, 1))])
    'significant: a'
    """
    names = [point.name for point in points if point.significant]
    return f"significant: {name_some(names)}" if names else "none is significant"


def difference_chart(
    points: Sequence[Shown], table: Table, named: tuple[str, str, str], what: str
) -> Iterator[Chart]:
    """Yield the chart of some differences; without one, nothing.

    `named` are its name, its title and the title of its axis; `what` says what is less what.
    """
    if not points:
        return
    name, title, axis = named
    cut = f" The {MOST_POINTS} clearest." if len(points) == MOST_POINTS else ""
    description = f"{what}, with 95 % intervals; {name_significant(points)}.{cut}"
    yield Chart(name, title, description, point_chart(points, axis, "change"), table.name)


def difference_table(
    named: tuple[str, str], of: TableColumns, frame: pd.DataFrame, factor: float
) -> Table:
    """Return a table of differences, times `factor`; `named` are its name and its caption."""
    frame = frame.rename(columns=_ENDS)
    for name in ("difference", *_ENDS.values()):
        frame[name] = (factor * frame[name]).round(2) + 0.0
    frame["sure"] = [name_verdict(sure) for sure in frame["sure"]]
    frame.loc[frame["difference"].isna(), "sure"] = None
    columns = [replace(column, name=_ENDS.get(column.name, column.name)) for column in of.shown]
    rows: list[Sequence[Cell]] = [*plain_rows(frame, [column.name for column in columns])]
    return cut_table(*named, columns, rows, of.file or "the table")


def find_clearest(frame: pd.DataFrame, named: Sequence[str], factor: float) -> list[Shown]:
    """Return the rows whose difference is largest in its own errors, the clearest first.

    `named` are the columns of a row's name.
    """
    found = sorted(read_differences(frame, named), key=attrgetter("clarity"), reverse=True)
    return [one._replace(estimate=one.estimate.scaled(factor)) for one in found[:MOST_POINTS]]


def point_chart(
    points: Sequence[Shown],
    title: str,
    kind: Kind,
    *,
    zero: bool = True,
) -> Spec:
    """Return a chart of points with their intervals, the first one on top.

    `title` is that of the axis. Differences have a line at `zero`; then the shape of a point says
    whether it is significant.
    """
    rows = [_row(point, kind) for point in points]
    window = find_window(rows, zero=zero)
    title = f"{title} (arrow: beyond the axis)" if window.beyond else title
    x = quantity("value", title, scale={"nice": True} | window.scale)
    layers = interval_layers(x)
    if not any("low" in row for row in rows):
        del layers[0]
    shown = [name for name in _SHAPES if any(row["verdict"] == name for row in rows)]
    if zero:
        for layer in layers:
            layer["encoding"]["color"] = _make_legend(shown, _COLOURS)
        layers[-1]["encoding"]["shape"] = _make_legend(shown, _SHAPES)
    layers += window.layers(x)
    order = [point.name for point in points]
    for layer in layers:
        layer["encoding"] |= {
            "y": nominal("name", sort=order, title=None, axis={"labelLimit": 170}),
            "tooltip": _TIPS if zero else _TIPS[:3],
        }
    layers = [zero_line(), *layers] if zero else layers
    return chart(rows, height=STEP * max(2, len(rows)), layer=layers)


def _row(point: Shown, kind: Kind) -> dict[str, Any]:
    value, low, high = point.estimate.cells
    row = {"name": point.name, "value": value, "text": write_cell(value, kind)}
    row["verdict"] = name_verdict(point.significant)
    if low is not None and high is not None:
        row |= {"low": low, "high": high, "interval": write_interval(low, high, kind)}
    return row


def _make_legend(shown: Sequence[str], by_name: Mapping[str, str]) -> Spec:
    """Return the channel of the verdicts that occur, with a legend for colour and shape at once."""
    scale = {"domain": [*shown], "range": [by_name[name] for name in shown]}
    return nominal("verdict", title=None, scale=scale, legend=_LEGEND)


_LEGEND: Spec = {"orient": "top", "direction": "vertical", "labelLimit": 240}
"""One below the other: beside each other they are wider than a telephone."""

_TIPS: list[Spec] = tips(
    ("name", "What"), ("text", "Value"), ("interval", "95 % interval"), ("verdict", "Verdict")
)


_COMMON = (
    "Only pairings that both runs have are counted, and each of them weighs the same. So a new "
    "opponent changes nothing here."
)


def make_changes_report(base: RunFacts, others: Sequence[tuple[RunFacts, Changes]]) -> Report:
    """Return the report of what is different from the base to each other run."""
    sections = [runs_section([base, *(facts for facts, _ in others)])]
    if len(others) == 1:
        (facts, changes), title = others[0], others[0][0].title
        sections += _sections(changes, "", "")
        title = f"{title}, compared with {base.title}"
    else:
        title = f"{len(others)} runs, compared with {base.title}"
        for number, (facts, changes) in enumerate(others, 1):
            sections += _sections(changes, f"-{number}", f"{facts.title}: ")
    summary = [
        *_headlines(base, others),
        f"The base is {base.title}. A difference is the other run less the base, with its 95 % "
        "interval.",
    ]
    labels = {
        label for facts in (base, *(one for one, _ in others)) for label in facts.tournament.labels
    }
    return with_glossary(Report(title, summary, sections, labels=sorted(labels)))


def _headlines(base: RunFacts, others: Sequence[tuple[RunFacts, Changes]]) -> Iterator[str]:
    """Yield the headline of each other run, with its title if there are several."""
    for facts, changes in others:
        prefix = f"{facts.title}: " if len(others) > 1 else ""
        yield prefix + " ".join(find_moved(changes).sentences())
    runs = [base, *(facts for facts, _ in others)]
    if unfinished := [run.title for run in runs if not run.finished]:
        yield (
            f"Not finished: {name_some(unfinished)}. What is said may turn around with the games "
            "that are missing."
        )


def _sections(changes: Changes, ending: str, prefix: str) -> Iterator[Section]:
    """Yield the sections about one other run; `ending` makes their names unique."""
    ratings = [*_ratings(changes, ending)]
    yield Section(f"ratings{ending}", f"{prefix}Differences in ratings", ratings)
    if len(changes.head_to_head):
        yield Section(
            f"win-types{ending}", f"{prefix}Differences in how games end", [*_wins(changes, ending)]
        )
        meetings = [*_meetings(changes, ending)]
        yield Section(f"head-to-head{ending}", f"{prefix}Differences head to head", meetings)


def _ratings(changes: Changes, ending: str) -> Iterator[Block]:
    if changes.warnings:
        yield Text(changes.warnings, warning=True)
    table = changes.ratings
    if changes.scale:
        yield Text([_describe_scale(changes)])
    if len(table):
        yield from _differences(
            table,
            ("bot",),
            (f"rating-changes{ending}", "Changes of ratings", "Change of Elo"),
            (f"ratings{ending}", "Ratings in both runs, on the scale of the base"),
            (RATING_CHANGES, 1, "ratings"),
        )
    if changes.alone:
        names = f"In one run only: {name_some(changes.alone)}."
        text = "The Elo of a bot can change with its opponents; what follows has only the opponents"
        yield Text([f"{names} {text} of both runs."])


def _describe_scale(changes: Changes) -> str:
    names = [one.name for one in changes.scale]
    if len(names) == 1:
        return (
            f"Ratings of two runs have no common zero. Here the other run is moved so that "
            f"{names[0]}, the only bot that is the same in both, has the same rating. So it has "
            "no change of its own, and an interval is that of the difference to it."
        )
    return (
        f"Ratings of two runs have no common zero. Here the other run is moved so that the mean of "
        f"the {len(names):,} bots that are the same in both ({name_some(names)}) is the same. An "
        "interval has the errors of both runs, less what the deals of both have in common."
    )


def _describe_many(table: pd.DataFrame, things: str) -> str:
    """Return how many differences of a table are tested, and how many are significant."""
    tested = table["sure"].notna()
    sure = sum(table.loc[tested, "sure"])
    count = int(tested.sum())
    if not count:
        return (
            f"The bots and rules behind these {things} are the same in both runs, so that no "
            "difference is tested."
        )
    return (
        f"Significant, when the whole table is looked at together: {sure:,} of {count:,}. Each "
        f"interval holds for itself: of {count:,}, about {count / 20:.1f} leave out 0 where "
        "nothing has changed."
    )


def _wins(changes: Changes, ending: str) -> Iterator[Block]:
    yield Text([_COMMON])
    yield from _differences(
        changes.totals,
        ("part",),
        (f"ending-changes{ending}", "Changes of all games", "Change, percentage points"),
        (f"endings{ending}", "How games end in all pairings of both"),
        (TOTAL_CHANGES, 100, "shares"),
    )
    yield from _differences(
        changes.win_types,
        ("part", "bot"),
        (f"win-changes{ending}", "Changes by bot", "Change, percentage points"),
        (f"win-types{ending}", "Scores and win types against the opponents of both runs"),
        (WIN_CHANGES, 100, "shares"),
    )


def _meetings(changes: Changes, ending: str) -> Iterator[Block]:
    yield Text([_describe_deals(changes)])
    axis = "Change, percentage points"
    yield from _differences(
        changes.head_to_head,
        ("bot", "opponent"),
        (f"pairing-changes{ending}", "Changes of scores", axis),
        (f"head-to-head{ending}", "Pairings that both runs have"),
        (SCORE_CHANGES, 100, "scores"),
    )


def _differences(
    frame: pd.DataFrame,
    keys: Sequence[str],
    chart: tuple[str, str, str],
    named: tuple[str, str],
    shown: tuple[TableColumns, float, str],
) -> Iterator[Block]:
    """Yield a chart of the clearest differences, their table, and how many are significant.

    `keys` are the columns with the names of a difference, `chart` is its name, title and axis,
    `named` are the table's name and caption, and `shown` its columns, the factor of a difference
    and what differs.
    """
    columns, factor, things = shown
    table = difference_table(named, columns, frame, factor)
    points = find_clearest(frame, keys, factor)
    yield from difference_chart(points, table, chart, "The other run less the base")
    yield table
    yield Text([_describe_many(frame, things)])


def _describe_deals(changes: Changes) -> str:
    if not changes.shared_deals:
        return (
            "The runs share no deals, because their seeds, labels or fixed deals differ. So they "
            "are independent, and an interval has the errors of both."
        )
    games = 2 * changes.shared_deals
    return (
        f"Both runs have played {counted(changes.shared_deals, 'deal')} between the same two "
        f"labels, with the same luck: {changes.same_games:,} of these {games:,} games are the "
        "same in every move. There the difference is taken deal by deal, so that the luck of a "
        "deal does not count."
    )
