"""Ablation: what changes of the rules change in the games, as a report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from arena.insight.ablation import MEASURES, SPREAD, Ablation, Measure, VariantResult
from arena.reports.about import with_glossary
from arena.reports.document import Block, Cell, Chart, Column, Report, Section, Table, Text
from arena.reports.dots import Dot, dot_chart, name_sure, verdict_of
from arena.statistics.intervals import Estimate, find_significant
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

_NOTES = Text(
    [
        "Each interval holds for itself, and one in twenty misses. A change is called beyond "
        "chance where it is so when all changes of its measure are looked at together "
        "(Benjamini and Hochberg 1995, at 5 %).",
        "The measures are those of these bots, which may have been made for the published "
        "rules, and not of the rules alone.",
    ]
)


def make_ablation_report(ablation: Ablation, tournament: Tournament) -> Report:
    """Return the report of an ablation; it links to those in the folders of the variants."""
    changes = tournament.rules.changes()
    base = f"the config's rules, {_describe(changes)}" if changes else "the published rules"
    summary = [
        f"{tournament.games:,} games of {tournament.name} under each variant; the base is {base}.",
        "Bots, seed and, where the rules allow it, deals are the same. A change is the variant "
        "less the base, with its 95 % interval by pairs of games.",
    ]
    sections = [Section("variants", "Variants", [_variants_table(ablation), _NOTES])]
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
    measure = MEASURES[number]
    title = ablation.title(measure)
    values = [_scaled(variant.values[number], measure) for variant in ablation.variants]
    changes = [_scaled(variant.differences[number], measure) for variant in ablation.variants]
    known = [n for n, change in enumerate(changes) if not math.isnan(change.value)]
    marks = find_significant([changes[n] for n in known])
    sure = dict(zip(known, marks, strict=True))
    blocks = [*_charts(ablation.variants, measure, title, values, changes, sure)]
    rows = [
        [
            variant.name,
            *values[n].cells,
            *changes[n].cells,
            verdict_of(sure[n]) if n in sure else None,
        ]
        for n, variant in enumerate(ablation.variants)
    ]
    caption = title[:1].upper() + title[1:]
    table = Table(measure.name, caption, _columns(measure), rows)
    if not blocks:
        blocks.append(Text(["Nothing can be said of it from these games."]))
    return Section(f"measure-{measure.name}", _NAMES[measure.name], [*blocks, table])


def _scaled(estimate: Estimate, measure: Measure) -> Estimate:
    """Return an estimate as it is shown: a share in per cent."""
    return estimate.scaled(100 if measure.is_share else 1, measure.digits)


def _charts(
    variants: Sequence[VariantResult],
    measure: Measure,
    title: str,
    values: Sequence[Estimate],
    changes: Sequence[Estimate],
    sure: dict[int, bool],
) -> Iterator[Block]:
    """Yield the values of a measure and its changes as dots, where there are any."""
    shown = [
        Dot(variant.name, *one.cells)
        for variant, one in zip(variants, values, strict=True)
        if not math.isnan(one.value)
    ]
    if shown:
        yield Chart(
            f"{measure.name}-values",
            title[:1].upper() + title[1:],
            f"Under the rules of each of {len(variants):,} variants, with 95 % intervals.",
            dot_chart(shown, title, "number", zero=False),
            measure.name,
        )
    dots = []
    for number, beyond in sure.items():
        dots.append(Dot(variants[number].name, *changes[number].cells, beyond))
    if dots:
        unit = "change, % points" if measure.is_share else "change"
        yield Chart(
            f"{measure.name}-changes",
            "Changes from the base",
            f"The variant less the base, with 95 % intervals; {name_sure(dots)}.",
            dot_chart(dots, unit, "change"),
            measure.name,
        )


def _columns(measure: Measure) -> list[Column]:
    unit = ", %" if measure.is_share else ""
    points = ", % points" if measure.is_share else ""
    interval = "An end of the 95 % interval; empty where nothing can be said."
    return [
        Column("variant", "Variant", "text", "The rules."),
        Column("value", f"Value{unit}", "number", "The measure under these rules."),
        Column("value_low", "Value, low", "number", interval),
        Column("value_high", "Value, high", "number", interval),
        Column("difference", f"Change{points}", "change", "The value less that of the base."),
        Column("difference_low", "Change, low", "change", interval),
        Column("difference_high", "Change, high", "change", interval),
        Column("verdict", "Verdict", "text", "Whether the change is beyond chance."),
    ]
