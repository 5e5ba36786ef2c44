"""Inspection: one bot put through everything, item by item."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

from arena.check.hidden import check_hidden
from arena.check.item import Item, fail
from arena.check.loading import check_loading
from arena.check.loop import Loop, open_loop
from arena.check.order import Order
from arena.check.sparring import OPPONENTS, Candidate, Guilty, Sparring, find_parting
from arena.check.traces import check_leftovers, check_memory, check_size, check_time
from arena.check.trial import RANDOM
from arena.check.variants import VARIANTS
from arena.errors import InputError
from arena.lanes.bubblewrap import find_bubblewrap
from arena.lanes.faults import Forfeit
from arena.tournament.schedule import Fixture

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
_NO_LOOP = "a command gets nothing but its view"
_SEE_SAME_SEED = "not tried: its moves differ anyway, see same seed"
_SEE_INPROC = "not tried: see lane inproc"

Games = dict[Fixture, str]


class Inspection:
    """One bot's check; `begin` is called with the name of each item before it is worked on."""

    def __init__(self, candidate: Candidate, order: Order, begin: Callable[[str], None]) -> None:
        self.candidate = candidate
        self.order = order
        self.begin = begin
        self.games: dict[str, Games] = {}  # by lane
        self.touched: dict[str, str] = {}
        self.first: Sparring

    def items(self) -> Iterator[Item]:
        """Yield the items in the order of the report; after a grave failure no more."""
        items = []
        for item in self._items():
            items.append(item)
            yield item
        if not any(item.status == "fail" for item in items):
            from arena.check.guess import guess_rating  # scipy takes half a second

            seconds = self._begin("rating")
            yield guess_rating(self.candidate, _RATING_GAMES * self.order.games, seconds)

    def _items(self) -> Iterator[Item]:
        self.begin("imports")
        loading = check_loading(self.candidate)
        yield from loading
        if any(item.status == "fail" for item in loading):
            return
        seconds = self._begin("lane process")
        self.first = Sparring(self.candidate)
        with closing(self.first):
            process = self._lane("process", self.first, seconds)
            if process.status == "fail":
                yield process
                return
            yield from self._play_more(process)

    def _play_more(self, process: Item) -> Iterator[Item]:
        """Yield what follows from games that were played without a fault."""
        costs = [check_time(self.first), check_memory(self.first), check_size(self.candidate)]
        with ExitStack() as stack:
            is_command = bool(self.candidate.entry.command)
            loop = None if is_command else stack.enter_context(open_loop(self.first))
            inproc = self._inproc(loop)
            yield inproc
            yield process
            yield self._jail()
            same = self._same_seed()
            yield self._compare_lanes(same)
            yield same
            yield self._variants()
            yield self._hidden(loop, same, inproc)
        yield self._random(inproc)
        self.begin("leaves nothing")
        yield check_leftovers(self.first, self.touched)
        yield from costs

    def _begin(self, stage: str) -> float:
        """Begin an item, and return the seconds it may take."""
        self.begin(stage)
        return SHARES[stage] * self.order.seconds

    def _jail(self) -> Item:
        seconds = self._begin("lane jail")
        try:
            find_bubblewrap()
        except InputError as error:
            return Item("lane jail", "none", str(error).removeprefix("lane jail: "))
        with closing(Sparring(self.candidate, "jail")) as sparring:
            return self._lane("jail", sparring, seconds)

    def _lane(self, lane: str, sparring: Sparring, seconds: float) -> Item:
        try:
            sparring.play_series(self.order.games, seconds)
        except Guilty as guilty:
            return _fail_by(f"lane {lane}", guilty)
        self.games[lane] = sparring.actions
        return self._no_fault(lane)

    def _no_fault(self, lane: str) -> Item:
        number, wanted = len(self.games[lane]), self.order.games
        of = f" of {wanted:,}, its time was up" if number < wanted else ""
        message = f"{number:,} games{of}: no fault"
        return Item(f"lane {lane}", "ok", message, figures={"games": number})

    def _inproc(self, loop: Loop | None) -> Item:
        """Play the first games again, the last one first, in one process with the truth.

        The other order shows a bot that keeps something from game to game.
        """
        seconds = self._begin("lane inproc")
        if loop is None:
            return Item("lane inproc", "none", "a command always has a process of its own")
        deadline = time.monotonic() + seconds
        games = self.games["inproc"] = {}
        for fixture in reversed(self.first.actions):
            if games and time.monotonic() > deadline:
                break
            try:
                games[fixture] = loop.play_whole(fixture)
            except Forfeit as forfeit:
                where = f"against {fixture.pairing.opponent}"
                command = self.first.command(fixture)
                command = command.replace("--lane process", "--lane inproc", 1)
                return fail("lane inproc", forfeit.fault, where, command)
        self.touched = loop.touched
        return self._no_fault("inproc")

    def _compare_lanes(self, same: Item) -> Item:
        name = "lanes agree"
        if same.status == "fail":
            return Item(name, "none", _SEE_SAME_SEED)
        compared = 0
        for lane, games in self.games.items():
            difference = _find_difference(self.games["process"], games)
            if difference is not None:
                fixture, ply = difference
                what = f"other moves in the lane {lane} from ply {ply} on, with the same luck"
                message = f"{what} (something kept from game to game, or found in the lane?)"
                command = self.first.command(fixture)
                return Item(name, "fail", message, "differs", command=command)
            compared = max(compared, len(games)) if lane != "process" else compared
        return Item(name, "ok", f"the same {compared:,} games in {', '.join(sorted(self.games))}")

    def _same_seed(self) -> Item:
        name = "same seed"
        seconds = self._begin(name)
        with closing(Sparring(self.candidate, environment=_OTHER_HASHES)) as sparring:
            try:
                sparring.play_series(len(self.first.actions), seconds)
            except Guilty as guilty:
                return _fail_by(name, guilty)
        difference = _find_difference(self.first.actions, sparring.actions)
        if difference is None:
            message = f"the same moves in {len(sparring.actions):,} games, played twice"
            return Item(name, "ok", message)
        fixture, ply = difference
        what = f"other moves from ply {ply} on in a second process: something else decides than"
        message = f"{what} the view and setup.rng (other luck, the order of a set, a clock?)"
        return Item(name, "fail", message, "differs", command=self.first.command(fixture))

    def _variants(self) -> Item:
        name = "rules variants"
        seconds = self._begin(name)
        deadline = time.monotonic() + seconds
        is_slow = self.first.pair_seconds * len(VARIANTS) * len(OPPONENTS) > seconds
        tried = 0
        for variant, rules in VARIANTS.items():
            if tried and time.monotonic() > deadline:
                break
            opponents = [tried % len(OPPONENTS)] if is_slow else range(len(OPPONENTS))
            with closing(Sparring(self.candidate, rules=rules)) as sparring:
                try:
                    for opponent in opponents:
                        sparring.play(opponent)
                except Guilty as guilty:
                    return _fail_by(name, guilty, f"under {variant}, ")
            tried += 1
        figures = {"tried": tried}
        if tried < len(VARIANTS):
            message = f"{tried} of {len(VARIANTS)} tried, its time was up: no fault"
            return Item(name, "warn", message, figures=figures)
        return Item(name, "ok", f"all {tried}: no fault", figures=figures)

    def _hidden(self, loop: Loop | None, same: Item, inproc: Item) -> Item:
        name = "hidden cards"
        seconds = self._begin(name)
        if loop is None:
            return Item(name, "none", _NO_LOOP)
        if same.status == "fail":
            return Item(name, "none", _SEE_SAME_SEED)
        if inproc.status == "fail":
            return Item(name, "none", _SEE_INPROC)
        return check_hidden(loop, self.games["inproc"], seconds)

    def _random(self, inproc: Item) -> Item:
        name = "global random"
        if self.candidate.entry.command:
            return Item(name, "none", "does not apply to a command")
        if RANDOM in self.touched:
            module, _, where = self.touched[RANDOM].partition(", ")
            message = f"the generator of {module} is seeded or drawn from {where}: use setup.rng"
            return Item(name, "fail", message, "random")
        if inproc.status == "fail":
            return Item(name, "none", _SEE_INPROC)
        return Item(name, "ok", "not touched")


def _fail_by(name: str, guilty: Guilty, under: str = "") -> Item:
    where = f"{under}at ply {guilty.ply} against {guilty.fixture.pairing.opponent}"
    return fail(name, guilty.fault, where, guilty.command)


def _find_difference(games: Games, others: Games) -> tuple[Fixture, int] | None:
    """Return the first game that is in both and differs, and the ply from which it does."""
    for fixture in sorted(games.keys() & others.keys()):
        if games[fixture] != others[fixture]:
            return fixture, find_parting(games[fixture], others[fixture])
    return None
