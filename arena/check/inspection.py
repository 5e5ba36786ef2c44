"""Inspection: one bot put through everything, item by item."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from arena.check.hidden import asked_again
from arena.check.item import Item, failed
from arena.check.loading import loading
from arena.check.loop import Loop
from arena.check.order import Order
from arena.check.table import OPPONENTS, Candidate, Guilty, Number, Table, parting
from arena.check.traces import decisions, left, memory, size
from arena.check.trial import RANDOM
from arena.check.variants import VARIANTS
from arena.errors import InputError
from arena.lanes.faults import Forfeit
from arena.lanes.launch import bubblewrap

SHARES = {
    "lane process": 0.15,
    "lane inproc": 0.1,
    "lane jail": 0.05,
    "same seed": 0.1,
    "rules variants": 0.2,
    "hidden cards": 0.15,
    "rating": 0.25,
}
"""What share of its time each item may take."""

_RATING_GAMES = 2  # for each game in a lane
_OTHER_HASHES = {"PYTHONHASHSEED": "1"}
_NO_LOOP = "only its view reaches a command"

Games = dict[Number, str]


class Inspection:
    """One bot's check; `begin` is told the name of each item that is worked on."""

    def __init__(self, candidate: Candidate, order: Order, begin: Callable[[str], None]) -> None:
        self.candidate = candidate
        self.order = order
        self.begin = begin
        self.games: dict[str, Games] = {}  # by lane
        self.touched: dict[str, str] = {}
        self.first: Table

    def items(self) -> Iterator[Item]:
        """Yield the items in the order of the report; after a grave failure no more."""
        found = []
        for item in self._items():
            found.append(item)
            yield item
        if not any(item.status == "fail" for item in found):
            from arena.check.guess import guessed  # scipy takes half a second

            seconds = self._seconds("rating")
            yield guessed(self.candidate, _RATING_GAMES * self.order.games, seconds)

    def _items(self) -> Iterator[Item]:
        self.begin("imports")
        loaded = loading(self.candidate)
        yield from loaded
        if any(item.status == "fail" for item in loaded):
            return
        process = self._process()
        if process.status == "fail":
            yield process
            return
        try:
            yield from self._played(process)
        finally:
            self.first.close()

    def _played(self, process: Item) -> Iterator[Item]:
        """Yield what follows from games that were played without a fault."""
        costs = [decisions(self.first), memory(self.first), size(self.candidate)]
        loop = None if self.candidate.entry.command else Loop(self.first)
        try:
            inproc = self._inproc(loop)
            yield inproc
            yield process
            yield self._jail()
            same = self._same_seed()
            yield self._agree(same)
            yield same
            yield self._variants()
            yield self._hidden(loop, same, inproc)
        finally:
            if loop is not None:
                loop.close()
        yield self._random(inproc)
        self.begin("leaves nothing")
        yield left(self.first, self.touched)
        yield from costs

    def _seconds(self, stage: str) -> float:
        """Begin an item, and return the seconds it may take."""
        self.begin(stage)
        return SHARES[stage] * self.order.seconds

    def _process(self) -> Item:
        seconds = self._seconds("lane process")
        self.first = Table(self.candidate)
        return self._lane("process", self.first, seconds)

    def _jail(self) -> Item:
        seconds = self._seconds("lane jail")
        try:
            bubblewrap()
        except InputError as error:
            return Item("lane jail", "none", str(error).removeprefix("lane jail: "))
        table = Table(self.candidate, "jail")
        try:
            return self._lane("jail", table, seconds)
        finally:
            table.close()

    def _lane(self, lane: str, table: Table, seconds: float) -> Item:
        try:
            table.series(self.order.games, seconds)
        except Guilty as guilty:
            table.close()
            return _guilty(f"lane {lane}", guilty)
        self.games[lane] = table.actions
        return self._no_fault(lane)

    def _no_fault(self, lane: str) -> Item:
        number, wanted = len(self.games[lane]), self.order.games
        of = f" of {wanted:,}, its time was up" if number < wanted else ""
        message = f"{number:,} games{of}: no fault"
        return Item(f"lane {lane}", "ok", message, figures={"games": number})

    def _inproc(self, loop: Loop | None) -> Item:
        """Play the first table's games again, the last one first, in one process with the truth.

        The other order shows a bot that takes something along from game to game.
        """
        seconds = self._seconds("lane inproc")
        if loop is None:
            return Item("lane inproc", "none", "a command has a process of its own")
        deadline = time.monotonic() + seconds
        games = self.games["inproc"] = {}
        for number in reversed(self.first.actions):
            if games and time.monotonic() > deadline:
                break
            try:
                games[number] = loop.whole(number)
            except Forfeit as forfeit:
                table, where = self.first, f"against {OPPONENTS[number.opponent]}"
                command = table.command(number).replace("--lane process", "--lane inproc", 1)
                return failed("lane inproc", forfeit, where, command)
        self.touched = loop.touched
        return self._no_fault("inproc")

    def _agree(self, same: Item) -> Item:
        name = "lanes agree"
        if same.status == "fail":
            return Item(name, "none", "not tried: its moves differ anyway, see same seed")
        compared = 0
        for lane, games in self.games.items():
            different = _difference(self.games["process"], games)
            if different is not None:
                number, ply = different
                told = f"other moves in the lane {lane} from ply {ply} on, with the same luck"
                message = f"{told} (something kept from game to game, or found in the lane?)"
                command = self.first.command(number)
                return Item(name, "fail", message, "differs", command=command)
            compared = max(compared, len(games)) if lane != "process" else compared
        return Item(name, "ok", f"the same {compared:,} games in {', '.join(sorted(self.games))}")

    def _same_seed(self) -> Item:
        name = "same seed"
        seconds = self._seconds(name)
        table = Table(self.candidate, environment=_OTHER_HASHES)
        try:
            table.series(len(self.first.actions), seconds)
        except Guilty as guilty:
            return _guilty(name, guilty)
        finally:
            table.close()
        different = _difference(self.first.actions, table.actions)
        if different is None:
            return Item(name, "ok", f"the same moves in {len(table.actions):,} games, played twice")
        number, ply = different
        told = f"other moves from ply {ply} on in a second process: something else decides than"
        message = f"{told} the view and setup.rng (other luck, the order of a set, a clock?)"
        return Item(name, "fail", message, "differs", command=self.first.command(number))

    def _variants(self) -> Item:
        name = "rules variants"
        seconds = self._seconds(name)
        deadline = time.monotonic() + seconds
        is_slow = self.first.pair_seconds * len(VARIANTS) * len(OPPONENTS) > seconds
        tried = 0
        for variant, rules in VARIANTS.items():
            if tried and time.monotonic() > deadline:
                break
            table = Table(self.candidate, rules=rules)
            try:
                for opponent in (tried % len(OPPONENTS),) if is_slow else range(len(OPPONENTS)):
                    table.play(opponent)
            except Guilty as guilty:
                return _guilty(name, guilty, f"under {variant}, ")
            finally:
                table.close()
            tried += 1
        figures = {"tried": tried}
        if tried < len(VARIANTS):
            message = f"{tried} of {len(VARIANTS)} tried, its time was up: no fault"
            return Item(name, "warn", message, figures=figures)
        return Item(name, "ok", f"all {tried}: no fault", figures=figures)

    def _hidden(self, loop: Loop | None, same: Item, inproc: Item) -> Item:
        name = "hidden cards"
        seconds = self._seconds(name)
        if loop is None:
            return Item(name, "none", _NO_LOOP)
        if same.status == "fail":
            return Item(name, "none", "not tried: its moves differ anyway, see same seed")
        if inproc.status == "fail":
            return Item(name, "none", "not tried: see lane inproc")
        return asked_again(loop, self.games["inproc"], seconds)

    def _random(self, inproc: Item) -> Item:
        name = "global random"
        if self.candidate.entry.command:
            return Item(name, "none", "a command's own affair")
        if RANDOM in self.touched:
            module, _, where = self.touched[RANDOM].partition(", ")
            message = f"the generator of {module} is seeded or drawn from {where}: use setup.rng"
            return Item(name, "fail", message, "random")
        if inproc.status == "fail":
            return Item(name, "none", "not tried: see lane inproc")
        return Item(name, "ok", "not touched")


def _guilty(name: str, guilty: Guilty, under: str = "") -> Item:
    where = f"{under}at ply {guilty.fault.ply} against {OPPONENTS[guilty.number.opponent]}"
    return failed(name, guilty.fault, where, guilty.command)


def _difference(games: Games, others: Games) -> tuple[Number, int] | None:
    """Return the first game that both have and play differently, and from which ply on."""
    for number in sorted(games.keys() & others.keys()):
        if games[number] != others[number]:
            return number, parting(games[number], others[number])
    return None
