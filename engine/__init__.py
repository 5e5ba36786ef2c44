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
    Action,
    Kind,
    Pack,
    count,
    counts,
)
from engine.errors import EngineError, IllegalAction
from engine.play import Game, play_game
from engine.record import Record
from engine.rules import STANDARD, Rules
from engine.scoring import breakdown, outcome, points
from engine.state import Seat, State
from engine.strategy import Bot, Setup, Strategy
from engine.view import View

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
    "count",
    "counts",
    "outcome",
    "play_game",
    "points",
]
