"""Trial: the tests of a room, run in a copy of the repository in which a mutant lives."""

from __future__ import annotations

import compileall
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode as Invalidation
from time import monotonic
from typing import Final, NamedTuple

from arena.lanes.cleanup import adopt_orphans, kill_orphans
from bench.mutants.mutant import Mutant
from tests.drill import copy_repository

_QUICK = ("cards", "clock", "hands", "luck", "notation", "record", "rules_bounds", "rules_numbers")
TESTS: Final = {
    "engine": (
        ("tests/rulebook",),
        ("engine", *(f"tests/engine/test_{name}.py" for name in _QUICK)),
        ("tests/engine",),
    ),
    "arena/statistics": (
        ("arena/statistics", "tests/statistics/test_intervals.py"),
        ("tests/statistics",),
    ),
    "arena/tournament": (("arena/tournament", "tests/tournament"),),
    "arena/store": (("tests/store",),),
    "arena/insight": (("tests/insight",),),
    "arena/games": (("arena/games", "tests/games"), ("tests/lanes",)),
}
"""The tests that cover each room, in steps: the next is taken where the one before has passed."""

_PYTEST = (
    *(sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "--hypothesis-seed=0"),
    *("-m", "not study"),
)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_SLOWER = 4  # times as long as without a mutant, and
_LONGER = 30  # seconds, before a trial counts as a timeout
_WHERE = "import arena, bots, engine; print(arena.__file__, bots.__file__, engine.__file__)"


class Trial(NamedTuple):
    """How the tests went: `killer` is the first that failed, or "timeout", or empty."""

    killer: str
    seconds: float


class Copy:
    """A copy of the repository in a folder: what is imported in it comes from it."""

    def __init__(self, folder: Path) -> None:
        self.path = copy_repository(folder)
        temporary = folder / "tmp"
        temporary.mkdir()
        # compiled code is checked by the hash of its source, so that no mutant is overlooked
        compileall.compile_dir(self.path, quiet=2, invalidation_mode=Invalidation.CHECKED_HASH)
        self._environment = os.environ | {
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "TMPDIR": str(temporary),
        }
        self._limits: dict[str, float] = {}
        self._check_imports(temporary)
        adopt_orphans()

    def _check_imports(self, elsewhere: Path) -> None:
        """Make sure that a process in another folder imports the copy, not the original."""
        words = [sys.executable, "-c", _WHERE]
        found = subprocess.check_output(words, cwd=elsewhere, env=self._environment, text=True)
        for path in found.split():
            assert Path(path).is_relative_to(self.path), f"imported from outside the copy: {path}"

    def test(self, mutant: Mutant) -> Trial:
        """Run the tests of a mutant's room with the mutant in its place.

        Before a room's first mutant they are run without one. Raises RuntimeError if they fail.
        """
        room = str(Path(mutant.module).parent)
        if room not in self._limits:
            self._limits[room] = self._limit(room)
        path = self.path / mutant.module
        text = path.read_text(encoding="utf-8")
        path.write_text(mutant.source(text), encoding="utf-8")
        try:
            return self._run(room, self._limits[room])
        finally:
            path.write_text(text, encoding="utf-8")

    def _limit(self, room: str) -> float:
        """Return the seconds after which a room's tests count as a timeout."""
        trial = self._run(room, limit=600.0, PYTHONDONTWRITEBYTECODE="")
        if trial.killer:
            raise RuntimeError(f"without a mutant, {trial.killer} fails")
        return _SLOWER * trial.seconds + _LONGER

    def _run(self, room: str, limit: float, **environment: str) -> Trial:
        start, killer = monotonic(), ""
        for tests in TESTS[room]:
            killer = killer or self._pytest(tests, start + limit, environment)
        return Trial(killer, monotonic() - start)

    def _pytest(self, tests: Sequence[str], until: float, environment: dict[str, str]) -> str:
        """Return the first test that fails, "timeout" where it takes too long, or nothing."""
        process = subprocess.Popen(
            [*_PYTEST, *tests],
            cwd=self.path,
            env=self._environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=until - monotonic())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "timeout"
        finally:
            kill_orphans()
        return _killer(process.returncode, output)


def _killer(status: int, output: str) -> str:
    """Return the first test that failed, or how else pytest ended; empty if all passed."""
    if status == 0:
        return ""
    found = _FAILED.search(output)
    return found[1] if found else f"pytest ended with status {status}"
