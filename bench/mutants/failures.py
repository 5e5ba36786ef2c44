"""Failures: a plugin of pytest that writes the names of the tests that fail to a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_PATH = Path(os.environ["MUTANTS_FAILURES"])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write the name of a test; where workers run the tests, they write theirs, too."""
    if report.failed:
        _write(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write the name of a file that cannot be imported."""
    if report.failed:
        _write(report.nodeid)


def _write(name: str) -> None:
    with _PATH.open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")
