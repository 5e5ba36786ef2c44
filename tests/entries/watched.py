"""Run a command of the arena, and say what it cost this very process.

`python -m tests.entries.watched WORDS...`: the last line of standard error has how often this
process has compiled a source with the mark of `costly.py`, and the most MB that it had.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from arena.__main__ import main
from tests.entries.costly import MARK

compiled: list[str] = []


def look(event: str, words: tuple[Any, ...]) -> None:
    """Note a source that is compiled or parsed."""
    if event == "compile" and isinstance(words[0], bytes | str):
        source = words[0].encode() if isinstance(words[0], str) else words[0]
        if MARK in source:
            compiled.append(str(words[1]))


if __name__ == "__main__":
    sys.addaudithook(look)
    try:
        main()
    finally:
        status = Path("/proc/self/status").read_text()  # ru_maxrss is inherited from the parent
        megabytes = int(status.partition("VmHWM:")[2].split()[0]) >> 10
        print(json.dumps({"compiled": compiled, "megabytes": megabytes}), file=sys.stderr)
