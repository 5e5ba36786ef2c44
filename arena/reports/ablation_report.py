"""Make the report of an ablation: what changes of the rules change in the games."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote

from arena.differences.ablation import MEASURES, SPREAD, Ablation, Measure, shown
from arena.differences.difference_columns import ABLATION, SIGNIFICANCE
from arena.differences.difference_headline import Shown, find_effects
from arena.insight.summary import cut_apart
from arena.insight.table_columns import Column
from arena.reports.about import with_glossary
from arena.reports.blocks import Block, Cell, Chart, Report, Section, Table, Text
from arena.reports.differences import difference_chart, name_verdict, point_chart
from arena.statistics.intervals import Estimate
from arena.store.folder import REPORT_HTML
from arena.tournament.tournament import Tournament

_RULES_COLUMNS = (
    Column("variant", "Variant", "text", "What is changed; it leads to the report of its run."),
    Column("rules", "Rules", "code", "All that differs from the published rules."),
    Column("games", "Games", "count", "Finished games; each deal is played twice."),
    Column("forfeits", "Forfeits", "count", "Games that a bot lost by a fault; in no measure."),
    Column("same_deals", "Deals of the base", "text", "Whether the deals are those of the base."),
    Column("out", "Out", "text", "Bots that had too many faults."),
)
_NAMES = {
    "city": "Won by City",
    "draws": "Draws",
    "tiebreaks": "Tie-breaks",
    "seat_0": "The seat that begins",
    "margin": "The margin",
    SPREAD: "The strongest against the weakest",
    "plies": "Length",
}

_LABEL = 26  # characters of a variant beside a chart

_NOTES = (
    "Each interval holds for itself, and one in twenty misses. A change is called "
    "significant where it is so when all changes of its measure are looked at together "
    "(Benjamini and Hochberg 1995, at 5 %).",
    "The measures are those of these bots, which may have been made for the published "
    "rules, and not of the rules alone.",
)


def make_ablation_report(ablation: Ablation, tournament: Tournament) -> Report:
    """Return the report of an ablation; it links to those in the folders of the variants."""
    changes = tournament.rules.changes()
    base = f"the config's rules, {_describe(changes)}" if changes else "the published rules"
    summary = [
        " ".join(find_effects(ablation).sentences()),
        f"{tournament.games:,} games of {tournament.name} under each variant; the base is {base}.",
        "Bots, seed and, where the rules allow it, deals are the same. A change is the variant "
        "less the base, with its 95 % interval by pairs of games.",
    ]
    notes = [*_NOTES, *(f"{note}." for note in ablation.notes())]
    sections = [Section("variants", "Variants", [_variants_table(ablation), Text(notes)])]
    sections += [_section(ablation, number) for number in range(len(MEASURES))]
    title = f"{tournament.name}: what a rule is worth"
    return with_glossary(Report(title, summary, sections))


def _describe(changes: dict[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in changes.items())


def _variants_table(ablation: Ablation) -> Table:
    rows: list[list[Cell]] = [
        [
            variant.name,
            _describe(variant.rules.changes()),
            variant.games,
            variant.forfeits,
            "yes" if variant.same_deals else "no",
            ", ".join(variant.out),
        ]
        for variant in ablation.variants
    ]
    links = [f"./{quote(variant.name)}/{REPORT_HTML}" for variant in ablation.variants]
    return Table("variants", "The variants, the base first", _RULES_COLUMNS, rows, links)


def _section(ablation: Ablation, number: int) -> Section:
    """Return the section of a measure: its value under each variant, and the changes."""
    measure, names = MEASURES[number], [variant.name for variant in ablation.variants]
    values = [shown(variant.values[number], measure) for variant in ablation.variants]
    changes = [shown(variant.differences[number], measure) for variant in ablation.variants]
    significant = ablation.judge(number)
    rows: list[Sequence[Cell]] = [
        (name, *values[n].cells, *changes[n].cells, name_verdict(significant[n]))
        if n in significant
        else (name, *values[n].cells, *changes[n].cells, None)
        for n, name in enumerate(names)
    ]
    title = ablation.title(measure)
    title = title[:1].upper() + title[1:]
    table = Table(measure.name, title, _columns(measure), rows)
    labels = cut_apart(names, _LABEL)
    blocks: list[Block] = [*_values_chart(labels, values, table)]
    axis = "change, percentage points" if measure.is_share else "change"
    named = f"{measure.name}-changes", "Changes from the base", axis
    points = [Shown(labels[n], changes[n], sure) for n, sure in significant.items()]
    blocks += difference_chart(points, table, named, "The variant less the base")
    if not blocks:
        blocks.append(Text(["It is not estimable from these games."]))
    return Section(f"measure-{measure.name}", _NAMES[measure.name], [*blocks, table])


def _values_chart(
    names: Sequence[str], values: Sequence[Estimate], table: Table
) -> Iterator[Chart]:
    """Yield a chart of the values of a measure, where there are any."""
    points = [
        Shown(name, value)
        for name, value in zip(names, values, strict=True)
        if not math.isnan(value.value)
    ]
    if points:
        yield Chart(
            f"{table.name}-values",
            table.caption,
            f"Under the rules of each of {len(names):,} variants, with 95 % intervals.",
            point_chart(points, table.caption, "number", zero=False),
            table.name,
        )


def _columns(measure: Measure) -> list[Column]:
    """Return the columns of a measure's table, with its unit."""
    units = {"value": ", %", "difference": ", percentage points"} if measure.is_share else {}
    return [
        *(replace(one, title=one.title + units.get(one.name, "")) for one in ABLATION.shown),
        SIGNIFICANCE,
    ]
