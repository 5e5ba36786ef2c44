"""Kinds, actions and packs."""

from __future__ import annotations

from random import Random

import pytest

from engine import CITY, EIGHT, FIVE, KINDS, SEVEN, SIX, SUPPORTS, TAKE, count, counts
from engine.cards import (
    BITS,
    CHARS,
    MOST_COPIES,
    UNIT,
    cards_of,
    pack_of,
    pack_text,
    size,
    to_text,
)


def test_the_kinds_are_the_integers_in_the_order_of_the_notation() -> None:
    """`5 6 7 8 2 3 4 x y z C` are 0 to 10, and `T` is 11."""
    assert list(KINDS) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert (FIVE, SIX, SEVEN, EIGHT, CITY, TAKE) == (0, 1, 2, 3, 10, 11)
    assert SUPPORTS == (0, 1, 2, 3)
    assert CHARS == "5678234xyzCT"


def test_kind_0_is_a_card() -> None:
    """A pack of one 5 is neither empty nor the pack of another kind."""
    assert pack_of([FIVE]) != pack_of([])
    assert size(pack_of([FIVE])) == 1
    assert count(pack_of([FIVE]), FIVE) == 1
    assert count(pack_of([FIVE]), SIX) == 0
    assert pack_text(pack_of([FIVE])) == "5"
    assert cards_of(pack_of([FIVE])) == b"\x00"


def test_the_empty_pack_holds_nothing() -> None:
    """It is 0, of size 0, and an empty text."""
    assert pack_of([]) == 0
    assert size(0) == 0
    assert counts(0) == (0,) * 11
    assert cards_of(0) == b""
    assert pack_text(0) == ""


def test_packs_add_and_subtract_like_the_cards_in_them() -> None:
    """Adding two packs adds their counts, and subtracting one subtracts them again."""
    rng = Random("packs")
    for _ in range(200):
        one = [rng.randrange(11) for _ in range(rng.randrange(15))]
        two = [rng.randrange(11) for _ in range(rng.randrange(15))]
        both = pack_of(one) + pack_of(two)
        assert list(cards_of(both)) == sorted(one + two)
        assert counts(both) == tuple((one + two).count(kind) for kind in KINDS)
        assert size(both) == len(one) + len(two)
        assert both - pack_of(two) == pack_of(one)


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_copies_of_a_kind_do_not_spill_into_the_next(kind: int) -> None:
    """A full digit of a pack leaves all the others at zero."""
    full = pack_of([kind] * MOST_COPIES)
    assert MOST_COPIES == 2**BITS - 1
    assert count(full, kind) == MOST_COPIES
    assert size(full) == MOST_COPIES
    assert full == MOST_COPIES * UNIT[kind]


def test_a_pack_reads_in_kind_order_and_a_row_in_its_own() -> None:
    """A pack does not keep the order of its cards; a row's text does."""
    cards = [CITY, EIGHT, FIVE, EIGHT]
    assert pack_text(pack_of(cards)) == "588C"
    assert to_text(bytes(cards)) == "C858"


def test_every_action_has_one_character() -> None:
    """All twelve in order; the text of no actions is empty."""
    assert to_text(bytes(range(12))) == CHARS
    assert len(set(CHARS)) == 12
    assert to_text(b"") == ""
