"""Make the report of bots that are rated by lists of games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from arena.errors import counted
from arena.insight.findings import describe_seat
from arena.insight.rated_lists import RatedLists, find_labels
from arena.insight.table_columns import Column
from arena.reports.about import with_glossary
from arena.reports.blocks import Block, Report, Section, Table, Text
from arena.reports.pairings_section import pairings_section
from arena.reports.standings_section import standings_section
from arena.reports.win_section import win_type_blocks, wins_section
from arena.statistics.wording import as_sentence
from arena.store.listed_games import GameList

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
    labels: list[str] = tables.standings["bot"].tolist()
    summary = [rated.headline, f"{rated.extent}."]
    if found.seat:
        summary.append(as_sentence(describe_seat(found.seat, level=True)))
    standings = standings_section(tables.standings, tables.verdicts, found, None)
    sections = [
        replace(standings, blocks=[*map(_without_links, standings.blocks)]),
        pairings_section(tables.head_to_head, tables.verdicts, labels, found),
    ]
    if rated.is_typed:
        blocks = win_type_blocks(tables.win_types, tables.head_to_head, labels)
        by_seat = "" if rated.is_seated else "win-types-by-seat"
        sections.append(wins_section(b for b in blocks if getattr(b, "name", by_seat) != by_seat))
    sections.append(Section("games", "The games", [*_list_blocks(lists, rated)]))
    return with_glossary(Report(f"Ratings of {counted(len(labels), 'bot')}", summary, sections))


def _without_links(block: Block) -> Block:
    """Return a block without links to profiles, which cannot be made without records."""
    return replace(block, links=()) if isinstance(block, Table) else block


def _list_blocks(lists: Sequence[GameList], rated: RatedLists) -> Iterator[Block]:
    """Yield the blocks on the lists of games, and on the identities of their bots."""
    if rated.notes:
        yield Text([*map(as_sentence, rated.notes)], warning=True)
    rows = [(one.name, len(one.games)) for one in lists]
    yield Table("lists", "The lists of games", _LISTS, rows)
    bots = [
        (names[label], games.name, label, *games.identities.get(label, (None, None)))
        for games, names in zip(lists, rated.names, strict=True)
        for label in find_labels(games)
    ]
    yield Table("bots", "The bots in each list", _BOTS, bots)
