"""Make the report of bots rated by lists of games, or of several runs: what has changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from arena.errors import counted, name_some
from arena.reports.blocks import Block, Report, Section, Table, Text
from arena.reports.first_screen import Opening, make_ladder
from arena.reports.run_report import with_glossary
from arena.reports.standings_section import pairings_section, standings_section
from arena.reports.win_section import wins_section
from arena.statistics.intervals import Estimate
from arena.statistics.number_texts import as_sentence, say_two, write_lead
from arena.store.column_titles import VERDICTS, Column
from arena.store.columns import is_known
from arena.store.listed_games import GameList
from arena.tables.findings import describe_seat
from arena.tables.rated_lists import RatedLists, find_labels
from arena.tournament.tournament import Tournament

_LISTS = (
    Column("list", "Games of"),
    Column("games", "Games", "count", "So many games are in the list."),
)
_BOTS = (
    Column("bot", "Bot"),
    Column("list", "Games of"),
    Column("label", "Label", "text", "What the bot is called there."),
    Column("sha256", "sha256", "code", "The hash of its source, where a manifest says it."),
    Column("params", "Parameters", "code", "Those that it was called with there."),
)


def make_ratings_report(lists: Sequence[GameList], rated: RatedLists) -> Report:
    """Return the report of some lists that were rated together."""
    tables, found = rated.tables, rated.tables.findings
    labels = tables.order
    headline = rated.headline
    more = [" ".join(headline.details())]
    if found.seat:
        more.append(as_sentence(describe_seat(found.seat, level=True)))
    more = [*filter(None, more)]
    summary = [headline.sentence(), *more, f"{rated.extent}."]
    sections = [
        standings_section(tables.standings, tables.verdicts, found, None),
        pairings_section(tables.head_to_head, tables.verdicts, labels, found),
    ]
    typed = [one.where(is_known(one["forfeits"])) for one in (tables.win_types, tables.standings)]
    if len(typed[0]):
        sections.append(wins_section([], typed[1], typed[0]))
    sections += _list_sections(lists, rated)
    title = f"Ratings of {counted(len(labels), 'bot')}"
    ladder = make_ladder(tables.standings, tables.verdicts)
    opening = Opening(f"{title} · {rated.extent}", headline.sentence(), more, ladder)
    return with_glossary(Report(title, summary, sections, opening=opening, labels=labels))


def _list_sections(lists: Sequence[GameList], rated: RatedLists) -> Iterator[Section]:
    """Yield the sections on the lists of games, and on the identities of their bots."""
    rows = [(one.name, len(one.games)) for one in lists]
    blocks: list[Block] = [Table("lists", "The lists of games", _LISTS, rows, folded=True)]
    if rated.notes:
        blocks.insert(0, Text([*map(as_sentence, rated.notes)], warning=True))
    yield Section("games", "The games", blocks)
    bots = [
        (names[label], games.name, label, *games.identities.get(label, (None, None)))
        for games, names in zip(lists, rated.names, strict=True)
        for label in find_labels(games)
    ]
    table = Table("bots", "The bots in each list", _BOTS, bots)
    yield Section("run", "The bots in each list", [table], folded=True)


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


@dataclass(frozen=True)
class RunFacts:
    """A run in a report of several: a unique title, and how much of it has been played."""

    title: str
    tournament: Tournament
    played: int
    finished: bool


def _runs_section(runs: Sequence[RunFacts]) -> Section:
    """Return the section on the runs' settings."""
    rows = []
    for run in runs:
        of = run.tournament
        rules = ", ".join(f"{name}={value}" for name, value in of.rules.changes().items())
        played = len(of.entries), run.played, str(of.seed), of.most_pairs
        rows.append((run.title, of.name, *played, rules))
    blocks: list[Block] = [Table("runs", "Runs, the base first", _RUN_COLUMNS, rows, folded=True)]
    unfinished = [run.title for run in runs if not run.finished]
    if unfinished:
        text = f"Not finished, so as far as it was played: {', '.join(unfinished)}."
        blocks.insert(0, Text([text], warning=True))
    return Section("runs", "The runs", blocks)


_RUN_COLUMNS = (
    Column("run", "Run"),
    Column("name", "Name", "text", "The name in its manifest."),
    Column("bots", "Bots", "count"),
    Column("games", "Games", "count", "Finished games; each deal is played twice."),
    Column("seed", "Seed", "text", "Runs of one seed have the same deals between the same labels."),
    Column("pairs", "Pairs", "count", "Deals of each pairing, at most."),
    Column("rules", "Rules", "text", "What of the published rules is changed."),
)


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
        _runs_section(runs),
        *made.sections[:-1],
    ]
    assert made.opening is not None
    more = [*said[1:], made.opening.sentence, *made.opening.more]
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
