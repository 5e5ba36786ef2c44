"""Estimate from finished games how a change of the rules changes them: length, win types, draws.

Every measure is a ratio of two counts. They are summed over pairs: one deal played twice, with
the seats swapped (`arena.statistics`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from arena.differences.claims import (
    Clearest,
    Shown,
    explain_surely,
    pick_clearest,
)
from arena.differences.difference_columns import ABLATION
from arena.errors import InputError, name_some
from arena.statistics.counts import MISSING, RESULTS, WIN_TYPES
from arena.statistics.difference import compare_ratios, estimate_ratio
from arena.statistics.intervals import Estimate, Ints, find_significant
from arena.statistics.wording import write_cells, write_estimate
from arena.store.counting import HALVES, TURNED, PairGames
from arena.store.csv_files import replace_rows
from arena.store.database import NAME
from arena.tables.short_names import short_names
from arena.tournament.rule_changes import BASE
from engine import Rules
from engine.cards import CITY

_ENDED = np.arange(MISSING) // RESULTS
_MARGIN, _PLIES = 2 * MISSING, 2 * MISSING + 1
COUNTED: Final = 2 * MISSING + 2
"""Counts of a pair: games by seat of the first bot and ending, then the leads, then the plies."""


class Measure(NamedTuple):
    """One weighted sum of counts over another one, which is `scale` in a pair that counts in full.

    Forfeited games count in neither. A share is between 0 and 1.
    """

    name: str
    counted: Ints
    weight: Ints
    scale: int
    is_share: bool = True

    @property
    def whole(self) -> int | None:
        """The weight of a pair that counts in full, None where this is not a share."""
        return self.scale if self.is_share else None

    @property
    def digits(self) -> int:
        """To how many digits an estimate is rounded."""
        return 4 if self.is_share else 3

    def sums(self, counts: Ints) -> Ints:
        """Return count and weight of every pair (pairings x pairs x 2)."""
        return np.stack([counts @ self.counted, counts @ self.weight], axis=2)


def _ended(*win_types: str) -> Ints:
    """Return 1 for the counts of games of these win types, 0 for others."""
    of_seat = np.isin(_ENDED, [WIN_TYPES.index(one) for one in win_types])
    return np.array([*of_seat, *of_seat, 0, 0], np.int64)


SPREAD: Final = "spread"
_SCORED: Final = _ended("points", "tiebreak", "draw")
_GAMES: Final = _SCORED + _ended("city")
_OWN: Final = _GAMES * [*HALVES[:MISSING], *HALVES[:MISSING], 0, 0]
_OF_SEAT_0: Final = _GAMES * [*HALVES[:MISSING], *HALVES[TURNED[:MISSING]], 0, 0]
_LEADS, _LENGTHS = np.eye(COUNTED, dtype=np.int64)[[_MARGIN, _PLIES]]
MEASURES: Final = (
    Measure("city", _ended("city"), _GAMES, 2),
    Measure("draws", _ended("draw"), _GAMES, 2),
    Measure("tiebreaks", _ended("tiebreak"), _GAMES, 2),
    Measure("seat_0", _OF_SEAT_0, 2 * _GAMES, 4),
    Measure("margin", _LEADS, _SCORED, 2, is_share=False),
    Measure(SPREAD, _OWN, 2 * _GAMES, 4),
    Measure("plies", _LENGTHS, _GAMES, 2, is_share=False),
)
"""City wins, draws and tie-breaks as shares of the games, the score of seat 0, the winner's mean
lead in the games that were scored, the score of the strongest bot against the weakest, length."""


def count_pairs(pairs: int, pairings: Iterable[PairGames]) -> Ints:
    """Return the counts of pairings that have this many pairs (pairings x pairs x counts).

    A game that is not there has no lead and no plies.
    """
    made = []
    for found in pairings:
        counts = np.zeros((pairs, COUNTED), np.int64)
        row, seat = np.nonzero(found.games != MISSING)
        counts[found.pair[row], MISSING * seat + found.games[row, seat]] = 1
        counts[found.pair, _MARGIN] = (abs(found.margins) * _SCORED[found.games]).sum(axis=1)
        counts[found.pair, _PLIES] = (found.plies * _GAMES[found.games]).sum(axis=1)
        made.append(counts)
    return np.array(made)


class Contest(NamedTuple):
    """The pairing of the strongest bot and the weakest; `first` says that the stronger is first."""

    pairing: int
    first: bool


def _sums(counts: Ints, measure: Measure, contest: Contest | None) -> Ints | None:
    """Return count and weight of a measure, by pairing and pair; None if no pairing has it."""
    if measure.name != SPREAD:
        return measure.sums(counts)
    if contest is None:
        return None
    sums = measure.sums(counts[contest.pairing : contest.pairing + 1])
    if not contest.first:
        sums[:, :, 0] = sums[:, :, 1] - sums[:, :, 0]
    return sums


def estimate(counts: Ints, measure: Measure, contest: Contest | None) -> Estimate:
    """Return a measure of a run's games; nan if it is not estimable."""
    sums = _sums(counts, measure, contest)
    found = Estimate() if sums is None else estimate_ratio(sums, measure.whole)
    return found.scaled(1, measure.digits)


