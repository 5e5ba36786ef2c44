"""Make the report of several runs: their bots are rated together, and verdicts say what changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from arena.errors import name_some
from arena.reports.about import RunFacts, runs_section, with_glossary
from arena.reports.blocks import Report, Section, Table
from arena.reports.run_report import make_ratings_report
from arena.statistics.intervals import Estimate
from arena.statistics.number_texts import say_two, write_lead
from arena.store.listed_games import GameList
from arena.store.table_columns import VERDICTS, Column
from arena.tables.rated_lists import RatedLists

_COLUMNS: Final = (
    Column("run", "Run"),
    Column("bot", "Bot", "text", "The bot of this run, as it is named here."),
    Column("base", "Base", "text", "The bot that has this label in the base."),
    *(replace(column, meaning="") for column in VERDICTS.shown if column.kind == "elo"),
    Column("likely", "Stronger", "chance", "How likely the bot is stronger than that of the base."),
    Column("verdict", "Verdict", "text", "That of verdicts.csv on these two."),
)


class Change(NamedTuple):
    """Another bot in a run than the base has under the same label: both, by their names here.

    `lead` is that of the new one; without games that connect the two nothing is known of it.
    """

    run: str
    bot: str
    base: str
    lead: Estimate
    likely: float | None
    verdict: str

    def sentence(self) -> str:
        """Return in words which of the two is stronger, as far as it is known."""
        lead = self.lead
        if lead.cells[0] is None:
            return f"No games connect {self.bot} with {self.base}."
        two = (self.bot, self.base) if lead.value >= 0 else (self.base, self.bot)
        return f"{say_two(self.verdict, *two)}: {self.bot} is at {write_lead(lead)}."


def find_changes(lists: Sequence[GameList], rated: RatedLists) -> list[Change]:
    """Return the bots that have changed from the first list, the base, to each other one."""
    verdicts = {row[:2]: row[2:] for row in rated.tables.verdicts.rows(VERDICTS.names)}
    base, *others = rated.names
    changes = []
    for games, names in zip(lists[1:], others, strict=True):
        for label, bot in names.items():
            if (old := base.get(label, bot)) != bot:
                changes.append(Change(games.name, bot, old, *_find_lead(verdicts, bot, old)))
    return changes


def _find_lead(
    verdicts: Mapping[tuple[str, str], tuple[Any, ...]], bot: str, base: str
) -> tuple[Estimate, float | None, str]:
    """Return the lead of a bot, the chance that it is stronger, and the verdict; rows have one."""
    for two, sign in (((bot, base), 1), ((base, bot), -1)):
        if two in verdicts:
            *lead, likely, word = verdicts[two]
            value, *ends = (math.nan if one is None else sign * one for one in lead)
            chance = likely if sign > 0 or likely is None else 1 - likely
            return Estimate(value, *ends[::sign]), chance, word
    return Estimate(), None, ""


def make_changes_report(
    runs: Sequence[RunFacts], lists: Sequence[GameList], rated: RatedLists
) -> Report:
    """Return the report of some runs whose games are rated together; the first is the base."""
    base, *others = (run.title for run in runs)
    title = f"{name_some(others)}, compared with {base}"
    changes = find_changes(lists, rated)
    said = [*_sentences(runs, rated, changes)]
    made = make_ratings_report(lists, rated)
    summary = [*said, *made.summary]
    rows = [
        (one.run, one.bot, one.base, *one.lead.cells, one.likely, one.verdict) for one in changes
    ]
    table = Table("changes", "Bots that have changed", _COLUMNS, rows)
    sections = [
        Section("changes", "What changed", [table] * bool(rows)),
        runs_section(runs),
        *made.sections[:-1],
    ]
    assert made.opening is not None
    more = [*said[1:], *made.summary]
    extent = f"{title} · {rated.extent}"
    opening = replace(made.opening, extent=extent, sentence=said[0], more=more)
    report = replace(made, title=title, summary=summary, sections=sections, opening=opening)
    return with_glossary(report)


def _sentences(
    runs: Sequence[RunFacts], rated: RatedLists, changes: Sequence[Change]
) -> Iterator[str]:
    yield from (one.sentence() for one in changes)
    if not changes:
        yield "No bot has changed: what differs between the runs is luck, or comes from new bots."
    base, *others = rated.names
    for run, names in zip(runs[1:], others, strict=True):
        if new := sorted({*names.values()} - {*base.values()} - {one.bot for one in changes}):
            yield f"Not in {runs[0].title}: {name_some(new)} of {run.title}."
    if unfinished := [run.title for run in runs if not run.finished]:
        yield f"Not finished: {name_some(unfinished)}. What is said may turn around."
