"""R1 to R10: the deck, the deal, the turns and the rounds, with a test for each rule."""

from __future__ import annotations

import pytest

from engine import STANDARD, IllegalAction, outcome
from engine.cards import to_text
from engine.view import view
from tests.positions import at, dealt, hands, legal, piles, quiet, quiet_game, row

DEAL = (
    "55667" "78822" "88"  # round 1 and the row
    "55667" "78833"  # round 2
    "56677" "78xxx"  # round 3
    "8224y" "yyyzz"  # round 4
    "CCC"  # removed
)  # fmt: skip


def test_r1_the_deck_has_45_cards_of_eleven_kinds() -> None:
    """26 supports, 7 alliances, 9 betrayals and 3 cities, as the German rulebook counts them."""
    deck = to_text(STANDARD.deck)
    assert deck == "55555666666777777788888888" "2222334" "xxxyyyyzz" "CCC"  # fmt: skip
    groups = ("5678", "234", "xyz", "C")
    assert [sum(card in group for card in deck) for group in groups] == [26, 7, 9, 3]
    assert len(deck) == 45


def test_r2_five_cards_each_two_in_the_row_and_three_out_of_the_game() -> None:
    """The text of a deal has hand, hand, row, the later hands, and last the removed cards."""
    state = at(DEAL)
    assert hands(state) == ("55667", "78822")
    assert row(state) == "88"
    assert to_text(state.deck) == DEAL[12:42]
    assert to_text(state.removed) == "CCC"
    assert piles(state) == ("", "")


def test_r2_the_removed_cards_never_come_back() -> None:
    """With the three cities removed no city is in a hand, the row or a pile at any ply."""
    actions = quiet_game(DEAL)
    for ply in range(49):
        state = at(DEAL, actions[:ply])
        assert "C" not in "".join(hands(state)) + row(state) + "".join(piles(state))
        assert to_text(state.removed) == "CCC"


def test_r2_a_view_does_not_show_which_cards_are_removed_or_held() -> None:
    """It stays the same when they change places with undealt cards or with one another."""
    now, twin = at(DEAL, "5758T"), at(DEAL[:12] + "CCC67" + DEAL[17:42] + "556", "5758T")
    assert to_text(now.removed) != to_text(twin.removed)
    assert view(now, 0) == view(twin, 0)
    assert view(now, 1) == view(twin, 1)
    assert "C" not in view(now, 0).to_text()
    one = at(dealt("55667", "78822", "88", removed="CCC"), "57")
    other = at(dealt("55667", "7CCC4", "88", removed="882"), "57")
    assert view(one, 0) == view(other, 0)
    assert hash(view(one, 0)) == hash(view(other, 0))
    assert view(one, 1) != view(other, 1)


@pytest.mark.parametrize(("rounds", "first"), [(0, 0), (1, 1), (2, 0), (3, 1)])
def test_r3_the_other_player_begins_each_following_round(rounds: int, first: int) -> None:
    """Seat 0 begins rounds 1 and 3, seat 1 rounds 2 and 4."""
    state = at(DEAL, quiet_game(DEAL, rounds))
    assert state.round == rounds + 1
    assert state.to_act == first
    assert view(state, first).legal
    assert not view(state, 1 - first).legal


def test_r4_the_players_act_in_turn_and_choose_freely() -> None:
    """A take passes the turn, like a play; with cards in hand and row both are legal."""
    turns = [at(DEAL, "5T5"[:ply]).to_act for ply in range(4)]
    assert turns == [0, 1, 0, 1]
    assert legal(at(DEAL)) == "567T"
    assert legal(at(DEAL, "5")) == "782T"


def test_r5_a_card_of_the_hand_goes_to_the_end_of_the_row() -> None:
    """Seat 0 plays a 6 and a 5, seat 1 an 8 between them."""
    state = at(DEAL, "685")
    assert row(state) == "88685"
    assert hands(state)[0] == "567"


def test_r5_a_card_that_is_not_in_the_hand_cannot_be_played() -> None:
    """Seat 0 holds no 8, though the row does, and no 7 after its only one."""
    with pytest.raises(IllegalAction, match=r"\(8\)"):
        at(DEAL, "8")
    with pytest.raises(IllegalAction, match=r"\(7\)"):
        at(DEAL, "777")


