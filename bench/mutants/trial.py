"""Trial: the tests, run step by step in a copy of the repository in which a mutant lives."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Final

from arena.lanes.cleanup import adopt_orphans, kill_orphans
from bench.mutants.finding import change, changed
from bench.mutants.ledger import Trial
from bench.mutants.mutant import Mutant
from bench.mutants.steps import STEPS, Step, steps
from tests.drill.fault import compile_copy, copy_repository

_PYTEST = (
    *(sys.executable, "-m", "pytest", "-x", "-v", "--tb=no", "--hypothesis-seed=0"),
    *("-o", "faulthandler_exit_on_timeout=true"),
)
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_STARTED: Final = re.compile(r"^(\S+\.py::[^\s\[]+)", re.MULTILINE)
_NAMELESS: Final = "pytest ended"  # nothing can be imported, and no test can be named
_NO_TESTS = 5  # pytest's status
_LONGEST = 3600  # seconds for a step
_SLOWER = 5  # a slow test has so many times the seconds of another one
_WHERE = "import arena, bots, engine; print(arena.__file__, bots.__file__, engine.__file__)"


class Copy:
    """A copy of the repository in a folder: what is imported in it comes from it.

    A test that takes longer than `seconds` with a mutant has noticed it.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self.path, self._seconds = copy_repository(folder), seconds
        temporary = folder / "tmp"
        temporary.mkdir()
        compile_copy(self.path)
        self._environment = os.environ | {
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "TMPDIR": str(temporary),
        }
        self._sound: dict[str, bool] = {}
        self._check_imports(temporary)
        adopt_orphans()

    def _check_imports(self, elsewhere: Path) -> None:
        """Make sure that a process in another folder imports the copy, not the original."""
        words = [sys.executable, "-c", _WHERE]
        found = subprocess.check_output(words, cwd=elsewhere, env=self._environment, text=True)
        for path in found.split():
            assert Path(path).is_relative_to(self.path), f"imported from outside the copy: {path}"

    def text(self, module: str) -> str:
        """Return the source of a module of the copy."""
        return (self.path / module).read_text(encoding="utf-8")

    def test(self, mutant: Mutant, after: str, depth: str, commit: str) -> Trial:
        """Take the steps of a mutant that follow the step `after`, up to the step `depth`."""
        start, killer, reached = monotonic(), "", depth
        own = steps(mutant, self.path)
        for step in own[STEPS.index(after) + 1 if after else 0 : STEPS.index(depth) + 1]:
            if killer := self._take(step, mutant):
                reached = step.name
                break
        what = change(mutant, self.text(mutant.module))
        return Trial(what, reached, killer, round(monotonic() - start, 1), commit)

    def _take(self, step: Step, mutant: Mutant) -> str:
        """Return the first test of a step that fails because of the mutant, or nothing.

        A test that fails without the mutant, too, or passes when it is run again, is no witness:
        the step is taken again without it.
        """
        doubtful: set[str] = set()
        limit = self._seconds * (_SLOWER if step.name == STEPS[-1] else 1)
        while True:
            words = [*step.words, *map(_without, {*doubtful, *self.unsound})]
            with self._planted(mutant):
                killer = self._pytest(words, step.marker, limit)
                if not killer or killer.startswith(_NAMELESS):
                    return killer
                fails_again = self._pytest([killer], step.marker, limit)
            if fails_again and self._is_sound(killer):
                return killer
            doubtful.add(killer)

    def _is_sound(self, name: str) -> bool:
        """Return whether a test passes in the copy without a mutant."""
        if name not in self._sound:
            self._sound[name] = not self._pytest([name], "not study", _LONGEST)
        return self._sound[name]

    @property
    def unsound(self) -> list[str]:
        """The tests that were not believed, because of what they did without a mutant."""
        return sorted(name for name, is_sound in self._sound.items() if not is_sound)

    @contextmanager
    def _planted(self, mutant: Mutant) -> Iterator[None]:
        path, text = self.path / mutant.module, self.text(mutant.module)
        path.write_text(changed(mutant, text), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")

    def _pytest(self, words: list[str], marker: str, seconds: float) -> str:
        """Return the first test that fails or takes too long, or nothing."""
        words = [*_PYTEST, "-o", f"faulthandler_timeout={seconds}", "-m", marker, *words]
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            process = subprocess.Popen(
                words,
                cwd=self.path,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,  # no pipe, which a process that is left behind would keep open
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status = _wait(process)
            kill_orphans()
            output.seek(0)
            return _killer(status, output.read())


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Return the status of a process, which is killed after the longest time for a step."""
    try:
        return process.wait(_LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _without(name: str) -> str:
    """Return pytest's option that leaves a test out, or a file that cannot be imported."""
    return f"--deselect={name}" if "::" in name else f"--ignore={name}"


def _killer(status: int, output: str) -> str:
    """Return the first test that failed or did not end, or how else pytest ended."""
    if status in (0, _NO_TESTS):
        return ""
    if found := _FAILED.search(output):
        return found[1]
    started = _STARTED.findall(output)
    return str(started[-1]) if started else f"{_NAMELESS} with status {status}"
