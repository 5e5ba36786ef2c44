"""Games for the tests: deals by hand or at random, and their positions, as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

from engine import STANDARD, TAKE, Pack, Rules, State, View
from engine.cards import pack_of, pack_text, to_text
from engine.notation import parse_cards
from engine.state import random_deal
from engine.view import view

DECK = "55555" "666666" "7777777" "88888888" "2222" "33" "4" "xxx" "yyyy" "zz" "CCC"  # fmt: skip

RULE_SETS = {
    "published": Rules(),
    "supports break ties": Rules(tiebreak="supports"),
    "takes of four": Rules(take_size=4),
    "takes of seven": Rules(take_size=7),
    "sets of three points": Rules(set_bonus=3),
    "sets that cost": Rules(set_bonus=-2),
    "two cities win": Rules(cities_needed=2),
    "one city wins": Rules(cities_needed=1),
    "five rounds of four cards": Rules(hand_size=4, rounds=5),
    "four rounds of four cards": Rules(hand_size=4, removed=11),
    "no opening row": Rules(opening_row=0, removed=5),
    "nothing removed": Rules(opening_row=5, removed=0),
    "upside down": Rules(copies=(8, 7, 6, 5, 4, 2, 1, 3, 4, 2, 3), majority_values=(8, 7, 6, 5)),
    "supports only": Rules(
        copies=(9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 3),
        majority_values=(1, 1, 1, 1),
        removed=0,
        rounds=3,
        opening_row=9,
    ),
}


def dealt(*parts: str, removed: str = "") -> str:
    """Return the deal that begins with these cards and ends with these removed cards.

    The parts are seat 0's hand, seat 1's hand, the row, then later hands. The rest of the
    deck follows in kind order, so without `removed` the cities not named are removed.
    """
    rest = list(DECK)
    for card in "".join(parts) + removed:
        rest.remove(card)
    return "".join(parts) + "".join(rest) + removed


def at(deal: str, actions: str = "", rules: Rules = STANDARD) -> State:
    """Return the position of a deal after these actions, each of them checked."""
    return State.from_text(f"{deal} {actions}", rules)


def quiet(first: str, second: str) -> str:
    """Return a round in which both play their hands from the left and take last."""
    return "".join(a + b for a, b in zip(first, second, strict=True)) + "TT"


def quiet_game(deal: str, rounds: int = 4) -> str:
    """Return the actions of that many quiet rounds of a deal under the published rules."""
    hands = [deal[0:5], deal[5:10]] + [deal[i : i + 5] for i in range(12, 42, 5)]
    pairs = [(hands[2 * n + n % 2], hands[2 * n + 1 - n % 2]) for n in range(rounds)]
    return "".join(quiet(first, second) for first, second in pairs)


def legal(state: State) -> str:
    """Return the legal actions of the position as text."""
    return to_text(bytes(state.legal()))


def hands(state: State) -> tuple[str, str]:
    """Return both hands as text, in kind order."""
    return pack_text(state.hands[0]), pack_text(state.hands[1])


def row(state: State) -> str:
    """Return the row as text, oldest first."""
    return to_text(state.row)


def piles(state: State) -> tuple[str, str]:
    """Return both piles as text, in kind order."""
    return pack_text(state.piles[0]), pack_text(state.piles[1])


def pack(text: str) -> Pack:
    """Return the pack of these cards."""
    return pack_of(parse_cards(text))


def packs(first: str, second: str) -> tuple[Pack, Pack]:
    """Return two piles."""
    return pack(first), pack(second)


def walk(rng: Random, rules: Rules = STANDARD) -> Iterator[State]:
    """Yield the positions of a random game, from the deal to the end: one state that goes on."""
    state = State(random_deal(rng, rules), rules)
    yield state
    while not state.over:
        state.apply(rng.choice(state.legal()))
        yield state


def states(games: int, rules: Rules = STANDARD, seed: int = 0) -> Iterator[State]:
    """Yield every position of some random games, the ends included."""
    rng = Random(seed)
    for _ in range(games):
        yield from (state.copy() for state in walk(rng, rules))


def choices(games: int | None = None, rules: Rules = STANDARD, seed: int = 0) -> Iterator[View]:
    """Yield the view of the seat to act wherever it has a choice, in random games without end."""
    rng = Random(seed)
    for _ in count() if games is None else range(games):
        for state in walk(rng, rules):
            if len(state.legal()) > 1:
                yield view(state, state.to_act)


def random_game(rng: Random, rules: Rules = STANDARD) -> tuple[str, str]:
    """Return the deal and the actions of a game whose players take early, late or never.

    A player that never takes must take with an empty hand (R8).
    """
    deal = random_deal(rng, rules)
    state = State(deal, rules)
    eagerness = [rng.choice((0.0, 0.05, 0.2, 0.6)) for _ in range(2)]
    while not state.over:
        choices = state.legal()
        plays = [action for action in choices if action != TAKE]
        takes = not plays or (TAKE in choices and rng.random() < eagerness[state.to_act])
        state.apply(TAKE if takes else rng.choice(plays))
    return to_text(deal), to_text(state.history)
