"""The names of the sets of card names; without imports, as the command line needs them early."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Naming: TypeAlias = Literal["english", "german", "deck"]
NAMINGS: Final[tuple[Naming, ...]] = get_args(Naming)
"""The sets of card names; `deck` is a standard deck of 52 cards."""
