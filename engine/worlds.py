"""Worlds: States that fit a view, drawn without looking at the true State."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from random import Random

from engine.cards import UNIT, Pack, cards_of, counts, pack_of, shuffled
from engine.state import State
from engine.view import View


def sample(view: View, rng: Random) -> State:
    """Return a world drawn uniformly from all that fit the view.

    Every order of the unseen cards is equally likely: no inference is made from the opponent's
    actions. Equal views and equal generators give equal worlds.

    >>> from engine.view import view
    >>> seen = View.from_text("0 5678C xy")
    >>> view(sample(seen, Random(7)), seat=0) == seen
    True
    """
    rules = view.rules
    cards = cards_of(view.unseen)
    unseen = shuffled(cards, rng.randbytes(8 * len(cards)))
    held = view.opponent_cards
    deck_end = len(unseen) - rules.removed
    theirs = pack_of(unseen[:held])
    state = _new(State)
    state.rules = rules
    state.opening = view.opening
    state.hands = [view.hand, theirs] if view.seat == 0 else [theirs, view.hand]
    state.row = view.row
    state.piles = view.piles
    state.deck = unseen[held:deck_end]
    state.removed = unseen[deck_end:]
    state.taken = view.taken
    state.round = view.round
    state.over = view.over
    state.to_act = rules.seat_at(len(view.history))
    state.history = view.history
    return state


def sample_hand(view: View, rng: Random) -> Pack:
    """Return an opponent's hand drawn uniformly, in less than half the time of a world.

    >>> from engine import pack_text
    >>> pack_text(sample_hand(View.from_text("0 5678C xy"), Random(7)))
    '56782'
    """
    random = rng.random
    unseen = [*cards_of(view.unseen)]
    hand = 0
    for left in range(len(unseen), len(unseen) - view.opponent_cards, -1):
        hand += UNIT[unseen.pop(int(random() * left))]
    return hand


def hands(view: View) -> Iterator[tuple[Pack, int]]:
    """Yield every hand the opponent may hold, each with the number of deals that lead to it.

    The numbers add up to the number of ways to choose that many of the unseen cards.

    >>> from engine import size
    >>> seen = View.from_text("0 5678C xy")
    >>> sum(ways for _, ways in hands(seen)) == comb(size(seen.unseen), 5)
    True
    """
    yield from choices(view.unseen, view.opponent_cards)


def choices(cards: Pack, size: int) -> Iterator[tuple[Pack, int]]:
    """Yield every pack of `size` of these cards, each with the number of ways to choose it."""
    yield from _choices([(UNIT[kind], n) for kind, n in enumerate(counts(cards)) if n], size)


def _choices(cards: list[tuple[Pack, int]], size: int) -> Iterator[tuple[Pack, int]]:
    """Yield every pack of `size` of these cards, each with the number of ways to choose it."""
    if not cards:
        if not size:
            yield 0, 1
        return
    (unit, copies), rest = cards[0], cards[1:]
    for chosen in range(min(copies, size) + 1):
        for pack, ways in _choices(rest, size - chosen):
            yield pack + chosen * unit, ways * comb(copies, chosen)


_new = object.__new__
