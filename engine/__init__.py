"""District Noir: the game, its views and its referee. Standard library only.

A card is a `Kind`, an int from 0 to 10 (`KINDS`) in the order `5 6 7 8 2 3 4 x y z C`. `FIVE`,
`SIX`, `SEVEN` and `EIGHT` are the `SUPPORTS`, `CITY` is the last kind; `VALUES` has the points of a
single card of each kind. An `Action` is the kind to play, or `TAKE`. A `Pack` holds cards in any
order, in one int; a `Seat` is 0 or 1, and seat 0 begins. `STANDARD` are the rules as published. A
`Bot` is a callable that makes a `Strategy` from a `Setup`, for one game.

>>> from bots.greedy import bot as greedy
>>> from bots.uniform import bot as uniform
>>> play_game(greedy, uniform, seed=7).winner
0
"""

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
from engine.strategy import Bot, Setup, Strategy, Valuer
from engine.thoughts import Thinker, Thought
from engine.view import View
from engine.words import RULES_TEXT, rules_text
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
    "Valuer",
    "Action",
    "Bot",
    "EngineError",
    "Game",
    "IllegalAction",
    "Kind",
    "Pack",
    "RULES_TEXT",
    "Record",
    "Rules",
    "Seat",
    "Setup",
    "State",
    "Strategy",
    "Thinker",
    "Thought",
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
    "rules_text",
    "sample",
    "sample_hand",
    "size",
    "to_text",
]
