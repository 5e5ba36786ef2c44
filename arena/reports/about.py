"""About: with what a run was played, and what every figure of its report means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from arena.reports.document import Code, Column, Report, Section, Table, Text

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
        "difference is narrower than two intervals side by side, so bots whose intervals overlap "
        "may well have been told apart. The letters of the standings (Group) say which were, for "
        "all of them together; superiority.csv says of each two, taken by themselves, how likely "
        "which one is the stronger."
    )
    caption = "What every figure says"
    glossary = Table("glossary", caption, _GLOSSARY_COLUMNS, [*rows.values()])
    section = Section("glossary", "Glossary", [Text([text]), glossary])
    return Report(report.title, report.summary, [*report.sections, section])
