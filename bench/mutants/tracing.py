"""A plugin of pytest: note which functions each test calls, or run only the tests of a list.

`TRACES` is a folder that gets a file of each process, with a line of JSON for each test: its name,
its seconds, whether it passed, and the functions of the source that this process has called, as
"arena/tables/table.py:Table.rows". What a fixture of a whole file calls counts for each test after
it. `TESTS` is a file with the names of the tests to run.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

from bench.mutants.changes import TOPS


class _Tracer:
    """Writes the traces of one process."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._root = folder, f"{Path.cwd()}/"
        self._called: dict[int, CodeType] = {}  # by id: the hash of code takes long
        self._functions: set[str] = set()  # of this test
        self._of_file: dict[Path, set[str]] = {}
        self._seconds = 0.0
        self._passed = True

    def _see(self, frame: FrameType, *_: object) -> None:
        self._called[id(frame.f_code)] = frame.f_code

    def _take(self) -> set[str]:
        """Return the functions that were called since the last time, and note them."""
        called, self._called = self._called, {}  # this function is traced, too
        inside = tuple(f"{self._root}{top}/" for top in TOPS)
        found = {
            f"{code.co_filename.removeprefix(self._root)}:{plain_name(code.co_qualname)}"
            for code in called.values()
            if code.co_filename.startswith(inside)
        }
        self._functions |= found
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Write the line of a test."""
        self._seconds, self._passed = 0.0, True
        self._functions = set()
        self._called = {}
        threading.settrace(self._see)
        sys.settrace(self._see)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self._take()
            functions = self._functions | self._of_file.get(item.path, set())
            row = {"test": item.nodeid, "seconds": self._seconds, "passed": self._passed}
            line = json.dumps(row | {"functions": sorted(functions)})
            with (self._folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """Note what a fixture of a file calls."""
        self._take()
        try:
            return (yield)
        finally:
            found = self._take()
            if fixturedef.scope in ("module", "package", "class"):
                self._of_file.setdefault(request.path, set()).update(found)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long a test takes, and whether it passes."""
        self._seconds += report.duration
        self._passed = self._passed and not report.failed


class _Chooser:
    """Leaves the tests of a list; a test whose parameters a mutant has changed is none of them."""

    def __init__(self, path: Path) -> None:
        self._names = {*path.read_text(encoding="utf-8").splitlines()}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the tests of the list."""
        items[:] = [item for item in items if item.nodeid in self._names]


def plain_name(name: str) -> str:
    """Return a function's name without what is within it: that runs when the function does.

    >>> plain_name("Table.rows.<locals>.<genexpr>")
    'Table.rows'
    """
    return name.partition(".<")[0]


def pytest_configure(config: pytest.Config) -> None:
    """Trace, or choose, as the environment says."""
    if folder := os.environ.get("TRACES"):
        config.pluginmanager.register(_Tracer(Path(folder)), "tracer")
    if path := os.environ.get("TESTS"):
        config.pluginmanager.register(_Chooser(Path(path)), "chooser")
