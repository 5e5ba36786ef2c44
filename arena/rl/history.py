"""Encode the opening row and all actions of many games: what an observation leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine import KINDS, Rules
from engine.encoding import ACTIONS, encoder_of

if TYPE_CHECKING:
    from arena.batch.lockstep import Lockstep
    from arena.batch.piles import Indices


class History:
    """The opening rows and all actions so far of so many games, a bit of all games at a time.

    `bits` (bit, game) follow those of an observation. A bit is set once in a game: so a step
    costs as much late in a game as at its beginning.
    """

    def __init__(self, count: int, rules: Rules) -> None:
        self.rules = rules
        encoding = encoder_of(rules)
        self.bits = np.zeros((encoding.information_size - encoding.size, count), np.bool_)

    def begin(self, games: Indices, deals: npt.NDArray[np.uint8]) -> None:
        """Forget these games, and note how their rows began."""
        self.bits[:, games] = False
        first = 2 * self.rules.hand_size
        for place in range(self.rules.opening_row):
            kinds = deals[:, first + place].astype(np.intp)
            self.bits[place * len(KINDS) + kinds, games] = True

    def note(self, games: Lockstep, actions: npt.NDArray[Any]) -> None:
        """Note the legal actions that the games which are not over will carry out."""
        live = np.flatnonzero(~games.over)
        plies = games.round[live] * self.rules.round_plies + games.plies[live]
        first = self.rules.opening_row * len(KINDS)
        self.bits[first + plies * ACTIONS + actions[live], live] = True
