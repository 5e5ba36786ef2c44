"""The rules in short: one text for the page and for the help of the terminal."""

from __future__ import annotations

import re

from arena.addons.table.player import explain, help_lines, list_cards
from engine import STANDARD, Rules
from engine.cards import CHARS
from tests.addons.table import Client

SHORT = Rules(rounds=1, removed=33, take_size=4, cities_needed=2, tiebreak="supports")


def test_the_page_has_the_sentences_of_the_help(client: Client) -> None:
    """All of them, in their order, with every kind of card once."""
    rules = client.ask("api/rules")
    text = " ".join(line.text for line in help_lines("english"))
    places = [text.index(part["text"]) for part in rules["parts"]]
    assert places == sorted(places)
    assert [card["char"] for card in rules["cards"]] == [*CHARS[:-1]]
    assert sum(card["copies"] for card in rules["cards"]) == len(STANDARD.deck)


def test_the_numbers_are_those_of_the_rules() -> None:
    """Of changed ones, too; cities break no tie where they do not."""
    text = " ".join(part.text for part in explain(SHORT))
    for words in ("In the one round", "the last 4 cards", "holds 2 cities", "33 cards are out"):
        assert words in text
    assert not re.search(r"5s, cities", text)
    (city,) = (card for card in list_cards(SHORT) if card["char"] == "C")
    assert city["worth"] == "2 of them win at once"
    assert next(part.cards for part in explain(SHORT) if part.title == "Cities") == "CC"
