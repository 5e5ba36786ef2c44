"""A replay read back is the game that it shows."""

from __future__ import annotations

from io import BytesIO
from random import Random

from arena.addons.studies.analysis import read_page_or_lines
from arena.store.html_page import render_replay
from arena.store.judge import parse_record
from arena.store.timeline import make_timeline
from engine import STANDARD, Record, State


def play(seed: int) -> State:
    """Return a random game that has been played to its end."""
    rng = Random(seed)
    state = State(bytes(rng.sample(STANDARD.deck, len(STANDARD.deck))), STANDARD)
    while not state.over:
        state.apply(rng.choice(state.legal()))
    return state


def test_the_page_of_a_game_is_the_game() -> None:
    """All that was held and taken, also where a City win left rounds without a hand."""
    plies = set()
    for seed in (0, 1, 2, 18, 165, 228, 298):
        state = play(seed)
        record = Record.of(state.deal(), state)
        page = render_replay(make_timeline(record, players=["<one>", "two"]))
        (line,) = read_page_or_lines(BytesIO(page.encode()))
        again = parse_record(line).replay()
        assert again.history == state.history
        assert again.piles == state.piles
        assert sorted(again.removed) == sorted(state.removed)
        plies.add(len(state.history))
    assert plies >= {12, 14, 24, 29, STANDARD.game_plies}  # also at the very end of a round


def test_lines_are_read_as_they_are() -> None:
    """What does not begin as a page is a file of records."""
    text = b"one\n\n<!doctype html>\n"
    assert b"".join(read_page_or_lines(BytesIO(text))) == text
    assert [*read_page_or_lines(BytesIO(b""))] == [b""]
