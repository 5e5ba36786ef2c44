"""Accept submissions to a league: take a bot, check it in the jail, make it a version of its name.

It may be done in any thread, with a ledger of its own.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from arena.addons.league.league_settings import PANEL, Settings
from arena.addons.league.league_tables import (
    ACTIVE,
    Refusal,
    Version,
    check_name,
    check_owner,
    write_time,
)
from arena.addons.league.ledger import Ledger
from arena.addons.league.sources import (
    LABEL,
    SOURCES,
    Taken,
    identity_of,
    take,
)
from arena.check import SLOWER
from arena.check.inspector import run_check
from arena.check.item import Item, Order
from arena.check.sparring import CutShort
from arena.entries.program import MANIFEST
from arena.entries.resolve import installed, resolve
from arena.entries.spec import COMMAND, is_address, parse
from arena.errors import InputError, blaming_machine
from arena.executors.local import open_executor
from arena.executors.log import QUIET
from arena.lanes.faults import KINDS
from arena.lanes.jail_support import require_jail
from arena.lanes.probe import find_problems
from arena.processes import killing_orphans
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.config_keys import Venue
from arena.tournament.tournament import Tournament

Working: TypeAlias = Callable[[str], None]
"""What a job that may take long calls now and then; it may raise, which ends the job."""

_UNREADABLE: Final = "it cannot be read as a bot"
_TAKEN: Final = "its name belongs to somebody else, or looks like another one"
_KNOWN: Final = "its program is in the league already"
_TOO_LONG: Final = "its check took too long"
_DECISIONS: Final = 50  # approximate decisions of a bot in a pair of games
_DONE: Final = "name = ? AND sha256 = ? AND at >= ?"
_TIMES: Final = (("median", 0.5), ("p99", 0.99))
_LEAST_COST, _STEP = 0.1, 4.0  # seconds of a pair in the lowest class; factor between classes


class Refused(InputError):
    """A submission was not accepted; this is recorded.

    `public` is the reason for everybody: in words of the arena, without anything of the bot's.
    """

    def __init__(self, message: str, public: str = _UNREADABLE) -> None:
        super().__init__(message)
        self.public = public


class Unchanged(Refused):
    """The same bytes already play under this name."""


class TooMany(InputError):
    """An owner has submitted too often today; the attempt is not recorded."""


class Closed(TooMany):
    """The league accepts no submissions any more, or for some time; nothing is recorded."""


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
        self,
        bot: str,
        name: str,
        owner: str = "",
        working: Working = lambda _: None,
        *,
        since: str = "",
        resent: bool = False,
    ) -> Version:
        """Check a bot, and store it as the newest version of a name, replacing the one before.

        `bot` is a file, a folder, or a bot of the arena with or without parameters. `owner` is by
        default the owner of the name. `working` is called with the name of each check. With
        `since`, a killed process may have submitted the bot already, at that time or later. Raises
        Refused, with the reason; with `resent`, an Unchanged refusal is not recorded.
        """
        check_name(name)
        self._check_place(bot)
        owner = owner or self.find_owner(name) or name
        check_owner(owner)
        sha256 = ""
        try:
            self.check_right(name, owner)
            taken = self.take(bot, working)
            sha256 = taken.sha256
            done = self._find_done(name, sha256, since)
            return done or self._accept(name, owner, taken, working)
        except TooMany:
            raise
        except InputError as error:  # other errors, such as a full disk, are not the bot's fault
            if resent and isinstance(error, Unchanged):
                raise
            why = _leave_out_folder(str(error), bot)
            public = getattr(error, "public", _UNREADABLE)
            self._refuse(Refusal(0, name, owner, sha256, why, self._time(), public), since)
            raise Refused(why, public) from None

    def _refuse(self, refusal: Refusal, since: str) -> None:
        """Record a refusal, unless a killed process has recorded it."""
        if not since or not self.ledger.refusals(_DONE, refusal.name, refusal.sha256, since):
            with self.ledger.changing():
                self.ledger.refuse(refusal)

    def _find_done(self, name: str, sha256: str, since: str) -> Version | None:
        """Return the version that a killed process has made; raises Refused if it has refused."""
        if since and (done := self.ledger.versions(_DONE, name, sha256, since)):
            return done[0]
        if since and (refused := self.ledger.refusals(_DONE, name, sha256, since)):
            raise Refused(refused[0].why, public=refused[0].public)
        return None

    def _accept(self, name: str, owner: str, taken: Taken, working: Working) -> Version:
        """Let a bot that was taken be checked, and store it as a version; raises Refused."""
        spec, sha256 = taken
        self._check_new(sha256, name)
        items = self.check(spec, working)
        if failed := [item for item in items if item.status == "fail"]:
            what = "; ".join(f"{item.name}: {item.message}" for item in failed)
            if "/" in spec:  # the owner knows the bot's name, not the path of its copy
                own = f"{name}{Path(spec).suffix}"
                what = re.sub(rf"\S*{re.escape(Path(spec).name)}", own, what)
            kinds = [
                f"{item.name} ({item.kind})" if item.kind in KINDS else item.name for item in failed
            ]
            if "started more than" in what:
                kinds = ["it starts too many processes"]
            public = f"the check failed: {'; '.join(kinds)}"
            if "/" in spec:
                what = f"{what}; `arena check` of the file plays such games at home"
            raise Refused(f"the check failed: {what}", public)
        version = self._make_version(name, owner, spec, sha256, _choose_cost(items))
        with self.ledger.changing():
            self.check_right(name, owner)
            self._check_new(sha256, name)
            return self.ledger.add_version(version)

    def seat_panel(self) -> None:
        """Add the bots of the panel as versions, each the owner of its name; raises InputError."""
        names = {name for name, _ in installed()}
        seats = []
        for number, text in enumerate(self.settings.panel):
            if text not in names:
                raise InputError(f"panel[{number}]: {text!r} is not the name of a bot in bots/")
            sha256 = identity_of(resolve(text))
            cost = _LEAST_COST if text in PANEL else _choose_cost((*self._time_own(text),))
            seats.append(self._make_version(text, "arena", text, sha256, cost))
        with self.ledger.changing():
            for version in seats:
                self.ledger.add_version(version._replace(panel=True))

    def _make_version(self, name: str, owner: str, spec: str, sha256: str, cost: float) -> Version:
        values: dict[str, Any] = {"id": 0, "number": 0, "panel": False, "state": ACTIVE, "why": ""}
        values |= {"name": name, "owner": owner, "spec": spec, "sha256": sha256}
        return Version(**values, cost=cost, at=self._time())

    def _time(self) -> str:
        return self.now().isoformat(timespec="seconds")

    def find_owner(self, name: str) -> str:
        """Return the owner of a name, empty for a new one."""
        held, owner = self.ledger.holder(name) or ("", "")
        return owner if held == name else ""

    def check_right(self, name: str, owner: str = "") -> None:
        """Raise Refused if the name is another owner's, TooMany at the owner's daily limit.

        Raises Closed for a league that is frozen.
        """
        check_name(name)
        if since := self.ledger.frozen():
            raise Closed(f"the league is frozen: submissions counted until {write_time(since)}")
        owner = owner or self.find_owner(name) or name
        if not self.has_right(owner):
            most = self.settings.a_day
            raise TooMany(f"owner {owner}: {most} submissions today, and a_day is {most}")
        held, holder = self.ledger.holder(name) or (name, owner)
        if held != name:
            why = f"name {name}: it looks like {held}; choose another one"
            raise Refused(why, public=_TAKEN)
        if holder != owner:
            why = f"name {name}: it is {holder}'s; choose another one"
            raise Refused(why, public=_TAKEN)

    def has_right(self, owner: str) -> bool:
        """Return whether an owner may submit today; "" is the owner of all invalid names."""
        today = self._time()[:10]
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
        if spec.target in {name for name, _ in installed()} or is_address(spec.target):
            return
        if spec.target.startswith(COMMAND):
            raise InputError(
                f"bot {bot!r}: a league keeps files: hand in the program's file, or its folder "
                f"with a {MANIFEST} that names the command"
            )
        if not os.path.lexists(os.path.expanduser(spec.target)):
            hint = f"; did you mean ./{spec.target}.py?"
            is_there = os.path.isfile(f"{spec.target}.py")
            raise InputError(
                f"bot {bot!r}: no such file, and no bot of the arena{hint if is_there else ''}"
            )

    def _time_own(self, spec: str) -> list[Item]:
        """Measure the time of a bot of the arena, which needs no check, in a pair of games.

        So it does for a bot that lives elsewhere. Raises Refused for one that fails, and for
        parameters that it does not accept.
        """
        entries = [resolve(f"{LABEL}={spec}"), resolve("uniform")]
        rules = self.settings.game_rules()
        for problem in find_problems(entries, rules, self.settings.limits):
            raise Refused(problem)
        pair = Tournament("time", 0, 1, entries, rules, self.settings.limits)
        with closing(Store(None)) as store, open_executor(Venue(workers=1)) as executor:
            timings = run(pair, executor, shown=QUIET, store=store).timings
            for _, game in store.results():
                if game.fault and game.winner:
                    return [Item("games", "fail", f"{game.fault.kind}: {game.fault.message}")]
        cpu = timings[LABEL].cpu
        figures = {name: cpu.quantile(at) for name, at in _TIMES}
        return [Item("time", "ok", "", figures=figures)]

    def take(self, bot: str, working: Working) -> Taken:
        """Store a bot, and build a program, for no longer than a check may take by the clock."""
        self._check_machine()
        seconds = SLOWER * self.settings.check_seconds
        end = time.monotonic() + seconds

        def waiting() -> None:
            working("build")
            if time.monotonic() > end:
                raise InputError(f"not done within {seconds:g} s, the most that a check takes")

        with _apart():
            return take(self.folder, bot, self.settings, waiting)

    def _check_machine(self) -> None:
        """Raise Exhausted if no bot could be checked: a league of jails, without a jail here."""
        if self.settings.lane == "jail":
            require_jail()

    def check(self, spec: str, working: Working) -> tuple[Item, ...]:
        """Check a stored bot, and return the items of the check.

        Raises Refused if the check ends without a verdict.
        """
        self._check_machine()
        if not spec.startswith(f"{SOURCES}/"):
            with _apart():
                return (*self._time_own(spec),)
        order = Order(
            f"{LABEL}={self.folder.absolute() / spec}",
            self.settings.lane if self.settings.lane == "jail" else "process",
            self.settings.check_games,
            self.settings.seed,
            self.settings.limits,
        )
        try:
            with _apart():
                return (*run_check(order, working, longest=self.settings.check_seconds),)
        except CutShort as error:
            raise Refused(f"{error}: it has to decide faster", public=_TOO_LONG) from None


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


def _choose_cost(items: tuple[Item, ...]) -> float:
    """Return the class of a bot's time for a pair, as its upper bound in seconds.

    Few, wide classes give the same bot the same cost on a slightly faster machine.
    """
    figures = next((item.figures for item in items if item.name == "time"), {})
    decision = (figures.get("median", 0.0) + figures.get("p99", 0.0)) / 2
    cost = _LEAST_COST
    while cost < _DECISIONS * decision:
        cost *= _STEP
    return cost