def test_r6_a_take_is_the_last_five_cards_of_the_row() -> None:
    """Of eight cards it leaves three; of five or fewer none."""
    state = at(DEAL, "575868T")
    assert row(state) == "885"
    assert piles(state) == ("56788", "")
    assert piles(at(DEAL, "T")) == ("88", "")
    assert piles(at(DEAL, "5T")) == ("", "588")
    assert piles(at(DEAL, "57T")) == ("5788", "")
    assert row(at(DEAL, "57T")) == ""
    state = at(DEAL, "575T")
    assert row(state) == ""
    assert piles(state) == ("", "55788")


def test_r6_an_empty_row_cannot_be_taken() -> None:
    """After seat 0 has taken the opening row, seat 1 must play."""
    state = at(DEAL, "T")
    assert legal(state) == "782"
    with pytest.raises(IllegalAction, match=r"\(T\)"):
        at(DEAL, "TT")


def test_r7_each_round_allows_one_take() -> None:
    """Seat 0 takes at once and may not take again; in round 2 both may."""
    actions = "T" "7" "5" "8" "5" "8" "6" "2" "6" "2" "7" "T"  # fmt: skip
    for ply in (2, 4, 6, 8, 10):
        state = at(DEAL, actions[:ply])
        assert state.to_act == 0
        assert "T" not in legal(state)
        with pytest.raises(IllegalAction, match=r"\(T\)"):
            at(DEAL, actions[:ply] + "T")
    state = at(DEAL, quiet_game(DEAL, 1))
    assert state.taken == (False, False)
    assert "T" in legal(state)
    assert "T" in legal(at(DEAL, quiet_game(DEAL, 1) + "7"))


def test_r8_an_empty_hand_forces_the_take_which_finds_six_cards_at_least() -> None:
    """The row is shortest when the opponent has taken five and has one to play."""
    state = at(DEAL, quiet_game(DEAL, 1)[:10])
    assert hands(state) == ("", "")
    assert legal(state) == "T"
    assert len(row(state)) == 12
    assert legal(at(DEAL, quiet_game(DEAL, 1)[:11])) == "T"
    state = at(DEAL, "57586T6872")
    assert hands(state)[0] == ""
    assert legal(state) == "T"
    assert len(row(state)) == 6


def test_r9_taken_cards_lie_face_up_to_the_end() -> None:
    """Both views show both piles, and a pile only grows."""
    actions = quiet_game(DEAL)
    after_1 = at(DEAL, actions[:12])
    assert piles(after_1) == ("67822", "55678")
    assert view(after_1, 0).piles == view(after_1, 1).piles == after_1.piles
    assert piles(at(DEAL, actions[:24])) == ("5567788822", "5566677833")


def test_r10_a_round_is_six_actions_each() -> None:
    """After eleven actions it is still round 1, after twelve it is round 2 with full hands."""
    actions = quiet("55667", "78822")
    assert len(actions) == 12
    assert at(DEAL, actions[:11]).round == 1
    state = at(DEAL, actions)
    assert state.round == 2
    assert hands(state) == ("55667", "78833")


def test_r10_the_row_stays_for_the_next_round() -> None:
    """After a take of two and a take of five, round 2 begins with the five cards left."""
    round_1 = "T" "7" "5" "8" "5" "8" "6" "2" "6" "2" "7" "T"  # fmt: skip
    state = at(DEAL, round_1)
    assert state.round == 2
    assert row(state) == "75858"
    state = at(DEAL, round_1 + "T")
    assert row(state) == ""
    assert piles(state) == ("88", "5566778822")


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [(1, ("55667", "78833")), (2, ("56677", "78xxx")), (3, ("8224y", "yyyzz"))],
)
def test_r10_five_new_cards_each_in_every_round(rounds: int, expected: tuple[str, str]) -> None:
    """Seat 0 gets the first five cards of a round's ten, whichever seat begins it."""
    assert hands(at(DEAL, quiet_game(DEAL, rounds))) == expected


def test_r10_the_game_ends_after_four_rounds() -> None:
    """48 actions, no fewer and no more; the score is counted by hand, 17 against 25."""
    actions = quiet_game(DEAL)
    assert len(actions) == 48
    assert not at(DEAL, actions[:47]).over
    state = at(DEAL, actions)
    assert state.over
    assert legal(state) == ""
    assert row(state) == "88"
    state = at(DEAL, quiet_game(DEAL))
    assert tuple(map(sorted, piles(state))) == (
        sorted("86272" "75858" "x7x7x" "y8y2y"),
        sorted("57586" "63637" "57686" "2z4zy"),
    )  # fmt: skip
    assert outcome(state.piles) == (1, "points", (7 + 8 + 5 + 6 - 9, 5 + 6 + 10 + 12 - 8))
