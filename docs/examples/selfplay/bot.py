"""Plays what a network likes best that has taught itself with train.py."""

import pkgutil

from bots.apprentice import Apprentice, read
from engine import Setup

network = read(pkgutil.get_data(__name__, "weights.npz"))


def bot(_setup: Setup) -> Apprentice:
    """Return the strategy for one game under the published rules."""
    return Apprentice(network)
