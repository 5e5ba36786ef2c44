"""Describe the tournament that a run plays, and write the command that plays one of its games."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final, TypeAlias

import msgspec

from arena.entries.entry import Entry
from arena.entries.resolve import default_lane
from arena.entries.spec import OBJECT, default_label, parse
from arena.errors import InputError, arena_command, counted, naming
from arena.lanes.limits import Limits
from arena.statistics.counts import Anchors
from arena.tournament.config_keys import (
    MAX_FAULTS,
    MOST_PAIRS,
    Anchor,
    Pairs,
    Positive,
    Rounds,
    Seed,
)
from arena.tournament.schedule import Fixture, Meeting, Pairing, gauntlet, round_robin
from arena.tournament.stop import Sprt, Stop
from arena.tournament.versions import versions
from engine import Rules
from engine.errors import EngineError
from engine.notation import parse_cards, parse_deal
from engine.play import Draw
from engine.state import Seat

VERSION: Final = "@"
"""It stands between the name of a bot and the number of its version, in a label."""

_ALWAYS = ("limits", "max_faults")  # in a manifest, even if they are the defaults


def find_wrong_meeting(tournament: Tournament) -> str:
    """Return why a tournament's meetings are invalid, empty if they are valid.

    Every two bots may meet once in a round, and no other key may determine what is played.
    """
    if not tournament.meetings:
        return ""
    met = {frozenset(two) for two in tournament.pairings}
    if any(not two <= {*tournament.labels} for two in met):
        return "a meeting of a bot that it does not have"
    is_twice = any(len({two[:2] for two in of_one}) < len(of_one) for of_one in tournament.meetings)
    if is_twice or len(met) < len(tournament.pairings) or any(len(two) < 2 for two in met):
        return "two meetings of the same bots, or one of a bot with itself"
    if tournament.panel or tournament.rounds or tournament.stop or tournament.paired:
        return "meetings, and something else that says what is played"
    if tournament.most_pairs > MOST_PAIRS:
        return f"a meeting beyond pair {MOST_PAIRS:,}"
    return ""


def find_wrong_deals(tournament: Tournament) -> str:
    """Return why a tournament cannot play its fixed deals, empty if it can or has none."""
    number = len(tournament.deals)
    if not number:
        return ""
    if tournament.rounds or tournament.stop or tournament.paired or tournament.meetings:
        return "deals: only a round robin or a gauntlet without `until` plays fixed deals"
    if bytes(sorted(parse_cards(tournament.deals[0]))) != tournament.rules.deck:
        return "deals: they have other cards than the rules"
    if tournament.pairs > number:
        return f"deals: {tournament.pairs:,} pairs, and only {counted(number, 'deal')}"
    return ""


@dataclass(frozen=True)
class Tournament:
    """A round robin: every two bots play `pairs` deals twice, with the seats swapped.

    With a `panel` it is a gauntlet: the last `panel` bots do not play one another, and neither
    do the others, the challengers. With `rounds` it is a Swiss tournament of this many rounds of
    `pairs` pairs. With a `stop`, the run continues until this stopping rule is met. After
    `max_faults` faults, a bot's remaining games are forfeits. A worker needs nothing else to play
    any game of the run.

    A gauntlet can be `paired`: its challengers, the new versions of a bot and, as the last, the old
    version, meet the panel on the same deals with the same luck, and no process meets a deal twice.
    The Elo of the `anchor` is fixed. With `meetings`, a list for each round, only these are played,
    and all versions of a bot, labelled NAME, NAME@2 and so on, meet the deals of NAME. With fixed
    `deals`, pair k of every pairing plays the deal at place k; what is random in bots stays that of
    the pair. It is `extended` if its size was changed after games had been played.

    The manifest has the same fields in the same order. Fields with the name of a config's key have
    the key's value.
    """

    name: str
    seed: Seed
    pairs: Pairs
    entries: Sequence[Entry]
    rules: Rules
    limits: Limits = field(default_factory=Limits)
    max_faults: Positive = MAX_FAULTS
    panel: int = 0
    rounds: Rounds = 0
    paired: bool = False
    stop: Stop | None = None
    anchor: Anchor | None = None
    meetings: Sequence[Sequence[Meeting]] = ()
    deals: Sequence[str] = ()
    extended: bool = False

    def __post_init__(self) -> None:
        if problem := find_wrong_deals(self):
            raise InputError(problem)

    @property
    def labels(self) -> list[str]:
        """The bots' labels, in the order in which the bots were named."""
        return [entry.label for entry in self.entries]

    @cached_property
    def by_label(self) -> dict[str, Entry]:
        """The bots by label."""
        return {entry.label: entry for entry in self.entries}

    @cached_property
    def pairings(self) -> list[Pairing]:
        """The pairings, in the order of the schedule."""
        if self.meetings:
            return [*self._met]
        if self.panel:
            return gauntlet(self.labels[: -self.panel], self.labels[-self.panel :])
        return round_robin(self.labels)

    @property
    def anchored(self) -> Anchors:
        """The anchor, if there is one, as a mapping to its Elo."""
        return {self.anchor.bot: (self.anchor.elo, self.anchor.error)} if self.anchor else {}

    @property
    def most_pairs(self) -> int:
        """The greatest number of pairs of a pairing."""
        if self.meetings:
            return max(self._met.values())
        return self.stop.max_pairs if self.stop else self.pairs * (self.rounds or 1)

    @property
    def games(self) -> int:
        """The greatest number of games; without a stopping rule, it is the exact number."""
        if self.rounds:
            return 2 * self.pairs * self.rounds * (len(self.entries) // 2)
        if self.stop:
            return self.stop.most_games(len(self.pairings), paired=self.paired)
        if self.meetings:
            return 2 * sum(self._met.values())
        return 2 * self.most_pairs * len(self.pairings)

    @property
    def chooses_pairings(self) -> bool:
        """Whether the results determine the number of pairs of each pairing."""
        return bool(self.stop and self.stop.chooses_pairings)

    def looks_again(self, games: int) -> bool:
        """Return whether the results after this number of games may be an interim analysis."""
        return bool(self.stop) or self.extended or games < self.games

    @property
    def comparison(self) -> Sprt | None:
        """The test of a tournament that compares its first two bots, None for any other."""
        return self.stop if isinstance(self.stop, Sprt) else None

    @cached_property
    def _versions(self) -> dict[str, int]:
        """The challengers of a paired gauntlet, numbered from the last one, the old version: 0."""
        return {label: n for n, label in enumerate(self.labels[-1 - self.panel :: -1])}

    def version_of(self, pairing: int) -> int:
        """Return the number of the version that plays a pairing; the old version is 0.

        It is also 0 for a pairing that does not share its deals with another one.
        """
        return self._versions[self.pairings[pairing].bot] if self.paired else 0

    @cached_property
    def new_pairings(self) -> frozenset[int]:
        """The numbers of the new versions' pairings, which play the deals of other pairings."""
        return frozenset(filter(self.version_of, range(len(self.pairings))))

    def old_pairing(self, pairing: int) -> int:
        """Return the old version's pairing, whose deals this pairing of a new version plays."""
        return pairing + self.panel * self.version_of(pairing)

    def fixture(self, pairing: int, pair: int, seat: Seat) -> Fixture:
        """Return the place of a game of the pairing with this number."""
        return Fixture(self.pairings[pairing], pair, seat)

    def draw(self, fixture: Fixture) -> Draw:
        """Return the deal of a game, and the random generators of both seats."""
        drawn = self.drawn(fixture).draw(self.seed, self.rules)
        if not self.deals:
            return drawn
        return drawn._replace(deal=parse_cards(self.deals[fixture.pair % len(self.deals)]))

    def on_deal(self, text: str) -> Tournament:
        """Return the tournament with this deal for every pair; raises InputError for a bad one."""
        with naming("deal", EngineError):
            parse_deal(text, self.rules)
        return replace(self, pairs=1, deals=[text])

    @cached_property
    def _met(self) -> Counter[Pairing]:
        """The pairs of every two bots in all their meetings."""
        met: Counter[Pairing] = Counter()
        for bot, opponent, pairs in chain.from_iterable(self.meetings):
            met[Pairing(bot, opponent)] += pairs
        return met

    def drawn(self, fixture: Fixture) -> Fixture:
        """Return the fixture whose labels determine the deal of a game.

        For a new version they are those of the first one.
        """
        pairing = fixture.pairing
        if self.meetings:
            pairing = Pairing(*(label.partition(VERSION)[0] for label in pairing))
        elif self.paired:
            pairing = pairing._replace(bot=self.labels[-1 - self.panel])
        return fixture._replace(pairing=pairing)

    def part(self, pairing: Pairing, seat: Seat) -> int:
        """Return the number of the part that contains a game; games of one deal differ in it.

        `seat` is the seat of the pairing's first bot.
        """
        return seat + 2 * self._versions[pairing.bot] if self.paired else seat

    def manifest(self) -> dict[str, Any]:
        """Return the settings, bots and versions of the run: enough to repeat it."""
        values = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name in _ALWAYS or getattr(self, one.name) != one.default
        }
        bots = [entry.describe() for entry in values.pop("entries")]
        values["rules"] = self.rules.changes()
        if self.panel:
            values["panel"] = self.labels[-self.panel :]
        if self.meetings:
            values["meetings"] = [[[*one] for one in of_one] for of_one in self.meetings]
        told: dict[str, Any] = msgspec.to_builtins(values)
        return told | {"bots": bots, "versions": versions()}


