"""Find the games of each bot that its profile names: replays of the page, or a win and a loss."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from arena.reports.games import Pick, pick_telling, replay_id
from arena.reports.profile_data import Games
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

MOST_SHOWN: Final = 8
"""Bots, the first of the standings, that get replays for their profile: each has some 22 kB."""

_MOST = 4  # games of a bot


class Telling(NamedTuple):
    """Picks of a report, those that are only for profiles, and the greatest turns of all bots."""

    found: Sequence[Pick]
    picks: Sequence[Pick]
    turns: pd.DataFrame
    pairings: Sequence[Pairing]

    def games(self, ids: Collection[str]) -> Mapping[str, Games]:
        """Return the games of each bot, by the ids of the replays that the page has."""
        shown: dict[str, list[str]] = {}
        for place in dict.fromkeys(pick.place for pick in (*self.found, *self.picks)):
            if (name := replay_id(place)) in ids:
                for bot in self.pairings[place.pairing]:
                    shown.setdefault(bot, []).append(name)
        games = {bot: Games(names[:_MOST]) for bot, names in shown.items()}
        named: dict[str, list[str]] = {}
        for bot, result, _, number, pair, seat, ply in self.turns.itertuples(index=False):
            game = Fixture(self.pairings[number], pair, seat).name
            text = f"{result.capitalize()}: {game}, with the greatest turn at ply {ply}."
            named.setdefault(bot, []).append(f"{text} arena view RUN {game} shows it.")
        return {bot: Games(named=texts) for bot, texts in named.items()} | games


def find_telling(
    picks: Sequence[Pick], turns: pd.DataFrame, tournament: Tournament, labels: Sequence[str]
) -> Telling:
    """Return the games that profiles name; `labels` are those of the bots, the strongest first."""
    pairings = tournament.pairings
    covered = {bot for pick in picks for bot in pairings[pick.place.pairing]}
    bots = {*labels[:MOST_SHOWN]} - covered
    return Telling(picks, [*pick_telling(turns, bots)], turns, pairings)
