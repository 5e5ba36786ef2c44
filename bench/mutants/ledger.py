"""Ledger: every trial that was ever made, a line each, in a file outside the repository."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from bench.mutants.mutant import Mutant
from bench.mutants.steps import STEPS


class Trial(NamedTuple):
    """How far a mutant came: `killer` is the test that failed at the step `reached`, or empty.

    `change` is the source before and after; `commit` is that of the tests, and ends with a plus
    where the working tree had changes.
    """

    change: str
    reached: str
    killer: str
    seconds: float
    commit: str

    def is_done(self, depth: str, commit: str) -> bool:
        """Return whether there is nothing left to try up to a step, with the tests of a commit.

        Of any commit if that is empty.

        What was caught stays caught while its module is the same. What survived is tried again
        with the tests of another commit.
        """
        passed = STEPS.index(self.reached) >= STEPS.index(depth)
        return bool(self.killer) or (passed and commit in ("", self.commit))


class Ledger:
    """The trials of a file, by mutant and by the bytes of its module.

    Several processes may write to one file: each line is written at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._trials: dict[str, Trial] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            data = json.loads(line)
            key = data.pop("key")
            self._trials[key] = Trial(**data)

    def find(self, mutant: Mutant, text: str) -> Trial | None:
        """Return the last trial of a mutant of the module with this text."""
        return self._trials.get(_key(mutant, text))

    def add(self, mutant: Mutant, text: str, trial: Trial) -> None:
        """Keep a trial, and write its line."""
        key = _key(mutant, text)
        self._trials[key] = trial
        line = json.dumps({"key": key} | trial._asdict()) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode())


def usual_path() -> Path:
    """Return the path of the ledger where no other one is named: in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "district-noir" / "mutants.jsonl"


def _key(mutant: Mutant, text: str) -> str:
    digest = sha256(text.encode()).hexdigest()[:16]
    return f"{mutant.place} {mutant.operator} {mutant.occurrence} {digest}"
