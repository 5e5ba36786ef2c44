"""Say what a mistake was, and what came of it, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.replays.board import Layout
from arena.tournament.judged import Judged, Recorded, is_sure
from engine import Record
from engine.view import view

_TOLD: Final = 4  # moves
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

    state = Record(deal, actions[: one.ply]).replay()
    return name_mistake(view(state, state.to_act), one.action, one.best)


def tell_next(game: Recorded, ply: int, players: Sequence[str]) -> str:
    """Return the moves of a game from a ply on in words, at most four."""
    state = Record(game.deal, game.actions[: ply + _TOLD]).replay()
    moves = Layout((view(state, 0), view(state, 1))).moves
    return "; ".join(move.describe(players[move.seat]) for move in moves[ply:])
