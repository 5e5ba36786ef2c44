"""Check that a bot keeps the contract: a short tournament and a few questions.

The games are played as those of a run, by a worker that a bot may kill. The questions go to
a process of the bot that plays whole games, in the jail if the machine has one. Outside the jail a
bot can attack the program that asks them, and the report says so.

How much a check plays is said here: the command line reads it at every start. The limits are
numbers of games, not seconds, so that a busy machine changes no verdict.
"""

from __future__ import annotations

from typing import Final

GAMES: Final = 40  # in each lane
LEAST_GAMES: Final = 4
DECISIONS: Final = 2  # repeated with other hidden cards, for each game in a lane
RATING: Final = 2  # games against the ladder, for each game in a lane
LONGEST: Final = 3600.0  # seconds of the bot's work, after which its check is cut short
SLOWER: Final = 60  # times as long is the limit by the clock: eight checks share a machine
