"""How many games a check plays; imports nothing, as the command line reads it at every start.

The limits are numbers of games, not seconds, so that a busy machine changes no verdict.
"""

from __future__ import annotations

from typing import Final

GAMES: Final = 40  # in each lane
LEAST_GAMES: Final = 4
FEW: Final = 20  # with fewer games in a lane, each variant of the rules has one game, not two
DECISIONS: Final = 2  # repeated with other hidden cards, for each game in a lane
RATING: Final = 2  # games against the ladder, for each game in a lane
LONGEST: Final = 3600.0  # seconds, after which a check is cut short, without a verdict
