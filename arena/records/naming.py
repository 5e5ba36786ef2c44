"""Names of the sets of card names; the command line reads this: no imports."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Naming: TypeAlias = Literal["english", "german", "deck"]
NAMINGS: Final[tuple[Naming, ...]] = get_args(Naming)
"""`deck` is a standard deck of 52."""
