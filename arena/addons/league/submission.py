"""Accept submissions to a league: take a bot, check it in the jail, make it a version of its name.

It may be done in any thread, with a ledger of its own.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from arena.addons.league.league_settings import PANEL, Settings
from arena.addons.league.ledger import (
    Ledger,
    Refusal,
    Version,
    check_name,
    check_owner,
    write_time,
)
from arena.addons.league.sources import LABEL, SOURCES, identity_of, is_named, take
from arena.check import SLOWER
from arena.check.inspector import run_check
from arena.check.item import Item, Order
from arena.check.sparring import CutShort
from arena.entries.read_bot import MANIFEST
from arena.entries.resolve import installed, resolve
from arena.entries.spec import COMMAND, is_address, parse
from arena.errors import InputError, blaming_machine
from arena.executors.local import open_executor
from arena.executors.log import QUIET
from arena.lanes.faults import KINDS
from arena.lanes.jail_support import require_jail
from arena.lanes.process import TOO_MANY
from arena.processes import killing_orphans
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.config_keys import Venue

Working: TypeAlias = Callable[[str], None]
"""What a job that may take long calls now and then; it may raise, which ends the job."""

_UNREADABLE: Final = "it cannot be read as a bot"
_TAKEN: Final = "its name belongs to somebody else, or looks like another one"
_KNOWN: Final = "its program is in the league already"
_TOO_LONG: Final = "its check took too long"
_ARENA: Final = "arena"  # the owner of the panel
_DECISIONS: Final = 50  # approximate decisions of a bot in a pair of games
_LEAST_COST, _STEP = 0.1, 4.0  # seconds of a pair in the lowest class; factor between classes


class Refused(InputError):
    """A submission was not accepted; this is recorded.

    `public` is the reason for everybody: in words of the arena, without anything of the bot's.
    """

    def __init__(self, message: str, public: str = _UNREADABLE) -> None:
        super().__init__(message)
        self.public = public


class Unchanged(Refused):
    """The same bytes already play under this name, which is not recorded."""


class NotNow(InputError):
    """An owner has submitted too often today, or the league is frozen; nothing is recorded."""


@dataclass
class Desk:
    """Accepts submissions to the league in a folder; several desks may work at the same time.

    `now` returns the time, which matters only for an owner's submissions in a day.
    """

    folder: Path
    settings: Settings
    ledger: Ledger
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def submit(
        self, bot: str, name: str, owner: str = "", working: Working = lambda _: None
    ) -> Version:
        """Check a bot, and store it as the newest version of a name, replacing the one before.

        `bot` is a file, a folder, the address of a server, or a bot of the arena with or without
        parameters. `owner` is by default the owner of the name. `working` is called with the name
        of each check. Raises Refused, with the reason, and NotNow.
        """
        self._check_place(bot)
        check_name(name)
        owner = owner or self.find_owner(name) or name
        check_owner(owner)
        sha256 = ""
        try:
            self.check_right(name, owner)
            spec, sha256 = self.take(bot, working)
            self._check_new(sha256, name)
            cost = self._check(name, spec, working)
            version = Version(0, name, 0, owner, spec, sha256, cost, at=self.time())
            with self.ledger.changing():
                self.check_right(name, owner)
                self._check_new(sha256, name)
                return self.ledger.add_version(version)
        except (NotNow, Unchanged):
            raise
        except InputError as error:  # other errors, such as a full disk, are not the bot's fault
            why = _leave_out_folder(str(error), bot)
            public = getattr(error, "public", _UNREADABLE)
            with self.ledger.changing():
                self.ledger.refuse(Refusal(0, name, owner, sha256, why, self.time(), public))
            raise Refused(why, public) from None

    def seat_panel(self) -> None:
        """Add the bots of the panel as versions, each the owner of its name; raises InputError."""
        names = {name for name, _ in installed()}
        seats = []
        for number, text in enumerate(self.settings.panel):
            if text not in names:
                raise InputError(f"panel[{number}]: {text!r} is not the name of a bot in bots/")
            cost = _LEAST_COST if text in PANEL else self._time(text)
            known = text, identity_of(resolve(text)), cost
            seats.append(Version(0, text, 0, _ARENA, *known, panel=True, at=self.time()))
        with self.ledger.changing():
            for version in seats:
                self.ledger.add_version(version)

    def time(self) -> str:
        """Return the time as the ledger has it."""
        return self.now().isoformat(timespec="seconds")

    def find_owner(self, name: str) -> str:
        """Return the owner of a name, empty for a new one."""
        held, owner = self.ledger.holder(name)
        return owner if held == name else ""

    def check_right(self, name: str, owner: str = "") -> None:
        """Raise Refused if the name is another owner's.

        Raises NotNow at the owner's daily limit, and for a league that is frozen.
        """
        check_name(name)
        if since := self.ledger.frozen():
            raise NotNow(f"the league is frozen: submissions counted until {write_time(since)}")
        held, holder = self.ledger.holder(name)
        owner = owner or (held == name and holder) or name
        if not self.has_right(owner):
            most = self.settings.a_day
            raise NotNow(f"owner {owner}: {most} submissions today, and a_day is {most}")
        if held and ((held, holder) != (name, owner) or owner == _ARENA):
            what = f"it looks like {held}" if held != name else f"it is {holder}'s"
            raise Refused(f"name {name}: {what}; choose another one", public=_TAKEN)

    def has_right(self, owner: str) -> bool:
        """Return whether an owner may submit today; "" is the owner of all invalid names."""
        today = self.time()[:10]
        count = "SELECT count(*) FROM {} WHERE owner = ? AND at BETWEEN ? AND ?"
        given = sum(
            self.ledger.one(count.format(table), owner, today, f"{today}~")
            for table in ("versions", "refusals")
        )
        return bool(given < self.settings.a_day)

    def _check_new(self, sha256: str, name: str) -> None:
        """Raise Refused if the league has this bot, Unchanged if it plays under this name."""
        for version in self.ledger.versions("sha256 = ?", sha256):
            kind = Unchanged if version.name == name and version.is_active else Refused
            raise kind(f"the same as {version.title} of {version.owner}", public=_KNOWN)

    def _check_place(self, bot: str) -> None:
        """Raise InputError if no bot has this spec: that is a typing error, not a submission."""
        spec = parse(bot)
        if spec.label is not None:
            raise InputError(f"bot {bot!r}: the name is given by --name")
        if is_named(spec.target) or os.path.lexists(os.path.expanduser(spec.target)):
            return
        if spec.target.startswith(COMMAND):
            why = "a league keeps files: hand in the program's file, or its folder with a"
            raise InputError(f"bot {bot!r}: {why} {MANIFEST} that names the command")
        is_python = os.path.isfile(f"{spec.target}.py")
        hint = f"; did you mean ./{spec.target}.py?" if is_python else ""
        raise InputError(f"bot {bot!r}: no such file, and no bot of the arena{hint}")

    def take(self, bot: str, working: Working) -> tuple[str, str]:
        """Store a bot, and return its spec here and its identity.

        A program is built for no longer than a check may take by the clock. Raises Exhausted if no
        bot could be checked: a league of jails, without a jail here.
        """
        if self.settings.lane == "jail":
            require_jail()
        seconds = SLOWER * self.settings.check_seconds
        end = time.monotonic() + seconds

        def waiting() -> None:
            working("build")
            if time.monotonic() > end:
                raise InputError(f"not done within {seconds:g} s, the most that a check takes")

        with _apart():
            return take(self.folder, bot, self.settings, waiting)

    def _check(self, name: str, spec: str, working: Working) -> float:
        """Check a stored bot, or time another one, and return the class of its time.

        Raises Refused for one that fails, or whose check ends without a verdict.
        """
        if not spec.startswith(f"{SOURCES}/"):
            return self._time(spec)
        order = Order(
            f"{LABEL}={self.folder.absolute() / spec}",
            self.settings.lane if self.settings.lane == "jail" else "process",
            self.settings.check_games,
            self.settings.seed,
            self.settings.limits,
        )
        try:
            with _apart():
                items = [*run_check(order, working, longest=self.settings.check_seconds)]
        except CutShort as error:
            raise Refused(f"{error}: it has to decide faster", public=_TOO_LONG) from None
        if failed := [item for item in items if item.status == "fail"]:
            raise _refuse(failed, name, spec)
        figures = next((item.figures for item in items if item.name == "time"), {})
        return _choose_cost(figures.get("median", 0.0), figures.get("p99", 0.0))

    def _time(self, spec: str) -> float:
        """Return the class of the time of a bot of the arena, or of one elsewhere, from two games.

        Raises Refused for one that fails.
        """
        entries, settings = [resolve(f"{LABEL}={spec}"), resolve("uniform")], self.settings
        pair = settings.tournament("time", 0, 1, entries)
        venue = Venue(workers=1)
        with _apart(), closing(Store(None)) as store, open_executor(venue) as executor:
            timings = run(pair, executor, shown=QUIET, store=store).timings
            for _, game in store.results():
                if game.fault and game.winner:
                    raise Refused(f"{game.fault.kind}: {game.fault.message}", "its games failed")
        cpu = timings[LABEL].cpu
        return _choose_cost(cpu.quantile(0.5), cpu.quantile(0.99))


def _refuse(failed: Sequence[Item], name: str, spec: str) -> Refused:
    """Return the refusal of a bot for the items that failed; `spec` is the league's copy.

    The owner knows the bot's name, and not the path of its copy.
    """
    what = "; ".join(f"{item.name}: {item.message}" for item in failed)
    kinds = [f"{item.name} ({item.kind})" if item.kind in KINDS else item.name for item in failed]
    if TOO_MANY in what:
        kinds = ["it starts too many processes"]
        what = f"{kinds[0]}: {what}"
    what = re.sub(rf"\S*{re.escape(Path(spec).name)}", f"{name}{Path(spec).suffix}", what)
    what = f"{what}; `arena check` of the file finds this at home, too"
    return Refused(f"the check failed: {what}", f"the check failed: {'; '.join(kinds)}")


def _leave_out_folder(message: str, bot: str) -> str:
    """Return a message without the folder of a bot's file, which its owner may not know."""
    folder = Path(bot).parent
    if folder == Path() or is_address(bot):
        return message
    for place in (os.path.join(os.curdir, folder, ""), os.path.join(folder, "")):
        message = message.replace(place, "")
    return message


@contextmanager
def _apart() -> Iterator[None]:
    """Kill what a bot has left after a job with it; raises Exhausted."""
    with blaming_machine("a submission"), killing_orphans():
        yield


def _choose_cost(median: float, p99: float) -> float:
    """Return the class of a bot's time for a pair, as its upper bound in seconds.

    It is by the seconds of its decisions. Few, wide classes give the same bot the same cost on a
    slightly faster machine.
    """
    cost = _LEAST_COST
    while cost < _DECISIONS * (median + p99) / 2:
        cost *= _STEP
    return cost
