"""Make the sections of a report on the settings of its runs, and on what its figures mean."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.reports.blocks import Block, Cell, Code, Report, Section, Table, Text
from arena.store.table_columns import Column
from arena.tournament.tournament import Tournament

BOT_COLUMNS = (
    Column("label", "Bot"),
    Column("bot", "Spec", "code", "What the bot was loaded from."),
    Column("params", "Parameters", "code", "The parameters that it was called with."),
    Column("lane", "Lane", "text", "How it was executed: inproc, process or jail."),
    Column(
        "sha256",
        "sha256",
        "code",
        "The hash of its source and all that it imports of its own: bots with the same one are "
        "the same.",
    ),
)
_VERSION_COLUMNS = (Column("part", "Part"), Column("version", "Version", "code"))
_GLOSSARY_COLUMNS = (
    Column("figure", "Figure"),
    Column("where", "Where"),
    Column("meaning", "What it says"),
)


def run_section(manifest: Mapping[str, Any]) -> Section:
    """Return the resolved config, the bots' identities and the versions."""
    bots = [
        (
            bot["label"],
            bot["bot"],
            json.dumps(bot["params"], ensure_ascii=False) if bot["params"] else "",
            bot["lane"],
            bot["sha256"],
        )
        for bot in manifest["bots"]
    ]
    config = {key: value for key, value in manifest.items() if key not in ("bots", "versions")}
    return Section(
        "run",
        "The run",
        [
            Code("Resolved config", json.dumps(config, indent=2, ensure_ascii=False), folded=False),
            Table("bots", "Bots", BOT_COLUMNS, bots),
            Table("versions", "Versions", _VERSION_COLUMNS, [*manifest["versions"].items()]),
        ],
        folded=True,
    )


def with_glossary(report: Report) -> Report:
    """Return a report with one more section: a sentence for every figure of its tables."""
    rows: dict[tuple[str, str], tuple[str, str, str]] = {}
    for table in report.tables():
        for column in table.columns:
            if column.meaning:
                key = column.title, column.meaning
                rows.setdefault(key, (column.title, table.caption, column.meaning))
    text = (
        "An interval holds what endless play would show in about 95 of 100 cases. Its unit is the "
        "pair: one deal, played twice with the seats swapped, because both games share their luck. "
        "Whether two bots differ is not said by whether their intervals overlap: the interval of a "
        "difference is narrower than two intervals side by side. The verdict on two bots says it: "
        "apart, leans or open; the letters of the standings (Group) follow from it."
    )
    caption = "What every figure says"
    glossary = Table("glossary", caption, _GLOSSARY_COLUMNS, [*rows.values()])
    section = Section("glossary", "Glossary", [Text([text]), glossary], folded=True)
    return replace(report, sections=[*report.sections, section])


@dataclass(frozen=True)
class RunFacts:
    """A run in a report of several: a unique title, and how much of it has been played."""

    title: str
    tournament: Tournament
    played: int
    finished: bool


def runs_section(runs: Sequence[RunFacts]) -> Section:
    """Return the section on the runs' settings."""
    rows = [_run_row(run) for run in runs]
    blocks: list[Block] = [Table("runs", "Runs, the base first", _RUN_COLUMNS, rows)]
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


def _run_row(run: RunFacts) -> tuple[Cell, ...]:
    tournament = run.tournament
    rules = ", ".join(f"{name}={value}" for name, value in tournament.rules.changes().items())
    bots = len(tournament.entries)
    pairs = tournament.most_pairs
    return run.title, tournament.name, bots, run.played, str(tournament.seed), pairs, rules
