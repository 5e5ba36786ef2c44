"""Trial: the tests, run step by step in a copy of the repository in which a mutant lives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer
from time import monotonic

from arena.lanes.cleanup import adopt_orphans, kill_orphans
from bench.mutants.finding import change, changed
from bench.mutants.ledger import Trial
from bench.mutants.mutant import Mutant
from bench.mutants.output import absent, killer, present
from bench.mutants.steps import Step
from bench.mutants.traces import TracedTest
from tests.drill.fault import compile_copy, copy_repository

_NURSERY = (sys.executable, "-m", "bench.mutants.nursery")
_PYTEST = (
    *("-x", "-v", "--tb=no", "--hypothesis-seed=0"),
    *("-p", "_hypothesis_pytestplugin", "-m", "not study"),  # the only plugin that we need
    *("-o", "faulthandler_exit_on_timeout=true"),
)
_ALL = (
    *("--tb=no", "--hypothesis-seed=0", "-p", "_hypothesis_pytestplugin", "-p", "xdist.plugin"),
    *("-p", "bench.mutants.failures", "-m", "not study"),
    *("-o", "faulthandler_exit_on_timeout=true", "-o", "faulthandler_timeout=300"),
)
_UNKNOWN = 20.0  # seconds of a test
_LONGEST = 7200  # seconds for a run of pytest
_SLOWER = 5  # a test has noticed a mutant if it takes so many times what it took
_WHERE = "import arena, bots, engine; print(arena.__file__, bots.__file__, engine.__file__)"


class Copy:
    """A copy of the repository in a folder: what is imported in it comes from it.

    A test that takes longer than `seconds` with a mutant, and five times as long as without, has
    noticed it.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self.path, self._seconds = copy_repository(folder), seconds
        temporary = folder / "tmp"
        temporary.mkdir()
        self._failures = folder / "failures"
        compile_copy(self.path)
        self.environment = os.environ | {
            "MUTANTS_FAILURES": str(self._failures),
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONHASHSEED": "0",
            "TMPDIR": str(temporary),
        }
        self._sound: dict[str, bool] = {}
        self._check_imports(temporary)
        adopt_orphans()
        self._nursery = subprocess.Popen(
            _NURSERY,
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _check_imports(self, elsewhere: Path) -> None:
        """Make sure that a process in another folder imports the copy, not the original."""
        words = [sys.executable, "-c", _WHERE]
        found = subprocess.check_output(words, cwd=elsewhere, env=self.environment, text=True)
        for path in found.split():
            assert Path(path).is_relative_to(self.path), f"imported from outside the copy: {path}"

    def text(self, module: str) -> str:
        """Return the source of a module of the copy."""
        return (self.path / module).read_text(encoding="utf-8")

    def test(self, mutant: Mutant, step: Step, commit: str) -> Trial:
        """Take a step of a mutant."""
        start, found = monotonic(), self._take(step, mutant)
        what = change(mutant, self.text(mutant.module))
        return Trial(what, step.name, found, round(monotonic() - start, 1), commit)

    def _take(self, step: Step, mutant: Mutant) -> str:
        """Return the first test of a step that fails because of the mutant, or nothing.

        A test that fails without the mutant, too, or passes when it is run again, is no witness:
        the others of its batch are run again without it.
        """
        for batch in step.batches:
            left = [test for test in batch if self._sound.get(test.name, True)]
            while left:
                with self._planted(mutant):
                    failed = self._pytest(left)
                    fails_again = failed and self._pytest([failed])
                if not failed:
                    break
                if fails_again and self._is_sound(failed):
                    return failed.name
                left.remove(failed)
        return ""

    def notices(self, mutant: Mutant, name: str) -> bool:
        """Return whether a test fails twice with a mutant, and passes without it."""
        test = TracedTest(name, _UNKNOWN)
        with self._planted(mutant):
            fails = self._pytest([test]) and self._pytest([test])
        return bool(fails) and self._is_sound(test)

    def find_failing(self, mutants: list[Mutant], words: list[str]) -> list[str]:
        """Return the tests that fail with all these mutants at once."""
        self._failures.write_bytes(b"")
        with ExitStack() as stack:
            for mutant in mutants:
                stack.enter_context(self._planted(mutant))
            self._run([*_ALL, *words])
        return list(dict.fromkeys(self._failures.read_text(encoding="utf-8").splitlines()))

    def _is_sound(self, test: TracedTest) -> bool:
        """Return whether a test passes in the copy without a mutant."""
        if test.name not in self._sound:
            self._sound[test.name] = not self._pytest([test])
        return self._sound[test.name]

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

    def _pytest(self, tests: list[TracedTest]) -> TracedTest | None:
        """Return the first test that fails or takes too long, or nothing.

        Where the change has given a test other parameters, it is run with all of them.
        """
        seconds = max(self._seconds, _SLOWER * max(test.seconds for test in tests))
        words = [*_PYTEST, "-o", f"faulthandler_timeout={seconds}", *(test.name for test in tests)]
        status, output = self._run(words)
        if missing := absent(output, str(self.path)):
            found = present(tests, missing)
            return self._pytest(found) if found else None
        return killer(status, output, tests)

    def _run(self, words: list[str]) -> tuple[int, str]:
        """Return the status and the output of pytest, which is killed after the longest time."""
        nursery, output = self._nursery, self.path.parent / "output"
        output.unlink(missing_ok=True)
        assert nursery.stdin
        assert nursery.stdout
        nursery.stdin.write(json.dumps([words, str(output)]) + "\n")
        nursery.stdin.flush()
        child = int(nursery.stdout.readline())
        killing = Timer(_LONGEST, os.killpg, (child, signal.SIGKILL))
        killing.start()
        status = int(nursery.stdout.readline())
        killing.cancel()
        kill_orphans([nursery.pid])
        return status, output.read_text(encoding="utf-8", errors="replace")
