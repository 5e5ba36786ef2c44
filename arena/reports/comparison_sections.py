"""Make the sections of the report of a comparison: why one of both leads, and how it was tested.

A heading says no more than the intervals do; what is not sure is drawn paler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from arena.differences.comparison import describe_paired
from arena.differences.lead_parts import ALL, ENDING, ROUND, SOURCE, LeadParts, Part, find_most
from arena.differences.sentences import Look, read_path
from arena.errors import counted, name_some
from arena.reports.blocks import Block, Cell, Code, Section, Text, cut_table, frame_table
from arena.reports.charts import Lines, Mark, Row, Rows, Series
from arena.reports.games_section import find_place, replay_id
from arena.reports.win_section import SOURCE_NAMES, compare_takes
from arena.statistics.intervals import Estimate, find_significant
from arena.statistics.number_texts import as_sentence, signed, write_ends
from arena.store import column_titles
from arena.store.column_titles import DECIDED, DIFFERENCES, LEAD_PARTS
from arena.store.columns import Columns
from arena.tables.losses import DECISIONS, find_worst

if TYPE_CHECKING:
    import pandas as pd

    from arena.differences.common_deals import PairedGames
    from arena.differences.comparison import SprtResult
    from arena.store.store import Store
    from arena.tournament.tournament import Tournament

_CLASSES = {name: kind for kind, name in column_titles.WIN_TYPES.items()}
_SCORE, _POINTS = "percentage points of the score", "points a game"
_IN_ALL = "in all"
_PALE = " A line is a 95 % interval by deals, and a paler bar may be nothing."
_ENDS = {"low": "difference_low", "high": "difference_high"}
_JUDGED = {True: "significant", False: "not significant", None: "not tested"}
_MOST_WORST = 3  # decisions of each bot
_DECISION = ("game", "bot", "opponent", "ply", "action", "best", "loss", "error", "mistake")


def lead_sections(
    comparison: SprtResult, parts: LeadParts, takes: Columns, decisions: pd.DataFrame | None
) -> Iterator[Section]:
    """Yield the sections on what the lead of a comparison is made of.

    `takes` has the rows of takes.csv, and `decisions` those that `arena analyse` has judged.
    """
    if not parts.parts:
        return
    yield _ending(comparison, parts)
    if by_round := parts.split(ROUND):
        yield _margin(comparison, parts, by_round)
    yield from compare_takes((comparison.new, comparison.old), takes)
    if comparison.paired:
        yield from _opponents(comparison)
    yield from _mistakes(comparison, decisions)


def _ending(comparison: SprtResult, parts: LeadParts) -> Section:
    some, paired = parts.split(ENDING), comparison.paired is not None
    bars = [
        _Bar(part, f"by {part.part}", _CLASSES[part.part], _count(parts.ended[part.part], paired))
        for part in some[:-1]
    ]
    total = [*map(sum, zip(*parts.ended.values(), strict=True))]
    bars.append(_Bar(some[-1], _IN_ALL, "ink", _count(total, paired)))
    title = _name_most(some, "games decided by {}", "the lead")
    who = f"the score of {comparison.new} less that of {comparison.old}"
    meaning = (
        f"Each bar is a part of {who}: games won less games lost, by how they ended. It begins "
        "where the one above ends, so that all add up to the last one, whose interval is corrected "
        f"for early stopping.{_PALE}"
    )
    named = "The lead by how games ended"
    chart = _draw(ENDING, named, meaning, _SCORE, bars, size="full", stacked=True)
    return Section(ENDING, title, [chart], "How games ended")


def _count(ended: Sequence[int], is_paired: bool) -> str:
    """Return the games won and lost by the new bot, and by the old one if they met others."""
    new = f"{ended[0]:,} won, {ended[1]:,} lost"
    return f"{new}; old {ended[2]:,}, {ended[3]:,}" if is_paired else new


def _name_most(parts: Sequence[Part], named: str, whole: str) -> str:
    """Return a heading: the part with most of the whole, else the sure parts, else that none is."""
    if most := find_most(parts):
        return f"Most of {whole} comes from {named.format(most.part)}"
    if sure := [part.part for part in parts if part.sure]:
        return f"Significant parts of {whole}: {named.format(name_some(sure))}"
    return f"No part of {whole} is significant"


def _margin(comparison: SprtResult, parts: LeadParts, by_round: Sequence[Part]) -> Section:
    by_source = [
        part._replace(part=SOURCE_NAMES.get(part.part, part.part)) for part in parts.split(SOURCE)
    ]
    title = _name_most(by_round, "round {}", "the margin")
    meaning = (
        f"The points of {comparison.new} less those of {comparison.old}, as the piles lie at the "
        "end of a game, by the round in which the margin changed, and by what it changed in. Both "
        f"add up to the same whole. Games won by City count, forfeits do not.{_PALE}"
    )
    rounds = [_colour(part, f"round {part.part}") for part in by_round]
    sources = [_colour(part, part.part) for part in by_source]
    blocks: list[Block] = [
        _draw("by-round", "By round", meaning, _POINTS, rounds),
        _draw("by-source", "By source", meaning, _POINTS, sources),
        replace(
            frame_table(LEAD_PARTS, "All parts of the lead", parts.table(), folded=True),
            name="lead-parts",
        ),
    ]
    if most := find_most(by_source):
        blocks.insert(0, Text([f"By source, most of it comes from {most.part}."]))
    return Section("margin", title, blocks, "Margin")


class _Bar(NamedTuple):
    """A part of a split as a bar: with its name, the class of its colour, and its note."""

    part: Part
    name: str
    kind: str
    note: str = ""


def _colour(part: Part, name: str) -> _Bar:
    """Return a part with the colour of the bot that it is for."""
    if part.part == ALL:
        return _Bar(part, _IN_ALL, "ink")
    return _Bar(part, name, "new" if part.lead.value > 0 else "old")


def _draw(
    name: str,
    title: str,
    meaning: str,
    unit: str,
    bars: Sequence[_Bar],
    *,
    size: str = "half",
    stacked: bool = False,
) -> Rows:
    """Return a chart of parts; scores are in per cent.

    A bar that is not sure is pale; stacked ones begin where the one above ends.
    """
    rows, start = list[Row](), 0.0
    for part, label, kind, note in bars:
        is_sum = part.part == ALL
        if is_sum or not stacked:
            start = 0.0
        lead = part.lead.scaled(100 if unit == _SCORE else 1)
        sure = part.lead.excludes_zero if is_sum else bool(part.sure)
        value, (low, high) = signed(lead.value, "+.1f"), lead.cells[1:]
        left, right = (None if end is None else start + end for end in (low, high))
        paint = kind if sure else f"{kind} unsure"
        mark = Mark(start + lead.value, left, right, paint, start)
        said = f"{value} {unit}, 95 %: {write_ends(low, high, '+.1f')}"
        rows.append(Row(label, [mark], said, note, value, sure, is_sum))
        start += lead.value
    return Rows(
        name=name, title=title, meaning=meaning, unit=unit, size=size, rows=rows, is_signed=True
    )


def _opponents(comparison: SprtResult) -> Iterator[Section]:
    """Yield the lead against each opponent, if there are several."""
    assert comparison.paired is not None
    frame = comparison.paired.differences
    columns = ["name", "new", "old", "difference", "low", "high", "error"]
    rows = Columns.of(frame[frame["part"].isin(["opponent", "total"])]).rows(columns)
    if len(rows) < 3:
        return
    total, *others = [
        Part("opponent", name or ALL, new, old, Estimate(*lead)) for name, new, old, *lead in rows
    ]
    sure = find_significant([part.lead for part in others])
    judged = [part._replace(sure=one) for part, one in zip(others, sure, strict=True)]
    said = [
        f"surely {word} against {name_some(names)}"
        for word, sign in (("more", 1), ("less", -1))
        if (names := [one.part for one in judged if one.sure and sign * one.lead.value > 0])
    ]
    title = f"It scores {', '.join(said)}" if said else "Against no single opponent is it sure"
    meaning = (
        f"The score of {comparison.new} less that of {comparison.old} against each opponent, on "
        f"the same deals.{_PALE}"
    )
    bars = [_colour(part, part.part) for part in (*judged, total)]
    named = "The lead against each opponent"
    chart = _draw("by-opponent", named, meaning, _SCORE, bars, size="full")
    yield Section("opponents", title, [chart], "Opponents")


def _mistakes(comparison: SprtResult, decisions: pd.DataFrame | None) -> Iterator[Section]:
    """Yield the costliest decisions on each side, if decisions were judged."""
    two = [comparison.new, comparison.old]
    if decisions is None:
        return
    worst = find_worst(decisions[decisions["bot"].isin(two)], _MOST_WORST)
    if worst.empty:
        return
    columns = [column for column in DECISIONS.columns if column.name in _DECISION]
    meaning = (
        "Two judges of arena analyse call them mistakes; the numbers are those of the second one, "
        "with its own error in theirs."
    )
    table = frame_table(DECISIONS, "The costliest decisions of each side", worst, columns)
    yield Section("decisions", "The costliest decisions", [Text([meaning]), table])


_HINTS = (
    "The differences by opponent, seat and ending are in All tables. Each interval holds for "
    "itself, and one in twenty misses; what is significant is so when all of them are looked at "
    "together. Only the first was tested: the others are hints of where to look."
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
        yield Section("differences", "Differences", [*_differences(paired)])
        yield Section(
            "decided",
            "Games in which the change decided",
            [*_list_decided(tournament, paired, replays)],
            "Decided games",
        )


def _verdict(comparison: SprtResult, path: Sequence[Look]) -> Iterator[Block]:
    _, lead, pairs, seen, *_ = comparison.lines()
    yield Text([f"{lead}.", f"{pairs} {seen.strip()}."])
    yield from _path(comparison, path)
    if comparison.command:
        yield Code("The command that plays it again", comparison.command)


def _path(comparison: SprtResult, path: Sequence[Look]) -> Iterator[Block]:
    """Yield how the ratio went between its bounds."""
    if not path:
        return
    (low, high), stop = comparison.evidence.ends, comparison.stop
    rows = [(look.pairs, round(look.ratio, 4) + 0.0) for look in path]
    last = path[-1]
    yield Lines(
        name="ratio-path",
        title="The path of the test",
        meaning=f"The log-likelihood ratio each time the test was looked at, "
        f"{counted(len(path), 'time')} in all. It ended at {last.ratio:.2f} after "
        f"{counted(last.pairs, 'pair')}. At the upper line, {high:.2f}, it decides for an Elo "
        f"difference of {stop.elo1:g}, at the lower one, {low:.2f}, for one of {stop.elo0:g}.",
        unit=f"log-likelihood ratio; the test ends at {low:.2f} and at {high:.2f}",
        size="full",
        series=[Series("ink", rows, [f"{ratio:.2f} after {pairs:,}" for pairs, ratio in rows])],
        across="pairs",
        bounds=[(high, f"{high:.2f}: H1"), (low, f"{low:.2f}: H0")],
        is_signed=True,
        tall=140,
    )


def _differences(paired: PairedGames) -> Iterator[Block]:
    frame = paired.differences
    if frame.empty:
        yield Text(["No game is left to compare."])
        return
    same = "Both versions met the same opponents on the same deals with the same luck."
    yield Text([same, *map(as_sentence, describe_paired(paired))])
    shown = Columns.of(frame).rows(["difference", "low", "high", "error"])
    significant = find_significant([Estimate(*row).scaled(100) for row in shown])
    yield Text([_HINTS])
    frame = frame.rename(columns=_ENDS)
    for name in ("difference", *_ENDS.values()):  # in per cent
        frame[name] = (100 * frame[name]).round(2) + 0.0
    frame["sure"] = [_JUDGED[sure] for sure in significant]
    frame.loc[frame["difference"].isna(), "sure"] = None
    columns = [replace(one, name=_ENDS.get(one.name, one.name)) for one in DIFFERENCES.shown]
    columns.append(column_titles.SIGNIFICANCE)
    rows: list[Sequence[Cell]] = [*Columns.of(frame).rows(column.name for column in columns)]
    caption = "Differences in total and by part"
    made = cut_table("differences", caption, columns, rows, DIFFERENCES.file)
    yield replace(made, folded=True)


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
        "game. They are in All tables; a game with a link has its replay on this page."
    )
    yield Text([text])
    made = frame_table(DECIDED, "Decided games", table)
    places = table[["opponent", "pair", "seat"]].head(len(made.rows)).itertuples(index=False)
    ids = [replay_id(find_place(tournament, tournament.labels[0], *place)) for place in places]
    links = [name if name in replays else None for name in ids]
    yield replace(made, links=links, folded=True)
