"""Perft: the numbers of action sequences and distinct positions after n plies.

These counts pin the rules: almost any change to the rules changes a number.
`python -m tests.perft` counts tests/perft.json again, each entry to its recorded depth.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from engine import Record, State
from tests.referee import Table

REFEREES_MOST = 4000  # sequences; the second referee plays them one by one
FILE = Path(__file__).parent / "perft.json"


def entries() -> list[dict[str, Any]]:
    """Return the entries of the file: a record and its counts for depths 1, 2, 3 ..."""
    counts: list[dict[str, Any]] = json.loads(FILE.read_text())["counts"]
    return counts


def engine_counts(record: Record, depth: int) -> list[tuple[int, int]]:
    """Return (sequences, positions) for depths 1 to `depth`, with the engine's State.

    Positions that differ only in how they were reached are one; a finished game has no
    further ones. Sequences are added up over positions, level by level.
    """
    level: dict[Hashable, tuple[State, int]] = {"root": (record.replay(), 1)}
    counts = []
    for _ in range(depth):
        after: dict[Hashable, tuple[State, int]] = {}
        for state, ways in level.values():
            for action in state.legal():
                child = state.copy()
                child.apply(action)
                key = (child.to_act, *child.hands, child.row, child.piles, child.taken, child.round)
                known, before = after.get(key, (child, 0))
                after[key] = known, before + ways
        level = after
        counts.append((sum(ways for _, ways in level.values()), len(level)))
    return counts


def referee_counts(record: Record, depth: int) -> list[tuple[int, int]]:
    """Return the same from the second referee, which plays every sequence from the deal."""
    changes = record.rules.changes()
    sequences = [record.actions]
    counts = []
    for _ in range(depth):
        longer, positions = [], set()
        for sequence in sequences:
            for action in _table(record.deal, sequence, changes).legal():
                longer.append(sequence + action)
                positions.add(_sight(_table(record.deal, longer[-1], changes)))
        sequences = longer
        counts.append((len(sequences), len(positions)))
    return counts


def _table(deal: str, actions: str, changes: dict[str, Any]) -> Table:
    table = Table(deal, **changes)
    for action in actions:
        table.act(action)
    return table


def _sight(table: Table) -> Hashable:
    groups = (*map(Counter, table.hands), *map(Counter, table.piles))
    cards = tuple(tuple(sorted(group.items())) for group in groups)
    return (cards, tuple(table.row), tuple(table.taken), table.turn, table.round)


def main() -> None:
    """Count every entry again."""
    data = json.loads(FILE.read_text())
    for entry in data["counts"]:
        record = Record.from_json(json.dumps(entry))
        counts = engine_counts(record, len(entry["sequences"]))
        entry["sequences"] = [sequences for sequences, _ in counts]
        entry["positions"] = [positions for _, positions in counts]
        shallow = sum(1 for sequences in entry["sequences"] if sequences <= REFEREES_MOST)
        entry["how"] = f"engine to depth {len(counts)}, second referee to depth {shallow}"
    rows = ",\n".join(json.dumps(entry) for entry in data["counts"])
    FILE.write_text(f'{{"how": {json.dumps(data["how"], indent=1)},\n"counts": [\n{rows}\n]}}\n')


if __name__ == "__main__":
    main()
