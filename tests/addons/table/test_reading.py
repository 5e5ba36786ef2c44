"""What a person types is understood, or answered with what is wrong."""

from __future__ import annotations

import pytest

from arena.addons.table.player import Mistake, choices, read_input
from arena.store.board import card_names
from arena.tournament.keys import NAMINGS
from engine import KINDS, TAKE, View
from engine.cards import CHARS
from engine.view import view
from tests.positions import at, dealt

HAND = View.from_text("0 578xC CC")
EVERY = [View.from_text(f"0 {hand} 55") for hand in ("56782", "34xyz", "CCC78")]


def holding(kind: int) -> View:
    return next(seen for seen in EVERY if kind in seen.legal)


@pytest.mark.parametrize("naming", NAMINGS)
def test_every_name_of_a_card_plays_it(naming: str) -> None:
    """Its character in either case, and its names, in capitals or not."""
    for kind in KINDS:
        texts = {CHARS[kind], CHARS[kind].upper(), CHARS[kind].lower(), *card_names(naming, kind)}
        for text in texts | {name.upper() for name in card_names(naming, kind)}:
            assert read_input(text, holding(kind), naming) == kind, text


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("t", TAKE),
        ("T", TAKE),
        (" Take ", TAKE),
        ("play 5", 0),
        ("city", 10),
        ("c", 10),
        ("Gebäude", 10),
        ("Geba\u0308ude", 10),
        ("-1", 7),
        ("\u22121", 7),
        ("Support   8", 3),
    ],
)
def test_an_action_can_be_typed_in_several_ways(text: str, action: int) -> None:
    """As a character, word or value; spaces, capitals and the kind of minus do not matter."""
    assert read_input(text, HAND, "english") == action


def test_a_card_of_the_standard_deck_can_be_typed_without_suits() -> None:
    """A letter stands for the suit; in other namings such a text could be two cards."""
    assert read_input("5C", HAND, "deck") == 0
    assert read_input("10d", HAND, "deck") == 3
    with pytest.raises(Mistake, match="neither a card nor a command"):
        read_input("5C", HAND, "english")


@pytest.mark.parametrize(
    ("text", "command"),
    [("?", "help"), ("HELP", "help"), ("history", "history"), ("q", "quit"), ("board", "board")],
)
def test_commands(text: str, command: str) -> None:
    """They are accepted in either case."""
    assert read_input(text, HAND, "english") == command


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("", "Nothing was typed."),
        ("   ", "Nothing was typed."),
        ("play", "Play what?"),
        ("foo", "'foo' is neither a card nor a command; ? explains."),
        ("1", "'1' is neither a card nor a command; ? explains."),
        ("5 7", "One action at a time, please: '5 7' is not the name of a card."),
        ("6", "You have no Support 6 in your hand."),
        ("+4", "You have no Alliance +4 in your hand."),
        ("\x1b[A", r"'\x1b[a' is neither a card nor a command; ? explains."),
        ("a" * 99, f"'{'a' * 30}...' is neither a card nor a command; ? explains."),
    ],
)
def test_a_mistake_is_answered_with_the_choices(text: str, mistake: str) -> None:
    """One sentence for the mistake, one for the choices."""
    with pytest.raises(Mistake) as caught:
        read_input(text, HAND, "english")
    assert str(caught.value) == f"{mistake} You can play 5, 7, 8, x or C, or take with T."


def test_a_second_take_and_a_take_of_nothing_have_their_own_messages() -> None:
    """A second take is answered with the cards that can be played, too."""
    deal = dealt("56788", "56788", "CC")
    taken = view(at(deal, "T5"), 0)
    with pytest.raises(Mistake) as caught:
        read_input("t", taken, "english")
    assert str(caught.value) == ("You have already taken in this round. You can play 5, 6, 7 or 8.")
    with pytest.raises(Mistake, match="The row is empty: there is nothing to take"):
        read_input("take", view(at(deal, "T"), 1), "english")


def test_a_card_of_the_deck_that_is_not_held() -> None:
    """The message has all names of the kind, because each card would do."""
    with pytest.raises(Mistake, match="You have no Q♥ or Q♦ in your hand"):
        read_input("qh", HAND, "deck")


@pytest.mark.parametrize(
    ("legal", "sentence"),
    [
        ((0, TAKE), "You can play 5, or take with T."),
        ((0, 2), "You can play 5 or 7."),
        ((0, 2, 10, TAKE), "You can play 5, 7 or C, or take with T."),
        ((TAKE,), "You can take with T."),
    ],
)
def test_the_choices_in_a_sentence(legal: tuple[int, ...], sentence: str) -> None:
    """For any number of choices."""
    assert choices(HAND._replace(legal=legal)) == sentence
