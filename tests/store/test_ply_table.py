"""The table of plies of a page without scripts agrees with the game, and has one seat's hand."""

from __future__ import annotations

from random import Random

import pytest

from arena.store.board import Layout, group
from arena.store.html_page import render_replay, tabulate
from arena.store.timeline import make_timeline
from arena.tournament.judged import ILLEGAL, Judged
from arena.tournament.keys import NAMINGS, Naming
from engine import points
from engine.view import view
from tests.store.games import random_record
from tests.store.test_timeline import states_of
from tests.tiers import few

RECORD = random_record(Random(4))
PLAYERS = ("<b>ann", "bob")


@pytest.mark.parametrize("naming", few(NAMINGS))
def test_every_ply_has_its_action_cards_and_points(naming: Naming) -> None:
    """In the words of `arena show`."""
    rows = tabulate(make_timeline(RECORD, players=PLAYERS), naming)
    states = states_of(RECORD)
    layout = Layout((view(states[0], 0), view(states[0], 1)), naming)
    for row, state in zip(rows, states, strict=True):
        layout.follow((view(state, 0), view(state, 1)))
        assert (row.ply, row.round) == (len(state.history), state.round)
        assert row.row == ", ".join(card.name for card in layout.row)
        assert row.hands == [", ".join(group(layout.hands[seat])) for seat in (0, 1)]
        assert row.points == "{} : {}".format(*points(state.piles, state.rules))
        if row.ply:
            move = layout.moves[-1]
            assert row.event == move.describe(PLAYERS[move.seat])
    assert rows[0].event == "the deal"


def test_a_loss_stands_where_the_decision_led() -> None:
    """With what was better, and whether it was a blunder; what is as good is not better."""
    chances, equal = [ILLEGAL] * 10 + [410_000, 523_456], [ILLEGAL] * 10 + [500_000, 500_000]
    judged = [
        Judged(0, 10, chances, 113_456, 50_000, first=200_000),
        Judged(1, 10, chances, 90_000, 50_000),
        Judged(2, 11, chances, -40_000, 30_000),
        Judged(3, 11, equal, 0, 0),
    ]
    timeline = make_timeline(RECORD, players=PLAYERS, judged=judged, chances=[0.614] * 49)
    rows = tabulate(timeline)
    assert [row.loss for row in rows[:5]] == [
        "",
        "11.3 +- 5.0 (took too late), a blunder; best: to take",
        "9.0 +- 5.0; best: to take",
        "-4.0 +- 3.0",
        "0.0 +- 0.0",
    ]
    assert rows[0].chance == "61%"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_page_of_one_seat_has_its_hand_and_no_other(seat: int) -> None:
    """In a column; names are escaped."""
    timeline = make_timeline(RECORD, players=PLAYERS, seat=seat)
    assert {len(row.hands) for row in tabulate(timeline)} == {1}
    table = render_replay(timeline).partition("<noscript>")[2].partition("</noscript>")[0]
    assert table.count("Hand of") == 1
    assert table.count("<tr>") == len(timeline["frames"]) + 1
    assert "&lt;b&gt;ann" in table
    assert "<b>" not in table
