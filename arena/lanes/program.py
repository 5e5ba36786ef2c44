"""Program: how another Python is told to begin, so that it finds the arena that runs here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import arena

ROOT: Final = str(Path(arena.__path__[0]).resolve().parent)
"""Where the packages of the arena are."""

_BEGIN = """
import os, sys
own = os.path.dirname(os.__file__)
last = max(n for n, place in enumerate(sys.path) if place in (own, own + "/lib-dynload"))
sys.path[last + 1 : last + 1] = {path!r}
{statement}
"""


def write_program(statement: str, path: Sequence[str] = (ROOT,)) -> str:
    """Return a program that executes a statement with these folders on its path.

    They come after Python's own modules, and before what is installed: there may be another
    arena.
    """
    return _BEGIN.format(path=[*path], statement=statement)
