"""Say in a few sentences what a comparison, an ablation of rules, or several runs have found.

As in `arena.tables.headline` the sentences are data first. The interval of a difference allows for
its choice from all that were looked at, and "surely" means that it leaves out 0, as it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from arena.differences.verdict import Claim, make_claim
from arena.errors import name_some
from arena.statistics.intervals import Estimate
from arena.statistics.sprt import MIN_ROUND
from arena.statistics.wording import as_sentence, write_lead
from arena.tournament.until_rounds import describe_cost

if TYPE_CHECKING:
    import pandas as pd

    from arena.differences.changes import Changes
    from arena.differences.comparison import SprtResult


class Compared(NamedTuple):
    """What a comparison of two bots has found, in a sentence, and what would tell more.

    `claim` is what may be said of the lead, None where faults decide, or nothing yet. About so
    many `further_pairs` would tell which of the two is stronger, if the difference stays what it
    seems; None if that cannot be said.
    """

    sentence: str
    claim: Claim | None
    further_pairs: int | None

    def sentences(self, where: str = "") -> Iterator[str]:
        """Yield the sentences, the most important one first; it begins with `where`."""
        yield as_sentence(f"{where}{self.sentence}")
        if self.claim and self.claim not in ("better", "weaker"):
            supposed = ", if the difference stays what it seems" if self.further_pairs else ""
            cost = describe_cost(self.further_pairs)
            yield f"What would tell which of the two is stronger: {cost}{supposed}."


def find_compared(result: SprtResult, *, finished: bool = True) -> Compared:
    """Return what may be said of a comparison; before its end nothing is said to be decided."""
    elo, pairs, new = result.elo, result.evidence.pairs, result.new
    faulty = {*result.out} & {result.new, result.old}
    if faulty or (result.against and {*result.against} <= {*result.out}):
        return Compared(result.sentence, None, None)
    if not finished:
        sentence = f"undecided so far: {new} is at {write_lead(elo)}, and the test has not ended"
        return Compared(sentence, None, None)
    claim = make_claim(result.verdict, elo, result.stop, pairs)
    return Compared(result.sentence, claim, count_further(elo, pairs))


def count_further(elo: Estimate, pairs: int) -> int | None:
    """Return about how many further pairs would leave 0 out of the interval of a difference.

    None where the difference is 0, as it is shown, or nothing was played.

    >>> count_further(Estimate(10.0, -10.0, 30.0), 500), count_further(Estimate(0.3, -9, 9), 500)
    (1500, None)
    """
    if not pairs or not round(elo.value):
        return None
    growth = ((elo.high - elo.low) / 2 / elo.value) ** 2
    return max(1, MIN_ROUND - pairs, math.ceil(pairs * (growth - 1)))


class Shown(NamedTuple):
    """A difference as it is shown: with its name, and so many decimals in a sentence.

    It is `significant` among all of its table, None where it is not tested.
    """

    name: str
    estimate: Estimate
    significant: bool | None = False
    places: int = 0

    @property
    def clarity(self) -> float:
        """How large it is in units of its interval."""
        value, low, high, _ = self.estimate
        return abs(value) / max(high - low, 1e-9)


def read_differences(table: pd.DataFrame, named: Sequence[str]) -> list[Shown]:
    """Return the rows of a table whose difference is known; `named` are the columns of a name."""
    fields = [*named, "difference", "low", "high", "sure"]
    known = table.loc[table["difference"].notna(), fields]
    return [
        Shown(" - ".join(row[:-4]), Estimate(*row[-4:-1]), row[-1])
        for row in known.itertuples(index=False, name=None)
    ]


class Clearest(NamedTuple):
    """Of some differences the one that is largest in its own errors, and the sure ones.

    Their intervals allow for the choice from all of them; so many were `tested`.
    """

    best: Shown
    sure: Sequence[Shown]
    tested: int


def pick_clearest(differences: Sequence[Shown]) -> Clearest | None:
    """Return the clearest of some differences, and those that are surely not 0; None of none.

    One without an interval is left out. Among sure ones only those are compared.

    >>> rows = Shown("a", Estimate(3, 1, 5)), Shown("b", Estimate(9, 4, 14)), Shown("c", Estimate())
    >>> found = pick_clearest(rows)
    >>> found.best.name, [one.name for one in found.sure], found.tested
    ('b', ['a', 'b'], 2)
    """
    known = [one for one in differences if None not in one.estimate.cells]
    wide = [one._replace(estimate=one.estimate.widened(2 * len(known) + 1)) for one in known]
    if not wide:
        return None
    sure = [one for one in wide if one.estimate.scaled(1, one.places).excludes_zero]
    return Clearest(max(sure or wide, key=attrgetter("clarity")), sure, len(wide))


def explain_surely(tested: str) -> str:
    """Return the note on "surely" below a sentence; `tested` says what it was chosen from."""
    return (
        f'"Surely" looks at all {tested} together: this interval is wider than the 95 % intervals '
        'of the tables, and more is asked for than for "significant" there.'
    )


class Moved(NamedTuple):
    """Which bots have changed from one run to another: their changes of Elo, of those tested.

    There is no clearest one where no bot has changed, or where the runs are not `comparable`. Then
    what differs is luck, unless bots that only one run has (`alone`) were opponents, too.
    """

    clearest: Clearest | None
    comparable: bool
    alone: Sequence[str] = ()

    def sentences(self) -> Iterator[str]:
        """Yield the sentences, the most important one first."""
        if not self.clearest:
            if self.comparable and self.alone:
                yield (
                    "The rules and the bots that both runs have are the same, so what differs is "
                    "luck or comes from opponents that only one of them has: "
                    f"{name_some(self.alone)}."
                )
            elif self.comparable:
                yield "Nothing that could change the Elo is different: what differs is luck."
            else:
                yield "The Elo of no bot can be compared between these runs."
            return
        best, sure, tested = self.clearest
        change = write_lead(best.estimate)
        if tested == 1:
            yield f"{best.name} has {'' if sure else 'not '}surely changed: {change}."
            return
        names = name_some([one.name for one in sure]) if sure else "none"
        yield f"Surely changed: {names} of {tested:,} bots."
        yield f"The clearest change is that of {best.name}: {change}."
        yield explain_surely(f"{tested:,} bots")


def find_moved(changes: Changes) -> Moved:
    """Return what may be said of the Elo of bots in two runs."""
    differences = read_differences(changes.ratings, ["bot"])
    tested = [one for one in differences if one.significant is not None]
    return Moved(pick_clearest(tested), bool(differences), changes.alone)
