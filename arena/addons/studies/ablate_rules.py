"""Play a tournament under several rules on the same deals, and report what they change."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from arena.addons.studies.ablation import (
    FILE,
    MEASURES,
    SPREAD,
    Ablation,
    Contest,
    Measure,
    VariantResult,
    check_folder,
    count_pairs,
    difference,
    estimate,
    find_effects,
    shown,
    write,
)
from arena.differences.claims import Shown
from arena.differences.difference_columns import ABLATION, SIGNIFICANCE
from arena.errors import InputError, counted
from arena.executors.contract import open_executor
from arena.reports.about import with_glossary
from arena.reports.blocks import Block, Cell, Chart, Report, Section, Table, Text
from arena.reports.difference_blocks import difference_chart, name_verdict, point_chart
from arena.runs.rerun import prepare
from arena.runs.run import Interrupted, Outcome, Playing, run
from arena.statistics.intervals import Estimate
from arena.store.folder import REPORT_HTML, REPORTS, RunFolder
from arena.store.reader import count_kept, read_run
from arena.tables.short_names import names_on_page
from arena.tables.table_columns import Column
from arena.tournament.rule_changes import Variant, deals_alike
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.statistics.intervals import Ints

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

_HEADS = {
    "city": "City wins",
    "draws": "Draws",
    "tiebreaks": "Tie-breaks",
    "seat_0": "Score of seat 0",
    "margin": "Lead of the winner",
    SPREAD: "Strongest against weakest",
    "plies": "Plies",
}
_MEANING = (
    "A row is a change of the rules, a column a measure of the games. The number is how much the "
    "measure is higher than under the base, whose value is in the head: in percentage points "
    "where the base is in %. Blue is higher and orange lower, the darker the nearer to the "
    "farthest end of an interval of its column. Bold is significant, when all changes of the "
    "column are looked at together (Benjamini and Hochberg 1995, at 5 %)."
)

_PER_CENT = "\N{NO-BREAK SPACE}%"
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
    effects = find_effects(ablation)
    details = [
        " ".join(effects.sentences()),
        f"{tournament.games:,} games of {tournament.name} under each variant; the base is {base}.",
        "Bots, seed and, where the rules allow it, deals are the same. A change is the variant "
        "less the base, with its 95 % interval by pairs of games.",
    ]
    notes = [*_NOTES, *(f"{note}." for note in ablation.notes())]
    sections = [
        _make_effects_section(ablation),
        Section("details", "How sure this is", [Text(details)]),
        Section("variants", "Variants", [_make_variants_table(ablation), Text(notes)]),
    ]
    sections += [_make_section(ablation, number) for number in range(len(MEASURES))]
    title = f"{tournament.name}: what a rule is worth"
    variants = counted(len(ablation.variants) - 1, "variant")
    extent = f"{title} · {variants} · {tournament.games:,} games each"
    return with_glossary(Report(title, [effects.sentence], sections, extent=extent))


def _make_effects_section(ablation: Ablation) -> Section:
    """Return the matrix of rules and measures, shaded by effect, the significant ones bold.

    A measure that is 0 under all rules has no column.
    """
    base, *variants = ablation.variants
    columns, marks, tested = [Column("variant", "Rules changed")], {}, list[bool]()
    rows: list[list[Cell]] = [[variant.name] for variant in variants]
    for number, measure in enumerate(MEASURES):
        value, *_ = shown(base.values[number], measure).cells
        changes = [shown(one.differences[number], measure).cells for one in variants]
        most = max((abs(end) for ends in changes for end in ends if end), default=0.0)
        if not value and not any(change for change, *_ in changes):
            continue
        at = "" if value is None else f", base {value:.1f}{_PER_CENT * measure.is_share}"
        significant = ablation.judge(number)
        tested += [sure for sure in significant.values() if sure is not None]
        for place, (change, *_) in enumerate(changes):
            mark = shade(change or 0.0, most), "sure" if significant.get(place + 1) else ""
            marks[place, len(columns)] = " ".join(filter(None, mark))
            rows[place].append(change)
        columns.append(Column(measure.name, f"{_HEADS[measure.name]}{at}", "change"))
    links = [f"./{quote(variant.name)}/{REPORT_HTML}" for variant in variants]
    caption = "What each change of the rules does to the games"
    table = Table("effects", caption, columns, rows, links, marks=marks, meaning=_MEANING)
    title = f"{sum(tested):,} of {counted(len(tested), 'change')} are significant"
    return Section("effects", title, [table], "Effects")


def shade(value: float, most: float) -> str:
    """Return the class of an effect's colour: four steps each way, up to the value `most`.

    >>> [shade(value, 8.0) for value in (8.0, 1.5, 0.5, -4.1)]
    ['rises-4', 'rises-1', '', 'falls-2']
    """
    step = round(4 * abs(value) / most) if value else 0
    return f"{'rises' if value > 0 else 'falls'}-{step}" if step else ""


def _describe(changes: dict[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in changes.items())


def _make_variants_table(ablation: Ablation) -> Table:
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


def _make_section(ablation: Ablation, number: int) -> Section:
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
    table = Table(measure.name, title, _make_columns(measure), rows)
    labels = [*map(names_on_page(names, _LABEL).of, names)]
    blocks: list[Block] = [*_make_values_chart(labels, values, table)]
    axis = "change, percentage points" if measure.is_share else "change"
    named = f"{measure.name}-changes", "Changes from the base", axis
    points = [Shown(labels[n], changes[n], sure) for n, sure in significant.items()]
    blocks += difference_chart(points, table, named, "The variant less the base")
    if not blocks:
        blocks.append(Text(["It is not estimable from these games."]))
    return Section(f"measure-{measure.name}", _NAMES[measure.name], [*blocks, table])


def _make_values_chart(
    names: Sequence[str], values: Sequence[Estimate], table: Table
) -> Iterator[Chart]:
    """Yield a chart of the values of a measure, if any."""
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


def _make_columns(measure: Measure) -> list[Column]:
    """Return the columns of a measure's table, with its unit."""
    units = {"value": ", %", "difference": ", percentage points"} if measure.is_share else {}
    return [
        *(replace(one, title=one.title + units.get(one.name, "")) for one in ABLATION.shown),
        SIGNIFICANCE,
    ]