def difference(base: Ints, changed: Ints, measure: Measure, contest: Contest | None) -> Estimate:
    """Return by how much a measure is larger in the second run than in the first one.

    Both have the same pairings and pairs.
    """
    sums = _sums(base, measure, contest), _sums(changed, measure, contest)
    return compare_ratios(*sums, measure.whole).scaled(1, measure.digits)


FILE: Final = ABLATION.file
_NAME_WIDTH = 28
TITLES: Final = {
    "city": "won by City, % of the games",
    "draws": "drawn, %",
    "tiebreaks": "won by tie-break, %",
    "seat_0": "score of seat 0, %",
    "margin": "winner's lead in points, where points decided",
    SPREAD: "score of {} against {}, %",
    "plies": "length in plies",
}
"""What each measure is, with its unit; shares are in per cent."""

_NOUNS: Final = {
    "city": ("City's share of the games", "percentage points"),
    "draws": ("the share of draws", "percentage points"),
    "tiebreaks": ("the share of tie-breaks", "percentage points"),
    "seat_0": ("the score of seat 0", "percentage points"),
    "margin": ("the winner's lead", "points"),
    "plies": ("the length of a game", "plies"),
}


class VariantResult(NamedTuple):
    """The results of the games under some rules.

    `values` and `differences`, those from the base, have an estimate for each measure. `out` has
    the faults of bots that had too many, as text by label. The base has no differences. With
    `no_effect` every pair has the counts of the base: how its games ended, leads and lengths.
    """

    name: str
    rules: Rules
    same_deals: bool
    games: int
    forfeits: int
    out: Mapping[str, str]
    values: Sequence[Estimate]
    differences: Sequence[Estimate]
    no_effect: bool = False


def shown(estimate: Estimate, measure: Measure) -> Estimate:
    """Return an estimate as it is shown: a share in per cent."""
    return estimate.scaled(100 if measure.is_share else 1, measure.digits)


class Ablation(NamedTuple):
    """The results of all variants, the base first; pairs in each pairing of every run.

    `contest` has the labels of the strongest bot and of the weakest, None where no two bots that
    met are rated.
    """

    variants: Sequence[VariantResult]
    pairs: int
    contest: tuple[str, str] | None

    def title(self, measure: Measure) -> str:
        """Return what a measure is, with its unit."""
        return TITLES[measure.name].format(*(self.contest or ("nobody", "nobody")))

    def judge(self, number: int) -> dict[int, bool | None]:
        """Return by variant whether the change of the measure with this number is significant.

        All its changes are looked at together. It is None for one without an error; those that
        are not estimable are left out.
        """
        changes = {
            place: shown(variant.differences[number], MEASURES[number])
            for place, variant in enumerate(self.variants)
            if not math.isnan(variant.differences[number].value)
        }
        judged = zip(changes.items(), find_significant([*changes.values()]), strict=True)
        return {place: None if math.isnan(one.error) else sure for (place, one), sure in judged}

    def notes(self) -> Iterator[str]:
        """Yield where a rule had no effect, and where nobody can win by City."""
        for variant in self.variants:
            if variant.no_effect:
                yield f"{variant.name}: no effect, every game ended as under the base"
            if variant.rules.cities_needed > variant.rules.copies[CITY]:
                yield f"{variant.name}: nobody can win by City, the deck has fewer cities"

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield the rows of the file: one for each variant and measure."""
        for variant in self.variants:
            same_deals = "yes" if variant.same_deals else "no"
            sizes = self.pairs, variant.games, variant.forfeits, same_deals
            for measure, *both in zip(MEASURES, variant.values, variant.differences, strict=True):
                bots = self.contest if measure.name == SPREAD else None
                cells = (_round(cell, measure.digits) for one in both for cell in one.cells)
                yield variant.name, measure.name, *(bots or (None, None)), *sizes, *cells


def check_folder(path: Path) -> None:
    """Make sure that a folder holds an ablation or nothing; raises InputError."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: not a folder")
    try:
        names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if NAME in names:
        raise InputError(f"{path}: holds a run; choose another folder for an ablation")
    if names and not names & {FILE, BASE}:
        raise InputError(f"{path}: holds other files and no ablation; choose a new folder")
    if (path / FILE).exists() and not (path / FILE).is_file():
        raise InputError(f"{path / FILE}: not a regular file")


def find_earlier(path: Path, ablation: Ablation) -> list[str]:
    """Return the variants of an earlier ablation that lie in a folder beside those of this one."""
    known = {variant.name for variant in ablation.variants}
    return sorted({store.parent.name for store in path.glob(f"*/{NAME}")} - known)


def write(path: Path, ablation: Ablation) -> None:
    """Write ablation.csv into a folder, over an earlier one, atomically."""
    replace_rows(path / FILE, ABLATION.names, ablation.rows())


