"""A league in a folder: make it, play rounds, withdraw bots, and say how it stands."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.addons.league import round as rounds
from arena.addons.league.league_ratings import BLOCK, Contender, choose_meetings, rate
from arena.addons.league.league_settings import NAME as SETTINGS
from arena.addons.league.league_settings import Settings, read_settings, write_settings
from arena.addons.league.league_tables import (
    ACTIVE,
    PAUSED,
    SUSPENDED,
    WITHDRAWN,
    Plan,
    RatingRow,
    Version,
)
from arena.addons.league.ledger import NAME, Ledger
from arena.addons.league.sources import SOURCES
from arena.addons.league.submission import Desk
from arena.entries.catalogue import ELO as LADDER
from arena.entries.spec import is_address
from arena.errors import InputError, Unreachable, escape
from arena.executors.local import Executor, open_executor
from arena.executors.log import NORMAL
from arena.lanes.bubblewrap import find_bubblewrap
from arena.lanes.scratch import lock_folder
from arena.statistics.model import LADDER_SPREAD
from arena.statistics.ratings import MEAN
from arena.store.folder import RunFolder
from arena.store.manifest import differences
from arena.tournament.keys import Venue
from arena.tournament.schedule import Meeting

_PRIVATE = (SOURCES, rounds.ROUNDS)  # folders that only the league's owner reads
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
    try:
        os.fsencode(folder.absolute()).decode()  # bots are found by their specs, which are UTF-8
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: there is something already; choose a new folder")
        if settings.lane == "jail":
            find_bubblewrap()
        folder.mkdir(parents=True, exist_ok=True)
        for name in _PRIVATE:
            (folder / name).mkdir(mode=0o700)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{folder}: the name of a league's folder is UTF-8") from None
    except ValueError as error:  # a NUL
        raise InputError(f"{folder}: not the name of a folder: {error}") from None
    try:
        ledger = Ledger(folder / NAME, create=True)
        (folder / NAME).chmod(0o600)
        with ledger.changing():
            ledger.fix(settings.fixed())
        Desk(folder, settings, ledger, now).seat_panel()
        ledger.close()
        write_settings(folder, settings)  # last: a league without settings is none
        (folder / SETTINGS).chmod(0o600)
    except BaseException:
        for name in (NAME, f"{NAME}-wal", f"{NAME}-shm", SETTINGS):
            (folder / name).unlink(missing_ok=True)
        for name in _PRIVATE:
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

    def close(self) -> None:
        """Close its files."""
        self.ledger.close()

    def check_fixed(self) -> None:
        """Raise InputError if the settings or the engine would play other games than before."""
        now = json.loads(json.dumps(self.settings.fixed()))
        if changed := differences(self.ledger.fixed(), now):
            what = "; ".join([*changed, self.ledger.maker()])
            raise InputError(
                f"{self.folder / SETTINGS}: {what}: a league goes on as it began; "
                "another one needs a new folder"
            )

    @property
    def number(self) -> int:
        """The number of the last round that is finished, 0 for none."""
        number, finished = self.ledger.last_round()
        return number if finished else number - 1

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
        with lock_folder(self.folder, "another process plays this league", "a local disk"):
            self.check_fixed()
            yield

    def play_round(
        self, executor: Executor, pairs: int | None = None, shown: int = NORMAL
    ) -> RoundResult | None:
        """Play the round that was not finished, or a new one of about so many pairs.

        None if nobody has an opponent. It is to be called while `playing`.
        """
        self._wake_paused()
        number, finished = self.ledger.last_round()
        if finished and (number and not self.ledger.spread(number)):
            self._rate(number)  # the process was killed after the round and before its ratings
        if finished:
            number += 1
            plan = self._plan(pairs or self.settings.round_pairs)
            if not plan.meetings:
                return None
            with self.ledger.changing():
                self.ledger.add_round(number, plan, self._time())
        else:
            plan = self.ledger.plan(number)
        result = self._keep(number, self._play_reachable(number, plan, executor, shown))
        self._rate(number)
        return result

    def _wake_paused(self) -> None:
        """Let paused bots play again whose servers can be asked."""
        for version in self.ledger.versions("state = ?", SUSPENDED):
            if version.is_paused:
                with suppress(Unreachable):
                    rounds.find_entry(self.folder, version, self.settings)
                    with self.ledger.changing():
                        self.ledger.set_state(version, ACTIVE, "", self._time())

    def _play_reachable(
        self, number: int, plan: Plan, executor: Executor, shown: int
    ) -> rounds.Played:
        """Play a round; bots whose servers cannot be asked are paused, and it goes on without."""
        while True:
            versions = {version.id: version for version in self.ledger.versions()}
            own = {name: versions[id] for name, id in plan.versions.items()}
            out = {name for name, one in own.items() if is_address(one.spec) and not one.is_active}
            kept = [meeting for meeting in plan.meetings if not out & {*meeting[:2]}]
            if len(kept) < len(plan.meetings):
                RunFolder(rounds.round_folder(self.folder, number)).clear()  # other meetings' games
                plan = plan._replace(meetings=kept)
                with self.ledger.changing():
                    self.ledger.change_plan(number, plan)
            if not kept:
                return rounds.Played([], [])
            arguments = self.folder, number, plan, versions, self.settings, executor, shown
            try:
                return rounds.play(*arguments)
            except Unreachable as error:
                name, _, why = str(error).partition(": ")
                with self.ledger.changing():
                    self.ledger.set_state(own[name], SUSPENDED, f"{PAUSED}{why}", self._time())

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

    def _plan(self, budget: int) -> Plan:
        """Return what the next round plays."""
        played = self.ledger.pairs()
        rows = self.ratings()
        versions = [v for v in self.ledger.versions() if v.is_active or v.id in rows]
        versions.sort(key=lambda one: (not one.panel, one.name, one.number))  # not by who was first
        active = [version for version in versions if version.is_active]
        if len(active) < _LEAST:
            return Plan({}, [])
        numbers = {version.id: number for number, version in enumerate(versions)}
        matrix = np.zeros((len(versions),) * 2)
        for bot, opponent, by_score in played:
            if bot in numbers and opponent in numbers:
                one, two = numbers[bot], numbers[opponent]
                matrix[one, two] += sum(by_score)
                matrix[two, one] = matrix[one, two]
        spread = self.ledger.spread(self.number)
        chosen = choose_meetings(
            [self._make_contender(version, rows) for version in versions],
            matrix,
            spread[0] if spread else LADDER_SPREAD.high,
            budget,
            self.settings.target,
        )
        by_id = {
            (versions[one].id, versions[two].id): pairs for (one, two), pairs in chosen.items()
        }
        names = {version.id: version.name for version in active}
        firsts = rounds.find_first(played, by_id)
        meetings = [
            Meeting(names[one], names[two], firsts[one, two], pairs)
            for (one, two), pairs in by_id.items()
        ]
        return Plan({name: id for id, name in names.items()}, meetings)

    def _make_contender(self, version: Version, rows: Mapping[int, RatingRow]) -> Contender:
        row = rows.get(version.id)
        elo = row.elo if row else float(LADDER.get(version.spec, MEAN))
        most = max(BLOCK, int(self.settings.bot_seconds / version.cost))
        half = _LADDER_HALF if version.panel and row is None else _find_half(row)
        if row and math.isinf(half):
            half = _UNBOUNDED
        return Contender(elo, half, version.cost, most if version.is_active else 0)

    def _keep(self, number: int, played: rounds.Played) -> RoundResult:
        """Keep the results of a round, and suspend those with too many faults."""
        suspended = []
        with self.ledger.changing():
            for met in played.met:
                self.ledger.add_result(number, *met)
            for faulty in played.faulty:
                self.ledger.add_faults(number, *faulty)
                if version := self._suspend_faulty(faulty.version):
                    suspended.append(version.name)
            self.ledger.finish_round(number, self._time())
        pairs = sum(sum(met.pairs.by_score) for met in played.met)
        return RoundResult(number, pairs, suspended)

    def _suspend_faulty(self, id: int) -> Version | None:
        """Suspend a version that had too many faults, and return it; None for any other."""
        strikes, first = self.ledger.strikes(id)
        (version,) = self.ledger.versions("id = ?", id)
        if strikes < self.settings.max_faults or not version.is_active or version.panel:
            return None
        told = json.loads(first) if first else {}
        why = escape(f"{strikes} faults; the first: {told.get('kind')}, {told.get('show')}")
        self.ledger.set_state(version, SUSPENDED, why, self._time())
        return version

    def _rate(self, number: int) -> None:
        """Find the ratings after a round, and keep them."""
        plan = self.ledger.plan(number)
        met = {name for meeting in plan.meetings for name in meeting[:2]}
        now = {id for name, id in plan.versions.items() if name in met}
        most = self.settings.max_faults
        active = {id for id in plan.versions.values() if self.ledger.strikes(id)[0] < most}
        rated = rate(self.ledger.versions(), self.ledger.pairs(), active, now)
        low, high = rated.spread[1], min(rated.spread[2], 1e9)
        with self.ledger.changing():
            rows = [rated.rows[id] for id in sorted(rated.rows)]
            self.ledger.add_ratings(number, rows, (rated.spread[0], low, high, rated.spread[3]))


def _find_half(row: RatingRow | None) -> float:
    """Return half the width of a rating's interval, inf where it has no end."""
    if row is None or row.low is None or row.high is None:
        return math.inf
    return (row.high - row.low) / 2
