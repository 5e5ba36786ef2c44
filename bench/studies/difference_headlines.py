"""Headlines of comparisons, ablations and several runs: how often each kind of sentence is wrong.

The truth is known: the lead of a bot, the shares of a game, the Elo of a bot in both runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.insight.ablation import Ablation, VariantResult, difference, estimate
from arena.insight.changes import Changes
from arena.insight.comparison import SprtResult
from arena.insight.difference_columns import RATING_CHANGES
from arena.insight.difference_headline import Clearest, find_compared, find_effects, find_moved
from arena.insight.pair_counts import COLUMNS, MEASURES, Measure, count_pairs
from arena.statistics.apart import pair_scores
from arena.statistics.common_scale import CommonScale
from arena.statistics.counts import PairTotals
from arena.statistics.field import Field
from arena.statistics.intervals import Estimate, Ints
from arena.statistics.sprt import PAIR_SCORES, looks, share_of
from arena.statistics.stopped import estimate_mean
from arena.tournament.schedule import round_robin
from arena.tournament.sprt_rounds import Evidence
from arena.tournament.stop import Sprt
from bench.studies.fields import Simulated
from bench.studies.orders import true_elos
from bench.studies.sprt import ENDS, ERROR_RATE, FAR, MOST, NEAR, Finished, Setup, play_tests
from engine import STANDARD

SEED = 33
RUNS = 1000
USUAL = 38.0
_EQUAL = 1e-6

Wrong: TypeAlias = Mapping[str, bool]
"""Of each kind of sentence that a headline has, whether it is wrong."""


class Case(NamedTuple):
    """What is simulated, and what judges one run by its generator."""

    name: str
    judge: Callable[[np.random.Generator], Wrong]


def _judge_clearest(found: Clearest, truths: Mapping[str, float], factor: float = 1.0) -> Wrong:
    """Return whether the clearest difference is out of its interval, and a sure one is none."""
    best = found.best
    low, high = (round(end, best.places) for end in best.estimate[1:3])
    wrong = {"interval": not low <= factor * truths[best.name] <= high}
    if found.sure:
        wrong["sure"] = any(
            one.estimate.value * truths[one.name] <= 0 or abs(truths[one.name]) < _EQUAL
            for one in found.sure
        )
    return wrong


# comparisons


def judge_test(test: Finished, setup: Setup) -> Wrong:
    """Return what is wrong in the headline of a comparison of two bots that has ended."""
    mean1, numbers = 2 * share_of(setup.elo1), looks(test.pairs)
    evidence = Evidence(test.counts, PAIR_SCORES, 1.0, mean1, ENDS, numbers)
    mean = estimate_mean(test.counts, PAIR_SCORES, 1.0, mean1, numbers, ENDS)
    elo = Estimate(*map(evidence.elo, mean[:3]))
    stop = Sprt(0.0, setup.elo1, ERROR_RATE, ERROR_RATE, setup.most)
    said = evidence.verdict
    result = SprtResult("new", "old", (), stop, evidence, said, elo, 0, (), "", None)
    claim = find_compared(result).claim
    wrong = {"interval": not round(elo.low) <= setup.elo <= round(elo.high)}
    if claim in ("better", "weaker"):
        wrong["sure"] = setup.elo <= 0 if claim == "better" else setup.elo >= 0
    return wrong


def _compare(setup: Setup) -> Callable[[np.random.Generator], Wrong]:
    tests: list[Finished] = []

    def judge(_rng: np.random.Generator) -> Wrong:
        if not tests:
            tests.extend(play_tests(setup, RUNS))
        return judge_test(tests.pop(), setup)

    return judge


# ablations


class Game(NamedTuple):
    """How games end under some rules: shares of all games, the first seat's, points and plies.

    `lead` is the most that points decide by, and `plies` the most that a game lasts.
    """

    city: float = 0.2
    drawn: float = 0.01
    tiebreak: float = 0.02
    first: float = 0.52
    lead: int = 30
    plies: int = 48

    def truth(self, measure: Measure) -> float:
        """Return a measure of endless games."""
        scored = 1 - self.city
        points = scored - self.drawn - self.tiebreak
        return {
            "city": self.city,
            "draws": self.drawn,
            "tiebreaks": self.tiebreak,
            "seat_0": (1 - self.drawn) * self.first + self.drawn / 2,
            "margin": points * (self.lead + 1) / 2 / scored,
            "plies": self.plies - (_SHORTER - 1) / 2,
        }[measure.name]


_SHORTER = 20  # plies, by less than which games differ in length
_KINDS = ("city", "draw", "tiebreak", "points")
_SHARED = 0.8  # of the luck of a game


def play_games(luck: npt.NDArray[np.float64], game: Game) -> Ints:
    """Return the counts of a run by the luck of its games: pairings, pairs, seats, four numbers."""
    ends = np.cumsum([game.city, game.drawn, game.tiebreak])
    kind = (luck[..., :1] >= ends).sum(axis=-1)
    first_seat_wins = luck[..., 1] < game.first
    lead = (kind == _KINDS.index("points")) * (1 + np.floor(game.lead * luck[..., 2]))
    plies = game.plies - np.floor(_SHORTER * luck[..., 3])
    counts = count_pairs(luck.shape[0], luck.shape[1], [])
    for seat in (0, 1):
        won = first_seat_wins[:, :, seat] == (seat == 0)
        half = np.where(kind[:, :, seat] == _KINDS.index("draw"), 1, 2 * won)
        for number, (of_seat, of_half, how) in enumerate(COLUMNS):
            if of_seat == seat and how in _KINDS:
                counts[:, :, number] += (half == of_half) & (kind[:, :, seat] == _KINDS.index(how))
    counts[:, :, len(COLUMNS)] = lead.sum(axis=2)
    counts[:, :, len(COLUMNS) + 1] = plies.sum(axis=2)
    return counts


def _ablate(
    pairings: int, pairs: int, variants: Sequence[Game]
) -> Callable[[np.random.Generator], Wrong]:
    games = [Game(), *variants]
    names = ["base", *(f"v{number}" for number in range(1, len(games)))]

    def judge(rng: np.random.Generator) -> Wrong:
        luck = rng.random((pairings, pairs, 2, 4))
        results, base = [], None
        for name, game in zip(names, games, strict=True):
            own = rng.random(luck.shape)
            kept = rng.random(luck.shape[:-1])[..., None] < _SHARED
            counts = play_games(np.where(kept, luck, own) if results else luck, game)
            base = counts if base is None else base
            values = [estimate(counts, measure, None) for measure in MEASURES]
            changes = [
                difference(base, counts, measure, None) if results else Estimate()
                for measure in MEASURES
            ]
            results.append(VariantResult(name, STANDARD, True, 0, 0, {}, values, changes))
        ablation = Ablation(results, pairs, None)
        found = find_effects(ablation).clearest
        assert found
        truths = {
            f"{ablation.title(measure)}, under {name}": (100 if measure.is_share else 1)
            * (game.truth(measure) - games[0].truth(measure))
            for name, game in zip(names, games, strict=True)
            for measure in MEASURES
            if measure.name != "spread"
        }
        return _judge_clearest(found, truths)

    return judge


# several runs


def _move(
    elos: Sequence[float], moves: Sequence[float], pairs: int, spread: float, *, rules: bool = False
) -> Callable[[np.random.Generator], Wrong]:
    """Return what judges a run and another one, in which bots have other Elo ratings.

    The bots of a `moves` that is not 0 have changed, and with `rules` all can have.
    """
    labels = [f"b{number:03}" for number in range(len(elos))]
    everyone = round_robin(labels)
    tested = [rules or bool(move) for move in moves]

    def judge(rng: np.random.Generator) -> Wrong:
        beyond = (spread * rng.normal(size=(2, len(everyone)))).tolist()
        fields, truths = [], []
        for number, by in enumerate((0.0, 1.0)):
            own = {
                label: elo + by * move for label, elo, move in zip(labels, elos, moves, strict=True)
            }
            changed = {
                two: tested[labels.index(two.bot)] or tested[labels.index(two.opponent)]
                for two in everyone
            }
            apart = {
                two: beyond[number if changed[two] else 0][place]
                for place, two in enumerate(everyone)
            }
            played = Simulated(own, int(rng.integers(2**32)), beyond=apart)
            totals = [
                PairTotals(place, *pair_scores(0, 1, played.play(two, pairs))[2:])
                for place, two in enumerate(everyone)
            ]
            fields.append(Field(everyone, totals, labels))
            truths.append(true_elos(labels, played))
        same = [
            label for label, is_tested in zip(labels, tested, strict=True) if rules or not is_tested
        ]
        scale = CommonScale(*fields, [(label, label) for label in same])
        rows = []
        changes: dict[str, float] = {}
        zero = [np.mean([truth[label] for label in same]) for truth in truths]
        for label, is_tested in zip(labels, tested, strict=True):
            found = scale.change(label, label)
            if is_tested and found:
                cells = (round(one, 1) for one in found.estimate[:3])
                rows.append((label, "changed", 0.0, 0.0, *cells, True))
                changes[label] = float(truths[1][label] - zero[1] - truths[0][label] + zero[0])
        ratings = pd.DataFrame(rows, columns=RATING_CHANGES.names)
        made = find_moved(Changes([], [], ratings, ratings, ratings, ratings, [])).clearest
        return _judge_clearest(made, changes) if made else {}

    return judge
