"""Output: which test has failed, by what pytest prints."""

from __future__ import annotations

import re
from typing import Final

from bench.mutants.traces import TracedTest

_ABSENT: Final = re.compile(r"^ERROR: not found: (.+)$", re.MULTILINE)
_NO_TESTS = 5  # pytest's status


def absent(output: str, folder: str) -> set[str]:
    """Return the functions, in files of a folder, of the tests that pytest has not found.

    >>> absent("ERROR: not found: /copy/tests/test_a.py::test_x\\n(no match)", "/copy")
    {'tests/test_a.py::test_x'}
    """
    return {name.removeprefix(f"{folder}/") for name in _ABSENT.findall(output)}


def present(tests: list[TracedTest], missing: set[str]) -> list[TracedTest]:
    """Return the tests without those functions, of which one with parameters has all instead."""
    found: dict[str, TracedTest] = {}
    for test in tests:
        function, bracket, _ = test.name.partition("[")
        if function not in missing:
            found[test.name] = test
        elif bracket:
            found.setdefault(function, test._replace(name=function))
    return list(found.values())


def killer(status: int, output: str, tests: list[TracedTest]) -> TracedTest | None:
    """Return the test that failed, by pytest's status and output, or the one that did not end.

    Where nothing can be imported and none is named, the first. Nothing if all have passed.
    """
    if status in (0, _NO_TESTS):
        return None
    lines = output.splitlines()
    failed = [line.split(" ", 1)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    longest_first = sorted(tests, key=lambda test: -len(test.name))
    for line in failed[:1] or lines[::-1]:
        for test in longest_first:
            if line.startswith(test.name) or line.partition(" ")[0] == test.file:
                return test
    return tests[0]
