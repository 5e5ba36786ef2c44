"""Table: the score by room, as in bench/MUTANTS.md, and the survivors that it does not explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench.mutants.ledger import Trial
from bench.mutants.mutant import Mutant
from bench.mutants.steps import STEPS
from tests import ROOT

KEPT = ROOT / "bench" / "MUTANTS.md"

Tried = tuple[Mutant, Trial | None]
"""A mutant of the sample, and its last trial if it had one."""

_HEAD = (
    "| room | places | tried | by its line and room | by `make test` | by `make test-all` "
    "| open | the same | a gap |\n|---|---|---|---|---|---|---|---|---|"
)


def table(population: list[Mutant], tried: list[Tried]) -> tuple[list[str], list[Tried]]:
    """Return the lines of the table and of the new survivors, and these survivors.

    A mutant is open if it has survived, and not all tests have tried it.
    """
    kept = KEPT.read_text(encoding="utf-8")
    new = [(one, end) for one, end in tried if _survived(end) and not _is_kept(end, kept)]
    commits = sorted({end.commit for _, end in tried if end})
    lines = [f"\ncommits: {' '.join(commits)}\n", _HEAD]
    for room in sorted({mutant.room for mutant in population}):
        places = {one.place for one in population if one.room == room}
        lines.append(_row(room, len(places), [one for one in tried if one[0].room == room], kept))
    lines.append(_row("all", len({one.place for one in population}), tried, kept))
    lines += [f"\n{len(new)} survivors that {KEPT.name} does not explain:", *_named(new)]
    return lines, new


def _row(room: str, places: int, tried: list[Tried], kept: str) -> str:
    """Return a row; what a tier catches is counted with what the steps before it catch."""
    ends = [end for _, end in tried if end]
    steps = Counter(end.reached for end in ends if end.killer)
    room_test = steps["line"] + steps["room"]
    survived = [end for end in ends if _survived(end)]
    same = sum(_is_kept(end, kept) for end in survived)
    numbers = (
        *(places, len(ends), room_test, room_test + steps["test"], steps.total()),
        *(len(ends) - steps.total() - len(survived), same, len(survived) - same),
    )
    return f"| {room} | {' | '.join(map(str, numbers))} |"


def _survived(end: Trial | None) -> bool:
    """Return whether a mutant has been tried by all tests, and none has noticed it."""
    return end is not None and not end.killer and end.reached == STEPS[-1]


def _is_kept(end: Trial | None, kept: str) -> bool:
    return end is not None and f"`{end.change}`" in kept


def _named(survivors: list[Tried]) -> Iterator[str]:
    for mutant, end in survivors:
        yield f"{mutant.module}:{mutant.line}: {end.change if end else ''}"
