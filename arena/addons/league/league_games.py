"""The games of a league, which are one run in its folder: its pairings and their results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.addons.league.league_settings import Settings
from arena.addons.league.league_tables import Version
from arena.addons.league.sources import SOURCES, as_file, identity_of
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.entries.spec import is_address
from arena.errors import InputError, Unreachable, naming
from arena.lanes.faults import count_strikes
from arena.runs.progress_bar import FirstFault, find_first_faults
from arena.statistics.counts import BY_RULE, MISSING, ScoreCounts
from arena.store.counting import TURNED, Counts
from arena.store.database import NAME
from arena.store.manifest import read_tournament
from arena.store.store import Store


def find_entry(folder: Path, version: Version, settings: Settings) -> Entry:
    """Return the entry of a version; raises InputError if its source has changed.

    Its spec is relative to the league's folder, so that a league can be moved. Raises Unreachable,
    whose text begins with its label, for a bot that lives elsewhere and cannot be asked, or is
    another one now.
    """
    if is_address(version.spec):
        return _find_server(version)
    is_file = version.spec.startswith(f"{SOURCES}/")
    if is_file:
        spec = f"{version.label}={as_file(folder / version.spec)}"
        entry = resolve(spec, lane=settings.lane)
        filename = entry.filename and f"{version.name}.py"
        entry = replace(entry, target=f"./{version.spec}", filename=filename)
    else:
        entry = resolve(version.spec, version.label)
    if identity_of(entry) != version.sha256:
        where = folder / version.spec if is_file else f"bots/{entry.target}.py"
        raise InputError(
            f"{version.title}: {where} is not what was submitted; its games would be another bot's"
        )
    return entry


def _find_server(version: Version) -> Entry:
    try:
        entry = resolve(version.spec, version.label)
    except InputError as error:
        raise Unreachable(f"{version.label}: {error}") from None
    if identity_of(entry) == version.sha256:
        return entry
    raise Unreachable(f"{version.label}: its server has another version: it is to be handed in")


class Result(NamedTuple):
    """A version's games against another one: its pairs by score, and its games by ending.

    Endings are counted by win type and result, in the order of `arena.statistics.difference`.
    """

    opponent: str
    by_score: ScoreCounts
    endings: Sequence[int]


class Games:
    """The games of a league so far; `tournament` is None before the first round.

    Pairs with a game that was not played, because a bot had too many faults, do not count.
    """

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / NAME, copied=True)
        manifest = self.store.manifest
        with naming(folder / NAME):
            self.tournament = read_tournament(manifest) if manifest else None
        self.entries = self.tournament.by_label if self.tournament else {}
        self.rounds = self.tournament.meetings if self.tournament else []
        self.pairings = self.tournament.pairings if self.tournament else []

    @cached_property
    def counts(self) -> Counts:
        """The counts of the pairs that count, and of all faults."""
        return self.store.count().whole.played

    @cached_property
    def results(self) -> Mapping[str, list[Result]]:
        """The results of each version against each other one, by its label."""
        counts, found = self.counts, defaultdict[str, list[Result]](list)
        ends = np.zeros((len(self.pairings), MISSING + 1), np.int64)
        np.add.at(ends, (counts.pairing[:, None], counts.games), counts.pairs[:, None])
        turned = ends[:, TURNED]
        for number, *_, by_score in counts.pair_totals:
            bot, opponent = self.pairings[number]
            found[bot].append(Result(opponent, by_score, ends[number, :MISSING].tolist()))
            own = by_score[::-1], turned[number, :MISSING].tolist()
            found[opponent].append(Result(bot, *own))
        return found

    @cached_property
    def faults(self) -> Mapping[str, tuple[int, FirstFault | None]]:
        """How many faults each version has committed, and its first one, by its label."""
        if self.tournament is None:
            return {}
        strikes: Counter[str] = Counter()
        for pairing, loser, kind, games in self.counts.faults:
            if kind != BY_RULE:
                worth = games * count_strikes(kind, self.tournament.max_faults)
                strikes[self.pairings[pairing][loser]] += worth
        firsts = find_first_faults(self.store, self.tournament, ".")
        return {label: (strikes[label], firsts.get(label)) for label in strikes}
