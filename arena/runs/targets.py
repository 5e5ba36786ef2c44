"""Ending: what a run that stops by itself has found out, and what it has not, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from arena.errors import counted
from arena.runs.rounds_so_far import Course
from arena.tournament.until_rounds import Open, UntilRounds

_DIGITS = 2  # of an estimated number of pairs


def find_open(course: Course, out: Collection[str]) -> list[Open] | None:
    """Return what is not known at the end of a run, None for a run that has no target.

    `out` are the labels of the bots that had too many faults.
    """
    rounds = course.rounds
    if not isinstance(rounds, UntilRounds):
        return None
    return rounds.find_open(course.counts, [*out, *course.unrated])


def describe_end(course: Course, out: Collection[str]) -> list[str]:
    """Return lines that say whether a run has reached its target, none for one without."""
    rounds = course.rounds
    if not isinstance(rounds, UntilRounds):
        return []
    left = {label for two in rounds.pairings for label in two} - {*out, *course.unrated}
    if len(left) < 2:
        why = "had too many faults" if out else "finished no game"
        return [f"nothing to find out: {' and '.join(out or course.unrated)} {why}"]
    found = rounds.find_open(course.counts, [*out, *course.unrated])
    after = f"after {counted(course.scheduled, 'pair')}"
    most = f"{rounds.max_pairs:,} at most in a pairing"
    others = "".join(_but_for(out, course.unrated))
    if rounds.width is None:
        if not found:
            return [f"resolved {after}: every two neighbours are told apart{others}"]
        head = f"not resolved {after}, with {most}{others}:"
        return [head, *(f"  {_pair_of(one)}" for one in found)]
    wanted = f"within {rounds.width:g} Elo points"
    if not found:
        return [f"resolved {after}: all intervals are {wanted}{others}"]
    head = f"not all intervals are {wanted} {after}, with {most}{others}:"
    return [head, *(f"  {one.bot}: {_cost(one.further_pairs)}" for one in found)]


def _but_for(out: Collection[str], unrated: Collection[str]) -> Iterator[str]:
    """Yield the bots about which nothing is found out, and why.

    >>> print(*_but_for(["a", "b"], ["b", "c"]))
    , but for a, b, which had too many faults , but for c, which finished no game
    """
    if out:
        yield f", but for {', '.join(out)}, which had too many faults"
    if unrated := [label for label in unrated if label not in out]:
        yield f", but for {', '.join(unrated)}, which finished no game"


def _pair_of(one: Open) -> str:
    return f"{one.bot} and {one.opponent} are not told apart: {_cost(one.further_pairs)}"


def _cost(further: int | None) -> str:
    """Return the price of an answer in words.

    >>> _cost(27902), _cost(None)
    ('about 28,000 further pairs', 'no number of further pairs can be named')
    """
    if further is None:
        return "no number of further pairs can be named"
    return f"about {counted(int(float(f'{further:.{_DIGITS}g}')), 'further pair')}"
