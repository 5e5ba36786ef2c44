"""Rate the versions of a league by all their pairs, and choose the meetings of its next round.

A rating is the Elo against all others. Results vary about the Elo from opponent to opponent, so
a new opponent of known Elo is more informative than further pairs against the same one. Each block
of pairs goes to the bot that needs it most, against the opponent with the most information for a
second of playing:

1. versions with less than a tenth of the mean number of pairs come first, so that none starves;
2. then the versions with the widest interval.

At last, groups that no game connects get a block each: only bots that games connect have a rating.
Measured in bench/STUDIES.md, league.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.addons.league.ledger import ACTIVE, REPLACED, RatingRow, Version
from arena.entries.catalogue import ELO as LADDER
from arena.statistics.bradley_terry import find_groups
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.distributions import Floats, expit
from arena.statistics.letters import give_letters
from arena.statistics.ratings import ELO, MEAN

BLOCK: Final = 10
"""Pairs that are assigned at once."""

_SHARE: Final = 0.1  # of the mean number of pairs: the least for every version
_UNKNOWN: Final = 400.0  # Elo points: half the interval of a bot without rating
_FIRST = 1e9  # the weight of the first need


def rate(
    versions: Sequence[Version],
    pairings: Sequence[tuple[str, str]],
    totals: Sequence[PairTotals],
    now: Collection[str] = (),
) -> list[RatingRow]:
    """Return the ratings of all versions that played and are connected with the panel.

    The mean of the panel is its mean on the ladder. Active versions get group letters; `now` are
    the labels of those that played in the last round.
    """
    played = Counter[str]()
    for number, pairs, *_ in totals:
        played.update(dict.fromkeys(pairings[number], pairs))
    rated = [version for version in versions if version.label in played]
    panel = {one.label: (float(LADDER.get(one.spec, MEAN)), 0.0) for one in rated if one.panel}
    labels = [version.label for version in rated]
    field = Field(pairings, totals, labels, anchors=panel, informed=True, looks=True)
    if not rated:
        return []
    groups, scale, ratings = field.fit.groups, field.scale, field.ratings
    letters = _letters(rated, field)
    home = groups[next((n for n, one in enumerate(rated) if one.panel), 0)]
    rows = []
    for place, one in enumerate(rated):
        value, low, high = ratings[one.label][:3]
        ends = None if scale.no_low[place] else low, None if scale.no_high[place] else high
        if groups[place] == home and value is not None:
            known = one.id, played[one.label], value, *ends
            rows.append(RatingRow(*known, letters.get(place, ""), one.label in now))
    return rows


def _letters(rated: Sequence[Version], field: Field) -> dict[int, str]:
    """Return the letters of the newest versions that play: two share one unless they are `apart`.

    A version that has not played yet takes no letter from the one before.
    """
    newest = {version.name: number for number, version in enumerate(rated)}
    ranked = [number for number in newest.values() if rated[number].state in (ACTIVE, REPLACED)]
    places = {label: place for place, label in enumerate(field.in_order())}
    ranked.sort(key=lambda number: places[rated[number].label])

    def is_apart(upper: int, lower: int) -> bool:
        return bool(field.verdicts.apart[ranked[upper], ranked[lower]])

    return dict(zip(ranked, give_letters(len(ranked), is_apart), strict=True))


class Contender(NamedTuple):
    """A version: its present Elo, half the width of its interval, and its cost.

    `half` is inf for a version without rating. `cost` is its time for a pair in seconds, and `most`
    the most pairs that it may play in the round.
    """

    elo: float
    half: float
    cost: float
    most: int


def choose_meetings(
    contenders: Sequence[Contender], pairs: Floats, budget: int
) -> dict[tuple[int, int], int]:
    """Return the number of pairs of each meeting in a round, by the contenders' numbers.

    `pairs` is the symmetric matrix of the pairs played before, and `budget` the approximate number
    of pairs in the round, before groups are connected.

    >>> known, new = Contender(1500, 9, 0.1, 1000), Contender(1500, np.inf, 0.1, 1000)
    >>> played = np.full((3, 3), 500.0); played[2] = played[:, 2] = 0
    >>> choose_meetings([known, known, new], played, 40)
    {(0, 2): 20, (1, 2): 20}
    """
    elo, half, cost, left = np.array(contenders, dtype=float).reshape(-1, 4).T
    pairs, chosen = pairs.astype(float), Counter[tuple[int, int]]()
    unknown, half = ~np.isfinite(half), np.minimum(half, _UNKNOWN)
    share = expit((elo[:, None] - elo) / ELO)
    tells = share * (1 - share) / (cost[:, None] + cost)
    before = pairs.sum(axis=1) + BLOCK / 2
    least = _SHARE * pairs.sum() / max(1, len(elo))
    for _ in range(max(1, budget // BLOCK)):
        own, may = pairs.sum(axis=1), left >= BLOCK
        now = half * np.sqrt(before / (own + BLOCK / 2))  # when the blocks so far are played
        need = np.where(may, now + _FIRST * (own < least), -1.0)
        bot = int(need.argmax())
        worth = tells[bot] / (BLOCK + pairs[bot]) ** 2 * (1 + need / max(need[bot], _SHARE))
        worth = np.where(unknown & unknown[bot], _SHARE * worth, worth)
        worth[~may], worth[bot] = 0.0, 0.0
        opponent = int(worth.argmax())
        if not may[bot] or worth[opponent] <= 0:
            break
        chosen[min(bot, opponent), max(bot, opponent)] += BLOCK
        for one, other in ((bot, opponent), (opponent, bot)):
            pairs[one, other] += BLOCK
            left[one] -= BLOCK
    chosen |= dict.fromkeys(_find_bridges(contenders, pairs), BLOCK)
    return dict(sorted(chosen.items()))


def _find_bridges(contenders: Sequence[Contender], pairs: Floats) -> Iterator[tuple[int, int]]:
    """Yield meetings that connect the groups whose bots have no game against each other's.

    In each group it is the bot with the most pairs that meets the one of another group.
    """
    groups = find_groups(len(contenders), *np.nonzero(pairs))
    heads: dict[int, int] = {}
    for bot in np.argsort(-pairs.sum(axis=1), kind="stable").tolist():
        if contenders[bot].most >= BLOCK and pairs[bot].any():
            heads.setdefault(int(groups[bot]), bot)
    ordered = [*heads.values()]
    yield from ((min(ordered[0], other), max(ordered[0], other)) for other in ordered[1:])