def _round(cell: float | None, places: int) -> Decimal | None:
    """Return a decimal with this many places."""
    return None if cell is None else Decimal(f"{cell:.{places}f}")


def to_document(ablation: Ablation) -> dict[str, Any]:
    """Return an ablation as plain data."""
    return {
        "pairs": ablation.pairs,
        "strongest": ablation.contest and ablation.contest[0],
        "weakest": ablation.contest and ablation.contest[1],
        "variants": [
            {
                "variant": variant.name,
                "rules": variant.rules.changes(),
                "same_deals": variant.same_deals,
                "games": variant.games,
                "forfeits": variant.forfeits,
                "out": [*variant.out],
                "values": _named(variant.values),
                "differences": _named(variant.differences),
            }
            for variant in ablation.variants
        ],
    }


def _named(estimates: Sequence[Estimate]) -> dict[str, list[float | None]]:
    return {measure.name: [*one.cells] for measure, one in zip(MEASURES, estimates, strict=True)}


def format_table(ablation: Ablation) -> Iterator[str]:
    """Yield the lines of a table of 80 columns: for each measure a line for each variant."""
    short = short_names((variant.name for variant in ablation.variants), _NAME_WIDTH - 2)
    names = [short.of(variant.name) for variant in ablation.variants]
    yield f"{'':<{_NAME_WIDTH}} {'value':>8} {'95 %':>15} {'change':>8} {'95 %':>16}"
    for number, measure in enumerate(MEASURES):
        form = ".1%" if measure.is_share else ".2f"
        yield ablation.title(measure)
        for name, variant in zip(names, ablation.variants, strict=True):
            value = write_cells(*variant.values[number][:3], form)
            change = write_cells(*variant.differences[number][:3], f"+{form}")
            line = f"  {name:<{_NAME_WIDTH - 2}} {value[0]:>8} {value[1]:>15}"
            yield f"{line} {change[0]:>8} {change[1]:>16}".rstrip()
    yield from short.lines()


class Effects(NamedTuple):
    """What an ablation has found: the clearest effect, and those that may be zero.

    The latter are by variant: the measures whose change is not significant in the table of the
    measure, and whether these are all of the variant's.
    """

    clearest: Clearest | None
    unclear: Sequence[tuple[str, Sequence[str], bool]]
    said: str
    """The clearest effect in words."""

    @property
    def sentence(self) -> str:
        """The one sentence on all effects."""
        if not self.clearest:
            return "No effect can be estimated from these games."
        if self.clearest.sure:
            return f"The clearest effect: {self.said}."
        return f"No effect is surely more than luck; the clearest seen: {self.said}."

    def sentences(self) -> Iterator[str]:
        """Yield the sentences, the most important one first."""
        if not self.clearest:
            yield "No effect can be estimated from these games."
            return
        best, sure, tested = self.clearest
        if not sure:
            yield f"None of {tested:,} effects is surely more than luck."
        effect = write_estimate(best.estimate, f"+.{best.places}f")
        yield f"The clearest effect{'' if sure else ' seen'}: {best.name}: {effect}."
        if sure:
            yield f"Surely more than luck: {len(sure):,} of {tested:,} effects."
        yield explain_surely(f"{tested:,} effects")
        unclear = [f"all under {variant}" for variant, _, is_all in self.unclear if is_all]
        for variant, measures, is_all in self.unclear:
            unclear += [f"{measure} under {variant}" for measure in measures if not is_all]
        if unclear:
            yield f"Cannot be told from zero: {name_some(unclear)}."


def find_effects(ablation: Ablation) -> Effects:
    """Return what may be said of the effects of an ablation.

    The score of the strongest bot against the weakest is not among them: the games of the base
    chose these two, so that it shrinks under any other rules.
    """
    differences: list[Shown] = []
    unclear: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    judged: Counter[str] = Counter()
    for number, measure in enumerate(MEASURES):
        if measure.name == SPREAD:
            continue
        title, places = ablation.title(measure), 1 if measure.is_share else 2
        for place, is_significant in ablation.judge(number).items():
            name = ablation.variants[place].name
            change = shown(ablation.variants[place].differences[number], measure)
            differences.append(Shown(f"{title}, under {name}", change, places=places))
            said[differences[-1].name] = f"under {name} {_say(measure, change.value, places)}"
            judged[name] += 1
            if is_significant is False:
                unclear.setdefault(name, []).append(title.partition(",")[0])
    clearest = pick_clearest(differences)
    return Effects(
        clearest,
        [(name, names, len(names) == judged[name]) for name, names in unclear.items()],
        said[clearest.best.name] if clearest else "",
    )


def _say(measure: Measure, change: float, places: int) -> str:
    """Return by how much a measure rises or falls, in words."""
    noun, unit = _NOUNS[measure.name]
    return f"{noun} {'falls' if change < 0 else 'rises'} by {abs(change):.{places}f} {unit}"
