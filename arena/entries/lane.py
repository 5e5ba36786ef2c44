"""Names of the ways in which a bot can be executed; the command line reads this: no imports."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Lane: TypeAlias = Literal["inproc", "process", "jail"]
LANES: Final[tuple[Lane, ...]] = get_args(Lane)
