"""Play a tournament under several rules on the same deals, and say what each change changes.

Every measure is a ratio of two counts, which are summed over pairs: one deal played twice, with the
seats swapped. A pair under changed rules is compared with the pair of the same deal under the base.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np

from arena.errors import InputError, counted
from arena.executors.local import open_executor
from arena.runs.rerun import prepare
from arena.runs.run import Interrupted, Outcome, Playing, run
from arena.statistics.counts import MISSING, RESULTS, WIN_TYPES
from arena.statistics.intervals import Estimate, Ints
from arena.statistics.number_texts import write_cells
from arena.statistics.two_bots import compare_ratios, estimate_ratio
from arena.store.counting import HALVES, TURNED, PairGames
from arena.store.csv_files import replace_table
from arena.store.database import NAME
from arena.store.folder import RunFolder, check_names, list_names
from arena.store.reader import count_kept, read_run
from arena.store.table_columns import MEAN_END, list_columns
from arena.tables.summary import short_names
from arena.tournament.rules_and_deals import BASE, Variant, deals_alike
from arena.tournament.tournament import Tournament
from engine import STANDARD, Setup
from engine.cards import CITY

ABLATION: Final = list_columns(f"""
    ablation.csv
    variant | Variant | text | The rules.
    measure | | | What is measured: how games end, seat 0, margin, length.
    pairs | | count? | Pairs of each pairing.
    games | | count | Games of the run.
    forfeits | | count | Forfeits among them.
    same_deals | | | Whether the games have the deals of the base: yes or no.
    value | Value | number | The measure under these rules.
    value_low value_high | Value | number | {MEAN_END}
    difference | Change | change | The value less that of the base.
    difference_low difference_high | Change | change | {MEAN_END}
    """)
FILE: Final = ABLATION.file
_NAME_WIDTH = 28
_ENDED = np.arange(MISSING) // RESULTS
COUNTED: Final = 2 * MISSING + 2
"""Counts of a pair: games by seat of the first bot and ending, then the leads, then the plies."""


class Measure(NamedTuple):
    """One weighted sum of counts over another one, which is `scale` in a pair that counts in full.

    `noun` is what rises or falls, by `unit`; without a unit it is a share, between 0 and 1.
    Forfeited games count in neither sum.
    """

    name: str
    title: str
    noun: str
    counted: Ints
    weight: Ints
    scale: int
    unit: str = ""

    def sums(self, counts: Ints) -> Ints:
        """Return count and weight of every pair (pairings x pairs x 2)."""
        return np.stack([counts @ self.counted, counts @ self.weight], axis=2)

    @property
    def whole(self) -> int | None:
        """The weight of a pair that counts in full, None where this is not a share."""
        return None if self.unit else self.scale

    @property
    def digits(self) -> int:
        """To how many digits an estimate is rounded."""
        return 3 if self.unit else 4

    @property
    def places(self) -> int:
        """The decimals of a change as it is shown."""
        return 2 if self.unit else 1

    def shown(self, change: Estimate, ends: int) -> Estimate:
        """Return a change as one of so many: that of a share in per cent, from -100 to 100."""
        times, most = (1, math.inf) if self.unit else (100, 100.0)
        wide = change.scaled(times, self.digits).widened(ends)
        return wide._replace(low=max(wide.low, -most), high=min(wide.high, most))


def _ended(*win_types: str) -> Ints:
    """Return 1 for the counts of games of these win types, 0 for others."""
    of_seat = np.isin(_ENDED, [WIN_TYPES.index(one) for one in win_types])
    return np.array([*of_seat, *of_seat, 0, 0], np.int64)


_SCORED: Final = _ended("points", "tiebreak", "draw")
_GAMES: Final = _SCORED + _ended("city")
_SEAT_0: Final = _GAMES * [*HALVES[:MISSING], *HALVES[TURNED[:MISSING]], 0, 0]
_LEAD: Final = "winner's lead in points, where points decided"
_LEADS, _LENGTHS = np.eye(COUNTED, dtype=np.int64)[-2:]
MEASURES: Final = (
    Measure("city", "won by City, % of the games", "City's share", _ended("city"), _GAMES, 2),
    Measure("draws", "drawn, %", "the share of draws", _ended("draw"), _GAMES, 2),
    Measure("tiebreaks", "won by tie-break, %", "their share", _ended("tiebreak"), _GAMES, 2),
    Measure("seat_0", "score of seat 0, %", "the score of seat 0", _SEAT_0, 2 * _GAMES, 4),
    Measure("margin", _LEAD, "the winner's lead", _LEADS, _SCORED, 2, "points"),
    Measure("plies", "length in plies", "a game's length", _LENGTHS, _GAMES, 2, "plies"),
)
"""City wins, draws and tie-breaks as shares of the games, the score of seat 0, the winner's mean
lead in the games that were scored, and the length."""


def count_pairs(pairs: int, pairings: Iterable[PairGames]) -> Ints:
    """Return the counts of pairings that have this many pairs (pairings x pairs x counts).

    A game that is not there has no lead and no plies.
    """
    made = []
    for found in pairings:
        counts = np.zeros((pairs, COUNTED), np.int64)
        row, seat = np.nonzero(found.games != MISSING)
        counts[found.pair[row], MISSING * seat + found.games[row, seat]] = 1
        counts[found.pair, -2] = (abs(found.margins) * _SCORED[found.games]).sum(axis=1)
        counts[found.pair, -1] = (found.plies * _GAMES[found.games]).sum(axis=1)
        made.append(counts)
    return np.array(made)


def estimate(counts: Ints, measure: Measure) -> Estimate:
    """Return a measure of a run's games; nan if it is not estimable."""
    alike = np.ones(counts.shape[1], np.int64)
    return estimate_ratio(measure.sums(counts), measure.whole, alike).scaled(1, measure.digits)


