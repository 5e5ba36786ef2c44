"""Make the sections of a comparison that say why one bot leads: endings, margins, takes, mistakes.

A heading says no more than the intervals do; what is not sure is drawn paler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from arena.differences.difference_columns import LEAD_PARTS
from arena.differences.lead_parts import ALL, ENDING, ROUND, SOURCE, LeadParts, Part, find_most
from arena.errors import cut, name_some
from arena.reports.blocks import Block, Section, Table, Text
from arena.reports.charts import frame_table, plain_rows
from arena.reports.games import Pick, Place
from arena.reports.lead import Bars, draw_mirrors, draw_parts
from arena.reports.win_section import SOURCE_NAMES
from arena.statistics.intervals import Estimate, find_significant
from arena.statistics.wording import as_sentence
from arena.tables.losses import DECISIONS, find_worst
from arena.tables.table_columns import WIN_TYPES
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

    from arena.differences.comparison import SprtResult

_CLASSES = {name: kind for kind, name in WIN_TYPES.items()}
_SCORE, _POINTS = "points of 100 of the score", "points a game"
_IN_ALL = "in all"
_MOST_WORST = 3  # decisions of each bot
_DECISION = ("game", "bot", "opponent", "ply", "action", "best", "loss", "error")


def lead_sections(
    comparison: SprtResult, parts: LeadParts, takes: pd.DataFrame, decisions: pd.DataFrame
) -> Iterator[Section]:
    """Yield the sections on what the lead of a comparison is made of.

    `takes` has the rows of takes.csv, and `decisions` those that `arena analyse` has judged.
    """
    if not parts.parts:
        return
    yield _ending(comparison, parts)
    if by_round := parts.split(ROUND):
        yield _margin(comparison, parts, by_round)
    if section := _takes(comparison, takes):
        yield section
    if comparison.paired:
        yield from _opponents(comparison)
    yield from _mistakes(comparison, decisions)


def _ending(comparison: SprtResult, parts: LeadParts) -> Section:
    some = parts.split(ENDING)
    whole = some[-1].lead
    rows = [
        (part, f"by {part.part}", _count(parts.ended[part.part], comparison), _CLASSES[part.part])
        for part in some[:-1]
    ]
    sums = [tuple(map(sum, zip(*parts.ended.values(), strict=True)))]
    rows.append((some[-1], _IN_ALL, _count(sums[0], comparison), "ink"))
    title = _name_most(some, "games decided by {}", "the lead")
    who = f"the score of {comparison.new} less that of {comparison.old}"
    meaning = (
        f"Each bar is a part of {who}: games won less games lost, by how they ended. It begins "
        "where the one above ends, so that all add up to the last one. A line is a 95 % interval "
        f"by deals; the last one is adjusted for stopping, and is {100 * whole.value:+.1f}."
    )
    bars = draw_parts("", meaning, _SCORE, rows, 100, stacked=True)
    return Section(ENDING, title, [bars], "How games ended")


def _count(ended: Sequence[int], comparison: SprtResult) -> str:
    """Return the games won and lost by the new bot, and by the old one if they met others."""
    new = f"{ended[0]:,} won, {ended[1]:,} lost"
    return f"{new}; old {ended[2]:,}, {ended[3]:,}" if comparison.paired else new


def _name_most(parts: Sequence[Part], named: str, whole: str) -> str:
    """Return a heading: the part with most of the whole, else the sure parts, else that none is."""
    if most := find_most(parts):
        return f"Most of {whole} comes from {named.format(most.part)}"
    if sure := [part.part for part in parts if part.sure]:
        return f"Sure parts of {whole}: {named.format(name_some(sure))}"
    return f"No part of {whole} is sure"


def _margin(comparison: SprtResult, parts: LeadParts, by_round: Sequence[Part]) -> Section:
    by_source = [
        part._replace(part=SOURCE_NAMES.get(part.part, part.part)) for part in parts.split(SOURCE)
    ]
    title = _name_most(by_round, "round {}", "the margin")
    source = _name_most(by_source, "the {}", "the margin")
    meaning = (
        f"The points of {comparison.new} less those of {comparison.old}, as the piles lie at the "
        "end of a game, by the round in which the margin changed, and by what it changed in. Both "
        "add up to the same whole. Games won by City count, forfeits do not. Lines are 95 % "
        "intervals by deals; a paler bar may be nothing."
    )
    blocks: list[Block] = [
        Text([f"{source}."]),
        _draw("By round", meaning, [(p, f"round {p.part}") for p in by_round], 1, _POINTS),
        _draw("By source", meaning, [(p, p.part) for p in by_source], 1, _POINTS),
        _list_parts(parts),
    ]
    return Section("margin", title, blocks, "Margin")


def _draw(
    title: str, meaning: str, parts: Sequence[tuple[Part, str]], factor: float, unit: str
) -> Bars:
    """Return the bars of parts with their names, coloured by the bot that they are for."""
    rows = []
    for part, name in parts:
        kind = "ink" if part.part == ALL else "new" if part.lead.value > 0 else "old"
        rows.append((part, _IN_ALL if part.part == ALL else name, "", kind))
    return draw_parts(title, meaning, unit, rows, factor)


def _list_parts(parts: LeadParts) -> Table:
    table = frame_table(LEAD_PARTS, "All parts of the lead", parts.table(), folded=True)
    return Table("lead-parts", table.caption, table.columns, table.rows, folded=True)


def _takes(comparison: SprtResult, takes: pd.DataFrame) -> Section | None:
    """Return when both bots take, and what a take brings; None if one of them has not taken."""
    two = comparison.new, comparison.old
    own = takes[takes["bot"].isin(two)]
    by_action = own[own["action"].notna() & own["round"].notna()]
    if {*by_action["bot"]} != {*two}:
        return None
    counts = by_action.astype({"round": int, "action": int}).pivot_table(
        "takes", ["round", "action"], "bot", "sum", fill_value=0
    )[[*two]]
    shares = {
        f"round {number}": [*_shares(of_round.droplevel("round"))]
        for number, of_round in counts.groupby(level="round")
    }
    meaning = (
        "When both take, by the own action in the round: 1 is at once, the last one is after all "
        "cards of the hand. A height is a share of the bot's takes in the round. This describes "
        "the games, and is no part of the sums above."
    )
    brought = [_bring(label, own[own["bot"] == label]) for label in two]
    text = Text([as_sentence("; ".join(brought))])
    title = _name_gap(two, [*_shares(counts.groupby(level="action").sum())])
    return Section("takes", title, [draw_mirrors(meaning, two, shares), text], "Takes")


def _shares(counts: pd.DataFrame) -> Iterator[tuple[str, float, float]]:
    """Yield each action with the shares of both bots' takes at it."""
    shares = counts / counts.sum().clip(lower=1)
    yield from ((str(action), new, old) for action, new, old in shares.itertuples(name=None))


