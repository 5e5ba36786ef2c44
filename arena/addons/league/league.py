"""A league in a folder: make it, play rounds, withdraw bots, and say how it stands."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.addons.league.league_ratings import BLOCK, Contender, choose_meetings, rate
from arena.addons.league.league_settings import NAME as SETTINGS
from arena.addons.league.league_settings import Settings, read_settings, write_settings
from arena.addons.league.ledger import (
    ACTIVE,
    NAME,
    SUSPENDED,
    WITHDRAWN,
    Ledger,
    RatingRow,
    Version,
)
from arena.addons.league.sources import SOURCES, find_entry
from arena.addons.league.submission import Desk
from arena.entries.catalogue import ELO as LADDER
from arena.entries.layout import remove_tree
from arena.errors import InputError, Unreachable, counted, escape, naming
from arena.executors.local import Executor
from arena.executors.log import NORMAL
from arena.lanes.jail_support import find_bubblewrap
from arena.lanes.temp_and_cache_folders import lock_folder
from arena.runs.progress_bar import FirstFault, find_first_faults
from arena.runs.run import play_games
from arena.statistics.ratings import MEAN
from arena.store.columns import Columns
from arena.store.counting import Counts
from arena.store.database import NAME as GAMES
from arena.store.folder import DETAILS, LOG, RunFolder
from arena.store.manifest import read_tournament
from arena.store.store import Store
from arena.tables.game_arrays import place_bots
from arena.tables.standings_table import make_sides, tally
from arena.tournament.schedule import Meeting, sum_strikes
from arena.tournament.tournament import Tournament

_PRIVATE = (NAME, GAMES, LOG)  # they have the seed, or what bots have printed
_FOLDERS = (SOURCES, DETAILS)  # these are private, too
LEAST = 2  # bots of a round
_LADDER_HALF = 60.0  # Elo points: of a bot of the panel before its first game here


class RoundResult(NamedTuple):
    """A round: its number, its pairs, the names that left, and why others could not be asked."""

    number: int
    pairs: int
    suspended: list[str]
    away: Collection[str] = ()


def make_league(
    folder: Path, settings: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> None:
    """Make a league in a new folder, with its panel; `now` returns the time.

    Raises InputError for a folder that holds something, for a panel that cannot play, and if the
    lane is jail and the machine has none.
    """
    if settings.lane == "jail":
        find_bubblewrap()
    with naming(folder, OSError, ValueError):
        if any("\udc80" <= char <= "\udcff" for char in str(folder.absolute())):
            raise InputError("the name of a league's folder is UTF-8")  # as specs of bots are
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError("there is something already; choose a new folder")
        folder.mkdir(parents=True, exist_ok=True)
    try:
        for name in _FOLDERS:
            (folder / name).mkdir(mode=0o700)
        for name in _PRIVATE:
            (folder / name).touch(mode=0o600)
        ledger = Ledger(folder / NAME, create=True)
        Desk(folder, settings, ledger, now).seat_panel()
        ledger.close()
        write_settings(folder, settings)  # last: a league without settings is none
        (folder / SETTINGS).chmod(0o600)
    except BaseException:
        for item in folder.iterdir():
            remove_tree(item)
        raise


class Games:
    """The games of a league so far, which are one run in its folder.

    Pairs with a game that was not played, because a bot had too many faults, do not count.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.store = Store(folder / GAMES, copied=True)
        none_yet = settings.tournament("league", settings.seed, 1, [])
        with naming(folder / GAMES):
            manifest = self.store.manifest
            self.tournament = read_tournament(manifest) if manifest else none_yet

    @cached_property
    def counts(self) -> Counts:
        """The counts of the pairs that count, and of all faults."""
        return self.store.count().whole.played

    @cached_property
    def totals(self) -> Mapping[str, Mapping[str, Any]]:
        """How the games of each version that has played have ended, by its label."""
        return {row["bot"]: row for row in self._tally("bot")}

    @cached_property
    def results(self) -> Mapping[str, list[dict[str, Any]]]:
        """How the games of each version ended against each other one, by its label."""
        found = defaultdict[str, list[dict[str, Any]]](list)
        for row in self._tally("bot", "opponent"):
            found[row["bot"]].append(row)
        return found

    def _tally(self, *by: str) -> list[dict[str, Any]]:
        sides = make_sides(self.tournament.pairings, self.counts.tallies)
        return Columns(tally(sides, by)).dicts()

    @cached_property
    def faults(self) -> Mapping[str, tuple[int, FirstFault | None]]:
        """How many faults each version has committed, and its first one, by its label."""
        run = self.tournament
        strikes = sum_strikes(run.pairings, self.counts.faults, run.max_faults)
        firsts = find_first_faults(self.store, run, ".")
        return {label: (number, firsts.get(label)) for label, number in strikes.items()}


