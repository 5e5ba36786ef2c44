"""Check that a bot keeps the contract, with its code in separate processes.

`supervisor` starts the `inspector` in a separate process, and the inspector starts the bot's
processes, in the jail if the machine has one. Neither runs a bot's code itself. Outside the jail a
bot can attack both, and the report says so.

How many games a check plays is said here: the command line reads it at every start. The limits are
numbers of games, not seconds, so that a busy machine changes no verdict.
"""

from __future__ import annotations

from typing import Final

GAMES: Final = 40  # in each lane
LEAST_GAMES: Final = 4
FEW: Final = 20  # with fewer games in a lane, each variant of the rules has one game, not two
DECISIONS: Final = 2  # repeated with other hidden cards, for each game in a lane
RATING: Final = 2  # games against the ladder, for each game in a lane
LONGEST: Final = 3600.0  # seconds of the bot's processes, after which its check is cut short
