"""Make the tables of a run from its store, and a writer for each of its files."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TextIO

from arena.differences.comparison import (
    SprtResult,
    comparison_writers,
    judge_compared,
    make_comparison,
)
from arena.differences.lead_parts import LeadParts, make_lead_parts
from arena.statistics.bradley_terry import Flags
from arena.store import csv_files as rows
from arena.store.column_titles import FAULTS, GAMES, TABLES
from arena.store.columns import Columns
from arena.store.counting import Counts
from arena.store.csv_files import csv_writer
from arena.store.folder import INDEX, MANIFEST, Writer, write_index
from arena.store.manifest import manifest_text
from arena.store.store import Store
from arena.tables.win_tables import Tables, WinTables, make_win_tables
from arena.tournament.tournament import Tournament, replay_commands


class RunTables(Tables):
    """The tables of a run whose games are all in the store, and a writer for each of its files."""

    def __init__(self, tournament: Tournament, store: Store, counts: Counts | None = None) -> None:
        self.tournament, self.store = tournament, store
        counts = counts or store.count()
        super().__init__(
            tournament.pairings,
            tournament.labels,
            counts,
            tournament.anchored,
            tournament.max_faults,
            even=tournament.chooses_pairings,
            looks=tournament.looks_again(counts.total),
        )

    @cached_property
    def comparison(self) -> SprtResult | None:
        """What was found, if the run is a comparison."""
        if not (stop := self.tournament.comparison):
            return None
        return make_comparison(self.tournament, stop, self.store, self.counts, self.rated_verdicts)

    @cached_property
    def verdicts(self) -> Columns:
        """One row for every two judged bots; that of two that are compared is of their test."""
        made = self.rated_verdicts
        return judge_compared(made, self.comparison) if self.comparison else made

    def find_apart(self) -> Flags:
        """Return which of every two judged bots are apart; of those compared, by the test."""
        apart, numbers = super().find_apart(), self.judged.numbers
        if (found := self.comparison) and {found.new, found.old} <= numbers.keys():
            new, old = numbers[found.new], numbers[found.old]
            apart[[new, old], [old, new]] = found.word == "apart"
        return apart

    @cached_property
    def won(self) -> WinTables:
        """The tables of how games were won."""
        return make_win_tables(self.tournament, self.counts, self.store.records)

    @property
    def wins(self) -> Columns:
        """One row for each kind of win of each bot."""
        return self.won.wins

    @property
    def takes(self) -> Columns:
        """One row for each bot and take of a round."""
        return self.won.takes

    @property
    def cards(self) -> Columns:
        """One row for each bot and kind of card."""
        return self.won.cards

    @cached_property
    def lead_parts(self) -> LeadParts:
        """The parts of the lead of a comparison."""
        found = self.comparison
        return (
            make_lead_parts(self.tournament, self.store, found.lead, found.out)
            if found
            else LeadParts()
        )

    @property
    def writers(self) -> dict[str, Writer]:
        """A writer for each file, by its name."""
        tournament, store = self.tournament, self.store

        def write_faults(file: TextIO) -> None:
            forfeits = store.all_forfeits(self.pairings)
            found = rows.fault_rows(forfeits, replay_commands(tournament))
            csv_writer(FAULTS.make([*found]))(file)

        writers: dict[str, Writer] = {
            GAMES.file: lambda file: rows.write_games(file, store, self.pairings),
            **{table.file: partial(self._write, name) for name, table in TABLES.items()},
            FAULTS.file: write_faults,
            INDEX: write_index,
            MANIFEST: lambda file: file.write(manifest_text(tournament.manifest())),
        }
        if found := self.comparison:
            writers |= comparison_writers(found, lambda: self.lead_parts)
        return writers

    def _write(self, name: str, file: TextIO) -> None:
        csv_writer(getattr(self, name))(file)
