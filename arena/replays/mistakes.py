"""Say what a mistake was, and what came of it, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.replays.board import Layout
from arena.tournament.judged import Judged, Recorded, is_sure
from engine import STANDARD, State
from engine.notation import parse_actions, parse_deal
from engine.view import view

DISPUTED: Final = "the judges disagree"
"""Stands for a mistake where the second judge is not sure that another action was better."""


def describe_decision(deal: str, actions: str, one: Judged) -> str:
    """Return what was wrong with a decision that the second judge has judged, or DISPUTED."""
    if one.best == one.action or not is_sure(one.loss, one.error):
        return DISPUTED
    return name_choice(deal, actions, one)


def name_choice(deal: str, actions: str, one: Judged) -> str:
    """Return what is wrong with a decision if the judge is right that another action is better."""
    from arena.batch.judging import name_mistake  # here, because it needs numpy

    state = State(parse_deal(deal, STANDARD), STANDARD)
    state.follow(parse_actions(actions[: one.ply]))
    return name_mistake(view(state, state.to_act), one.action, one.best)


def tell_next(game: Recorded, ply: int, players: Sequence[str], most: int = 4) -> str:
    """Return the moves of a game from a ply on in words, at most so many."""
    state = State(parse_deal(game.deal, STANDARD), STANDARD)
    layout = Layout((view(state, 0), view(state, 1)))
    for action in parse_actions(game.actions[: ply + most]):
        state.apply(action)
        layout.follow((view(state, 0), view(state, 1)))
    return "; ".join(move.describe(players[move.seat]) for move in layout.moves[ply:])
