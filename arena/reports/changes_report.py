"""Changes: the report that compares runs with a first one, the base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arena.errors import counted
from arena.insight.changes import Changes
from arena.reports.about import with_glossary
from arena.reports.change_columns import (
    HEAD_TO_HEAD_COLUMNS,
    RATING_COLUMNS,
    TOTAL_COLUMNS,
    WIN_COLUMNS,
)
from arena.reports.chart_rows import MOST_ROWS, plain_rows
from arena.reports.document import Block, Cell, Chart, Column, Report, Section, Table, Text
from arena.reports.dots import MOST_DOTS, Dot, dot_chart, name_sure, verdict_of
from arena.reports.several import RunFacts, runs_section

if TYPE_CHECKING:
    import pandas as pd


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
        f"The base is {base.title}. A difference is the other run less the base, with its 95 % "
        "interval."
    ]
    return with_glossary(Report(title, summary, sections))


def _sections(changes: Changes, ending: str, prefix: str) -> Iterator[Section]:
    """Yield the sections about one other run; `ending` makes their names unique."""
    ratings = [*_ratings(changes, ending)]
    yield Section(f"ratings{ending}", f"{prefix}Ratings", ratings)
    if len(changes.head_to_head):
        yield Section(f"win-types{ending}", f"{prefix}How games end", [*_wins(changes, ending)])
        meetings = [*_meetings(changes, ending)]
        yield Section(f"head-to-head{ending}", f"{prefix}Head to head", meetings)


def _ratings(changes: Changes, ending: str) -> Iterator[Block]:
    if changes.warnings:
        yield Text(changes.warnings, warning=True)
    table = changes.ratings
    if changes.scale:
        yield Text([_describe_scale(changes)])
    yield from _change_chart(
        f"rating-changes{ending}",
        "Changes of ratings",
        f"ratings{ending}",
        [_dot(row, [row["bot"]]) for row in _known(table)],
        "Change of Elo",
    )
    rows = _rows(table, RATING_COLUMNS, 1)
    if rows:
        caption = "Ratings in both runs, on the scale of the base"
        yield Table(f"ratings{ending}", caption, RATING_COLUMNS, rows)
        yield Text([_describe_many(table, "ratings")])


def _describe_scale(changes: Changes) -> str:
    names = [one.name for one in changes.scale]
    if len(names) == 1:
        return (
            f"Ratings of two runs have no common zero. Here the other run is moved so that "
            f"{names[0]}, the only bot that is the same in both, has the same rating. So it has "
            "no change of its own, and an interval is that of the difference to it."
        )
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "")
    return (
        f"Ratings of two runs have no common zero. Here the other run is moved so that the mean of "
        f"the {len(names):,} bots that are the same in both ({shown}) is the same. An interval has "
        "the errors of both runs, less what deals that both have played have in common."
    )


def _describe_many(table: pd.DataFrame, things: str) -> str:
    """Return how many differences of a table are tested, and how many are beyond chance."""
    tested = table["sure"].notna()
    sure = sum(table.loc[tested, "sure"])
    count = int(tested.sum())
    if not count:
        return f"Nothing that could change these {things} is different, so what differs is luck."
    return (
        f"Beyond chance, when the whole table is looked at together: {sure:,} of {count:,}. Each "
        f"interval holds for itself: of {count:,}, about {count / 20:.1f} leave out 0 where "
        "nothing has changed."
    )


def _wins(changes: Changes, ending: str) -> Iterator[Block]:
    yield Text(
        [
            "Only pairings that both runs have are counted, and each of them weighs the same. So "
            "a new opponent changes nothing here."
        ]
    )
    yield from _change_chart(
        f"ending-changes{ending}",
        "Changes of all games",
        f"endings{ending}",
        [_dot(row, [row["part"]], 100) for row in _known(changes.totals)],
        "Change, % points of all games",
    )
    rows = _rows(changes.totals, TOTAL_COLUMNS, 100)
    yield Table(f"endings{ending}", "How games end in all pairings of both", TOTAL_COLUMNS, rows)
    yield Text([_describe_many(changes.totals, "shares")])
    caption = "Scores and win types against the opponents of both runs"
    yield from _clearest(
        changes.win_types,
        ("part", "bot"),
        (f"win-changes{ending}", "Changes by bot", "Change, % points of the bot's games"),
        Table(f"win-types{ending}", caption, WIN_COLUMNS, []),
        "shares",
    )


def _meetings(changes: Changes, ending: str) -> Iterator[Block]:
    yield Text([_describe_deals(changes)])
    axis = "Change of the first bot's score, % points"
    caption = "Pairings that both runs have"
    yield from _clearest(
        changes.head_to_head,
        ("bot", "opponent"),
        (f"pairing-changes{ending}", "Changes of scores", axis),
        Table(f"head-to-head{ending}", caption, HEAD_TO_HEAD_COLUMNS, []),
        "scores",
    )


def _clearest(
    found: pd.DataFrame,
    named: Sequence[str],
    chart: tuple[str, str, str],
    table: Table,
    things: str,
) -> Iterator[Block]:
    """Yield a chart of the clearest differences, their table, and how many are beyond chance.

    `named` are the columns with the names of a difference, `chart` is its name, title and axis,
    and `table` is to be filled with the first rows.
    """
    name, title, axis = chart
    dots = [_dot(row, [row[column] for column in named], 100) for row in _largest(found)]
    yield from _change_chart(name, title, table.name, dots, axis)
    rows = _rows(found, table.columns, 100)
    yield replace(table, rows=rows[:MOST_ROWS], note=_note(rows))
    yield Text([_describe_many(found, things)])


def _note(rows: Sequence[object]) -> str:
    """Return what is said below a table of which a page has not all rows."""
    return f"The first {MOST_ROWS:,} of {len(rows):,} rows." if len(rows) > MOST_ROWS else ""


def _describe_deals(changes: Changes) -> str:
    if not changes.shared_deals:
        return (
            "The runs share no deals, because their seeds or their labels differ. So they are "
            "independent, and an interval has the errors of both."
        )
    games = 2 * changes.shared_deals
    return (
        f"Both runs have played {counted(changes.shared_deals, 'deal')} between the same two "
        f"labels, with the same luck: {changes.same_games:,} of these {games:,} games are the "
        "same in every move. There the difference is taken deal by deal, so that the luck of a "
        "deal does not count."
    )


def _change_chart(
    name: str, title: str, table: str, dots: Sequence[Dot], axis: str
) -> Iterator[Chart]:
    """Yield the chart of some changes, nothing where there are none."""
    if not dots:
        return
    cut = f" The {MOST_DOTS} clearest." if len(dots) == MOST_DOTS else ""
    description = f"The other run less the base, with 95 % intervals; {name_sure(dots)}.{cut}"
    yield Chart(name, title, description, dot_chart(dots, axis, "change"), table)


def _known(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows that have a difference, the largest change first."""
    known = table[table["difference"].notna()]
    order = known["difference"].abs().sort_values(ascending=False, kind="stable").index
    return [_plain(row) for row in known.loc[order].head(MOST_DOTS).to_dict("records")]


