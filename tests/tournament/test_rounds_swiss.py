"""Swiss rounds: worth by hand, everybody plays or has the bye, and nothing is random."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from arena.tournament.rounds import Counts, make_rounds
from arena.tournament.swiss_rounds import SwissRounds
from bench.studies.fields import Simulated
from bench.studies.swiss import compare, make_swiss
from tests.tiers import few


def test_worth_is_own_share_and_that_of_the_opponents() -> None:
    """3 bots: a beat b 3 : 1 in two pairs; c had the bye and is worth a half."""
    rounds = SwissRounds(make_swiss(3, 2, 3))
    counts: dict[int, Counts] = {0: (0, 0, 1, 0, 1)}
    assert rounds.worth(counts) == [Fraction(1, 2)] * 3
    # then a - c ends 4 : 0. a has 7 of 8, b 1 of 4, c 0 of 4; a met b and c, both met a
    counts[1] = (0, 0, 0, 0, 2)
    assert rounds.worth(counts) == [
        (Fraction(7, 8) + Fraction(1, 8)) / 2,
        (Fraction(1, 4) + Fraction(7, 8)) / 2,
        (Fraction(0) + Fraction(7, 8)) / 2,
    ]


@pytest.mark.parametrize("bots", [2, 3, 7, 20])
def test_everybody_plays_every_round_or_has_the_bye(bots: int) -> None:
    """No rematch while there are others, and byes are spread evenly."""
    cup = make_swiss(bots, 3, 5)
    elos = {label: 1500 + 20.0 * n for n, label in enumerate(cup.labels)}
    before: dict[int, Counts] = {}
    played: Counter[str] = Counter()
    rounds = [*Simulated(elos, 1).rounds(make_rounds(cup), cup.pairings)]
    assert len(rounds) == 5
    for counts in rounds:
        new = [n for n in counts if counts[n] != before.get(n)]
        labels = [label for n in new for label in cup.pairings[n]]
        assert len(labels) == len({*labels}) == bots - bots % 2
        assert all(sum(counts[n]) - sum(before.get(n, ())) == 3 for n in new)
        if bots == 20:
            assert not {*new} & before.keys()
        played.update(labels)
        before = counts
    assert max(played.values()) - min(played[label] for label in cup.labels) <= 1


FIELDS = [(6, 6), *((bots, 8) for bots in range(5, 10)), (11, 4), (12, 4), (20, 2)]
MANY = [(bots, 50) for bots in range(5, 10)]


@pytest.mark.parametrize(("bots", "seeds"), few(FIELDS + MANY, 0, len(FIELDS), unpack=True))
def test_nobody_meets_again_while_that_can_be_avoided(bots: int, seeds: int) -> None:
    """All numbers of rounds up to a round robin, and in small fields up to two of them."""
    opponents = bots - 1 + bots % 2  # with a bye for each where their number is odd
    for wanted in range(1, opponents * (1 + (bots < 10)) + 1):
        for seed in range(seeds):
            cup = replace(make_swiss(bots, 1, wanted), seed=seed)
            elos = {label: 1500 + 40.0 * n for n, label in enumerate(cup.labels)}
            *_, counts = Simulated(elos, seed).rounds(make_rounds(cup), cup.pairings)
            played = Counter(label for n in counts for label in cup.pairings[n] * sum(counts[n]))
            laps = -(-wanted // opponents)
            assert max(map(sum, counts.values())) <= laps, (wanted, seed)
            assert all(0 <= wanted - played[label] <= laps * (bots % 2) for label in cup.labels)


def test_bots_that_are_out_get_no_more_games() -> None:
    """The others go on, with a bye; one alone ends the run."""
    cup = make_swiss(4, 2, 5)
    rounds = SwissRounds(cup)
    even: Counts = (0, 0, 2, 0, 0)
    legs = rounds.next(1, {0: even, 5: even}, ["b000"])
    assert [(cup.pairings[leg.pairing], *leg[1:]) for leg in legs] == [(("b001", "b003"), 0, 2)]
    assert rounds.next(1, {0: even, 5: even}, ["b000", "b001", "b003"]) == []
    assert rounds.next(5, {}, []) == []


def test_a_rematch_plays_further_pairs() -> None:
    """Two bots meet again and again, on other deals each time."""
    rounds = SwissRounds(make_swiss(2, 4, 3))
    assert rounds.next(0, {}, ()) == [(0, 0, 4)]
    assert rounds.next(2, {0: (8, 0, 0, 0, 0)}, ()) == [(0, 8, 12)]


@pytest.mark.slow
def test_ratings_are_those_of_the_full_round_robin() -> None:
    """A field of 16 in 6 rounds: 9 of 10 bots have its rating in their interval."""
    found = [compare(run, 16, 20, [6])[6].covers for run in range(4)]
    assert sum(found) / len(found) > 0.85


@pytest.mark.study
def test_ratings_of_64_bots_are_those_of_the_full_round_robin() -> None:
    """12 rounds of 10 pairs, 20 fields: 19 of 20 bots (bench/STUDIES.md)."""
    found = [compare(run, 64, 10, [12])[12] for run in range(20)]
    assert sum(one.covers for one in found) / len(found) > 0.93


def test_the_order_of_the_names_does_not_matter() -> None:
    """The first round's opponents are drawn from the seed and the labels."""
    cup = make_swiss(10, 2, 3)

    def first(seed: int, step: int) -> set[frozenset[str]]:
        turned = replace(cup, seed=seed, entries=cup.entries[::step])
        return {frozenset(turned.pairings[leg[0]]) for leg in SwissRounds(turned).next(0, {}, ())}

    assert first(0, 1) == first(0, -1) != first(1, 1)
