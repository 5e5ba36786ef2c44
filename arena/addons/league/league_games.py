"""The games of a league, which are one run in its folder: its pairings and their results."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from arena.addons.league.league_settings import Settings
from arena.addons.league.league_tables import Version
from arena.addons.league.sources import SOURCES, as_file, identity_of
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.entries.spec import is_address
from arena.errors import InputError, Unreachable, naming
from arena.runs.progress_bar import FirstFault, find_first_faults
from arena.store.columns import Columns
from arena.store.counting import Counts
from arena.store.database import NAME
from arena.store.manifest import read_tournament
from arena.store.store import Store
from arena.tables.standings_table import make_sides, tally
from arena.tournament.schedule import sum_strikes
from arena.tournament.tournament import Tournament


def find_entry(folder: Path, version: Version, settings: Settings) -> Entry:
    """Return the entry of a version; raises InputError if its source has changed.

    Its spec is relative to the league's folder, so that a league can be moved. Raises Unreachable,
    whose text begins with its label, for a bot that lives elsewhere and cannot be asked, or is
    another one now, and for one whose file was deleted.
    """
    is_file = version.spec.startswith(f"{SOURCES}/")
    spec = as_file(folder / version.spec) if is_file else version.spec
    try:
        entry = resolve(spec, version.label, lane=settings.lane if is_file else None)
        if identity_of(entry) != version.sha256:
            why = "is not what was submitted; its games would be another bot's"
            raise InputError(f"{spec} {why}")
    except InputError as error:
        is_away = is_address(spec) or (is_file and not os.path.lexists(spec))
        kind = Unreachable if is_away else InputError
        raise kind(f"{version.label}: {error}") from None
    if is_file:
        filename = entry.filename and f"{version.name}.py"
        entry = replace(entry, target=f"./{version.spec}", filename=filename)
    return entry


def make_tournament(
    settings: Settings, name: str, seed: int, entries: Sequence[Entry], **more: Any
) -> Tournament:
    """Return a tournament with the rules and the limits of a league."""
    return Tournament(
        name=name,
        seed=seed,
        entries=entries,
        rules=settings.game_rules(),
        limits=settings.limits,
        max_faults=settings.max_faults,
        **more,
    )


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
    def totals(self) -> Mapping[str, Mapping[str, Any]]:
        """How the games of each version that has played have ended, by its label."""
        return {row["bot"]: row for row in self._tally("bot")}

    @cached_property
    def results(self) -> Mapping[str, list[dict[str, Any]]]:
        """How the games of each version ended against each other one, by its label."""
        found = defaultdict[str, list[dict[str, Any]]](list)
        for row in self._tally("bot", "opponent"):
            found[row["bot"]].append(row)
        return found

    def _tally(self, *by: str) -> list[dict[str, Any]]:
        sides = make_sides(self.pairings, self.counts.tallies)
        return Columns(tally(sides, by)).dicts()

    @cached_property
    def faults(self) -> Mapping[str, tuple[int, FirstFault | None]]:
        """How many faults each version has committed, and its first one, by its label."""
        if self.tournament is None:
            return {}
        strikes = sum_strikes(self.pairings, self.counts.faults, self.tournament.max_faults)
        firsts = find_first_faults(self.store, self.tournament, ".")
        return {label: (number, firsts.get(label)) for label, number in strikes.items()}
