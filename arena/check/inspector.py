"""Check one bot item by item: load it, play its games, ask its process, and guess its rating.

A bot must choose the same action each time: its choice may depend only on its seed and its view.
The questioned process plays whole games (`trial`); its answers are not trusted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

from msgspec.structs import replace as replace_fields

from arena.check import DECISIONS, LONGEST, RATING, trial
from arena.check.item import NAMES, Item, Order, complete, fail
from arena.check.sparring import (
    OPPONENTS,
    VARIANTS,
    Climb,
    Games,
    Guilty,
    Watch,
    find_parting,
    open_games,
)
from arena.entries.catalogue import ELO
from arena.entries.entry import Entry
from arena.entries.needs import explain_missing
from arena.entries.resolve import resolve
from arena.errors import blaming_machine, counted
from arena.lanes.faults import Forfeit
from arena.lanes.jail_support import require_jail
from arena.lanes.limits import Allowed
from arena.lanes.messages import Message
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.temp_and_cache_folders import BOT, scratch_folder
from arena.processes import killing_orphans
from arena.tournament.schedule import Fixture
from arena.tournament.timing import Distribution
from engine import STANDARD, Rules, sample
from engine.cards import to_text
from engine.errors import EngineError
from engine.notation import parse_actions
from engine.seeds import stream
from engine.state import State
from engine.view import view

_OTHER_HASHES = {"PYTHONHASHSEED": "1"}
_LABEL = "checked"  # label of a bot that has the name of one of its opponents
_NO_BOT = re.compile(r"ImportError: .* (does not bind|binds) `bot`")
_HALF = 0.5
_SPARE = 5.0  # seconds for a game beside the limit of a decision
_SLOWER = 5  # a decision may take this many times as long as in its own process
_WHOLE = 1 << 10  # plies: more than any game has
_MOST_GAMES = 20  # of which decisions are repeated with other hidden cards


def run_check(
    order: Order, working: Callable[[str], None] = lambda _: None, longest: float = LONGEST
) -> Iterator[Item]:
    """Yield every item of the report, each as soon as it and those before it are known.

    `working` is called several times a second with the name of the item in progress; what it raises
    ends the check. Raises CutShort if the bot works for more than `longest` seconds of processor
    time, or sleeps for much longer, and Exhausted for what the machine refuses.
    """
    watch = Watch(working, longest)
    with blaming_machine("the check"), scratch_folder() as folder, killing_orphans():
        if order.jailed:
            require_jail()
        entry = resolve(order.spec, lane=order.lane)
        if entry.label in ELO:
            entry = replace(entry, label=_LABEL)
        process = bot_process(
            *(entry, STANDARD, order.limits, folder / BOT, watch.look),
            check=True,
            program=trial.__name__,
            environment=_OTHER_HASHES,
        )
        with process as started, open_games(entry, order, watch) as games:
            yield from complete(Inspection(entry, order, started, games).items())


class Inspection:
    """The check of one bot; `process` is the one in which it plays whole games."""

    def __init__(self, entry: Entry, order: Order, process: BotProcess, games: Games) -> None:
        self.entry = entry
        self.order = order
        self.games = games
        self.trials = Trials(games, process)
        self.pairs = -(-order.games // (2 * len(OPPONENTS)))  # against each opponent

    def items(self) -> Iterator[Item]:
        """Yield the items in the order of the report, up to the first grave failure."""
        items = []
        for item in self._items():
            items.append(item)
            yield item
        if not any(item.status == "fail" for item in items):
            yield self._try("rating", self._rate)

    def _items(self) -> Iterator[Item]:
        self.games.watch.begin(NAMES[0])
        yield from (loading := _load(self.trials.process, self.entry))
        if loading[-1].status == "fail":
            return
        first = self._try(f"lane {self.order.lane}", self._play)
        yield first
        if first.status == "fail":
            return
        yield check_time(self.games.timing.cpu, self.order.limits.decision)
        same = self._try("same seed", self._repeat)
        yield same
        if same.status == "ok" and not self.entry.command:
            yield self._try("lane inproc", self._play_inproc)
            if not self.trials.actions:  # it has a fault there, and would have it below
                return
            yield self._try("hidden cards", self._ask_again)
        yield self._try("rules variants", self._play_variants)

    def _try(self, name: str, step: Callable[[str], Item]) -> Item:
        """Return the item of a step, or its failure if the bot has a fault in it."""
        self.games.watch.begin(name)
        try:
            return step(name)
        except Guilty as guilty:
            return _advise(self.entry, replace_fields(guilty.args[0], name=name))

    def _play(self, name: str) -> Item:
        self.games.play_series(self.pairs)
        number = len(self.games.actions)
        return Item(name, "ok", f"{number:,} games: no fault", figures={"games": number})

    def _play_variants(self, name: str) -> Item:
        """Play one game under each variant: a Python bot in its own process, which is quick."""
        for number, rules in enumerate(VARIANTS):
            seat = number % 2
            if not self.entry.command:
                self.trials.play(self.games.fixture(OPPONENTS[0], 0, seat), rules)
                continue
            with open_games(self.entry, self.order, self.games.watch, rules) as games:
                games.play(OPPONENTS[0], 0, seats=(seat,))
        tried = len(VARIANTS)
        return Item(name, "ok", f"all {tried}: no fault", figures={"tried": tried})

    def _repeat(self, name: str) -> Item:
        """Play the later half of the pairs again in new processes, in the reverse order."""
        with open_games(self.entry, self.order, self.games.watch) as again:
            for pair in reversed(range(self.pairs // 2, self.pairs)):
                for opponent in reversed(OPPONENTS):
                    again.play(opponent, pair)
            why = "does it depend on earlier games, a clock, or other luck than setup.rng?"
            return self._compare(name, again.actions, why)

    def _play_inproc(self, name: str) -> Item:
        """Play the games again in reverse order, in one process that holds the full state."""
        games = {}
        for fixture in reversed(self.games.actions):
            games[fixture] = self.trials.play(fixture)
        self.trials.actions = games
        why = "does it keep something, read the arena's memory, or go by the order of a set?"
        return self._compare(name, games, why)

    def _compare(self, name: str, games: Mapping[Fixture, str], why: str) -> Item:
        """Return the item of games that were played again, which may differ for some reason."""
        for fixture, actions in games.items():
            first = self.games.actions.get(fixture, actions)
            if first != actions:
                message = f"other moves from ply {find_parting(first, actions)} on: {why}"
                command = self.games.command(fixture)
                return Item(name, "fail", message, "differs", command=command)
        number = len(games)
        message = f"{number:,} games played again: the same moves"
        return Item(name, "ok", message, figures={"games": number})

    def _ask_again(self, name: str) -> Item:
        """Repeat some decisions, in random order, with other hidden cards."""
        rng = stream(self.order.seed, "check", "hidden")
        questions = self.trials.find_questions(rng)[: DECISIONS * self.order.games]
        for fixture, ply in questions:
            if found := self.trials.find_peeking(fixture, ply, rng):
                first = find_parting(found, self.trials.actions[fixture])
                message = f"other moves from ply {first} on: only cards that it cannot see differed"
                command = self.games.command(fixture, "inproc")
                return Item(name, "fail", message, "hidden", command=command)
        message = f"{counted(len(questions), 'decision')} asked again: the same answers"
        return Item(name, "ok", message, figures={"decisions": len(questions)})

    def _rate(self, _: str) -> Item:
        """Play pairs against the ladder, without the bot itself if it is on it."""
        elos = {name: elo for name, elo in ELO.items() if name != self.entry.spec}
        names = [*elos]
        climb = Climb(elos, lambda one: self.games.score(names[one], len(climb.scores[one])))
        climb.play(-(-RATING * self.order.games // 2))
        return climb.to_item()


class Play(Message, kw_only=True):
    """A game for `trial` to play; the opponent plays the `actions`, if there are, up to a ply."""

    rules: dict[str, Any]
    seat: int
    seeds: list[str]
    deal: str
    actions: str
    last: int
    seconds_per_decision: float
    seconds_per_game: float | None


class Trials:
    """The games of a process that runs `trial`; `actions` are those that it played as recorded."""

    def __init__(self, games: Games, process: BotProcess) -> None:
        self.games = games
        self.process = process
        self.actions: dict[Fixture, str] = {}

    def play(
        self, fixture: Fixture, rules: Rules = STANDARD, deal: bytes = b"", last: int = _WHOLE
    ) -> str:
        """Return the actions of a game; raise Guilty for a fault that recurs in a new process.

        The opponent plays as recorded, up to ply `last` or until the bot does not, and under other
        rules freely. The deal is the fixture's unless `deal` is passed.
        """
        tournament = self.games.tournament
        draw = fixture.draw(tournament.seed, rules)
        message = Play(
            rules=rules.changes(),
            seat=fixture.seat,
            seeds=[f"{luck:032x}" for luck in draw.lucks],
            deal=to_text(deal or draw.deal),
            actions=self.games.actions[fixture] if rules == STANDARD else "",
            last=last,
            seconds_per_decision=tournament.limits.decision,
            seconds_per_game=tournament.limits.game,
        )
        with suppress(Forfeit):
            return self._ask(message)
        self.process.kill()
        try:
            return self._ask(message)
        except Forfeit as forfeit:
            raise self.games.blame(forfeit.fault, fixture, "inproc", rules) from None

    def _ask(self, message: Play) -> str:
        limits, mean = self.games.tournament.limits, self.games.timing.wall.mean
        seconds = limits.decision + _SPARE + _SLOWER * mean * STANDARD.game_plies
        self.process.start()
        turn = self.process.ask([message], Allowed(seconds, limits.backstop_of(seconds)))
        self.games.watch.used += turn.spent.cpu
        if isinstance(answer := turn.answers[0], Forfeit):
            raise answer
        return answer.action or ""

    def find_questions(self, rng: Random) -> list[tuple[Fixture, int]]:
        """Return the decisions of some games with at least two legal actions, in random order."""
        questions = []
        for fixture in [*self.actions][:_MOST_GAMES]:
            state = State(self.games.tournament.draw(fixture).deal, STANDARD)
            with suppress(EngineError):  # an invalid answer
                for ply, action in enumerate(parse_actions(self.actions[fixture])):
                    if state.to_act == fixture.seat and len(state.legal()) > 1:
                        questions.append((fixture, ply))
                    state.apply(state.checked(action))
        rng.shuffle(questions)
        return questions

    def find_peeking(self, fixture: Fixture, ply: int, rng: Random) -> str:
        """Return the actions of a game up to a ply if other hidden cards change them, else ""."""
        first = self.actions[fixture][: ply + 1]
        state = State(self.games.tournament.draw(fixture).deal, STANDARD)
        state.follow(parse_actions(first[:-1]))
        world = sample(view(state, fixture.seat), rng)
        again = self.play(fixture, deal=world.deal(), last=ply)[: ply + 1]
        if again == first or self.play(fixture, last=ply)[: ply + 1] != first:
            return ""
        return again or "nothing"


def _advise(entry: Entry, item: Item) -> Item:
    """Return a failed item with advice about what the bot did not find."""
    advice = explain_missing(entry.target, item.message.partition(": ")[2])
    return replace_fields(item, message=item.message + advice)


def _load(process: BotProcess, entry: Entry) -> list[Item]:
    """Return the first three items, up to the first that fails."""
    start = time.perf_counter()
    try:
        process.start()
    except Forfeit as forfeit:
        fault = forfeit.fault
        name = "binds bot" if _NO_BOT.match(fault.message) else "imports"
        name = "parameters" if fault.kind == "params" else name
        before = NAMES[: NAMES.index(name)]
        return [*(Item(one, "ok", "") for one in before), _advise(entry, fail(name, fault))]
    seconds = time.perf_counter() - start
    imports = Item("imports", "ok", f"ready in {seconds:.2f} s", figures={"seconds": seconds})
    if entry.command:
        return [imports]
    written = ", ".join(f"{name}={value!r}" for name, value in entry.params.items())
    params = Item("parameters", "ok", f"takes {written}" if written else "needs none")
    return [imports, Item("binds bot", "ok", "to something that can be called"), params]


def check_time(times: Distribution, limit: float) -> Item:
    """Return the item about the times of decisions, of which each may take `limit` seconds."""
    median, p99, longest = times.quantile(0.5), times.quantile(0.99), times.longest
    message = f"median {_ms(median)}, 99 % {_ms(p99)}, longest {_ms(longest)} per decision"
    figures = {"median": median, "p99": p99, "max": longest, "decisions": times.count}
    if longest > _HALF * limit:
        return Item("time", "warn", f"{message}; the limit is {limit:g} s", figures=figures)
    return Item("time", "ok", message, figures=figures)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2g} ms" if seconds < _HALF else f"{seconds:.1f} s"