def ablate(
    tournament: Tournament, variants: Sequence[Variant], path: Path, how: Playing
) -> Ablation:
    """Play what is left of each variant, the base first, and write ablation.csv and the reports.

    The run of a variant is in a folder of this folder, with the variant's name. Raises what `run`
    raises; Interrupted counts the games of all variants. Raises InputError for a tournament whose
    results decide which pairs it plays: its variants would not have the same deals.
    """
    from arena.reports.html import write_reports
    from arena.store.html_page import check_place

    _check_pairs(tournament)
    check_folder(path)
    results: list[VariantResult] = []
    base: Ints | None = None
    contest: Contest | None = None
    try:
        with open_executor(how.venue) as executor:
            if how.fresh:
                clear(path, variants)
            for name in REPORTS:
                check_place(path / name)
            for number, variant in enumerate(variants, 1):
                how.tell(f"{number} of {len(variants)}: {variant.name}")
                playing, folder = _vary(tournament, variant), RunFolder(path / variant.name)
                outcome = run(playing, executor, folder, how.shown, replace=how.replace)
                counted = _count(folder.path)
                if base is None:
                    base, contest = counted, _find_contest(playing, outcome)
                results.append(_compare(variant, variants[0], outcome, counted, base, contest))
    except Interrupted:
        kept = sum(count_kept(path / variant.name) for variant in variants)
        raise Interrupted(kept, tournament.games * len(variants)) from None
    ablation = Ablation(results, tournament.pairs, _find_labels(tournament, contest))
    write(path, ablation)
    write_reports(path, make_ablation_report(ablation, tournament))
    return ablation


def _check_pairs(tournament: Tournament) -> None:
    """Raise InputError for a tournament whose results decide which pairs it plays."""
    if tournament.stop or tournament.rounds:
        raise InputError(
            f"{'until' if tournament.stop else 'format: swiss'}: an ablation plays the same pairs "
            "under all rules, and this chooses them by the results"
        )


def _vary(tournament: Tournament, variant: Variant) -> Tournament:
    """Return the tournament under the rules of a variant."""
    return dataclasses.replace(tournament, rules=variant.rules)


def _count(path: Path) -> Ints:
    """Return the counts of a run that has ended."""
    tournament, store = read_run(path)
    with closing(store):
        pairings = map(store.read_pairs, range(len(tournament.pairings)))
        return count_pairs(tournament.pairs, pairings)


def _find_contest(tournament: Tournament, outcome: Outcome) -> Contest | None:
    """Return the pairing whose bots are furthest apart in Elo, the first of those of one gap."""
    rated = [row for row in outcome.standings if row["elo"] is not None]
    elo: dict[str, float] = {row["bot"]: row["elo"] for row in rated}
    best: Contest | None = None
    widest = -1.0
    for number, (bot, opponent) in enumerate(tournament.pairings):
        if bot in elo and opponent in elo and abs(elo[bot] - elo[opponent]) > widest:
            widest = abs(elo[bot] - elo[opponent])
            best = Contest(number, first=elo[bot] >= elo[opponent])
    return best


def _find_labels(tournament: Tournament, contest: Contest | None) -> tuple[str, str] | None:
    """Return the labels of the strongest bot and of the weakest."""
    if contest is None:
        return None
    bot, opponent = tournament.pairings[contest.pairing]
    return (bot, opponent) if contest.first else (opponent, bot)


def _compare(
    variant: Variant,
    first: Variant,
    outcome: Outcome,
    counted: Ints,
    base: Ints,
    contest: Contest | None,
) -> VariantResult:
    """Return the results of a variant's games, and how they differ from those of the base."""
    return VariantResult(
        variant.name,
        variant.rules,
        deals_alike(variant.rules, first.rules),
        outcome.played + outcome.kept,
        outcome.forfeits,
        outcome.out,
        [estimate(counted, measure, contest) for measure in MEASURES],
        [
            Estimate() if variant is first else difference(base, counted, measure, contest)
            for measure in MEASURES
        ],
        variant is not first and bool((counted == base).all()),
    )


def prepare_variants(
    tournament: Tournament, variants: Sequence[Variant], kept: Path | None = None
) -> list[str]:
    """Return a line for each bot that does not load under the rules of a variant.

    `kept` is a folder whose games the ablation reuses. Raises what `prepare` raises.
    """
    found: dict[str, list[str]] = {}
    for variant in variants:
        run = kept and kept / variant.name
        for problem in prepare(_vary(tournament, variant), run):
            found.setdefault(problem, []).append(variant.name)
    return [
        problem if len(names) == len(variants) else f"{', '.join(names)}: {problem}"
        for problem, names in found.items()
    ]


def clear(path: Path, variants: Sequence[Variant]) -> None:
    """Remove earlier runs of these variants, the table and the reports; raises InputError."""
    check_folder(path)
    for variant in variants:
        if (path / variant.name).is_dir():
            RunFolder(path / variant.name).clear()
    for name in (FILE, *REPORTS):
        (path / name).unlink(missing_ok=True)
