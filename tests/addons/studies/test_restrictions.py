"""What a restricted bot may do and sees: views by hand, and in games at random."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from arena.addons.studies.restrictions import RESTRICTIONS, Restricted
from arena.entries.resolve import resolve
from arena.tournament.rule_changes import find_taken, make_swap
from bots.flat_mc import bot as flat_mc
from bots.ismcts import bot as ismcts
from bots.uniform import bot as uniform
from engine import (
    CITY,
    STANDARD,
    TAKE,
    IllegalAction,
    Rules,
    Setup,
    State,
    Strategy,
    View,
    count,
    play_game,
    sample,
    size,
    to_text,
)
from engine.state import random_deal
from engine.view import view

SMALL = Rules(
    copies=(2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 2),
    removed=2,
    hand_size=3,
    opening_row=2,
    take_size=2,
    rounds=2,
    cities_needed=2,
)
"""A short game in which two cities win, and a row is often longer than a take."""

LEGAL = [
    ("late-take", "0 5678C xy", "5678C"),
    ("late-take", "0 678C xy 55", "678C"),
    ("late-take", "1 6788 xy 556", "678"),
    ("late-take", "0 78C xy 5566", "78CT"),
    ("last-take", "0 C xy 55667788", "C"),
    ("last-take", "0 - xy 5566778856", "T"),
    ("take-at-five", "0 678C xy 55", "678CT"),
    ("take-at-five", "1 6788 xy 556", "T"),
    ("take-at-five", "0 78C xy 5566", "T"),
    ("take-at-five", "0 78C xy T56565", "78C"),
    ("first-card", "0 C86x5 xy", "5T"),
    ("first-card", "0 C87 xy T56565", "7"),
    ("first-card", "0 - xy 5566778856", "T"),
    ("betrayals-last", "0 5xyzC 88", "5CT"),
    ("betrayals-last", "0 xxyyz 88", "xyzT"),
    ("betrayals-last", "0 5zC xy T56565", "5C"),
    ("betrayals-last", "0 zz xy T5656565", "z"),
    ("no-cities", "0 56788 xC", "5678"),
    ("no-cities", "0 56788 xy", "5678T"),
    ("no-cities", "0 788 Cx 5566", "78T"),
    ("no-cities", "0 788 xC 556", None),
    ("no-cities", "0 - xy 556677885C", "T"),
]


@pytest.mark.parametrize(("name", "text", "legal"), LEGAL)
def test_what_is_left_of_the_legal_actions(name: str, text: str, legal: str | None) -> None:
    """Nothing else of the view is another one; it is not the turn of a seat without actions."""
    seen = View.from_text(text)
    narrow = RESTRICTIONS[name].narrow(seen)
    assert to_text(bytes(narrow.legal)) == (legal or "")
    assert narrow._replace(legal=seen.legal) == seen


def test_every_restriction_has_examples() -> None:
    """Those of what is seen have tests of their own, below."""
    assert {name for name, *_ in LEGAL} | {"blind", "city-blind"} == RESTRICTIONS.keys()


def positions(rules: Rules, games: int) -> Iterator[State]:
    """Yield the positions of games that are played at random."""
    for seed in range(games):
        rng = Random(seed)
        state = State(random_deal(rng, rules), rules)
        while not state.over:
            yield state
            state.apply(rng.choice(state.legal()))


@pytest.mark.parametrize("rules", [STANDARD, SMALL])
@pytest.mark.parametrize("name", RESTRICTIONS)
def test_something_is_left_in_every_position(name: str, rules: Rules) -> None:
    """It is legal, in order, and does something: some position has less, or shows other cards."""
    changed = 0
    for state in positions(rules, 30):
        seen = view(state, state.to_act)
        narrow = RESTRICTIONS[name].narrow(seen)
        assert narrow.legal
        assert narrow.legal == tuple(sorted({*seen.legal} & {*narrow.legal}))
        changed += narrow != seen
    assert changed


@pytest.mark.slow
@pytest.mark.parametrize("rules", [STANDARD, SMALL])
def test_a_hidden_pile_leaves_a_view_of_a_game(rules: Rules) -> None:
    """Of one that is not over, in which the seat sees the same row and has the same cards."""
    other = cities = 0
    for state in positions(rules, 60):
        seen = view(state, state.to_act)
        narrow = RESTRICTIONS["blind"].narrow(seen)
        assert View.from_text(narrow.to_text(), rules) == narrow
        assert (narrow.hand, narrow.row, narrow.legal) == (seen.hand, seen.row, seen.legal)
        assert narrow.piles[seen.seat] == seen.piles[seen.seat]
        assert size(narrow.piles[seen.opponent]) == size(seen.piles[seen.opponent])
        assert view(sample(narrow, Random(1)), seen.seat) == narrow
        other += narrow.piles != seen.piles
        cities += count(narrow.piles[seen.opponent], 10)
    assert other
    assert cities


@pytest.mark.slow
@pytest.mark.parametrize("rules", [STANDARD, SMALL])
def test_hidden_cities_leave_a_view_of_a_game_without_them(rules: Rules) -> None:
    """All else is as it was, and the cities count as cards that may still come."""
    changed = 0
    for state in positions(rules, 60):
        seen = view(state, state.to_act)
        narrow = RESTRICTIONS["city-blind"].narrow(seen)
        held = count(seen.piles[seen.opponent], CITY)
        assert count(narrow.piles[seen.opponent], CITY) == 0
        assert (narrow == seen) == (held == 0)
        assert (narrow.hand, narrow.row, narrow.legal) == (seen.hand, seen.row, seen.legal)
        assert narrow.piles[seen.seat] == seen.piles[seen.seat]
        assert count(narrow.unseen, CITY) == count(seen.unseen, CITY) + held
        assert View.from_text(narrow.to_text(), rules) == narrow
        cards = zip(seen.opening + seen.history, narrow.opening + narrow.history, strict=True)
        assert [one for one, other in cards if one != other] == [CITY] * held
        changed += narrow != seen
    assert changed


@pytest.mark.slow
@pytest.mark.parametrize("rules", [STANDARD, SMALL])
def test_a_hidden_pile_depends_on_nothing_that_is_hidden(rules: Rules) -> None:
    """A game in which the opponent took another card in place of one looks the same."""
    tried = 0
    for state in positions(rules, 40):
        deal, history = state.deal(), state.history
        for taken in find_taken(deal, history, rules)[-3:]:
            swap = make_swap(deal, history[: taken.ply + 1], taken, len(deal) - 1)
            twin = State(swap.deal, rules)
            twin.follow(swap.after)
            if twin.over or swap.changes_nothing:
                continue
            now = State(deal, rules)
            now.follow(history[: taken.ply + 1])
            seen, other = view(now, 1 - taken.seat), view(twin, 1 - taken.seat)
            assert seen != other
            narrow = RESTRICTIONS["blind"].narrow
            assert narrow(seen) == narrow(other)
            tried += 1
    assert tried > 50


def restricted(bot: object, name: str) -> object:
    """Return a bot under a restriction."""

    def make(setup: Setup) -> Strategy:
        return Restricted(bot(setup), RESTRICTIONS[name].narrow)  # type: ignore[operator]

    return make


@pytest.mark.parametrize("name", RESTRICTIONS)
def test_bots_that_search_play_through_it(name: str) -> None:
    """Their worlds are drawn from the view that they get."""
    for bot in (ismcts, flat_mc):

        def weak(setup: Setup, bot: object = bot) -> Strategy:
            few = {"iterations": 12} if bot is ismcts else {"worlds": 2}
            return bot(setup, **few)  # type: ignore[operator, no-any-return]

        two = restricted(weak, name), uniform
        assert play_game(*two, seed=5).record.actions  # type: ignore[arg-type]


class Stubborn:
    """Takes whenever the rules let it, whatever its view says."""

    def __init__(self, _setup: Setup) -> None:
        pass

    def choose(self, view: View, /) -> int:
        """Return a take if there is a row."""
        may_take = view.row and not view.taken[view.seat]
        return TAKE if may_take else view.legal[0]


def test_a_bot_that_does_not_keep_to_it_is_at_fault() -> None:
    """The action is legal in the game, and not for it."""
    with pytest.raises(IllegalAction, match="illegal action 11"):
        play_game(restricted(Stubborn, "late-take"), uniform, seed=1)  # type: ignore[arg-type]
    assert play_game(Stubborn, uniform, seed=1).record.actions.startswith("T")


def test_an_entry_has_its_restriction_in_its_identity() -> None:
    """And one without it is described as before."""
    entry = resolve("greedy")
    assert "restriction" not in entry.describe()
    held = type(entry)(**{**vars(entry), "restriction": "blind"})
    assert held.describe() == {**entry.describe(), "restriction": "blind"}
