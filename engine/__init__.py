"""District Noir: the game, its views and its referee. Standard library only."""

from engine.cards import (
    CITY,
    EIGHT,
    FIVE,
    KINDS,
    SEVEN,
    SIX,
    SUPPORTS,
    TAKE,
    VALUES,
    Action,
    Kind,
    Pack,
    cards_of,
    count,
    counts,
    pack_of,
    pack_text,
    size,
    to_text,
)
from engine.errors import EngineError, IllegalAction
from engine.play import Game, play_game, playout
from engine.record import Record
from engine.rules import STANDARD, Rules
from engine.scoring import breakdown, outcome, points
from engine.state import Seat, State
from engine.strategy import Bot, Setup, Strategy
from engine.view import View
from engine.worlds import hands, sample, sample_hand

__all__ = [
    "CITY",
    "EIGHT",
    "FIVE",
    "KINDS",
    "SEVEN",
    "SIX",
    "STANDARD",
    "SUPPORTS",
    "TAKE",
    "VALUES",
    "Action",
    "Bot",
    "EngineError",
    "Game",
    "IllegalAction",
    "Kind",
    "Pack",
    "Record",
    "Rules",
    "Seat",
    "Setup",
    "State",
    "Strategy",
    "View",
    "breakdown",
    "cards_of",
    "count",
    "counts",
    "hands",
    "outcome",
    "pack_of",
    "pack_text",
    "play_game",
    "playout",
    "points",
    "sample",
    "sample_hand",
    "size",
    "to_text",
]
