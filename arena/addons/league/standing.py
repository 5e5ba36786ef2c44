"""Make, open and play a league from a program: submissions, rounds, and tables as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from arena.addons.league import league as leagues
from arena.addons.league.league_settings import new_settings
from arena.addons.league.shown import Standing, history, standings
from arena.executors.log import NORMAL, QUIET
from arena.library.request import Location, find_venue, folder_path, takes
from arena.store.columns import Frames
from arena.store.table_columns import LEAGUE
from arena.tournament.config_keys import VenueKeys

if TYPE_CHECKING:
    import pandas as pd


def league(folder: Location, *, new: Mapping[str, Any] | None = None) -> League:
    """Return the league of a folder; with `new`, its settings, it is made there.

    The settings are the keys of league.yaml. Raises InputError where there is no league, where
    there is something already, and for settings that are wrong.

    >>> import arena, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     club = arena.league(f"{folder}/club", new={"lane": "process", "seed": 1})
    ...     club.submit("greedy(patience=11)", "patient")
    ...     club.play()
    ...     list(club.standings["bot"])[-1], club.round
    1
    1
    ('uniform', 1)
    """
    path = folder_path(folder, "folder")
    if new is not None:
        leagues.make_league(path, new_settings(new))
    found = League(path)
    with found._open():
        return found


class League:
    """A league in a folder, as it is at each call.

    >>> import arena
    >>> arena.league("results/nowhere")
    Traceback (most recent call last):
        ...
    arena.errors.InputError: results/nowhere: no league there; `arena league new results/nowhere` \
makes one
    """

    def __init__(self, folder: Path) -> None:
        """Take the folder, which is opened for each call anew."""
        self.folder = folder

    def _open(self) -> closing[leagues.League]:
        return closing(leagues.League(self.folder))

    @property
    def round(self) -> int:
        """The number of the last round that is finished, 0 for none."""
        with self._open() as opened:
            return opened.number

    @property
    def precise(self) -> bool:
        """Whether the rating of every active bot is within the target."""
        with self._open() as opened:
            return opened.is_precise()

    @property
    def spread(self) -> tuple[float, float, float] | None:
        """By how many Elo points results differ from the Elo, with its 95 % interval."""
        with self._open() as opened:
            found = opened.ledger.spread(opened.number)
            return found[:3] if found else None

    @property
    def tables(self) -> Frames:
        """The tables of the league as it is now: its standings."""
        return Frames({"standings": self._list_standings})

    @property
    def standings(self) -> pd.DataFrame:
        """One row a bot, the strongest first; the columns are those of `arena league show`."""
        return self.tables["standings"]

    def _list_standings(self) -> pd.DataFrame:
        with self._open() as opened:
            rows = [one._asdict() for one in standings(opened)]
        made = LEAGUE.frame([[row[name] for name in LEAGUE.names] for row in rows])
        return made.assign(beats=[row["beats"] for row in rows])[[*Standing._fields]]

    def ratings(self, name: str) -> pd.DataFrame:
        """Return the ratings of all versions of a name after the rounds that they played in.

        Raises InputError for a name that the league does not know.
        """
        import pandas as pd

        columns = ["round", "elo", "low", "high", "pairs"]
        with self._open() as opened:
            data = history(opened, name)
        rows = [
            (version["number"], *(row[column] for column in columns))
            for version in data["versions"]
            for row in version["ratings"]
        ]
        return pd.DataFrame(rows, columns=["version", *columns])

    def submit(self, bot: str, name: str, by: str = "") -> int:
        """Check a bot and let it play under a name; return the number of the version.

        Raises InputError with the reason, which the league keeps, where it is refused.
        """
        with self._open() as opened:
            return opened.desk.submit(bot, name, by).number

    def withdraw(self, name: str, by: str = "") -> None:
        """Let the newest version of a name play no more; raises InputError."""
        with self._open() as opened:
            opened.withdraw(name, by)

    @takes(VenueKeys)
    def play(
        self,
        rounds: int = 1,
        *,
        until_precise: bool = False,
        progress: bool = False,
        **keys: Unpack[VenueKeys],
    ) -> int:
        """Play so many rounds, or as many as it takes; return how many were played.

        An `executor` is what it is for `arena.run`. Raises InputError where somebody else plays
        this league, and for one of fewer than two bots.
        """
        venue, shown = find_venue(**keys), NORMAL if progress else QUIET
        with self._open() as opened:
            played = opened.play_rounds(venue, shown, rounds=rounds, until_precise=until_precise)
            return len([*played])

    def page(self) -> Path:
        """Write the pages of the league; return the first one."""
        from arena.addons.league.league_site import write_site

        with self._open() as opened:
            return write_site(opened)
