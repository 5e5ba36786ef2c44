"""Traces: which tests run which lines of the source, as one run of them has shown it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from bench.mutants.lines import together

_PYTEST = (
    *(sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "--tb=short"),
    *("--hypothesis-seed=0", "-p", "bench.mutants.tracing"),
)

_RAN = (0, 1)  # of pytest: all passed, some failed


class TracedTest(NamedTuple):
    """A test by pytest's name, and how long it takes."""

    name: str
    seconds: float

    @property
    def file(self) -> str:
        """The file of the test, or the module whose docstring has it."""
        return self.name.partition("::")[0]


class Traces:
    """All tests that pass, for each line of a module those that run it, and the tests that failed.

    `lines` has for each module the digest of its text, and for each line the names of tests, or
    of test files where a fixture of a whole file has run it.
    """

    def __init__(
        self,
        tests: list[TracedTest],
        lines: dict[str, tuple[str, dict[int, list[str]]]],
        failed: Collection[str] = (),
    ) -> None:
        self.tests, self._lines, self.failed = tests, lines, frozenset(failed)
        self._named: dict[str, list[TracedTest]] = defaultdict(list)
        for test in tests:
            self._named[test.name].append(test)
            self._named[test.file].append(test)

    def running(self, module: str, text: str, line: int) -> list[TracedTest]:
        """Return the tests that run a line, each in its own process.

        Of a line that runs at import, or of a module that has changed since, those of any line.
        """
        digest, lines = self._lines.get(module, ("", {}))
        same = together(text, line) if digest == digest_of(text) else set()
        names = {name for number in same or lines for name in lines.get(number, ())}
        return list(dict.fromkeys(test for name in sorted(names) for test in self._named[name]))


def digest_of(text: str) -> str:
    """Return the digest by which a module is known to be the same."""
    return sha256(text.encode()).hexdigest()[:16]


def read(path: Path) -> Traces:
    """Return the traces that `merge` has written."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        data = json.load(file)
    names = data["names"]
    lines = {
        module: (digest, {int(line): [names[one] for one in ones] for line, ones in rows.items()})
        for module, (digest, rows) in data["lines"].items()
    }
    return Traces([TracedTest(*row) for row in data["tests"]], lines, data["failed"])


def merge(folder: Path, root: Path, path: Path) -> None:
    """Write what the files of a folder have, each of one process of pytest, to one file.

    A test that has failed is named apart: it says nothing of a mutant.
    """
    tests: dict[str, dict[str, Any]] = {}
    lines: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for file in sorted(folder.glob("*.json")):
        part = json.loads(file.read_text(encoding="utf-8"))
        tests |= part["tests"]
        for module, rows in part["lines"].items():
            for line, contexts in rows.items():
                lines[module][line].update(contexts)
    numbers: dict[str, int] = {}
    found = {
        module: (
            digest_of((root / module).read_text(encoding="utf-8")),
            {
                line: [numbers.setdefault(name, len(numbers)) for name in sorted(contexts)]
                for line, contexts in rows.items()
            },
        )
        for module, rows in sorted(lines.items())
    }
    passed = [
        TracedTest(name, row["seconds"]) for name, row in sorted(tests.items()) if row["passed"]
    ]
    failed = [name for name, row in sorted(tests.items()) if not row["passed"]]
    content = {"tests": passed, "failed": failed, "names": list(numbers), "lines": found}
    with gzip.open(path, "wt", encoding="utf-8") as output:
        json.dump(content, output)


def trace(root: Path, environment: dict[str, str], path: Path) -> None:
    """Run the tests of `make test` in a copy of the repository, and write the traces to a file."""
    with tempfile.TemporaryDirectory(prefix="traces-") as folder:
        print("tracing the tests: once for each commit", flush=True)
        own = environment | {"MUTANTS_TRACES": folder}
        own.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)  # two processes take pytest-xdist
        done = subprocess.run(_PYTEST, cwd=root, env=own, stdin=subprocess.DEVNULL, check=False)
        if done.returncode not in _RAN:
            sys.exit("the tests could not be traced")
        merge(Path(folder), root, path)


def usual_path(commit: str) -> Path:
    """Return the path of the traces of a commit, in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "district-noir" / f"traces-{commit}.json.gz"
