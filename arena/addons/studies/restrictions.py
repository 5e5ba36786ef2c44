"""Restricted play: forbid a bot some of its legal actions, or hide part of its view.

A restriction replaces the bot's view by a narrower one, from which the bot chooses. Every action
of the narrower view is legal, and at least one remains: a decision at which the restriction would
leave no action is not restricted. Source: Jaffe and others, "Evaluating Competitive Game Balance
with Restricted Play", 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from engine import CITY, KINDS, TAKE, VALUES, Action, Strategy, View, cards_of, pack_of
from engine.cards import BYTE, UNIT, shuffled
from engine.seeds import address, noise
from engine.state import checked
from engine.strategy import close

Narrow: TypeAlias = Callable[[View], View]
"""A function from the full view of a seat to the view of a restricted bot."""

_EARLY: Final = 2  # actions of a round
_HIDDEN: Final = 255  # no kind and no action
_BETRAYALS: Final = [kind for kind in KINDS if VALUES[kind] < 0]


class Restriction(NamedTuple):
    """A restriction: its description, to follow the word "it", and the function on views."""

    text: str
    narrow: Narrow


class Restricted:
    """A strategy under a restriction; raises IllegalAction if its action violates it."""

    def __init__(self, strategy: Strategy, narrow: Narrow) -> None:
        self.strategy = strategy
        self.narrow = narrow

    def choose(self, view: View, /) -> Action:
        """Return the action that the strategy chooses in the narrower view."""
        seen = self.narrow(view)
        return checked(self.strategy.choose(seen), seen.legal, len(seen.history))

    def close(self) -> None:
        """Close the strategy."""
        close(self.strategy)


def _keep(allows: Callable[[View, Action], bool]) -> Narrow:
    """Return a function on views that keeps the allowed actions, or all if none is allowed."""

    def narrow(view: View) -> View:
        legal = tuple([action for action in view.legal if allows(view, action)])
        return view._replace(legal=legal) if legal else view

    return narrow


def _may_take_late(view: View, action: Action) -> bool:
    """A seat has every second ply of a round."""
    return action != TAKE or len(view.history) % view.rules.round_plies >= 2 * _EARLY


def _must_take(view: View, action: Action) -> bool:
    return action == TAKE or len(view.row) < view.rules.take_size


def _spares_cities(view: View, action: Action) -> bool:
    return action != TAKE or CITY not in view.row[-view.rules.take_size :]


def _plays_last(kinds: Collection[Action]) -> Narrow:
    """Return a function on views that plays cards of these kinds only if no others are left."""

    def allows(view: View, action: Action) -> bool:
        return action not in kinds or all(kind in kinds for kind in cards_of(view.hand))

    return _keep(allows)


def _hide_pile(view: View) -> View:
    """Return a view in which the cards that the opponent has taken are replaced at random.

    The new cards are drawn from all cards that are then hidden from the seat: the opponent's pile
    and hand, the deck, and the removed cards. They replace the old ones in the pile, the opening
    row and the history, so that the result is the view of a possible unfinished game. It reveals
    nothing hidden: two views that differ only in hidden cards give the same result.
    """
    places = [*_places_taken(view)]
    pool = cards_of(view.unseen + view.piles[view.opponent])
    drawn = _draw(view, places, pool)
    city_pack = view.rules.city_pack
    return _replace_taken(view, places, next(one for one in drawn if pack_of(one) < city_pack))


def _hide_cities(view: View) -> View:
    """Return a view in which other hidden cards stand for the cities that the opponent has taken.

    Where too few other cards are hidden, some of the cities stay.
    """
    places = [place for place in _places_taken(view) if _seen(view)[place] == CITY]
    pool = bytes(kind for kind in cards_of(view.unseen) if kind != CITY)
    drawn = next(_draw(view, places, pool))
    return _replace_taken(view, places, drawn.ljust(len(places), BYTE[CITY]))


def _seen(view: View) -> bytes:
    return view.opening + view.history


def _draw(view: View, places: Sequence[int], pool: bytes) -> Iterator[bytes]:
    """Yield draws of hidden cards for these places, which nothing of the cards there decides."""
    cards = bytearray(_seen(view))
    for place in places:
        cards[place] = _HIDDEN
    known = view.seat, view.hand, cards.hex()
    for attempt in count():
        where = address(attempt, "hidden pile", *known)
        yield shuffled(pool, noise(where, 8 * len(pool)))[: len(places)]


def _replace_taken(view: View, places: Sequence[int], drawn: bytes) -> View:
    """Return the view with other cards in these places of what the opponent has taken."""
    cards, piles, start = bytearray(_seen(view)), [*view.piles], len(view.opening)
    for place, kind in zip(places, drawn, strict=True):
        piles[view.opponent] += UNIT[kind] - UNIT[cards[place]]
        cards[place] = kind
    return view._replace(
        piles=(piles[0], piles[1]), opening=bytes(cards[:start]), history=bytes(cards[start:])
    )


def _places_taken(view: View) -> Iterator[int]:
    """Yield the places, in the opening row and the history, of cards that the opponent took."""
    row = [*range(len(view.opening))]
    for ply, action in enumerate(view.history):
        if action != TAKE:
            row.append(len(view.opening) + ply)
            continue
        if view.rules.seat_at(ply) == view.opponent:
            yield from row[-view.rules.take_size :]
        del row[-view.rules.take_size :]


RESTRICTIONS: Final[Mapping[str, Restriction]] = {
    "late-take": Restriction(
        "does not take before its third action of a round", _keep(_may_take_late)
    ),
    "last-take": Restriction(
        "takes when its hand is empty, and not before",
        _keep(lambda _, action: action != TAKE),
    ),
    "take-at-five": Restriction(
        "takes as soon as the row has all cards of a take", _keep(_must_take)
    ),
    "first-card": Restriction(
        "plays its cards in their order, 5 6 7 8 2 3 4 x y z C",
        _keep(lambda view, action: action in (view.legal[0], TAKE)),
    ),
    "betrayals-last": Restriction(
        "plays a betrayal only when its hand has nothing else", _plays_last(_BETRAYALS)
    ),
    "no-cities": Restriction("takes no city unless its hand is empty", _keep(_spares_cities)),
    "blind": Restriction("does not see what the opponent has taken", _hide_pile),
    "city-blind": Restriction("does not see the cities that the opponent has taken", _hide_cities),
}
"""The restrictions by name."""


def narrow(restriction: str, view: View) -> View:
    """Return the view of a bot under the restriction of this name, from the view of its seat."""
    return RESTRICTIONS[restriction].narrow(view)
