"""Check one bot item by item, in a separate program that the bot may crash."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import msgspec

from arena.check import DECISIONS, FEW, RATING
from arena.check.item import Growth, Item, Order, check_growth, fail
from arena.check.sparring import (
    OPPONENTS,
    VARIANTS,
    Candidate,
    Guilty,
    Sparring,
    check_loading,
    find_parting,
    guess_rating,
)
from arena.check.traces import (
    Loop,
    check_hidden,
    check_leftovers,
    check_memory,
    check_size,
    check_time,
    open_loop,
)
from arena.check.trial import RANDOM
from arena.entries.catalogue import ELO
from arena.entries.needs import explain_missing
from arena.entries.resolve import resolve
from arena.errors import Exhausted, InputError, blaming_machine
from arena.executors.worker import play_here
from arena.lanes.bubblewrap import find_bubblewrap, require_jail
from arena.lanes.cleanup import kill_orphans
from arena.lanes.confine import die_with
from arena.lanes.faults import Forfeit
from arena.tournament.schedule import Fixture
from engine import Rules

_OTHER_HASHES = {"PYTHONHASHSEED": "1"}
_NO_LOOP = "a command gets nothing but its view"
_SEE_SAME_SEED = "not tried: its moves differ anyway, see same seed"
_SEE_INPROC = "not tried: see lane inproc"
_ALL_JAILED = "not tried: everything runs in the jail; --lane process plays outside"
_EARLIER = "where its process has played other games before: keep what a game depends on in self"
_OTHER_LUCK = "in another process: something else decides than the view and setup.rng"

Games = dict[Fixture, str]

_BEAT = 0.5  # seconds between two signs of life
_LABEL = "checked"  # label of a bot that has the name of one of its opponents


class Inspection:
    """One bot's check; `begin` is called with the name of each item before it is worked on."""

    def __init__(self, candidate: Candidate, order: Order, begin: Callable[[str], None]) -> None:
        self.candidate = candidate
        self.order = order
        self.begin = begin
        self.lane = order.lane
        self.games: dict[str, Games] = {}  # by lane
        self.touched: dict[str, str] = {}
        self.growths: list[Growth] = []  # of processes
        self.first: Sparring

    def items(self) -> Iterator[Item]:
        """Yield the items in the order of the report, up to the first grave failure."""
        items = []
        for item in self._items():
            items.append(item)
            yield item
        if not any(item.status == "fail" for item in items):
            self.begin("rating")
            yield guess_rating(self.candidate, RATING * self.order.games)

    def _items(self) -> Iterator[Item]:
        self.begin("imports")
        loading = check_loading(self.candidate)
        yield from loading
        if any(item.status == "fail" for item in loading):
            return
        self.begin(f"lane {self.lane}")
        self.first = Sparring(self.candidate)
        with closing(self.first):
            self.growths += self.first.growths
            first = self._lane(self.lane, self.first)
            if first.status == "fail":
                yield first
                growth = self._growth()
                if growth.status == "warn":
                    yield growth
                return
            yield from self._play_more(first)

    def _play_more(self, first: Item) -> Iterator[Item]:
        """Yield the items that need games without a fault."""
        costs = [check_time(self.first), check_memory(self.first)]
        with ExitStack() as stack:
            is_command = bool(self.candidate.entry.command)
            loop = None if is_command else stack.enter_context(open_loop(self.first))
            inproc = self._inproc(loop)
            yield inproc
            yield from self._lanes(first)
            same = self._same_seed()
            yield self._compare_lanes(same)
            yield same
            yield self._variants()
            yield self._hidden(loop, same, inproc)
        yield self._random(inproc)
        self.begin("leaves nothing")
        yield check_leftovers(self.first, self.touched)
        yield from costs
        yield self._growth()
        yield check_size(self.candidate)

    def _growth(self) -> Item:
        return check_growth(self.growths, self.first.bots[0].most_held)

    def _lanes(self, first: Item) -> Iterator[Item]:
        """Yield the items of the lanes process and jail; `first` is the one tried first."""
        if self.order.jailed:
            yield Item("lane process", "none", _ALL_JAILED)
            yield first
        else:
            yield first
            yield self._jail()

    def _jail(self) -> Item:
        self.begin("lane jail")
        try:
            find_bubblewrap()
        except InputError as error:
            return Item("lane jail", "none", str(error).removeprefix("lane jail: "))
        with closing(Sparring(self.candidate, "jail")) as sparring:
            return self._lane("jail", sparring)

    def _lane(self, lane: str, sparring: Sparring) -> Item:
        try:
            sparring.play_series(self.order.games)
        except Guilty as guilty:
            return self._fail_by(f"lane {lane}", guilty)
        self.games[lane] = sparring.actions
        return self._no_fault(lane)

    def _no_fault(self, lane: str) -> Item:
        number = len(self.games[lane])
        return Item(f"lane {lane}", "ok", f"{number:,} games: no fault", figures={"games": number})

    def _inproc(self, loop: Loop | None) -> Item:
        """Play the first games again in reverse order, in one process that holds the full state.

        The reverse order reveals a bot that carries something over from game to game.
        """
        self.begin("lane inproc")
        if loop is None:
            return Item("lane inproc", "none", "a command always has a process of its own")
        games = self.games["inproc"] = {}
        for fixture in reversed(self.first.actions):
            try:
                games[fixture] = loop.play_whole(fixture)
            except Forfeit as forfeit:
                where = f"against {fixture.pairing.opponent}"
                command = self.first.command(fixture)
                command = command.replace(f"--lane {self.lane}", "--lane inproc", 1)
                return fail("lane inproc", forfeit.fault, where, command)
        self.touched = loop.touched
        return self._no_fault("inproc")

    def _compare_lanes(self, same: Item) -> Item:
        name = "lanes agree"
        if same.status == "fail":
            return Item(name, "none", _SEE_SAME_SEED)
        if len(self.games) == 1:
            return Item(name, "none", "not tried: there is no second lane for it")
        compared = 0
        for lane, games in self.games.items():
            difference = _find_difference(self.first.actions, games)
            if difference is not None:
                fixture, ply = difference
                what = f"other moves in the lane {lane} from ply {ply} on, with the same luck"
                message = f"{what} (something kept from game to game, or found in the lane?)"
                command = self.first.command(fixture)
                return Item(name, "fail", message, "differs", command=command)
            compared = max(compared, len(games)) if lane != self.lane else compared
        return Item(name, "ok", f"the same {compared:,} games in {', '.join(sorted(self.games))}")

    def _same_seed(self) -> Item:
        """Play the first games again in reverse order, all of them in one new process.

        This reveals a bot that carries something over from game to game, above all from one game of
        a pair to the other.
        """
        name = "same seed"
        self.begin(name)
        mixed = Sparring(self.candidate, environment=_OTHER_HASHES, mixed=True)
        self.growths += mixed.growths
        with closing(mixed):
            for fixture, actions in reversed(self.first.actions.items()):
                try:
                    again = mixed.play_fixture(fixture)
                except Guilty as guilty:
                    return self._fail_by(name, guilty)
                if again != actions:
                    return self._differs(name, fixture, find_parting(again, actions))
        message = f"the same moves in {len(mixed.actions):,} games, played twice"
        return Item(name, "ok", f"{message}, in another order")

    def _differs(self, name: str, fixture: Fixture, ply: int) -> Item:
        """Return the item of a game that was played differently, with the reason if it is clear."""
        alone = []
        for environment in ({}, _OTHER_HASHES):
            with closing(Sparring(self.candidate, environment=environment, mixed=True)) as fresh:
                try:
                    alone.append(fresh.play_fixture(fixture))
                except Guilty as guilty:
                    return self._fail_by(name, guilty)
        why = _EARLIER if alone[0] == alone[1] else _OTHER_LUCK
        message = f"other moves from ply {ply} on {why}"
        if why == _OTHER_LUCK:
            message += " (other luck, the order of a set, a clock?)"
        return Item(name, "fail", message, "differs", command=self.first.command(fixture))

    def _variants(self) -> Item:
        name = "rules variants"
        self.begin(name)
        for number, (variant, rules) in enumerate(VARIANTS.items()):
            try:
                self._play_variant(number, rules)
            except Guilty as guilty:
                return self._fail_by(name, guilty, f"under {variant}, ")
        tried = len(VARIANTS)
        return Item(name, "ok", f"all {tried}: no fault", figures={"tried": tried})

    def _play_variant(self, number: int, rules: Rules) -> None:
        """Play one game in each seat, or in one seat only if few games are wanted."""
        with closing(Sparring(self.candidate, rules=rules, mixed=True)) as sparring:
            for seat in (0, 1) if self.order.games >= FEW else (number % 2,):
                pairing = sparring.tournament.pairings[(number // 2 + seat) % len(OPPONENTS)]
                sparring.play_fixture(Fixture(pairing, 0, seat))

    def _hidden(self, loop: Loop | None, same: Item, inproc: Item) -> Item:
        name = "hidden cards"
        self.begin(name)
        if loop is None:
            return Item(name, "none", _NO_LOOP)
        if same.status == "fail":
            return Item(name, "none", _SEE_SAME_SEED)
        if inproc.status == "fail":
            return Item(name, "none", _SEE_INPROC)
        return check_hidden(loop, self.games["inproc"], DECISIONS * self.order.games)

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

    def _fail_by(self, name: str, guilty: Guilty, under: str = "") -> Item:
        where = f"{under}at ply {guilty.ply} against {guilty.fixture.pairing.opponent}"
        message = guilty.fault.message
        advice = explain_missing(self.candidate.entry.target, message)
        return fail(name, guilty.fault._replace(message=message + advice), where, guilty.command)


def _find_difference(games: Games, others: Games) -> tuple[Fixture, int] | None:
    """Return the first game in both that differs, and the first ply at which it differs."""
    for fixture in sorted(games.keys() & others.keys()):
        if games[fixture] != others[fixture]:
            return fixture, find_parting(games[fixture], others[fixture])
    return None


class _Speaker:
    """Writes lines of JSON: the items, and from time to time the name of the item in progress."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.stage = ""
        self.last = 0.0

    def say(self, **line: object) -> None:
        self.out.write(msgspec.json.encode(line) + b"\n")
        self.out.flush()

    def begin(self, stage: str) -> None:
        self.stage = stage
        self.last = time.monotonic()
        self.say(beat=stage)

    def beat(self) -> None:
        if time.monotonic() - self.last > _BEAT:
            self.begin(self.stage)


def main(parent: int) -> None:
    """Read an order and a folder, write the items; exit when the input or the parent ends.

    It also dies with the parent: a process that a bot has stopped (SIGSTOP) cannot read its input.
    """
    die_with(parent)
    order, folder = msgspec.json.decode(sys.stdin.buffer.readline(), type=tuple[Order, str])
    threading.Thread(target=_exit_with_input, daemon=True).start()
    play_here(order.venue)
    speaker = _Speaker(sys.stdout.buffer)
    try:
        with blaming_machine("the check"):
            _inspect(order, Path(folder), speaker)
    except Exhausted as error:
        speaker.say(refused=str(error))
    finally:
        kill_orphans()


def _inspect(order: Order, folder: Path, speaker: _Speaker) -> None:
    """Say every item of a check."""
    if order.jailed:
        require_jail()
    entry = resolve(order.spec, lane=order.lane)
    if entry.label in {*OPPONENTS, *ELO}:
        entry = replace(entry, label=_LABEL)
    candidate = Candidate(entry, order.limits, order.seed, folder, speaker.beat)
    for item in Inspection(candidate, order, speaker.begin).items():
        speaker.say(item=item)
    speaker.say(end=True)


def _exit_with_input() -> None:
    while os.read(0, 1):  # not sys.stdin, whose lock could block the exit
        pass
    os._exit(1)
