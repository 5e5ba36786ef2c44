"""Estimate what games are like under some rules, and what a change of the rules changes.

Every measure is a ratio of two counts, summed over all pairs of games (`arena.statistics`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

import numpy as np

from arena.errors import InputError
from arena.games.match import GameResult
from arena.insight.summary import cut
from arena.statistics.difference import compare_ratios, estimate_ratio
from arena.statistics.intervals import Estimate, Ints
from arena.store import store
from arena.store.cells import write_rows
from arena.tournament.rule_changes import BASE
from engine import Rules

SPREAD: Final = "spread"
_BATCH = 10_000  # games that are in memory at once


class Measure(NamedTuple):
    """One sum of counts divided by another one, which is `scale` in a pair that counts in full.

    A share is between 0 and 1.
    """

    name: str
    counted: str
    weight: str
    scale: int
    is_share: bool

    @property
    def whole(self) -> int | None:
        """The weight of a pair that counts in full, None where this is not a share."""
        return self.scale if self.is_share else None

    @property
    def digits(self) -> int:
        """To how many digits an estimate is rounded."""
        return 4 if self.is_share else 3


MEASURES: Final = (
    Measure("city", "city", "games", 2, is_share=True),
    Measure("draws", "draws", "games", 2, is_share=True),
    Measure("tiebreaks", "tiebreaks", "games", 2, is_share=True),
    Measure("seat_0", "seat_0", "half_points", 4, is_share=True),
    Measure("margin", "margin", "scored", 2, is_share=False),
    Measure(SPREAD, "first", "half_points", 4, is_share=True),
    Measure("plies", "plies", "games", 2, is_share=False),
)
"""City wins, draws and tie-breaks as shares of the games, the score of seat 0, the winner's mean
lead in the games that were scored, the score of the strongest bot against the weakest, length."""


class Contest(NamedTuple):
    """The pairing of the strongest bot and the weakest; `first` says that the stronger is first."""

    pairing: int
    first: bool


class PairSums(NamedTuple):
    """What the games of one pair add up to; games that were forfeited are in no sum.

    `games` are those that count, `scored` those of them that were not won by City, and `margin`
    the sum of their winners' leads in points. `first` and `seat_0` are scores in half points, of
    the pairing's first bot and of seat 0.
    """

    pairing: int
    pair: int
    games: int
    city: int
    tiebreaks: int
    draws: int
    first: int
    seat_0: int
    scored: int
    margin: int
    plies: int


def sum_game(pairing: int, game: GameResult) -> PairSums:
    """Return what one game adds to the sums of its pair."""
    number, seat, winner, win_type, points, opponent_points, plies = game[:7]
    if win_type == "forfeit":
        return PairSums(pairing, number, *[0] * 9)
    first = 1 if winner is None else 2 - 2 * winner
    city = win_type == "city"
    return PairSums(
        pairing,
        number,
        games=1,
        city=city,
        tiebreaks=win_type == "tiebreak",
        draws=win_type == "draw",
        first=first,
        seat_0=first if seat == 0 else 2 - first,
        scored=not city,
        margin=0 if city else abs(points - opponent_points),
        plies=plies,
    )


class Counted:
    """The sums of all pairs of a run: a row for each, zeros where both games were forfeited."""

    def __init__(self, pairings: int, pairs: int, sums: Iterable[PairSums]) -> None:
        """Add up the sums of a run with this many pairs in every pairing."""
        size = len(PairSums._fields)
        self._table = np.zeros((pairings, pairs, size + 1), dtype=np.int64)
        rest = iter(sums)
        while batch := [*islice(rest, _BATCH)]:
            rows = np.array(batch, dtype=np.int64)
            np.add.at(self._table[:, :, :size], (rows[:, 0], rows[:, 1]), rows)
        self._table[:, :, -1] = 2 * self._table[:, :, _COLUMNS["games"]]

    def ratio(self, measure: Measure, contest: Contest | None) -> Ints | None:
        """Return count and weight of a measure, by pairing and pair; None if no pairing has it."""
        both = self._table[:, :, [_COLUMNS[measure.counted], _COLUMNS[measure.weight]]]
        if measure.name != SPREAD:
            return both
        if contest is None:
            return None
        of_two = both[contest.pairing : contest.pairing + 1].copy()
        if not contest.first:
            of_two[:, :, 0] = of_two[:, :, 1] - of_two[:, :, 0]
        return of_two


_COLUMNS: Final = {name: n for n, name in enumerate([*PairSums._fields, "half_points"])}


def estimate(counted: Counted, measure: Measure, contest: Contest | None) -> Estimate:
    """Return a measure of a run's games; nan where nothing can be said."""
    sums = counted.ratio(measure, contest)
    found = Estimate() if sums is None else estimate_ratio(sums, measure.whole)
    return found.scaled(1, measure.digits)


