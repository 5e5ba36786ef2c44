"""Perft: the engine and the plain second referee get the recorded counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import Record
from tests.perft import REFEREES_MOST, engine_counts, entries, referee_counts
from tests.positions import dealt
from tests.tiers import few

ENTRIES = entries()
SHORT_FIRST = sorted(ENTRIES, key=lambda entry: sum(entry["sequences"]))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["what"])
def test_the_engine_counts_what_is_recorded(entry: dict[str, Any]) -> None:
    """Sequences and distinct positions, to the recorded depth."""
    record = Record.from_json(json.dumps(entry))
    counts = engine_counts(record, len(entry["sequences"]))
    assert [sequences for sequences, _ in counts] == entry["sequences"]
    assert [positions for _, positions in counts] == entry["positions"]


@pytest.mark.parametrize("entry", few(SHORT_FIRST, 5), ids=lambda entry: entry["what"])
def test_the_second_referee_counts_the_same(entry: dict[str, Any]) -> None:
    """As deep as it gets in about a second."""
    depth = sum(1 for sequences in entry["sequences"] if sequences <= REFEREES_MOST)
    assert depth >= 2
    counts = referee_counts(Record.from_json(json.dumps(entry)), depth)
    assert [sequences for sequences, _ in counts] == entry["sequences"][:depth]
    assert [positions for _, positions in counts] == entry["positions"][:depth]


def test_counts_worked_out_by_hand() -> None:
    """With hands of one kind, the only choice is when to take.

    Seat 0 plays or takes, then seat 1 does; it cannot take from a row just emptied.
    """
    record = Record(dealt("55555", "66666", "77", removed="CCC"), "")
    assert engine_counts(record, 2) == [(2, 2), (3, 3)]
