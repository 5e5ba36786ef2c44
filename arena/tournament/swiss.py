"""Swiss: who meets whom in one round, from the order of the bots and who met before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from arena.errors import InputError

_REACH = 8  # places below a bot, among which an opponent is looked for at first

Met = Mapping[tuple[int, int], int]
"""How often two bots have met, by their numbers, the smaller one first."""


def default_rounds(bots: int) -> int:
    """Return how many rounds a Swiss tournament of so many bots has if nobody says.

    Twice as many as a knock-out, and no more than every bot has opponents: bench/STUDIES.md
    has what they come to.

    >>> default_rounds(5), default_rounds(64), default_rounds(1000)
    (5, 12, 20)
    """
    opponents = bots - 1 + bots % 2  # with a bye for each where their number is odd
    return max(1, min(opponents, 2 * (bots - 1).bit_length()))


def check_swiss(panel: Sequence[object], until: object) -> None:
    """Raise InputError for what a Swiss tournament cannot have."""
    if panel:
        raise InputError("format: a Swiss tournament has no panel")
    if until is not None:
        raise InputError("until: a Swiss tournament stops after its rounds")


def choose_bye(order: Sequence[int], byes: Mapping[int, int]) -> int | None:
    """Return the bot that does not play: the last one of those that had the fewest byes.

    `order` are the bots, the best one first. None if their number is even.

    >>> choose_bye([4, 1, 0, 2, 3], {3: 1})
    2
    """
    if len(order) % 2 == 0:
        return None
    return min(reversed(order), key=lambda bot: byes.get(bot, 0))


def match(order: Sequence[int], met: Met) -> list[tuple[int, int]]:
    """Return the bots two by two, near in `order` (the best one first), from the top.

    The number of bots is even. Nobody meets an opponent again unless that cannot be avoided,
    and then as few as possible do; after that the sum of the squared distances in the order is
    least, among opponents within a reach that grows until all have one.

    >>> match([0, 1, 2, 3], {(0, 1): 1})
    [(0, 2), (1, 3)]
    """
    reach = _REACH
    while reach < len(order):
        edges = [edge for edge in _edges(order, met, reach) if not edge[2]]
        if len(found := _matching(order, edges)) == len(order) // 2:
            return found
        reach *= 2
    return _matching(order, [*_edges(order, met, len(order))])


def _edges(order: Sequence[int], met: Met, reach: int) -> Iterator[tuple[int, int, int]]:
    """Yield two places of the order, up to so many apart, and how often their bots have met."""
    for upper, bot in enumerate(order):
        for lower in range(upper + 1, min(len(order), upper + reach + 1)):
            two = min(bot, order[lower]), max(bot, order[lower])
            yield upper, lower, met.get(two, 0)


def _matching(order: Sequence[int], edges: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return the cheapest of the largest matchings. Source: Galil 1986, by networkx."""
    import networkx  # takes 0.1 s, and only a Swiss tournament needs it

    most = len(order) ** 2
    rematch = len(order) * most
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(order)))
    graph.add_weighted_edges_from(
        (upper, lower, -((lower - upper) ** 2) - rematch * times) for upper, lower, times in edges
    )
    found = networkx.max_weight_matching(graph, maxcardinality=True)
    return [(order[min(two)], order[max(two)]) for two in sorted(map(sorted, found))]