def difference(
    base: Counted, changed: Counted, measure: Measure, contest: Contest | None
) -> Estimate:
    """Return by how much a measure is larger in the second run than in the first one.

    Both have the same pairings and pairs.
    """
    sums = base.ratio(measure, contest), changed.ratio(measure, contest)
    return compare_ratios(*sums, measure.whole).scaled(1, measure.digits)


FILE: Final = "ablation.csv"
COLUMNS: Final = [
    *("variant", "measure", "bot", "opponent", "pairs", "games", "forfeits", "same_deals"),
    *("value", "value_low", "value_high", "difference", "difference_low", "difference_high"),
]
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


@dataclass(frozen=True)
class VariantResult:
    """What the games under some rules came to.

    `values` and `differences`, those from the base, have an estimate for each measure. `out` has
    the faults of bots that had too many, as text by label. The base has no differences.
    """

    name: str
    rules: Rules
    same_deals: bool
    games: int
    forfeits: int
    out: Mapping[str, str]
    values: Sequence[Estimate]
    differences: Sequence[Estimate]


@dataclass(frozen=True)
class Ablation:
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

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the file: one for each variant and measure."""
        for variant in self.variants:
            estimates = zip(MEASURES, variant.values, variant.differences, strict=True)
            for measure, value, difference in estimates:
                bots = self.contest if measure.name == SPREAD else None
                yield dict(
                    zip(
                        COLUMNS,
                        [
                            *(variant.name, measure.name, *(bots or (None, None)), self.pairs),
                            *(variant.games, variant.forfeits),
                            *(
                                "yes" if variant.same_deals else "no",
                                *value.cells,
                                *difference.cells,
                            ),
                        ],
                        strict=True,
                    )
                )


def check_folder(path: Path) -> None:
    """Make sure that a folder holds an ablation or nothing; raises InputError."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: not a folder")
    try:
        names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if store.NAME in names:
        raise InputError(f"{path}: holds a run; choose another folder for an ablation")
    if names and not names & {FILE, BASE}:
        raise InputError(f"{path}: holds other files and no ablation; choose a new folder")
    if (path / FILE).exists() and not (path / FILE).is_file():
        raise InputError(f"{path / FILE}: not a regular file")


def write(path: Path, ablation: Ablation) -> None:
    """Write ablation.csv into a folder, over an earlier one, in one step."""
    temporary = path / f".{FILE}.part"
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            _write_rows(file, ablation)
        os.replace(temporary, path / FILE)
    finally:
        temporary.unlink(missing_ok=True)


def _write_rows(file: TextIO, ablation: Ablation) -> None:
    digits = {measure.name: measure.digits for measure in MEASURES}
    write_rows(
        file,
        COLUMNS,
        (
            [_round(cell, digits[row["measure"]]) for cell in row.values()]
            for row in ablation.rows()
        ),
    )


def _round(cell: Any, places: int) -> Any:
    """Return a cell, a number with fewer places that is still a number."""
    return Decimal(f"{cell:.{places}f}") if isinstance(cell, float) else cell


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
    yield f"{'':<{_NAME_WIDTH}} {'value':>8} {'95 %':>15} {'change':>8} {'95 %':>16}"
    for number, measure in enumerate(MEASURES):
        yield ablation.title(measure)
        for variant in ablation.variants:
            name = cut(variant.name, _NAME_WIDTH - 2)
            value = _cells(variant.values[number], measure, "")
            change = _cells(variant.differences[number], measure, "+")
            line = f"  {name:<{_NAME_WIDTH - 2}} {value[0]:>8} {value[1]:>15}"
            yield f"{line} {change[0]:>8} {change[1]:>16}".rstrip()


def _cells(one: Estimate, measure: Measure, sign: str) -> tuple[str, str]:
    """Return an estimate and its interval as texts, empty where nothing can be said."""
    factor, digits = (100, 1) if measure.is_share else (1, 2)
    texts = [
        "" if number is None else f"{number * factor:{sign}.{digits}f}" for number in one.cells
    ]
    return texts[0], f"{texts[1]}..{texts[2]}" if texts[1] else ""