def difference(base: Ints, changed: Ints, measure: Measure) -> Estimate:
    """Return by how much a measure is larger in the second run than in the first one.

    Both have the same pairings and pairs.
    """
    both = measure.sums(base), measure.sums(changed)
    alike = np.ones(base.shape[1], np.int64)
    return compare_ratios(*both, measure.whole, alike).scaled(1, measure.digits)


class VariantResult(NamedTuple):
    """The results of the games under some rules: an estimate and a change for each measure.

    `out` has the faults of bots that had too many, as text by label. The base has no changes.
    `others` says which bots play as another one under these rules.
    """

    variant: Variant
    same_deals: bool
    games: int
    forfeits: int
    out: Mapping[str, str]
    values: Sequence[Estimate]
    changes: Sequence[Estimate]
    no_effect: bool = False
    others: Sequence[str] = ()


class Effect(NamedTuple):
    """A change of a measure under the variant at a place, with the interval of one of many."""

    measure: Measure
    place: int
    change: Estimate

    @property
    def is_sure(self) -> bool:
        """Whether it is more than luck, as it is shown."""
        return self.change.scaled(1, self.measure.places).excludes_zero

    @property
    def clarity(self) -> float:
        """How large it is in units of its interval."""
        value, low, high, _ = self.change
        return abs(value) / max(high - low, 1e-9)

    @property
    def said(self) -> str:
        """What rises or falls by how much."""
        value, measure = self.change.value, self.measure
        moves = f"{'falls' if value < 0 else 'rises'} by {abs(value):.{measure.places}f}"
        return f"{measure.noun} {moves} {measure.unit or 'percentage points'}"