Command: TypeAlias = Callable[[Fixture], str]


def replay_commands(tournament: Tournament) -> Command:
    """Return a function that returns the command to replay a game.

    The command works in the folder where the run was started. It contains everything that
    determines the game, and does not need the run's folder. For a game with a class or function of
    a program, it is a call of the library in that program.
    """
    entries = tournament.by_label
    own = {e.label for e in tournament.entries if e.label != default_label(e.target, e.params)}
    common = common_options(tournament)

    def command(fixture: Fixture) -> str:
        labels = fixture.pairing
        if any(entries[label].is_code for label in labels):
            return _call(tournament, fixture)
        drawn = tournament.drawn(fixture)
        words = [*common, "--pair", str(drawn.pair), "--seat", str(drawn.seat)]
        if tournament.deals:
            words += ["--deal", tournament.deals[fixture.pair]]
        words += [word for label in labels for word in ("--lane", entries[label].lane)]
        if any(entries[label].needs for label in labels):
            needs = [json.dumps(entries[label].needs) for label in labels]
            words += [word for text in needs for word in ("--needs", text)]
        seeded = drawn.pairing  # labels determine the deals
        if own & {*labels} or seeded != labels:
            words += [word for label in seeded for word in ("--label", label)]
        return arena_command("game", [entries[label].spec for label in labels], words)

    return command


