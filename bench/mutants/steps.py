"""Steps: which tests try a mutant, in which order: those of its line, its room, and each tier.

The first two steps have only so many seconds of tests, the nearest and the quickest first. The
other two have all tests of their tier.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench.mutants.mutant import Mutant
from bench.mutants.traces import TracedTest, Traces

_ROOMS: Final = {
    "engine": ("engine", "tests/rulebook", "tests/engine"),
    "bots": ("bots", "tests/bots"),
    "arena": ("arena/addons/__init__.py", "tests/test_imports.py", "tests/library"),
}
_BATCH_SECONDS, _BATCH_TESTS = 20.0, 300
_FILE_SECONDS = 2.0  # to read another file of tests
_LONG = 4.0  # seconds: a test that takes longer is in no part with quicker ones, which may hang

STEPS: Final = ("line", "room", "test", "test-all")
"""A mutant takes the next step where it has survived the one before."""

MARKERS: Final = {"test": "not study and not slow", "test-all": "slow and not study"}
"""The tests of the steps that try many mutants at once."""

_SECONDS: Final = {"line": 30.0, "room": 20.0}
"""How long the tests of another step take at most, in seconds of the traced run."""


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
            is_other = bool(batch) and (batch[-1].seconds > _LONG) != (test.seconds > _LONG)
            if batch and (is_other or seconds > _BATCH_SECONDS or len(batch) == _BATCH_TESTS):
                yield _by_file(batch)
                batch = []
            batch.append(test)
        if batch:
            yield _by_file(batch)


def steps(mutant: Mutant, text: str, traces: Traces, root: Path) -> list[Step]:
    """Return the first two steps of a mutant, with the tests of `make test`, the nearest first.

    Those that run its line; then the others of its room and of the files of those. No test is run
    twice.
    """
    running = set(traces.running(mutant.module, text, mutant.line))
    files = {test.file for test in running}
    own = {mutant.module, *_importing(mutant.module, root)}
    folders = tuple(f"{path}/" for path in _room(mutant.room))

    def distance(test: TracedTest) -> tuple[bool, bool, bool, bool, float, str]:
        in_room = f"{test.file}/".startswith(folders)
        is_far = test.file not in own, not in_room, test.file not in files
        return test not in running, *is_far, test.seconds, test.name

    def is_near(test: TracedTest) -> bool:
        return test in running or not all(distance(test)[1:4])

    own_tests = list(within(sorted(running, key=distance), _SECONDS["line"]))
    others = (test for test in traces.tests if is_near(test) and test not in own_tests)
    further = within(sorted(others, key=distance), _SECONDS["room"])
    return [Step("line", tuple(own_tests)), Step("room", tuple(further))]


def within(tests: list[TracedTest], seconds: float) -> Iterator[TracedTest]:
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
