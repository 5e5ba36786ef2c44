"""The board shows what a View holds, in 80 columns and 24 rows."""

from __future__ import annotations

from random import Random

import pytest

from arena.replays.board import Board, shorten
from arena.tournament.config_keys import NAMINGS
from engine import Rules, State
from engine.notation import parse_actions
from engine.view import view
from engine.worlds import sample
from tests.positions import at, dealt, quiet_game, random_game

DEAL = dealt("5678C", "824xz", "CC", removed="y23")


def board(state: State, seat: int, naming: str = "english", opponent: str = "greedy") -> Board:
    return Board(view(state, seat), naming, shorten(opponent))


def texts(shown: Board, since: int = 0) -> list[str]:
    return [line.text for line in shown.lines(since)]


def test_a_board_worked_out_by_hand() -> None:
    """Seat 1 sees it after seat 0 has taken the last five of C C 5 8 C 2."""
    assert texts(board(at(DEAL, "58C2T"), 1), since=2) == [
        "Round 1 of 4: greedy has taken, you have not; greedy holds 3 cards",
        "  greedy plays City",
        "  you play Alliance +2",
        "  greedy takes 5: City, Support 5, Support 8, City, Alliance +2",
        "take brings City",
        "",
        "pile        Support   5  6  7  8   Alliance       Betrayal        City",
        "you                   -  -  -  -   -              -               0 of 3",
        "greedy                1  -  -  1   +2             -               2 of 3",
        "score       majorities          sets  alliances  betrayals   total",
        "you         0                      0          0          0       0",
        "greedy      5 + 8                  0          2          0      15",
        "",
        "your hand   [4] Alliance +4, [x] Betrayal -1, [z] Betrayal -3",
    ]


@pytest.mark.parametrize(
    ("plays", "older", "taken"),
    [
        ("", None, "City, City"),
        ("5", None, "City, City, Support 5"),
        ("58", None, "City, City, Support 5, Support 8"),
        ("586", None, "City, City, Support 5, Support 8, Support 6"),
        ("5862", "City", "City, Support 5, Support 8, Support 6, Alliance +2"),
    ],
)
def test_a_take_is_the_whole_row_up_to_five_cards(
    plays: str, older: str | None, taken: str
) -> None:
    """Before it the cards are marked; after it they are listed, and only the others stay (R6)."""
    lines = board(at(DEAL, plays), 0).lines()
    before = {line.text[:12]: (line.text[12:], line.role) for line in lines}
    assert before["take brings "] == (taken, "take")
    assert before.get("row         ") == (older and (older, "plain"))
    after = board(at(DEAL, f"{plays}T"), 0)
    who = "greedy takes" if len(plays) % 2 else "you take"
    assert after.actions[-1] == f"{who} {len(taken.split(','))}: {taken}"
    assert [card.name for card in after.row] == ([older] if older else [])


def test_german_names() -> None:
    shown = "\n".join(texts(board(at(DEAL, "58C2T"), 1, "german")))
    for word in ("Bande", "Bündnis +4", "Verrat -3", "Gebäude"):
        assert word in shown
    assert "Support" not in shown


def test_a_card_of_the_standard_deck_keeps_its_name() -> None:
    before, after = (board(at(DEAL, actions), 0, "deck") for actions in ("", "58C2T"))
    assert texts(before)[-1] == "your hand   [5] 3♣, [6] 3♥, [7] 3♠, [8] 3♦, [C] K♦"
    assert after.actions == [
        "you play 3♣",
        "greedy plays 4♦",
        "you play K♦",
        "greedy plays J♣",
        "you take 5: K♥, 3♣, 4♦, K♦, J♣",
    ]
    assert texts(after)[-1] == "your hand   [6] 3♥, [7] 3♠, [8] 3♦"


@pytest.mark.parametrize("naming", NAMINGS)
def test_worlds_with_the_same_view_have_the_same_board(naming: str) -> None:
    rng = Random(1)
    for _ in range(20):
        deal, actions = random_game(rng)
        state = at(deal, actions[: rng.randrange(len(actions))])
        seat = state.to_act
        world = sample(view(state, seat), rng)
        assert world.hands[1 - seat] != state.hands[1 - seat] or state.removed != world.removed
        assert texts(board(world, seat, naming)) == texts(board(state, seat, naming))


@pytest.mark.slow
@pytest.mark.parametrize("naming", NAMINGS)
def test_a_screen_has_80_columns_and_24_rows(naming: str) -> None:
    """With the prompt and a label of 60 characters, at every turn of random games."""
    for seed in range(40):
        deal, actions = random_game(Random(seed))
        state, shown = at(deal), [0, 0]
        for action in parse_actions(actions):
            seat = state.to_act
            if len(state.legal()) > 1:
                lines = texts(board(state, seat, naming, "long" * 15), shown[seat])
                assert max(map(len, lines)) <= 80
                assert len(lines) <= 22  # two more are of the prompt
                shown[seat] = len(state.history)
            state.apply(action)


def test_a_new_round_is_shown_between_the_actions() -> None:
    actions = quiet_game(DEAL)[:13]
    shown = [line.text for line in board(at(DEAL, actions), 0).events(11)]
    assert [text.split()[:2] for text in shown if text[2] != " "] == [
        ["greedy", "takes"],
        ["round", "2"],
        ["greedy", "plays"],
    ]


def test_other_rules_have_a_board_too() -> None:
    rules = Rules(cities_needed=2, take_size=3)
    lines = texts(board(at(DEAL, "58", rules), 0))
    assert "row         City" in lines
    assert "take brings City, Support 5, Support 8" in lines
    assert any(line.endswith("0 of 2") for line in lines)
