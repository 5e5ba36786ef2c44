"""What a take changed is marked: majorities, sets, cities."""

from __future__ import annotations

from typing import Any

import pytest

from arena.store.timeline import find_marks
from engine import STANDARD, Rules, pack_of
from engine.notation import parse_cards


def marks(mine: str, taken: str, theirs: str, seat: int = 0, rules: Rules = STANDARD) -> Any:
    """Return the marks of a take by a seat that had these cards, against those of the other."""
    own, more, other = (pack_of(parse_cards(text)) for text in (mine, taken, theirs))
    before, after = (own, other), (own + more, other)
    if seat:
        before, after = before[::-1], after[::-1]
    return find_marks(before, after, seat, rules)


def majority(kind: str, before: int | None, after: int | None) -> dict[str, Any]:
    """Return the mark of a majority."""
    return {"what": "majority", "kind": kind, "before": before, "after": after}


@pytest.mark.parametrize("seat", [0, 1])
def test_a_majority_is_won_levelled_or_turned(seat: int) -> None:
    """Who had it and who has it; where neither changes there is no mark (R12)."""
    other = 1 - seat
    assert marks("", "5", "", seat) == [majority("5", None, seat)]
    assert marks("7", "7", "77", seat) == [majority("7", other, None)]
    assert marks("8", "88", "88", seat) == [majority("8", other, seat)]
    assert marks("6", "66", "", seat) == []
    assert marks("6", "6", "666", seat) == []


def test_sets_are_counted() -> None:
    """Only those that are new (R13)."""
    assert marks("567", "8", "8888")[-1] == {"what": "set", "count": 1}
    assert marks("", "55667788", "5555666677778888")[-1] == {"what": "set", "count": 2}
    assert marks("5678", "567", "5555666677778888") == []


def test_cities_are_counted_out_of_those_that_are_needed() -> None:
    """Under other rules there may be fewer (R11)."""
    assert marks("C", "2C", "") == [{"what": "city", "held": 2, "needed": 3}]
    two = Rules(cities_needed=2)
    assert marks("", "CC", "", rules=two) == [{"what": "city", "held": 2, "needed": 2}]
    assert marks("CC", "xyz234", "") == []
