"""Names of the lanes: the ways to execute a bot. No imports: the command line starts with this."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Lane: TypeAlias = Literal["inproc", "process", "jail"]
LANES: Final[tuple[Lane, ...]] = get_args(Lane)
