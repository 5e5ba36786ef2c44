"""Summarise the findings of a run in a few sentences, and its standings in a few lines.

They are kept as data (`Headline`) before they are written, so that simulations can compare them
with the truth: `bench/STUDIES.md` reports how often each kind is wrong. The statement on two bots
is their verdict (`arena.statistics.verdicts`), which holds for an equal round robin of the run's
bots.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arena.errors import counted, name_some
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate, score_interval
from arena.statistics.number_texts import (
    as_sentence,
    say_two,
    write_chance,
    write_estimate,
    write_lead,
)
from arena.statistics.verdicts import Verdict
from arena.tournament.rounds import make_rounds
from arena.tournament.schedule import find_out, find_unrated
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.store.counting import Counts
    from arena.tables.win_tables import Tables

RIVAL = 0.05
"""The least probability of being the strongest with which a rival of the first bot is named."""
_NOISE = 0.01  # by which chances to be the strongest may differ of two bots with the same results
_MOST_NAMED = 3  # bots, or neighbours, in a sentence


class Top(NamedTuple):
    """The first and the second of the rated bots, with the `verdict` on both in Elo points.

    `chance` is the probability that the first one is the strongest; each of the `rivals` may be it
    with a probability of RIVAL or more. `apart` says that the first one is significantly the
    strongest. If another bot is the strongest more likely, `likelier` has its label, its
    probability, and the label of that of the two that is rated less precisely.
    """

    bot: str
    second: str
    verdict: Verdict
    chance: float
    rivals: Sequence[str]
    apart: bool
    likelier: tuple[str, float, str] | None = None


class Share(NamedTuple):
    """The share of the points (0 to 1) of the only challenger of a gauntlet, with its interval."""

    bot: str
    opponents: int
    share: Estimate


@dataclass(frozen=True)
class Headline:
    """The findings on the bots of a run.

    `order` are the bots that were judged, the strongest first, and `apart` says of every two
    neighbours whether they were told apart. `misfits` is the number of the `tested` pairings whose
    score differs from the expected one. `groups` are the first bots of the connected components of
    the graph of games; with several components `top` is None. `goal` are lines on whether the run
    has reached its goal, and `left_out` the bots that were not judged. Each of the first `ahead`
    bots is apart from every bot below them: the smallest such number, 0 for none.
    """

    order: Sequence[str]
    top: Top | None
    apart: Sequence[bool]
    misfits: int
    tested: int
    groups: Sequence[str] = ()
    share: Share | None = None
    goal: Sequence[str] = ()
    left_out: Sequence[str] = ()
    ahead: int = 0

    def sentence(self) -> str:
        """Return the finding as one sentence of 25 words at most.

        What it says of groups of bots is so for every two of them: these verdicts hold all at once.
        """
        if self.share:
            bot, opponents, share = self.share
            points = f"of the points against {counted(opponents, 'opponent')}"
            return f"{bot} scores {write_estimate(share, '.1%')} {points}."
        if self.groups:
            return (
                f"{len(self.groups)} groups of bots never met, those of {name_some(self.groups)}: "
                "nobody is the strongest of all."
            )
        if not self.top:
            who = f"Only {self.order[0]}" if self.order else "No bot"
            return f"{who} can be judged, so nobody is called the stronger one."
        return self._say_order(self.top)

    def _say_order(self, top: Top) -> str:
        word = top.verdict.word
        is_level = word == "open" and abs(top.verdict[0]) < _LEAST_LEAD
        return say_order(self.order, "level" if is_level else word, self.ahead)

    def sentences(self) -> Iterator[str]:
        """Yield the sentences, the most important one first."""
        yield self.sentence()
        yield from self.details()

    def details(self) -> Iterator[str]:
        """Yield the sentences behind the first one: by how much, how surely, and what is left."""
        if self.top:
            if self.share:
                yield self._say_order(self.top)
            yield from _say_top(self.top, len(self.order))
        if self.top and len(self.order) > 2:
            yield f"Apart: {self._count_apart()}."
        if self.goal:
            yield _join_goal(self.goal)
        if self.misfits:
            yield f"Elo does not explain {self.misfits:,} of {counted(self.tested, 'pairing')}."
        if self.left_out:
            its = "its" if len(self.left_out) == 1 else "their"
            yield f"Left out, because of faults in {its} games: {name_some(self.left_out)}."

    def _count_apart(self) -> str:
        apart, neighbours = sum(self.apart), len(self.apart)
        if apart == neighbours:
            return "all neighbours"
        return f"{apart or 'none'} of {neighbours:,} neighbours"


_LEAST_LEAD = 0.05  # Elo points: less is printed as none
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def say_order(order: Sequence[str], word: str, ahead: int) -> str:
    """Return what is sure of the order of some bots, of which `word` is the first verdict.

    >>> say_order(["ann", "bob"], "apart", 1)
    'ann is stronger than bob.'
    >>> say_order(["ann", "bob", "cid", "dan"], "leans", 2)
    'ann is first, but only leans ahead of bob; the top two are told apart from the other two.'
    >>> say_order(["ann", "bob", "cid"], "level", 2)
    'ann and bob share the first rank; the top two are told apart from cid.'
    """
    first, second, *others = order
    if not others:
        unsure = ", but not surely" if word == "leans" else ""
        return f"{say_two('open' if word == 'level' else word, first, second)}{unsure}."
    if ahead == 1:
        all_others = "both" if len(order) == 3 else f"all {_number(len(order) - 1)}"
        return f"{first} is the strongest, told apart from {all_others} others."
    said = {
        "apart": f"{first} is ahead of {second}, but not told apart from all others",
        "leans": f"{first} is first, but only leans ahead of {second}",
        "open": f"{first} is first, but not told apart from {second}",
        "level": f"{first} and {second} share the first rank",
    }[word]
    if not ahead:
        return f"{said}."
    rest = order[ahead:]
    below = rest[0] if len(rest) == 1 else f"the other {_number(len(rest))}"
    return f"{said}; the top {_number(ahead)} are told apart from {below}."


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def _say_top(top: Top, bots: int) -> Iterator[str]:
    """Yield the sentences on the lead of the first bot."""
    if bots > 2 and not top.apart:
        chance = write_chance(top.chance)
        rivals = f": {name_some(top.rivals)} may be, too" if top.rivals else ""
        said = f"{top.bot} is the strongest with a probability of {chance}{rivals}"
        if top.likelier:
            other, most, vague = top.likelier
            said = f"{other} is the strongest with a probability of {write_chance(most)}"
            said += f", {top.bot} with one of {chance}: the rating of {vague} is less precise"
        yield f"{said}."
    lead, likely = write_lead(Estimate(*top.verdict[:3])), write_chance(top.verdict.likely)
    yield f"{top.bot} leads {top.second} by {lead}, probability {likely}."


def _join_goal(lines: Sequence[str]) -> str:
    """Return the lines on the goal as one sentence, with the first three of those still open."""
    head, *rest = (line.strip() for line in lines)
    if len(rest) > _MOST_NAMED + 1:
        rest[_MOST_NAMED:] = [f"and {len(rest) - _MOST_NAMED:,} more"]
    return as_sentence(" ".join([head, "; ".join(rest)]).strip())


def find_headline(
    field: Field,
    misfits: tuple[int, int] = (0, 0),
    challenger: str | None = None,
    goal: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> Headline:
    """Return the findings on the bots of a field.

    `misfits` are the numbers of pairings that differ from the expected score and of pairings
    tested; `challenger` is the only challenger of a gauntlet.
    """
    order = field.in_order()
    words = [field.verdict(*two) for two in pairwise(order)]
    groups = field.groups
    top = _find_top(field, order) if len(order) > 1 == len(groups) else None
    return Headline(
        order,
        top,
        [verdict is not None and verdict.word == "apart" for verdict in words],
        *misfits,
        [min(group, key=order.index) for group in groups] if len(groups) > 1 else [],
        _find_share(field, challenger) if challenger in field.numbers else None,
        goal,
        left_out,
        _count_ahead(field, order) if top else 0,
    )


def _count_ahead(field: Field, order: Sequence[str]) -> int:
    """Return the least number of first bots that are apart from every bot below; 0 for none."""
    numbers = [field.numbers[label] for label in order]
    apart = field.verdicts.apart[np.ix_(numbers, numbers)]
    splits = range(1, len(order))
    return next((count for count in splits if apart[:count, count:].all()), 0)


def _find_top(field: Field, order: Sequence[str]) -> Top:
    bot, second = order[:2]
    verdict = field.verdict(bot, second)
    assert verdict is not None  # all are of one group
    chances = dict(zip(field.labels, field.verdicts.first().tolist(), strict=True))
    apart = field.verdicts.apart[field.numbers[bot]]
    rivals = [one for one in order[1:] if chances[one] >= RIVAL and not apart[field.numbers[one]]]
    is_strongest = int(apart.sum()) == len(order) - 1
    likeliest = max(order, key=lambda one: chances[one])
    errors = dict(zip(field.labels, field.fit.full_covariance.diagonal().tolist(), strict=True))
    likelier = likeliest, chances[likeliest], max(bot, likeliest, key=lambda one: errors[one])
    told = bot, second, verdict, chances[bot], rivals, is_strongest
    return Top(*told, likelier if likelier[1] > chances[bot] + _NOISE else None)


def _find_share(field: Field, label: str | None) -> Share | None:
    """Return a bot's share against its opponents; None if the numbers of pairs differ."""
    number = field.numbers[label or ""]
    own = [one for one in field.scores if number in one[:2]]
    if len({one.pairs for one in own}) != 1:
        return None
    first, _, pairs, total, squares = np.array(own).T
    more = np.where(first == number, 0, 2 * (pairs - total))  # has the other one scored
    sums = pairs.sum(), (total + more).sum(), (squares + 2 * more).sum()
    share = Estimate(sums[1] / (2 * sums[0]), *score_interval(*sums))
    return Share(label or "", len(own), share)


def headline_of(tournament: Tournament, tables: Tables, *, finished: bool) -> Headline:
    """Return the findings on the bots of a run other than a comparison."""
    found, field, counts = tables.findings, tables.judged, tables.counts
    unrated = find_unrated(tournament.pairings, counts.finished)
    out = sorted(find_out(tournament.pairings, counts.faults, tournament.max_faults))
    challengers = tournament.labels[: -tournament.panel] if tournament.panel else []
    return find_headline(
        field,
        (len(found.misfits), found.tested),
        challengers[0] if len(challengers) == 1 and not tournament.stop else None,
        _describe_goal(tournament, counts, out, unrated) if finished else (),
        [label for label in tables.order if label not in field.numbers],
    )


def _describe_goal(
    tournament: Tournament, counts: Counts, out: Collection[str], unrated: Collection[str]
) -> list[str]:
    """Return lines that say whether a run has reached its goal; none for a run without a goal."""
    if not tournament.stop:
        return []
    by_score = {one.pairing: one.by_score for one in counts.pair_totals}
    return make_rounds(tournament).describe_end(by_score, out, sorted({*unrated} - {*out}))
