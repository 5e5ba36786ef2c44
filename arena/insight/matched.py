"""Kin: which bots of two runs are the same, by what they are made of and their parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.entries.entry import Entry

SAME: Final = "same"
CHANGED: Final = "changed"
ONLY_BASE: Final = "only in the base"
ONLY_OTHER: Final = "only in the other run"


@dataclass(frozen=True)
class Kin:
    """A bot's labels in the base and in the other run; one of them is None where it has none.

    It is the `same` where the sha256 of its source and its parameters are equal, whatever its
    labels are. With one label and another identity it has `changed`.
    """

    base: str | None
    other: str | None
    status: str

    @property
    def name(self) -> str:
        """Both labels, or the one that there is."""
        if self.base is None or self.other is None or self.base == self.other:
            return self.base or self.other or ""
        return f"{self.base} / {self.other}"


def find_kin(base: Sequence[Entry], other: Sequence[Entry]) -> list[Kin]:
    """Return the bots of both runs, those of the base first.

    A bot goes with the one of its label; where there is none, with the first that is the same.
    """
    theirs = {entry.label: entry for entry in other}
    named = {entry.label for entry in base}
    free = {_identity(entry): entry.label for entry in reversed(other) if entry.label not in named}
    kin = []
    for entry in base:
        if twin := theirs.get(entry.label):
            status = SAME if _identity(entry) == _identity(twin) else CHANGED
            kin.append(Kin(entry.label, entry.label, status))
        elif label := free.pop(_identity(entry), None):
            kin.append(Kin(entry.label, label, SAME))
        else:
            kin.append(Kin(entry.label, None, ONLY_BASE))
    found = {one.other for one in kin}
    labels = [entry.label for entry in other if entry.label not in found]
    return [*kin, *(Kin(None, label, ONLY_OTHER) for label in labels)]


def _identity(entry: Entry) -> tuple[str, str]:
    return entry.sha256, json.dumps(entry.params, sort_keys=True)
