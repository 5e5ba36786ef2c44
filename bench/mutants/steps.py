"""Steps: which tests try a mutant, in which order: those of its line, its room, and each tier.

A step has only so many seconds of tests, the nearest and the quickest first. So what survives
all steps may still be noticed by a test that was not run: the score is a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench.mutants.mutant import Mutant
from bench.mutants.traces import TracedTest, Traces

_ROOMS: Final = {
    "engine": ("engine", "tests/rulebook", "tests/engine"),
    "bots": ("bots", "tests/bots"),
    "arena": ("tests/test_imports.py",),
}
_BATCH_SECONDS, _BATCH_TESTS = 20.0, 300
_FILE_SECONDS = 2.0  # to read another file of tests

STEPS: Final = ("line", "room", "test", "test-all")
"""A mutant takes the next step where it has survived the one before."""

_SECONDS: Final = {"line": 40.0, "room": 40.0, "test": 40.0, "test-all": 90.0}
"""How long the tests of a step take together at most, in seconds of the traced run."""


class Step(NamedTuple):
    """A name of `STEPS` and its tests, in the order in which they are run."""

    name: str
    tests: tuple[TracedTest, ...]

    @property
    def batches(self) -> Iterator[list[TracedTest]]:
        """The tests in parts, each for one process of pytest."""
        batch: list[TracedTest] = []
        for test in self.tests:
            seconds = sum(one.seconds for one in batch) + test.seconds
            if batch and (seconds > _BATCH_SECONDS or len(batch) == _BATCH_TESTS):
                yield _by_file(batch)
                batch = []
            batch.append(test)
        if batch:
            yield _by_file(batch)


def steps(mutant: Mutant, text: str, traces: Traces, root: Path) -> list[Step]:
    """Return the steps of a mutant: the quick tests from the nearest on, then the slow ones.

    Those that run its line; the others of its room and of the files of the first; those that
    start processes, which may run the line; and all these of the tests that are slow. No test is
    run twice.
    """
    running = set(traces.running(mutant.module, text, mutant.line))
    files = {test.file for test in running}
    own = {mutant.module, *_importing(mutant.module, root)}
    folders = tuple(f"{path}/" for path in _room(mutant.room))

    def distance(test: TracedTest) -> tuple[bool, bool, bool, bool, float]:
        in_room = f"{test.file}/".startswith(folders)
        is_far = test.file not in own, not in_room, test.file not in files
        return test not in running, *is_far, test.seconds

    def is_near(test: TracedTest) -> bool:
        return test in running or not all(distance(test)[1:4])

    tests = sorted(traces.tests, key=distance)
    quick = [test for test in tests if not test.is_slow]
    choices: list[tuple[list[TracedTest], Callable[[TracedTest], bool]]] = [
        (quick, running.__contains__),
        (quick, is_near),
        (quick, lambda test: test in running or test.processes),
        ([test for test in tests if test.is_slow], lambda test: is_near(test) or test.processes),
    ]
    found: list[Step] = []
    for name, (those, is_chosen) in zip(STEPS, choices, strict=True):
        done = {test for step in found for test in step.tests}
        chosen = [test for test in those if is_chosen(test) and test not in done]
        found.append(Step(name, tuple(_within(chosen, _SECONDS[name]))))
    return found


def _within(tests: list[TracedTest], seconds: float) -> Iterator[TracedTest]:
    """Yield those tests that fit into so many seconds with their files, the first in any case."""
    left, files = seconds, set[str]()
    for number, test in enumerate(tests):
        cost = test.seconds + (0 if test.file in files else _FILE_SECONDS)
        if number == 0 or cost <= left:
            left -= cost
            files.add(test.file)
            yield test


def _by_file(tests: list[TracedTest]) -> list[TracedTest]:
    """Return the tests with those of a file side by side: each file is read once."""
    files = list(dict.fromkeys(test.file for test in tests))
    return sorted(tests, key=lambda test: files.index(test.file))


def _room(room: str) -> tuple[str, ...]:
    return _ROOMS.get(room, (room, f"tests/{room.removeprefix('arena/')}"))


def _importing(module: str, root: Path) -> list[str]:
    """Return the test files that are named after the module, or import from it by its name."""
    path = Path(module)
    package = ".".join(path.parent.parts)
    phrases = (f"from {package}.{path.stem} import", f"import {package}.{path.stem}\n")
    return [
        file.relative_to(root).as_posix()
        for file in sorted((root / "tests").rglob("test_*.py"))
        if file.stem == f"test_{path.stem}"
        or any(phrase in file.read_text(encoding="utf-8") for phrase in phrases)
    ]
