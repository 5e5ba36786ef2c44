"""Describe the tournament that a run plays: bots, rules, limits, anchor and stopping rule."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final, TypeAlias

import msgspec

from arena.entries.entry import Entry
from arena.errors import InputError, counted, naming
from arena.lanes.limits import Limits
from arena.statistics.counts import Anchors
from arena.tournament.config_keys import MAX_FAULTS, MOST_PAIRS, Pairs, Positive, Rounds, Seed
from arena.tournament.schedule import Fixture, Meeting, Pairing, gauntlet, round_robin
from arena.tournament.stop import Sprt, Stop
from arena.tournament.versions import versions
from engine import Rules
from engine.errors import EngineError, show
from engine.notation import parse_cards, parse_deal
from engine.play import Draw
from engine.state import Seat

MOST_ELO = 100_000.0
VERSION: Final = "@"
"""It stands between the name of a bot and the number of its version, in a label."""

_ALWAYS = ("limits", "max_faults")  # in a manifest, even if they are the defaults


Anchored: TypeAlias = str | Sequence[str] | Mapping[str, float | tuple[float, float]]
"""Anchors as input: texts, or Elo by label, also with half the width of its 95 % interval."""


class Anchor(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bot, by its label, whose Elo is fixed at this value.

    If the value was measured, `error` is half the width of its 95 % interval.
    """

    bot: str
    elo: float
    error: float = 0  # an int, which msgspec can tell from another one and leaves out


def read_anchor(value: Anchored, labels: Sequence[str]) -> Anchor | None:
    """Parse the anchor of a run, a text such as "greedy=1239" or a mapping; None if empty.

    Raises InputError for an invalid text, and for a label that no bot of the run has.

    >>> read_anchor("greedy=1239", ["greedy", "uniform"])
    Anchor(bot='greedy', elo=1239.0, error=0)
    """
    anchors = read_anchors(value, labels)
    if len(anchors) > 1:
        raise InputError(f"anchor: one bot and its Elo, not {len(anchors)} bots")
    return first_anchor(anchors)


def first_anchor(anchors: Anchors) -> Anchor | None:
    """Return the first of some anchors, None without anchors."""
    return next((Anchor(bot, elo, error or 0) for bot, (elo, error) in anchors.items()), None)


def read_anchors(value: Anchored, labels: Sequence[str]) -> Anchors:
    """Parse several anchors, as `read_anchor`: the Elo and half the width of its 95 % interval.

    >>> read_anchors(["greedy=1239+-12", "uniform=1000"], ["greedy", "uniform"])
    {'greedy': (1239.0, 12.0), 'uniform': (1000.0, 0.0)}
    """
    if isinstance(value, Mapping):
        given = [
            Anchor(bot, *known) if isinstance(known, tuple) else Anchor(bot, known)
            for bot, known in value.items()
        ]
    else:
        texts = [value] if isinstance(value, str) else value
        given = [_read_text(text) for text in texts if text]
    found: dict[str, tuple[float, float]] = {}
    for anchor in given:
        check_anchor(anchor, labels)
        if anchor.bot in found:
            raise InputError(f"anchor: {show(anchor.bot)} is named twice")
        found[anchor.bot] = anchor.elo, anchor.error
    return found


def _read_text(text: str) -> Anchor:
    bot, _, known = text.rpartition("=")
    elo, sign, error = known.partition("+-")
    return Anchor(bot.strip(), _number(elo), _number(error) if sign else 0.0)


def check_anchor(anchor: Anchor, labels: Sequence[str]) -> None:
    """Raise InputError for an anchor that is invalid for a run of these bots."""
    if not (abs(anchor.elo) <= MOST_ELO and 0 <= anchor.error <= MOST_ELO):
        wanted = f"a bot and its Elo, {-MOST_ELO:.0f} to {MOST_ELO:.0f}, as in greedy=1239"
        raise InputError(f"anchor: expected {wanted}, or greedy=1239+-12")
    if anchor.bot not in labels:
        known = ", ".join(labels)
        raise InputError(f"anchor: no bot {show(anchor.bot)} in this run; there are {known}")


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


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


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
        """Return the fixture whose labels determine the deal of a game."""
        return fixture._replace(pairing=self.seeded(fixture.pairing))

    def seeded(self, pairing: Pairing) -> Pairing:
        """Return the labels that determine a pairing's deals: the first version's for a new one."""
        if self.meetings:
            return Pairing(*(label.partition(VERSION)[0] for label in pairing))
        return pairing._replace(bot=self.labels[-1 - self.panel]) if self.paired else pairing

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
