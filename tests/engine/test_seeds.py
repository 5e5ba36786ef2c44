"""Randomness has an address: the same address gives the same stream, always and everywhere."""

from __future__ import annotations

import copy
import os
import random
import subprocess
import sys
from itertools import combinations
from random import Random

import pytest

from engine.seeds import Step, address, digest, generator, noise, stream
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
    """Asking again starts the stream again, whatever was drawn before."""
    first = stream(7, "deal", "a", 3)
    drawn = [first.random() for _ in range(5)]
    stream(7, "deal", "a", 4).random()
    again = stream(7, "deal", "a", 3)
    assert [again.random() for _ in range(5)] == drawn


def test_different_addresses_give_different_streams() -> None:
    """A word is not a number, a step is not two, and the order counts."""
    for one, other in combinations(ADDRESSES, 2):
        first, second = address(7, *one), address(7, *other)
        assert digest(first) != digest(second), (one, other)
        assert noise(first, 8) != noise(second, 8), (one, other)
        assert stream(7, *one).random() != stream(7, *other).random(), (one, other)


def test_the_master_seed_changes_every_stream() -> None:
    """0 is a seed like any other, and so is a negative one."""
    masters = [0, 1, -1, 7, 10, 2**64, 10**63]
    assert len({digest(address(master, "deal")) for master in masters}) == len(masters)
    assert len({digest(address(master)) for master in masters}) == len(masters)


def test_a_master_seed_and_a_first_step_do_not_run_together() -> None:
    """Seed 1 with step 23 is not seed 12 with step 3."""
    assert address(1, 23) != address(12, 3)
    assert address(1, "23") != address(123)


def test_a_digest_has_128_bits() -> None:
    """No digest is longer, and of a hundred at least one uses the highest byte."""
    digests = [digest(address(0, number)) for number in range(100)]
    assert all(0 <= number < 2**128 for number in digests)
    assert max(digests) >= 2**120
    assert len(set(digests)) == 100


def test_a_generator_equals_random_with_the_same_seed() -> None:
    """It has the same numbers, state and copies; gauss begins without a stored number."""
    for seed in (0, 1, 2**32, 2**128 - 1):
        ours, theirs = generator(seed), Random(seed)
        assert ours.getstate() == theirs.getstate()
        assert [ours.gauss(0, 1) for _ in range(3)] == [theirs.gauss(0, 1) for _ in range(3)]
        twin = copy.deepcopy(ours)
        assert ours.sample(range(99), 9) == theirs.sample(range(99), 9)
        assert twin.random() != ours.random()


def test_a_longer_noise_begins_with_a_shorter_one() -> None:
    """So a seat's luck does not depend on the number of cards."""
    assert noise(b"here", 400)[:32] == noise(b"here", 32) != noise(b"there", 32)


def test_streams_do_not_touch_the_module_level_generator() -> None:
    """Drawing from one leaves `random` as it was, and seeding `random` changes no stream."""
    before = random.getstate()
    drawn = stream(0, "a").random()
    assert random.getstate() == before
    random.seed(5)
    assert stream(0, "a").random() == drawn
    random.setstate(before)


@pytest.mark.slow
def test_streams_do_not_depend_on_the_hash_seed() -> None:
    """Processes with other string hashes draw the same numbers and the same deal."""
    program = (
        "from engine.seeds import address, digest, stream;"
        "from engine.state import random_deal;"
        "print(digest(address(0, 'deal', ('a', 1))), random_deal(stream(0, 'deal')).hex())"
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
    here = f"{digest(address(0, 'deal', ('a', 1)))} {random_deal(stream(0, 'deal')).hex()}\n"
    assert printed == [here] * 3


def test_every_card_has_the_same_chance_of_every_place() -> None:
    """In 3,000 deals a city is the first card 200 times on average; 5 sigma are 69."""
    first = sum(random_deal(stream(0, "deal", number))[0] == 10 for number in range(3000))
    assert abs(first - 200) < 69


def test_a_shuffled_deal_holds_all_the_cards() -> None:
    """It is a permutation of the deck; another generator gives another one."""
    one, other = random_deal(Random(0)), random_deal(Random(1))
    assert sorted(one) == sorted(other)
    assert len(one) == 45
    assert one != other
    assert one == random_deal(Random(0))