def _name_gap(two: tuple[str, str], shares: Sequence[tuple[str, float, float]]) -> str:
    """Return at which action the two differ most in how often they take."""
    action, *both = max(shares, key=lambda row: abs(row[1] - row[2]))
    new, old = (f"{100 * share:.0f} %" for share in both)
    if new == old:
        return "Both take at the same actions"
    place = "its last action" if action == shares[-1][0] else f"its action {action}"
    return f"{cut(two[0])} takes at {place} of a round in {new}, {cut(two[1])} in {old}"


def _bring(label: str, takes: pd.DataFrame) -> str:
    cards, gain = takes.loc[takes["round"].isna(), ["cards", "gain"]].iloc[0].tolist()
    return f"a take of {label} brings {cards:.1f} cards and {gain:+.1f} points"


def _opponents(comparison: SprtResult) -> Iterator[Section]:
    """Yield the lead against each opponent, if there are several."""
    assert comparison.paired is not None
    frame = comparison.paired.differences
    columns = ["name", "new", "old", "difference", "low", "high", "error"]
    rows = plain_rows(frame[frame["part"].isin(["opponent", "total"])], columns)
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
        "the same deals. Lines are 95 % intervals; a paler bar may be nothing."
    )
    bars = _draw("", meaning, [(part, part.part) for part in (*judged, total)], 100, _SCORE)
    yield Section("opponents", title, [bars], "Opponents")


def _mistakes(comparison: SprtResult, decisions: pd.DataFrame) -> Iterator[Section]:
    """Yield the costliest decisions on each side, if decisions were judged."""
    two = [comparison.new, comparison.old]
    worst = find_worst(decisions[decisions["bot"].isin(two)], _MOST_WORST)
    if worst.empty:
        return
    columns = [column for column in DECISIONS.columns if column.name in _DECISION]
    meaning = (
        "As arena analyse has judged them. They are the largest of many noisy numbers, so most "
        "are smaller in truth."
    )
    table = frame_table(DECISIONS, "The costliest decisions of each side", worst, columns)
    yield Section("decisions", "The costliest decisions", [Text([meaning]), table])


def pick_shown(tournament: Tournament, parts: LeadParts) -> Iterator[Pick]:
    """Yield the games that show the parts of a lead, with the reason."""
    new = tournament.labels[0]
    for split, place, part, brought in parts.games:
        if split == ENDING:
            how = f"{part[:1].upper()}{part[1:]} for {new}"
            yield Pick(Place(*place), f"{how}: margins by round nearest to the mean of its kind.")
        else:
            name = f"Round {part}" if split == ROUND else SOURCE_NAMES[part].capitalize()
            yield Pick(Place(*place), f"{name}: {brought:+} points for {new}, among the most.")
