"""Tracing: a plugin of pytest that writes down which lines of the source each test runs.

Only lines that this process runs are seen, not those of a worker or of a bot.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

from bench.mutants.mutant import TOPS

_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.connect"}
"""The audit events of a process that starts another one, or asks its fork server for one."""


class _Tracer:
    """The tracer of one process of pytest; `folder` gets a file of what it has seen."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._root = folder, Path.cwd()
        patterns = [f"{self._root / top}/*" for top in TOPS]
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=patterns)
        self._tests: dict[str, dict[str, Any]] = {}
        self._current = ""
        sys.addaudithook(self._notice)

    def _notice(self, event: str, _arguments: object) -> None:
        if event in _STARTS and self._current in self._tests:
            self._tests[self._current]["processes"] = True

    def _enter(self, context: str) -> str:
        """Count lines for another context, and return the one before."""
        before, self._current = self._current, context
        self._coverage.switch_context(context)
        return before

    def pytest_sessionstart(self) -> None:
        """Begin to trace."""
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Count what a test runs for it, its fixtures included."""
        slow = item.get_closest_marker("slow") is not None
        row = {"slow": slow, "processes": False, "passed": True, "seconds": 0.0}
        self._tests[item.nodeid] = row
        before = self._enter(item.nodeid)
        try:
            return (yield)
        finally:
            self._enter(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """Count what a fixture of a whole file runs for the file."""
        if fixturedef.scope not in ("module", "package", "class"):
            return (yield)
        before = self._enter(request.node.nodeid.partition("::")[0])
        try:
            return (yield)
        finally:
            self._enter(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long a test takes, and whether it passes."""
        if row := self._tests.get(report.nodeid):
            row["seconds"] = round(row["seconds"] + report.duration, 3)
            row["passed"] &= not report.failed

    def pytest_sessionfinish(self) -> None:
        """Write what was seen to a file of its own."""
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = defaultdict(dict)
        for file in data.measured_files():
            module = Path(file).relative_to(self._root).as_posix()
            for line, contexts in data.contexts_by_lineno(file).items():
                lines[module][line] = [one for one in contexts if one]
        content = {"tests": self._tests, "lines": lines}
        handle, _ = tempfile.mkstemp(suffix=".json", dir=self._folder)
        with open(handle, "w", encoding="utf-8") as output:
            json.dump(content, output)


def pytest_configure(config: pytest.Config) -> None:
    """Trace in each process that runs tests: not in one that only hands them to workers."""
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        config.pluginmanager.register(_Tracer(Path(os.environ["MUTANTS_TRACES"])), "tracer")
