"""Beside: why a bot's file cannot import the files that are in its folder."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from arena.entries.spec import is_file

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_RELATIVE = "attempted relative import with no known parent package"


def explain_import(target: str, message: str) -> str:
    """Return what to do about a bot's import that failed, nothing where it is of no file beside.

    `message` is that of the fault.
    """
    if not is_file(target) or not target.endswith(".py"):
        return ""
    folder = Path(os.path.expanduser(target)).parent
    match = _MISSING.match(message)
    if match is None:
        alone = _RELATIVE in message
        return "; a bot's file stands alone, and has no package around it" if alone else ""
    for name in (f"{match[1]}.py", match[1]):
        if (beside := folder / name).exists():
            command = shlex.join(["arena", "pack", target, str(beside), "-o", "packed.py"])
            return f"; a bot's file stands alone: `{command}` makes one file of both"
    return ""
