"""Say in words what was wrong with a decision, by rules about the position and a better action."""

from __future__ import annotations

from typing import Final

from arena.tournament.judged import Judged, is_sure
from engine import CITY, STANDARD, SUPPORTS, TAKE, VALUES, Action, State, View, count, pack_of
from engine.notation import parse_actions, parse_deal
from engine.scoring import net_deals
from engine.view import view

MISTAKES: Final = (
    "took betrayals",
    "took one card early",
    "took too early",
    "left a win by City in reach",
    "left two cities in reach",
    "took too late",
    "laid a betrayal too early",
    "kept a city too long",
    "gave a city",
    "kept a betrayal too long",
    "gave the card for a majority",
    "gave an alliance",
    "laid the wrong card",
)
"""What `name_mistake` may return; the last one stands for all else."""


def name_mistake(seen: View, action: Action, better: Action) -> str:
    """Return what was wrong with an action, given a better one: the first rule that fits.

    >>> seen = View.from_text("0 5678C xy")
    >>> name_mistake(seen, TAKE, 0), name_mistake(seen, CITY, 0), name_mistake(seen, 0, TAKE)
    ('took betrayals', 'gave a city', 'took too late')
    """
    if action == TAKE:
        if net_deals(pack_of(_newest(seen, seen.row))) < 0:
            return "took betrayals"
        is_one_short = len(seen.row) == seen.rules.take_size - 1
        return "took one card early" if is_one_short else "took too early"
    can_take = not seen.taken[seen.opponent]
    if can_take and (given := _leave_cities(seen, action, better)):
        return given
    if better == TAKE:
        return "took too late"
    if VALUES[action] < 0 <= VALUES[better]:
        return "laid a betrayal too early"
    if better == CITY:
        return "kept a city too long"
    return (_give(seen, action, better) if can_take else "") or MISTAKES[-1]


def _leave_cities(seen: View, action: Action, better: Action) -> str:
    """Return what was wrong if the opponent can take more cities than after the better action."""
    cities, fewer = (
        0 if one == TAKE else _newest(seen, seen.row + bytes([one])).count(CITY)
        for one in (action, better)
    )
    if cities <= fewer:
        return ""
    if count(seen.piles[seen.opponent], CITY) + cities >= seen.rules.cities_needed:
        return "left a win by City in reach"
    return "left two cities in reach" if cities > 1 else ""


def _give(seen: View, action: Action, better: Action) -> str:
    """Return what was wrong with giving a card to an opponent that can take it."""
    if action == CITY:
        return "gave a city"
    if VALUES[better] < 0 <= VALUES[action]:
        return "kept a betrayal too long"
    theirs = _newest(seen, seen.row).count(action) + count(seen.piles[seen.opponent], action)
    if action in SUPPORTS and theirs == count(seen.piles[seen.seat], action):
        return "gave the card for a majority"
    return "gave an alliance" if VALUES[action] > 0 else ""


def _newest(seen: View, row: bytes) -> bytes:
    """Return the cards of a row that a take brings (R6)."""
    return row[-seen.rules.take_size :]


DISPUTED: Final = "the judges disagree"
"""Stands for a mistake where the second judge is not sure that another action was better."""


def describe_decision(deal: str, actions: str, one: Judged) -> str:
    """Return what was wrong with a decision that the second judge has judged, or DISPUTED."""
    if one.best == one.action or not is_sure(one.loss, one.error):
        return DISPUTED
    state = State(parse_deal(deal, STANDARD), STANDARD)
    state.follow(parse_actions(actions[: one.ply]))
    return name_mistake(view(state, state.to_act), one.action, one.best)
