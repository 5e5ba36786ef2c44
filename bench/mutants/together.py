"""Together: what has survived its nearest tests is tried by all tests of a tier, many at once.

A mutant that no test notices changes nothing for the others. So all that are left live in one copy,
one of each module, and all tests run once. Of each test that fails, the mutant that it notices is
found by itself, and is taken out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from bench.mutants.mutant import Mutant

if TYPE_CHECKING:
    from bench.mutants.trial import Copy


def find_killers(
    copy: Copy, mutants: list[Mutant], marker: str, failed: Collection[str] = ()
) -> dict[Mutant, str]:
    """Return the mutants that a test with this marker notices, with its name.

    A test that fails only with several mutants at once is passed over, and one of `failed`, which
    fails without any.
    """
    killers: dict[Mutant, str] = {}
    for group in _groups(mutants):
        failing = copy.find_failing(group, ["-n", "2", "--dist", "worksteal", "-m", marker])
        while failing := [name for name in failing if name not in failed]:
            name, *others = failing
            culprit = _find_culprit(copy, group, name)
            print(f"together: {name}\n    {culprit.place if culprit else None}", flush=True)
            if culprit is None:
                failing = others
            else:
                killers[culprit] = name
                group.remove(culprit)
                failing = copy.find_failing(group, failing)
    return killers


def _find_culprit(copy: Copy, group: list[Mutant], name: str) -> Mutant | None:
    """Return the mutant that a failing test notices by itself, found by halves; or none."""
    left = [*group]
    while len(left) > 1:
        half = left[: len(left) // 2]
        left = half if copy.find_failing(half, [name]) else left[len(half) :]
    return left[0] if left and copy.notices(left[0], name) else None


def _groups(mutants: list[Mutant]) -> Iterator[list[Mutant]]:
    """Yield groups with at most one mutant of each module."""
    left = list(mutants)
    while left:
        group = {one.module: one for one in reversed(left)}
        yield [*group.values()]
        left = [one for one in left if group[one.module] != one]
