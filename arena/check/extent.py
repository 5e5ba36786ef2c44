"""Extent: how much is checked by default. The command line reads this: no imports."""

from __future__ import annotations

from typing import Final

GAMES: Final = 200  # in each lane
SECONDS: Final = 120.0
