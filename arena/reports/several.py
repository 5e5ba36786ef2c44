"""Several: what some runs were that a report compares, and which bots they had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.reports.document import Block, Cell, Column, Section, Table, Text
from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class RunFacts:
    """A run as a report of several names it: a unique title, and how much of it is there."""

    title: str
    tournament: Tournament
    played: int
    finished: bool


def runs_section(runs: Sequence[RunFacts]) -> Section:
    """Return what the runs were, and which bots they had."""
    rows = [_run_row(run) for run in runs]
    blocks: list[Block] = [Table("runs", "Runs, the base first", _RUN_COLUMNS, rows)]
    unfinished = [run.title for run in runs if not run.finished]
    if unfinished:
        text = f"Not finished, so as far as it was played: {', '.join(unfinished)}."
        blocks.insert(0, Text([text], warning=True))
    blocks.append(_bots_table(runs))
    return Section("runs", "Runs and bots", blocks)


_RUN_COLUMNS = (
    Column("run", "Run"),
    Column("name", "Name", "text", "The name in its manifest."),
    Column("bots", "Bots", "count"),
    Column("games", "Games", "count", "Finished games; each deal is played twice."),
    Column("seed", "Seed", "text", "Runs of one seed have the same deals between the same labels."),
    Column("pairs", "Pairs", "count", "Deals of each pairing, at most."),
    Column("rules", "Rules", "text", "What of the published rules is changed."),
)


def _run_row(run: RunFacts) -> tuple[Cell, ...]:
    tournament = run.tournament
    rules = ", ".join(f"{name}={value}" for name, value in tournament.rules.changes().items())
    bots = len(tournament.entries)
    pairs = tournament.most_pairs
    return run.title, tournament.name, bots, run.played, str(tournament.seed), pairs, rules


def _bots_table(runs: Sequence[RunFacts]) -> Table:
    """Return the identity of each label in each run."""
    labels = dict.fromkeys(label for run in runs for label in run.tournament.labels)
    columns = [
        Column("bot", "Bot", "text", "The label."),
        *(
            Column(f"run_{number}", run.title, "code", _IDENTITY)
            for number, run in enumerate(runs, 1)
        ),
    ]
    rows = [(label, *(_identity(run, label) for run in runs)) for label in labels]
    return Table("bots", "Bots and their identity in each run", columns, rows)


_IDENTITY = (
    "The bot's parameters and the beginning of the sha256 of its source: where both are equal, "
    "it is the same bot, whatever its label."
)


def _identity(run: RunFacts, label: str) -> str | None:
    entry = run.tournament.by_label.get(label)
    if entry is None:
        return None
    params = ", ".join(f"{name}={value!r}" for name, value in sorted(entry.params.items()))
    return f"{entry.sha256[:10]}{f' ({params})' if params else ''}"
