"""Find the games that a bot's profile links to: replays in the page, or a win and a loss."""

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
"""How many bots, the first of the standings, get replays for their profiles: 22 kB each."""

_MOST = 4  # games of a bot


class Telling(NamedTuple):
    """Picks of a report, picks only for profiles, and the games with all bots' largest turns."""

    found: Sequence[Pick]
    picks: Sequence[Pick]
    turns: pd.DataFrame
    pairings: Sequence[Pairing]

    def games(self, ids: Collection[str]) -> Mapping[str, Games]:
        """Return the games of each bot; `ids` are those of the replays in the page."""
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
    """Return the games that profiles link to; `labels` are the bots', the strongest first."""
    pairings = tournament.pairings
    covered = {bot for pick in picks for bot in pairings[pick.place.pairing]}
    bots = {*labels[:MOST_SHOWN]} - covered
    return Telling(picks, [*pick_telling(turns, bots)], turns, pairings)
