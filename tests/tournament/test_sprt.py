"""The rounds of a comparison: how long they are, and when there is no further one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import msgspec
import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.tournament.rounds import Counts, make_rounds
from arena.tournament.schedule import PairRange
from arena.tournament.sprt_rounds import SprtRounds, as_comparison, weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD

STOP = Sprt(0.0, 30.0, 0.05, 0.05, 400)
NONE = (0,) * 9


def duel(stop: Sprt = STOP) -> Tournament:
    bots = [resolve(spec) for spec in ("new=greedy", "greedy")]
    return Tournament("compare", 0, 1, bots, STANDARD, stop=stop)


def paired(stop: Sprt = STOP) -> Tournament:
    bots = [resolve(spec) for spec in ("new=greedy", "greedy", "uniform", "denier")]
    return Tournament("compare", 0, 1, bots, STANDARD, panel=2, stop=stop, paired=True)


def differences(**counts: int) -> Counts:
    """Return counts of differences: of minus one, none and one."""
    return (0, 0, counts["minus"], 0, counts["none"], 0, counts["plus"], 0, 0)


def test_the_first_round_has_16_pairs() -> None:
    """Of the one pairing, or of both versions against each opponent."""
    assert make_rounds(duel()).next(0, {}, []) == [PairRange(0, 0, 16)]
    assert make_rounds(paired()).next(0, {}, []) == [PairRange(n, 0, 16) for n in range(4)]


def test_rounds_go_on_from_what_was_played_up_to_the_most() -> None:
    """A sixteenth of it, from 256 pairs on; the last round is shorter, and none follows."""
    rounds = SprtRounds(duel(), STOP)
    assert rounds.next(9, {0: (36, 0, 238, 0, 46)}, []) == [PairRange(0, 320, 340)]
    assert rounds.next(9, {0: (45, 0, 288, 0, 59)}, []) == [PairRange(0, 392, 400)]
    assert rounds.next(9, {0: (45, 0, 296, 0, 59)}, []) == []


@pytest.mark.parametrize("counts", [(10, 0, 80, 0, 40), (40, 0, 80, 0, 20)])
def test_a_verdict_ends_the_run(counts: Counts) -> None:
    """At the upper and at the lower bound; with half the pairs there is none yet."""
    rounds = SprtRounds(duel(), STOP)
    assert weigh(duel(), STOP, {0: counts}).verdict != "undecided"
    assert rounds.next(5, {0: counts}, []) == []
    assert rounds.next(5, {0: tuple(n // 2 for n in counts)}, [])


def test_a_bot_that_is_out_ends_the_run() -> None:
    """Whether it is the new one or the old one."""
    for label in ("new", "greedy"):
        assert SprtRounds(duel(), STOP).next(1, {0: (16, 0, 0, 0, 0)}, [label]) == []
        assert SprtRounds(paired(), STOP).next(1, {}, [label]) == []


def test_all_opponents_have_as_many_deals() -> None:
    """The most pairs are counted over all of them: 200 for each of two."""
    rounds = SprtRounds(paired(), STOP)
    seen: Mapping[int, Counts] = {
        0: differences(minus=17, none=160, plus=22),
        1: differences(minus=17, none=160, plus=22),
        2: (20, 0, 99, 0, 80),
        3: (80, 0, 99, 0, 20),
    }
    assert rounds.next(5, seen, []) == [PairRange(n, 199, 200) for n in range(4)]
    evidence = weigh(paired(), STOP, seen)
    assert (evidence.pairs, evidence.looks[:2], evidence.looks[-1]) == (398, [32, 64], 398)


def test_a_comparison_has_a_pair_for_each_opponent_at_least() -> None:
    """As many as there are opponents are enough, and one fewer is refused."""
    assert as_comparison(paired(), Sprt(0.0, 30.0, 0.05, 0.05, 2)).pairs == 2
    with pytest.raises(InputError, match="max_pairs: 1 is too few for 2 opponents"):
        as_comparison(paired(), Sprt(0.0, 30.0, 0.05, 0.05, 1))


def test_an_opponent_that_is_out_counts_no_more() -> None:
    """Neither its deals nor the old version's share against it; the other one plays on."""
    seen: Mapping[int, Counts] = {
        0: differences(minus=0, none=16, plus=0),
        1: differences(minus=3, none=26, plus=3),
        2: (0, 0, 0, 0, 16),
        3: (8, 0, 20, 0, 4),
    }
    assert SprtRounds(paired(), STOP).next(3, seen, ["uniform"]) == [
        PairRange(1, 32, 48),
        PairRange(3, 32, 48),
    ]
    evidence = weigh(paired(), STOP, seen, ["uniform"])
    assert (evidence.pairs, evidence.looks) == (32, [16, 32])
    assert evidence.shares == [(28 + 1) / (2 * 33)]
    everybody = weigh(paired(), STOP, seen, ["uniform", "denier"])
    assert (everybody.pairs, everybody.ratio, everybody.verdict) == (0, 0.0, "undecided")
    assert SprtRounds(paired(), STOP).next(3, seen, ["uniform", "denier"]) == []


def test_the_status_says_how_far_the_test_is() -> None:
    """Pairs, Elo with interval, ratio between its bounds, pairs to go; nothing before a pair."""
    rounds = SprtRounds(duel(), STOP)
    assert rounds.status({}) == ""
    assert rounds.status({0: (10, 0, 80, 0, 20)}) == (
        "110 pairs, Elo +31 (-3..66), LLR 1.69 [-2.94 ----|-o-- 2.94], ~80 to go"
    )
    twins = {0: differences(minus=1, none=9, plus=6), 1: NONE, 2: (0, 0, 16, 0, 0), 3: (0,) * 5}
    assert SprtRounds(paired(), STOP).status(twins).startswith("16 pairs, Elo +")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seen", "drawn"),
    [((0, 0, 9, 0, 200), "----|---o"), ((200, 0, 9, 0, 0), "o---|----")],
)
def test_a_ratio_beyond_its_bounds_is_drawn_at_them(seen: tuple[int, ...], drawn: str) -> None:
    """However far it is; the interval is that of the comparison at its end."""
    status = SprtRounds(duel(), STOP).status({0: seen})
    assert f" {drawn} " in status
    evidence = weigh(duel(), STOP, {0: seen})
    low, high = (round(evidence.elo(end)) for end in evidence.estimate()[1:3])
    assert f"({low}..{high})" in status


@pytest.mark.parametrize(
    ("rate", "is_one"), [(0.05, True), (0.499, True), (0.5, False), (0, False)]
)
def test_an_error_rate_of_a_stored_comparison_is_below_one_half(rate: float, is_one: bool) -> None:
    """As one that is asked for: a store may come from anywhere."""
    data = {"kind": "sprt", "elo0": 0, "elo1": 5, "alpha": rate, "beta": 0.05, "max_pairs": 9}
    with nullcontext() if is_one else pytest.raises(msgspec.ValidationError):
        msgspec.convert(data, Sprt)
