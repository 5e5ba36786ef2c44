"""A league in a folder: make it, play rounds, withdraw bots, and say how it stands."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.addons.league.league_games import Games, find_entry
from arena.addons.league.league_ratings import BLOCK, Contender, choose_meetings, rate
from arena.addons.league.league_settings import NAME as SETTINGS
from arena.addons.league.league_settings import Settings, read_settings, write_settings
from arena.addons.league.league_tables import (
    ACTIVE,
    PAUSED,
    SUSPENDED,
    WITHDRAWN,
    RatingRow,
    Version,
)
from arena.addons.league.ledger import NAME, Ledger
from arena.addons.league.sources import SOURCES
from arena.addons.league.submission import Desk
from arena.entries.catalogue import ELO as LADDER
from arena.entries.spec import is_address
from arena.errors import InputError, Unreachable, counted, escape, naming
from arena.executors.local import Executor, open_executor
from arena.executors.log import NORMAL
from arena.lanes.jail_support import find_bubblewrap
from arena.lanes.scratch import lock_folder
from arena.runs.run import play_games
from arena.statistics.ratings import MEAN
from arena.store.database import NAME as GAMES
from arena.store.folder import DETAILS, LOG, RunFolder
from arena.store.manifest import differences
from arena.tournament.config_keys import Venue
from arena.tournament.schedule import Meeting
from arena.tournament.tournament import VERSION, Tournament

_PRIVATE = (NAME, GAMES, LOG)  # they have the seed, or what bots have printed
_FOLDERS = (SOURCES, DETAILS)  # these are private, too
_LEAST = 2  # bots of a round
_UNBOUNDED = 400.0  # Elo points: for a bot that is unbeaten or winless so far
_LADDER_HALF = 60.0  # Elo points: of a bot of the panel before its first game here


class RoundResult(NamedTuple):
    """What a round came to: its number, pairs that were played, and the names that left."""

    number: int
    pairs: int
    suspended: list[str]


def make_league(
    folder: Path, settings: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> None:
    """Make a league in a new folder, with its panel; `now` returns the time.

    Raises InputError for a folder that holds something, for a panel that cannot play, and where
    there is no jail for the lane jail.
    """
    if settings.lane == "jail":
        find_bubblewrap()
    with naming(folder, OSError, ValueError):
        if any("\udc80" <= char <= "\udcff" for char in str(folder.absolute())):
            raise InputError("the name of a league's folder is UTF-8")  # as specs of bots are
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError("there is something already; choose a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        for name in _FOLDERS:
            (folder / name).mkdir(mode=0o700)
    try:
        for name in _PRIVATE:
            (folder / name).touch()
            (folder / name).chmod(0o600)
        ledger = Ledger(folder / NAME, create=True)
        with ledger.changing():
            ledger.fix(settings.fixed())
        Desk(folder, settings, ledger, now).seat_panel()
        ledger.close()
        write_settings(folder, settings)  # last: a league without settings is none
        (folder / SETTINGS).chmod(0o600)
    except BaseException:
        for name in (*_PRIVATE, f"{NAME}-wal", f"{NAME}-shm", SETTINGS):
            (folder / name).unlink(missing_ok=True)
        for name in _FOLDERS:
            (folder / name).rmdir()
        raise


class League:
    """A league that is there; `now` returns the time, which decides nothing that is played.

    Raises InputError for a folder without a league, and for one whose settings or engine are not
    those that it has played with.
    """

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.folder = folder
        self.now = now
        self.settings = read_settings(folder)
        self.ledger = Ledger(folder / NAME)
        self.desk = Desk(folder, self.settings, self.ledger, now)
        self._games: Games | None = None
        self._read = 0  # the number of rounds when they were read

    def close(self) -> None:
        """Close its files."""
        self._forget()
        self.ledger.close()

    def check_fixed(self) -> None:
        """Raise InputError if the settings or the engine would play other games than before."""
        now = json.loads(json.dumps(self.settings.fixed()))
        if changed := differences(self.ledger.fixed(), now):
            what = "; ".join([*changed, self.ledger.find_maker()])
            raise InputError(
                f"{self.folder / SETTINGS}: {what}: a league goes on as it began; "
                "another one needs a new folder"
            )

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

        Raises InputError for a name of another owner, where one is given, and for a bot that is
        not active.
        """
        with self.ledger.changing():
            version = self.find(name)[-1]
            if owner and owner != version.owner:
                raise InputError(f"{name}: it is {version.owner}'s")
            if version.panel:
                raise InputError(f"{name}: it is of the panel, which stays")
            if not (version.is_active or version.is_paused):
                raise InputError(f"{version.title}: it is {version.state} already")
            self.ledger.set_state(version, WITHDRAWN, "", self._time())
        return version

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Keep others from playing; the lock ends with the process.

        Raises InputError if somebody plays here.
        """
        with lock_folder(
            self.folder / SOURCES, "another process plays this league", "a local disk"
        ):
            self.check_fixed()
            yield

    @property
    def games(self) -> Games:
        """The games so far, read again after each round."""
        if self._games is None or self._read != self.number:
            self._forget()
            self._read, self._games = self.number, Games(self.folder)
        return self._games

    def _forget(self) -> None:
        """Close what was read of the games."""
        if self._games:
            self._games.store.close()
        self._games = None

    def play_round(
        self, executor: Executor, pairs: int | None = None, shown: int = NORMAL
    ) -> RoundResult | None:
        """Play the round that was not finished, or a new one of about so many pairs.

        Bots whose servers cannot be asked are paused, and it goes on without them. None if nobody
        has an opponent. It is to be called while `playing`.
        """
        self._wake_paused()
        self._forget()
        number, folder = self.number, RunFolder(self.folder)
        while meetings := self._next(number, pairs or self.settings.round_pairs):
            try:
                tournament = self._make_tournament(number, meetings)
                play_games(tournament, executor, folder, shown)
                return self._finish(number + 1, meetings)
            except Unreachable as error:
                label, _, why = str(error).partition(": ")
                with self.ledger.changing():
                    self._suspend(label, f"{PAUSED}{why}")
                self._forget()
        return None

    def _wake_paused(self) -> None:
        """Let paused bots play again whose servers can be asked."""
        for version in self.ledger.versions("state = ?", SUSPENDED):
            if version.is_paused:
                with suppress(Unreachable):
                    find_entry(self.folder, version, self.settings)
                    with self.ledger.changing():
                        self.ledger.set_state(version, ACTIVE, "", self._time())

    def _next(self, number: int, budget: int) -> list[Meeting]:
        """Return the meetings after a number of rounds: of a round that was begun, or new ones."""
        versions = {version.label: version for version in self.ledger.versions()}
        out = {one for one, of in versions.items() if is_address(of.spec) and not of.is_active}
        begun = self.games.rounds[number:]
        kept = [meeting for meeting in begun[0] if not out & {*meeting[:2]}] if begun else []
        return kept or self._choose([*versions.values()], budget)

    def _make_tournament(self, number: int, meetings: Sequence[Meeting]) -> Tournament:
        """Return the run with another round; the bots of earlier ones are those of its store."""
        rounds = [*self.games.rounds[:number], meetings]
        labels = dict.fromkeys(label for one in chain(*rounds) for label in one[:2])
        versions = {version.label: version for version in self.ledger.versions()}
        entries, settings = {**self.games.entries}, self.settings
        for label in dict.fromkeys(label for one in meetings for label in one[:2]):
            found, known = find_entry(self.folder, versions[label], settings), entries.get(label)
            entries[label] = replace(found, program=known.program) if known else found
        return Tournament(
            name="league",
            seed=settings.seed,
            pairs=1,
            entries=[entries[label] for label in labels],
            rules=settings.game_rules(),
            limits=settings.limits,
            max_faults=settings.max_faults,
            meetings=rounds,
        )

    def play_rounds(
        self,
        venue: Venue,
        shown: int = NORMAL,
        *,
        rounds: int = 1,
        games: int | None = None,
        seconds: float | None = None,
        until_precise: bool = False,
    ) -> Iterator[RoundResult]:
        """Play a number of rounds, of games (about), or for some seconds; yield each round.

        With `until_precise`, rounds go on until all ratings are within the target. Raises
        InputError where somebody else plays this league, and for one of fewer than two bots.
        """
        began, number, played = time.monotonic(), 0, 0
        whole = self.settings.round_pairs
        with self.playing(), open_executor(venue) as executor:
            while (
                played < games
                if games is not None
                else time.monotonic() - began < seconds
                if seconds is not None
                else number < rounds or (until_precise and not self.is_precise())
            ):
                pairs = whole if games is None else min(whole, -(-(games - played) // 2))
                result = self.play_round(executor, pairs, shown)
                if result is None:
                    raise InputError(f"{self.folder}: a league needs two bots that play")
                yield result
                number, played = number + 1, played + max(2 * result.pairs, 1)

    def is_precise(self) -> bool:
        """Return whether the rating of each active version is within the target."""
        rows = self.ratings()
        active = self.ledger.versions("state = 'active'")
        return all(_find_half(rows.get(version.id)) <= self.settings.target for version in active)

    def _time(self) -> str:
        return self.now().isoformat(timespec="seconds")

    def _choose(self, versions: Sequence[Version], budget: int) -> list[Meeting]:
        """Return the meetings of a new round."""
        rows, games = self.ratings(), self.games
        known = [one for one in versions if one.is_active or one.id in rows]
        known.sort(key=lambda one: (not one.panel, one.name, one.number))  # not by who was first
        if sum(version.is_active for version in known) < _LEAST:
            return []
        numbers = {version.label: number for number, version in enumerate(known)}
        pairs = np.zeros((len(known),) * 2)
        for label, number in numbers.items():
            for result in games.results.get(label, ()):
                if result.opponent in numbers:
                    pairs[number, numbers[result.opponent]] = sum(result.by_score)
        contenders = [self._make_contender(version, rows) for version in known]
        chosen = choose_meetings(contenders, pairs, budget, self.settings.target)
        return [Meeting(known[a].label, known[b].label, n) for (a, b), n in chosen.items()]

    def _make_contender(self, version: Version, rows: Mapping[int, RatingRow]) -> Contender:
        row = rows.get(version.id)
        elo = row.elo if row else float(LADDER.get(version.spec, MEAN))
        most = max(BLOCK, int(self.settings.bot_seconds / version.cost))
        half = _LADDER_HALF if version.panel and row is None else _find_half(row)
        if row and math.isinf(half):
            half = _UNBOUNDED
        return Contender(elo, half, version.cost, most if version.is_active else 0)

    def _finish(self, number: int, meetings: Sequence[Meeting]) -> RoundResult:
        """Suspend bots with too many faults after a round, and keep the ratings."""
        self._forget()
        games = self.games
        now = {label for meeting in meetings for label in meeting[:2]}
        out = {
            one: f"{counted(strikes, 'fault')}; the first: {first.kind}, {first.show}"
            for one, (strikes, first) in games.faults.items()
            if strikes >= self.settings.max_faults and first
        }
        versions = [
            version._replace(state=SUSPENDED) if version.label in out else version
            for version in self.ledger.versions()
        ]
        rated = rate(versions, games.pairings, games.counts.pair_totals, now)
        with self.ledger.changing():
            suspended = [
                label.partition(VERSION)[0]
                for label, why in out.items()
                if self._suspend(label, escape(why))
            ]
            self.ledger.add_round(number, self._time(), rated)
        return RoundResult(number, sum(meeting.pairs for meeting in meetings), suspended)

    def _suspend(self, label: str, why: str) -> bool:
        """Suspend a version if it is active; return whether it was."""
        versions = self.ledger.versions("state = ?", ACTIVE)
        found = next((version for version in versions if version.label == label), None)
        if found:
            self.ledger.set_state(found, SUSPENDED, why, self._time())
        return found is not None


def _find_half(row: RatingRow | None) -> float:
    """Return half the width of a rating's interval, inf where it has no end."""
    if row is None or row.low is None or row.high is None:
        return math.inf
    return (row.high - row.low) / 2
