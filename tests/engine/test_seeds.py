"""Randomness has an address: the same address gives the same stream, always and everywhere."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import combinations
from random import Random

from engine.seeds import Step, digest, stream
from engine.state import random_deal

ADDRESSES: list[tuple[Step, ...]] = [
    (),
    ("",),
    (0,),
    ("0",),
    (1,),
    ("1",),
    (-1,),
    (11,),
    (1, 1),
    ("1", 1),
    (1, "1"),
    ((1, 1),),
    ((1,), 1),
    (1, (1,)),
    ("1, 1",),
    ("(1, 1)",),
    ("deal",),
    ("deal", 1),
    ("deal", "1"),
    ("deal1",),
    ("d", "eal1"),
    ("a", "b", 1),
    ("b", "a", 1),
    ("a'", "b"),
    ("a", "'b"),
    ("é",),
    ("\\xe9",),
]


def test_the_same_address_gives_the_same_stream() -> None:
    """Asking again starts the stream anew, whatever was drawn before."""
    first = stream(7, "deal", "a", 3)
    drawn = [first.random() for _ in range(5)]
    stream(7, "deal", "a", 4).random()
    again = stream(7, "deal", "a", 3)
    assert [again.random() for _ in range(5)] == drawn


def test_different_addresses_give_different_streams() -> None:
    """A word is not a number, a step is not two, and the order counts."""
    for one, other in combinations(ADDRESSES, 2):
        assert digest(7, *one) != digest(7, *other), (one, other)
        assert stream(7, *one).random() != stream(7, *other).random(), (one, other)


def test_the_master_seed_changes_every_stream() -> None:
    """0 is a seed like any other, and so is a negative one."""
    masters = [0, 1, -1, 7, 10, 2**64, 10**63]
    assert len({digest(master, "deal") for master in masters}) == len(masters)
    assert len({digest(master) for master in masters}) == len(masters)


def test_a_master_seed_and_a_first_step_do_not_run_together() -> None:
    """Seed 1 with step 23 is not seed 12 with step 3."""
    assert digest(1, 23) != digest(12, 3)
    assert digest(1, "23") != digest(123)


def test_a_digest_has_128_bits() -> None:
    """None is longer, and of a hundred one at least uses the highest byte."""
    digests = [digest(0, number) for number in range(100)]
    assert all(0 <= number < 2**128 for number in digests)
    assert max(digests) >= 2**120
    assert len(set(digests)) == 100


def test_streams_do_not_touch_the_module_level_generator() -> None:
    """Drawing from one leaves `random` as it was, and seeding `random` changes no stream."""
    before = random.getstate()
    drawn = stream(0, "a").random()
    assert random.getstate() == before
    random.seed(5)
    assert stream(0, "a").random() == drawn
    random.setstate(before)


def test_streams_do_not_depend_on_the_hash_seed() -> None:
    """Processes with other string hashes draw the same numbers and the same deal."""
    program = (
        "from engine.seeds import digest, stream; from engine.state import random_deal;"
        "print(digest(0, 'deal', ('a', 1)), random_deal(stream(0, 'deal')).hex())"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    ]
    here = f"{digest(0, 'deal', ('a', 1))} {random_deal(stream(0, 'deal')).hex()}\n"
    assert printed == [here] * 3


def test_every_card_has_the_same_chance_of_every_place() -> None:
    """In 3,000 deals a city is the first card 200 times on the mean; 5 sigma are 69."""
    first = sum(random_deal(stream(0, "deal", number))[0] == 10 for number in range(3000))
    assert abs(first - 200) < 69


def test_a_shuffled_deal_holds_all_the_cards() -> None:
    """It is a permutation of the deck, another for another generator."""
    one, other = random_deal(Random(0)), random_deal(Random(1))
    assert sorted(one) == sorted(other)
    assert len(one) == 45
    assert one != other
    assert one == random_deal(Random(0))
