"""What ten games cost from the command to the last file: processor seconds, with all children."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from subprocess import DEVNULL

from bench.engine import Row

REPEATS = 7
_COMPILES = "PYTHONDONTWRITEBYTECODE"  # with it every start compiles what was changed
_PLAY = ("play", "greedy", "uniform", "--pairs", "5")
_COMPARE = ("compare", "greedy", "uniform", "--max-pairs", "5")


def rows() -> Iterator[Row]:
    """Yield the processor seconds of commands that play ten games, and of reporting on them."""
    with tempfile.TemporaryDirectory() as folder:
        for what, words, asked in (
            ("10 games, to the last line, CPU s", _PLAY, "0.4"),
            ("10 games, to the last file, CPU s", (*_PLAY, "--fresh", "--out", "run"), "0.8"),
            ("a comparison of 10 games, CPU s", (*_COMPARE, "--fresh", "--out", "compared"), ""),
            ("the report of a comparison, CPU s", ("report", "compared"), ""),
        ):
            yield Row(what, *_figure(words, Path(folder)), asked)


def _figure(words: Sequence[str], folder: Path) -> tuple[str, str]:
    """Return the least and the median seconds; the first call, which fills caches, is left out."""
    measure(words, folder)
    found = [measure(words, folder) for _ in range(REPEATS)]
    return f"{min(found):.2f}", f"median {median(found):.2f}"


def measure(words: Sequence[str], folder: Path) -> float:
    """Return the processor seconds of a command in a folder, and of all that it has started."""
    command = [sys.executable, "-P", "-m", "arena", *words]
    kept = {name: value for name, value in os.environ.items() if name != _COMPILES}
    process = subprocess.Popen(command, cwd=folder, env=kept, stdout=DEVNULL, stderr=DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert not status, words
    return used.ru_utime + used.ru_stime