@dataclasses.dataclass(frozen=True)
class Ablation:
    """The results of all variants, the base first; `pairs` are those of each pairing of a run."""

    variants: Sequence[VariantResult]
    pairs: int

    @cached_property
    def effects(self) -> list[Effect]:
        """The changes with an interval, which allows for the choice from all of them."""
        known = [
            Effect(measure, place, change)
            for place, one in enumerate(self.variants)
            for measure, change in zip(MEASURES, one.changes, strict=True)
            if None not in change.cells
        ]
        ends = 2 * len(known) + 1
        return [one._replace(change=one.measure.shown(one.change, ends)) for one in known]

    @property
    def clearest(self) -> Effect | None:
        """The effect that is largest in its own errors, of the sure ones if there are any."""
        sure = [one for one in self.effects if one.is_sure]
        return max(sure or self.effects, key=lambda one: one.clarity, default=None)

    @property
    def sentence(self) -> str:
        """The one sentence on all effects."""
        if not (best := self.clearest):
            return "No effect can be estimated from these games."
        name = self.variants[best.place].variant.name
        if best.is_sure:
            return f"The clearest effect: under {name} {best.said}."
        return f"No effect is surely more than luck; the clearest seen: under {name} {best.said}."

    def notes(self) -> Iterator[str]:
        """Yield what is to be known beside the numbers, a line each."""
        for one in self.variants:
            name, rules = one.variant
            if not one.same_deals:
                yield f"{name}: other deals than the base, so less is common to both"
            if one.forfeits:
                yield f"{name}: {counted(one.forfeits, 'forfeit')}, not counted: see its faults.csv"
            yield from (
                f"{name}: {label} was out after {faults}" for label, faults in one.out.items()
            )
            yield from (f"{name}: {other}, whose figures these are" for other in one.others)
            if one.no_effect:
                yield f"{name}: no effect, every game ended as under the base"
            if rules.cities_needed > rules.copies[CITY]:
                yield f"{name}: nobody can win by City, the deck has fewer cities"

    def lines(self) -> Iterator[str]:
        """Yield the table as lines of 80 columns: for each measure a line for each variant.

        A measure that is 0 under all rules is left out.
        """
        short = short_names((one.variant.name for one in self.variants), _NAME_WIDTH - 2)
        yield f"{'':<{_NAME_WIDTH}} {'value':>8} {'95 %':>15} {'change':>8} {'95 %':>16}"
        for number, measure in enumerate(MEASURES):
            if not any(one.values[number].value for one in self.variants):
                continue
            form = ".2f" if measure.unit else ".1%"
            yield measure.title
            for one in self.variants:
                name = short.of(one.variant.name)
                value = write_cells(*one.values[number][:3], form)
                change = write_cells(*one.changes[number][:3], f"+{form}")
                line = f"  {name:<{_NAME_WIDTH - 2}} {value[0]:>8} {value[1]:>15}"
                yield f"{line} {change[0]:>8} {change[1]:>16}".rstrip()

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield the rows of ablation.csv: one for each variant and measure."""
        for one in self.variants:
            sizes = self.pairs, one.games, one.forfeits, "yes" if one.same_deals else "no"
            for measure, *both in zip(MEASURES, one.values, one.changes, strict=True):
                cells = [cell for estimate in both for cell in estimate.cells]
                yield one.variant.name, measure.name, *sizes, *cells

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        rows = [dict(zip(ABLATION.names, row, strict=True)) for row in self.rows()]
        return {"sentence": self.sentence, "rows": rows}


def describe_base(tournament: Tournament) -> str:
    """Return how many games were played, and under which rules the base is."""
    changes = ", ".join(f"{name}={value}" for name, value in tournament.rules.changes().items())
    rules = f"the config's rules, {changes}" if changes else "the published rules"
    return f"{tournament.games:,} games of {tournament.name} under each; base: {rules}."


def ablate(
    tournament: Tournament, variants: Sequence[Variant], path: Path, how: Playing
) -> Ablation:
    """Play what is left of each variant, the base first, and write ablation.csv.

    The run of a variant is in a folder of this folder, with the variant's name. Raises what `run`
    raises; Interrupted counts the games of all variants. Raises InputError for a tournament whose
    results decide which pairs it plays: its variants would not have the same deals.
    """
    if tournament.stop or tournament.rounds:
        raise InputError(
            f"{'until' if tournament.stop else 'format: swiss'}: an ablation plays the same pairs "
            "under all rules, and this chooses them by the results"
        )
    _check_folder(path)
    outcomes = []
    try:
        with open_executor(how.venue) as executor:
            if how.fresh:
                _clear(path, variants)
            for number, variant in enumerate(variants, 1):
                how.tell(f"{number} of {len(variants)}: {variant.name}")
                at = _vary(tournament, variant), executor, RunFolder(path / variant.name), how.shown
                outcomes.append(run(*at, replace=how.replace))
    except Interrupted:
        kept = sum(count_kept(path / variant.name) for variant in variants)
        raise Interrupted(kept, tournament.games * len(variants)) from None
    ablation = _measure(tournament, variants, outcomes, path)
    replace_table(path / FILE, ABLATION.make([*ablation.rows()]))
    return ablation


def _measure(
    tournament: Tournament, variants: Sequence[Variant], outcomes: Sequence[Outcome], path: Path
) -> Ablation:
    """Return the results of the runs of an ablation."""
    counts = [_count(path / variant.name) for variant in variants]
    results = [
        VariantResult(
            variant,
            deals_alike(variant.rules, variants[0].rules),
            outcome.played + outcome.kept,
            outcome.forfeits,
            outcome.out,
            [estimate(own, one) for one in MEASURES],
            [Estimate() if own is counts[0] else difference(counts[0], own, m) for m in MEASURES],
            own is not counts[0] and bool((own == counts[0]).all()),
            find_others(_vary(tournament, variant)),
        )
        for variant, outcome, own in zip(variants, outcomes, counts, strict=True)
    ]
    return Ablation(results, tournament.pairs)


def _vary(tournament: Tournament, variant: Variant) -> Tournament:
    """Return the tournament under the rules of a variant."""
    return dataclasses.replace(tournament, rules=variant.rules)


def find_others(tournament: Tournament) -> list[str]:
    """Return which of the arena's bots leave the rules to another one, and to which.

    A bot of somebody else is not asked: it would run unprotected here.
    """
    found = []
    for entry in tournament.entries:
        if entry.is_ours and entry.lane == "inproc":
            setups = (Setup(Random(0), 0, rules) for rules in (tournament.rules, STANDARD))
            own, usual = (type(entry.create(setup)) for setup in setups)
            if own is not usual:
                found.append(f"{entry.label} plays as {own.__name__.lower()}")
    return found


def _count(path: Path) -> Ints:
    """Return the counts of a run that has ended."""
    tournament, store = read_run(path)
    with closing(store):
        pairings = map(store.read_pairs, range(len(tournament.pairings)))
        return count_pairs(tournament.pairs, pairings)


def prepare_variants(
    tournament: Tournament, variants: Sequence[Variant], kept: Path | None = None
) -> list[str]:
    """Return a line for each bot that does not load under the rules of a variant.

    `kept` is a folder whose games the ablation reuses. Raises what `prepare` raises.
    """
    found: dict[str, list[str]] = {}
    for variant in variants:
        for problem in prepare(_vary(tournament, variant), kept and kept / variant.name):
            found.setdefault(problem, []).append(variant.name)
    return [
        problem if len(names) == len(variants) else f"{', '.join(names)}: {problem}"
        for problem, names in found.items()
    ]


def _check_folder(path: Path) -> None:
    """Raise InputError unless a folder holds an ablation or nothing."""
    names = list_names(path)
    if NAME in names:
        raise InputError(f"{path}: holds a run; choose another folder for an ablation")
    if names and not names & {FILE, BASE}:
        raise InputError(f"{path}: holds other files and no ablation; choose a new folder")
    check_names(path, [FILE])


def _clear(path: Path, variants: Sequence[Variant]) -> None:
    """Remove earlier runs of these variants, and the table; raises InputError."""
    for variant in variants:
        if (path / variant.name).is_dir():
            RunFolder(path / variant.name).clear()
    (path / FILE).unlink(missing_ok=True)