def _largest(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows whose difference is largest in its own errors, with what may have changed."""
    width = (table["high"] - table["low"]).clip(lower=1e-9)
    clear = (table["difference"] / width).abs()
    order = clear.sort_values(ascending=False, kind="stable").index
    return [_plain(row) for row in table.loc[order].head(MOST_DOTS).to_dict("records")]


def _plain(row: Any) -> dict[str, Any]:
    return {str(key): value for key, value in row.items()}


def _dot(row: dict[str, Any], names: Sequence[str], factor: float = 1) -> Dot:
    """Return the dot of a row; bounds that are missing are those of a value without an interval."""
    value, low, high = (factor * row[name] for name in ("difference", "low", "high"))
    return Dot(" - ".join(names), value, low, high, row["sure"])


def _rows(table: pd.DataFrame, columns: Sequence[Column], factor: float) -> list[list[Cell]]:
    """Return the rows of a table for these columns; differences are times `factor`."""
    table = table.rename(columns={"low": "difference_low", "high": "difference_high"})
    for name in ("difference", "difference_low", "difference_high"):
        table[name] = (factor * table[name]).round(2) + 0.0
    table["verdict"] = [verdict_of(sure) for sure in table["sure"]]
    table.loc[table["difference"].isna(), "verdict"] = None
    return [[*row] for row in plain_rows(table, [column.name for column in columns])]