def name_bots(entries: Sequence[Entry]) -> tuple[list[str], list[str]] | None:
    """Return the specs of some bots and the options of their lane, None where no words name them.

    A bot of the calling program has no words, nor has one with other files that it needs.
    """
    if any(entry.is_code or entry.needs for entry in entries):
        return None
    named = [(entry.target, entry.params) for entry in entries]
    specs = [
        entry.spec
        if entry.label == default_label(entry.target, entry.params)
        else f"{entry.label}={entry.spec}"
        for entry in entries
    ]
    try:
        if [parse(spec)[1:] for spec in specs] != named:
            return None
    except InputError:  # a config can give other labels, such as =1+1
        return None
    lanes = [entry.lane for entry in entries]
    if lanes == [default_lane(entry.target) for entry in entries]:
        return specs, []
    return (specs, ["--lane", lanes[0]]) if len({*lanes}) == 1 else None


def common_options(tournament: Tournament) -> list[str]:
    """Return the options of a command for the tournament's seed, rules and limits."""
    options = ["--seed", str(tournament.seed)]
    if changes := tournament.rules.changes():
        options += ["--rules", json.dumps(changes)]
    if limits := tournament.limits.changes():
        options += ["--limits", json.dumps(limits)]
    return options


def _call(tournament: Tournament, fixture: Fixture) -> str:
    """Return the call of the library that replays a game."""
    seeded = tournament.drawn(fixture)
    bots = [
        _bot(tournament.by_label[label], as_label)
        for label, as_label in zip(fixture.pairing, seeded.pairing, strict=True)
    ]
    words = [f"seed={tournament.seed}", f"pair={seeded.pair}", f"seat={seeded.seat}"]
    if tournament.deals:
        words.append(f"deal={tournament.deals[fixture.pair]!r}")
    if changes := tournament.rules.changes():
        words.append(f"rules={changes!r}")
    if limits := tournament.limits.changes():
        words.append(f"limits={limits!r}")
    return f"arena.play({', '.join([*bots, *words])})"


def _bot(entry: Entry, label: str) -> str:
    """Return a bot as an argument of the library, with the label that determines its deals."""
    target = entry.target.removeprefix(OBJECT)
    parts = {"label": label, "params": entry.params, "lane": entry.lane}
    parts |= {"needs": [*entry.needs]} if entry.needs else {}
    bot = repr(target) if target == entry.target else target
    return f"{{'bot': {bot}, {repr(parts)[1:]}"