class League:
    """A league that is there; `now` returns the time, which decides nothing that is played.

    Raises InputError for a folder without a league.
    """

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.folder = folder
        self.settings = read_settings(folder)
        self.ledger = Ledger(folder / NAME)
        self.desk = Desk(folder, self.settings, self.ledger, now)

    def close(self) -> None:
        """Close its files."""
        self._forget()
        self.ledger.close()

    @property
    def number(self) -> int:
        """The number of the last round that is finished, 0 for none."""
        return self.ledger.last_round

    def ratings(self) -> dict[int, RatingRow]:
        """Return the ratings after the last round that is finished, by version."""
        return self.ledger.ratings(self.number)

    def find(self, name: str) -> list[Version]:
        """Return the versions of a name, the newest last; raises InputError if there is none."""
        if versions := self.ledger.versions("name = ?", name):
            return versions
        raise InputError(f"no bot {name!a} in this league")

    def withdraw(self, name: str, owner: str = "") -> Version:
        """Let the newest version of a name play no more; its games stay.

        Raises InputError for a bot of another owner than the one passed, and for one that is not
        active.
        """
        with self.ledger.changing():
            version = self.find(name)[-1]
            if owner and owner != version.owner:
                raise InputError(f"{name}: it is {version.owner}'s")
            if version.panel:
                raise InputError(f"{name}: it is of the panel, which stays")
            if not version.is_active:
                raise InputError(f"{version.title}: it is {version.state} already")
            self.ledger.set_state(version, WITHDRAWN)
        return version

    def playing(self) -> AbstractContextManager[None]:
        """Keep others from playing during a block; the lock ends with the process.

        Raises InputError if somebody plays here.
        """
        busy = "another process plays this league"
        return lock_folder(self.folder / SOURCES, busy, "a local disk")

    @cached_property
    def games(self) -> Games:
        """The games so far, read again after each round of this object."""
        return Games(self.folder, self.settings)

    def _forget(self) -> None:
        """Close what was read of the games."""
        if games := self.__dict__.pop("games", None):
            games.store.close()

    def play_round(self, executor: Executor, shown: int = NORMAL) -> RoundResult | None:
        """Play the round that was not finished, or a new one; None if nobody has an opponent.

        A bot whose server cannot be asked does not play in it. It is to be called while `playing`.
        Raises InputError for settings or an engine that would play other games than before.
        """
        self._forget()
        number, away = self.number, dict[str, str]()
        while meetings := self._next(number, away):
            try:
                run = self._make_run(number, meetings)
                play_games(run, executor, RunFolder(self.folder), shown)
                return self._finish(number + 1, meetings)._replace(away=away.values())
            except Unreachable as error:
                away[str(error).partition(": ")[0]] = escape(str(error))
                self._forget()
        return None

    def _next(self, number: int, away: Collection[str]) -> list[Meeting]:
        """Return the meetings of the round that was not finished, or of a new one."""
        begun = self.games.tournament.meetings[number:]
        kept = [one for one in begun[0] if not {*one[:2]} & {*away}] if begun else []
        return kept or self._choose(away)

    def _make_run(self, number: int, meetings: Sequence[Meeting]) -> Tournament:
        """Return the run with another round; the bots of earlier ones are those of its store."""
        played, settings = self.games.tournament, self.settings
        rounds = [*played.meetings[:number], meetings]
        labels = dict.fromkeys(label for one in chain(*rounds) for label in one[:2])
        versions = {version.label: version for version in self.ledger.versions()}
        entries = {**played.by_label}
        for label in dict.fromkeys(label for one in meetings for label in one[:2]):
            found, known = find_entry(self.folder, versions[label], settings), entries.get(label)
            entries[label] = replace(found, program=known.program) if known else found
        bots = [entries[label] for label in labels]
        return settings.tournament("league", settings.seed, 1, bots, meetings=rounds)

    def is_precise(self) -> bool:
        """Return whether the rating of each active version is within the target."""
        rows, target = self.ratings(), self.settings.target
        active = self.ledger.versions("state = ?", ACTIVE)
        return all(one.id in rows and rows[one.id].half <= target for one in active)

    def _choose(self, away: Collection[str]) -> list[Meeting]:
        """Return the meetings of a new round, without those that are away."""
        rows, games = self.ratings(), self.games
        versions = [
            one._replace(state=SUSPENDED) if one.label in away else one
            for one in self.ledger.versions()
        ]
        known = [one for one in versions if one.is_active or one.id in rows]
        known.sort(key=lambda one: (not one.panel, one.name, one.number))  # not by who was first
        if sum(version.is_active for version in known) < LEAST:
            return []
        places = place_bots(games.tournament.pairings, [version.label for version in known])
        pairs = np.zeros((len(known) + 1,) * 2)  # in the last place is everybody else
        np.add.at(pairs, tuple(places[games.counts.pairing].T), games.counts.pairs)
        contenders = [self._make_contender(version, rows) for version in known]
        met = (pairs + pairs.T)[:-1, :-1]
        chosen = choose_meetings(contenders, met, self.settings.round_pairs)
        return [Meeting(known[a].label, known[b].label, n) for (a, b), n in chosen.items()]

    def _make_contender(self, version: Version, rows: Mapping[int, RatingRow]) -> Contender:
        most = max(BLOCK, int(self.settings.bot_seconds / version.cost)) * version.is_active
        if row := rows.get(version.id):
            return Contender(row.elo, row.half, version.cost, most)
        half = _LADDER_HALF if version.panel else math.inf
        return Contender(float(LADDER.get(version.spec, MEAN)), half, version.cost, most)

    def _finish(self, number: int, meetings: Sequence[Meeting]) -> RoundResult:
        """Suspend bots with too many faults after a round, and keep the ratings."""
        self._forget()
        games = self.games
        now, suspended = {label for meeting in meetings for label in meeting[:2]}, []
        with self.ledger.changing():
            for version in self.ledger.versions("state = ?", ACTIVE):
                strikes, first = games.faults.get(version.label, (0, None))
                if first and strikes >= self.settings.max_faults:
                    why = f"{counted(strikes, 'fault')}; the first: {first.kind}, {first.show}"
                    self.ledger.set_state(version, SUSPENDED, escape(why))
                    suspended.append(version.name)
            pairings, totals = games.tournament.pairings, games.counts.pair_totals
            rows = rate(self.ledger.versions(), pairings, totals, now)
            self.ledger.add_round(number, self.desk.time(), rows)
        return RoundResult(number, sum(meeting.pairs for meeting in meetings), suspended)
