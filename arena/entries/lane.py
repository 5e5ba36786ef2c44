"""Names of the lanes: the ways to execute a bot. No imports: the command line starts with this."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Here: TypeAlias = Literal["inproc", "process", "jail"]
HERE: Final[tuple[Here, ...]] = get_args(Here)
"""The lanes of bots that run on the machine that plays."""

Lane: TypeAlias = Literal["inproc", "process", "jail", "remote"]
LANES: Final[tuple[Lane, ...]] = get_args(Lane)
