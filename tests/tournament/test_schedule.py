"""The schedule: every two bots meet once, and every pair has an address of its own."""

from __future__ import annotations

from arena.tournament.schedule import Fixture, Pairing, round_robin


def test_every_two_bots_meet_once() -> None:
    """Four bots have six pairings, in the order in which the bots were named."""
    pairings = round_robin(["d", "c", "b", "a"])
    assert pairings[0] == Pairing("d", "c")
    assert len(pairings) == 6
    assert len({frozenset(pairing) for pairing in pairings}) == 6


def test_labels_cannot_be_confused_in_an_address() -> None:
    """Two pairs of labels that are equal when joined have different addresses."""
    one, two = Pairing("a", "b', 'c"), Pairing("a', 'b", "c")
    assert Fixture(one, 0, 0).draw(0) != Fixture(two, 0, 0).draw(0)
