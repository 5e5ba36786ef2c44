"""The headline of an ablation: how often its clearest effect, and the sure ones, are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.addons.studies.ablation import (
    COUNTED,
    MEASURES,
    Ablation,
    VariantResult,
    difference,
    estimate,
)
from arena.statistics.intervals import Estimate, Ints
from arena.tournament.rules_and_deals import Variant
from bench.studies.ablation import COLUMNS
from engine import STANDARD

SEED = 33
RUNS = 1000
SHARED = 0.8
"""How often a game under other rules has the luck of the one under the base's."""

_EQUAL = 1e-6
_SHORTER = 20  # plies, by less than which games differ in length
_KINDS = ("city", "draw", "tiebreak", "points")


class Wrong(NamedTuple):
    """Whether the clearest difference is out of its interval, and a sure one is no difference.

    The latter is None where none was called sure.
    """

    interval: bool
    sure: bool | None


def judge(ablation: Ablation, truths: Mapping[tuple[str, int], float]) -> Wrong | None:
    """Return what is wrong of the clearest difference, as it is shown, and of the sure ones.

    The truths are by measure and place of the variant.
    """
    if not (best := ablation.clearest):
        return None
    _, low, high = best.change.scaled(1, best.measure.places)[:3]
    both = [
        (one.change.value, truths[one.measure.name, one.place])
        for one in ablation.effects
        if one.is_sure
    ]
    wrong = [value * truth <= 0 or abs(truth) < _EQUAL for value, truth in both]
    is_out = not low <= truths[best.measure.name, best.place] <= high
    return Wrong(is_out, any(wrong) if wrong else None)


def count(judged: Iterable[Wrong]) -> tuple[int, Counter[str]]:
    """Return of how many headlines so many had a wrong interval, sure differences, wrong ones."""
    made = [*judged]
    found = Counter(interval=sum(one.interval for one in made))
    found["said"] = sum(one.sure is not None for one in made)
    found["sure"] = sum(bool(one.sure) for one in made)
    return len(made), found


def write_row(cells: Sequence[str], runs: int, found: Counter[str]) -> str:
    """Return a row of a table: its first cells, and how often in 100 runs things were."""
    shares = [f"{100 * found[name] / runs:.1f}" for name in ("interval", "said", "sure")]
    return f"| {' | '.join([*cells, *shares])} |"


class Game(NamedTuple):
    """How games end under some rules: shares of all games, points and plies.

    `first` is the share of the decided games that the first seat wins, `lead` the most that points
    decide by, and `plies` the most that a game lasts.
    """

    city: float = 0.2
    drawn: float = 0.01
    tiebreak: float = 0.02
    first: float = 0.52
    lead: int = 30
    plies: int = 48

    def truths(self) -> dict[str, float]:
        """Return each measure of endless games, a share in per cent."""
        scored = 1 - self.city
        points = scored - self.drawn - self.tiebreak
        return {
            "city": 100 * self.city,
            "draws": 100 * self.drawn,
            "tiebreaks": 100 * self.tiebreak,
            "seat_0": 100 * ((1 - self.drawn) * self.first + self.drawn / 2),
            "margin": points * (self.lead + 1) / 2 / scored,
            "plies": self.plies - (_SHORTER - 1) / 2,
        }


class Case(NamedTuple):
    """An ablation: pairings, pairs of each, and how games end under each variant."""

    name: str
    pairings: int
    pairs: int
    variants: Sequence[Game]


_SAME = [Game()] * 3
_OTHER = [Game(city=0.1), Game(city=0.22, plies=50), Game(drawn=0.03, lead=33)]
_SMALL = [Game(city=0.205), Game(first=0.53), Game(lead=31)]
CASES = tuple(
    Case(name, *size, variants)
    for size in ((1, 50), (6, 10), (6, 100))
    for name, variants in (("no effect", _SAME), ("small", _SMALL), ("large", _OTHER))
)


def play(luck: npt.NDArray[np.float64], game: Game) -> Ints:
    """Return the counts of a run by the luck of its games: pairings, pairs, seats, four numbers."""
    ends = np.cumsum([game.city, game.drawn, game.tiebreak])
    kind = (luck[..., :1] >= ends).sum(axis=-1)
    is_first = luck[..., 1] < game.first
    lead = (kind == _KINDS.index("points")) * (1 + np.floor(game.lead * luck[..., 2]))
    counts = np.zeros((*luck.shape[:2], COUNTED), np.int64)
    for number, (seat, how, result) in enumerate(COLUMNS):
        if how in _KINDS:
            own = np.where(how == "draw", 2, is_first[:, :, seat] != (seat == 0))
            is_so = kind[:, :, seat] == _KINDS.index(how)
            counts[:, :, number] = is_so & (own == result)
    counts[:, :, len(COLUMNS)] = lead.sum(axis=2)
    shorter = np.floor(_SHORTER * luck[..., 3])
    counts[:, :, len(COLUMNS) + 1] = (game.plies - shorter).sum(axis=2)
    return counts


def ablate(case: Case, rng: np.random.Generator) -> Ablation:
    """Return a simulated ablation, the base first."""
    luck = rng.random((case.pairings, case.pairs, 2, 4))
    base = play(luck, Game())
    nothing = [Estimate()] * len(MEASURES)
    values = [estimate(base, measure) for measure in MEASURES]
    results = [VariantResult(Variant("base", STANDARD), True, 0, 0, {}, values, nothing)]
    for number, game in enumerate(case.variants):
        is_kept = rng.random(luck.shape[:-1])[..., None] < SHARED
        counts = play(np.where(is_kept, luck, rng.random(luck.shape)), game)
        values = [estimate(counts, measure) for measure in MEASURES]
        changes = [difference(base, counts, measure) for measure in MEASURES]
        results.append(
            VariantResult(Variant(str(number), STANDARD), True, 0, 0, {}, values, changes)
        )
    return Ablation(results, case.pairs)


def simulate(case: Case, runs: int = RUNS) -> Iterator[Wrong]:
    """Yield what is wrong in the headlines of so many ablations."""
    rng = np.random.default_rng([SEED, case.pairings, case.pairs, len(case.name)])
    base = Game().truths()
    for _ in range(runs):
        ablation = ablate(case, rng)
        truths = {
            (measure.name, place): game.truths()[measure.name] - base[measure.name]
            for place, game in enumerate(case.variants, 1)
            for measure in MEASURES
        }
        if found := judge(ablation, truths):
            yield found


def lines(runs: int = RUNS, cases: Sequence[Case] = CASES) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        f"{runs:,} ablations of three variants a row, six measures each; {SHARED:.0%} of the luck\n"
        "of a game is common to all. In how many of 100 the interval of the clearest effect did\n"
        "not have the true one, some effects were called surely more than luck, and one of these\n"
        "is none or has the other sign. 5 may be wrong.\n"
    )
    yield "| effects | pairings | pairs | interval wrong | some sure | sure, wrongly |"
    yield "|---|---|---|---|---|---|"
    for case in cases:
        made = count(simulate(case, runs))
        yield write_row([case.name, f"{case.pairings}", f"{case.pairs}"], *made)
