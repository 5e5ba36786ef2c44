"""Play a bot with restrictions and without on the same deals, and say what each of them costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Final, NamedTuple

import pandas as pd

from arena.addons.studies.restrictions import RESTRICTIONS
from arena.differences.difference_columns import DIFFERENCES
from arena.differences.paired import make_differences, read_games
from arena.errors import ArenaError, InputError
from arena.runs.rerun import prepare
from arena.runs.run import Playing
from arena.store.store import Store
from arena.tables.summary import plain_rows
from arena.tournament.tournament import Tournament
from engine.errors import show

UNRESTRICTED: Final = "unrestricted"
"""The label of the bot as it is."""


class Cost(NamedTuple):
    """The result of a restriction: differences from the bot as it is, as `arena compare` has them.

    In the rows `new` is the restricted bot, and `old` the bot as it is.
    """

    restriction: str
    differences: pd.DataFrame

    @property
    def score(self) -> dict[str, Any]:
        """The row of the share of the score."""
        return self._find_row("total", "")

    @property
    def city(self) -> dict[str, Any]:
        """The row of the share of games that the bot won by City."""
        return self._find_row("won_by", "city")

    def _find_row(self, part: str, name: str) -> dict[str, Any]:
        for row in plain_rows(self.differences):
            if (row["part"], row["name"]) == (part, name):
                return row
        return dict.fromkeys(DIFFERENCES.names, 0.0)


class Costs(NamedTuple):
    """The results of all restrictions, and the number of games.

    `forfeits` are those of the bot's versions by label, and `out` has the faults of bots that had
    too many, as text.
    """

    costs: list[Cost]
    games: int
    forfeits: Mapping[str, int]
    out: Mapping[str, str]


def restrict(tournament: Tournament, names: Sequence[str]) -> Tournament:
    """Return the tournament in which the challenger of a gauntlet plays under restrictions, too.

    All its versions meet the panel on the same deals with the same luck. Raises InputError for a
    restriction that there is not, and for one that is named twice.
    """
    for name in names:
        if name not in RESTRICTIONS:
            known = ", ".join(RESTRICTIONS)
            raise InputError(f"--restrict: no restriction {show(name)}; there are {known}")
        if names.count(name) > 1:
            raise InputError(f"--restrict: {name} is given twice")
    bot = tournament.entries[0]
    versions = [replace(bot, label=name, restriction=name) for name in names]
    return replace(tournament, entries=[*versions, *tournament.entries], paired=True)


def measure(tournament: Tournament, how: Playing) -> Costs:
    """Play what `restrict` returned, and return what each restriction costs.

    Nothing is written. Raises what `run` raises, InputError for a bot that does not load, and
    ArenaError if every opponent had too many faults.
    """
    prepare(tournament, strict=True)
    with closing(Store(None)) as store:
        outcome = replace(how, repeat=False).play(tournament, store)
        of_all = [
            read_games(tournament, store, outcome.out, version)
            for version in range(len(tournament.pairings) // tournament.panel - 1, 0, -1)
        ]
        forfeits = Counter(
            tournament.pairings[number].bot
            for number, result in store.results()
            if result.fault and result.winner == 1
        )
    if of_all[0].empty:
        out = ", ".join(f"{label} after {faults}" for label, faults in outcome.out.items())
        raise ArenaError(f"no opponent is left to measure by: out were {out}")
    costs = [
        Cost(name, make_differences(games))
        for name, games in zip(tournament.labels, of_all, strict=False)
    ]
    return Costs(costs, outcome.played, forfeits, outcome.out)


def to_document(costs: Costs, tournament: Tournament) -> dict[str, Any]:
    """Return the effect of restrictions as plain data."""
    return {
        "bot": tournament.entries[-1 - tournament.panel].spec,
        "against": tournament.labels[-tournament.panel :],
        "pairs": tournament.pairs,
        "games": costs.games,
        "restrictions": [
            {
                "restriction": name,
                "what": RESTRICTIONS[name].text,
                "forfeits": costs.forfeits.get(name, 0),
                "differences": plain_rows(differences),
            }
            for name, differences in costs.costs
        ],
        "out": [*costs.out],
    }
