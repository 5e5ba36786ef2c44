"""Make the report of several runs: how each differs from the first one, the base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from arena.differences.changes import Changes
from arena.differences.difference_columns import (
    RATING_CHANGES,
    SCORE_CHANGES,
    TOTAL_CHANGES,
    WIN_CHANGES,
)
from arena.differences.difference_headline import find_moved
from arena.errors import counted, name_some
from arena.reports.about import RunFacts, runs_section, with_glossary
from arena.reports.blocks import Block, Report, Section, Text
from arena.reports.difference_section import difference_chart, difference_table, find_clearest
from arena.tables.table_columns import TableColumns

if TYPE_CHECKING:
    import pandas as pd


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
    return with_glossary(Report(title, summary, sections))


def _headlines(base: RunFacts, others: Sequence[tuple[RunFacts, Changes]]) -> Iterator[str]:
    """Yield the headline of each other run, with its title where there are several."""
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
