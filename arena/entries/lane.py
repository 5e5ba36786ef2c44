"""Names of the lanes: the ways to execute a bot. No imports: the command line starts with this."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Lane: TypeAlias = Literal["inproc", "process", "jail", "remote"]
LANES: Final[tuple[Lane, ...]] = get_args(Lane)
HERE: Final = LANES[:3]
"""The lanes of bots that run on the machine that plays."""
