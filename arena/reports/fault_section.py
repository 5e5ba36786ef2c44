"""Faults: what bots did wrong, with the evidence and the command that plays it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import counted
from arena.lanes.faults import BY_RULE, KINDS, Fault
from arena.reports.chart_rows import frame_table
from arena.reports.document import Block, Code, Column, Section, Table, Text
from arena.statistics.counts import Faults
from arena.store.command import Command
from arena.tournament.schedule import Fixture, Pairing

if TYPE_CHECKING:
    import pandas as pd

_MOST_SHOWN = 24
_MOST_OF_A_KIND = 2
_MOST_TEXT = 4_000  # characters of a traceback or of what a bot printed

KIND_COLUMNS = (
    Column("bot", "Bot"),
    Column(
        "kind",
        "Kind",
        "text",
        "What a bot did wrong: "
        + ", ".join(f"{kind} ({one.text})" for kind, one in KINDS.items())
        + "; max_faults counts games not played after too many faults.",
    ),
    Column("games", "Games", "count"),
)
FAULT_COLUMNS = (
    Column("game", "Game", "text", "Both bots, the pair, and the seat of the first bot."),
    Column("bot", "Bot"),
    Column("kind", "Kind"),
    Column("ply", "Ply", "count", "How many actions the game had before the fault."),
    Column("message", "Message", "text", "What is known of the fault."),
    Column("command", "Command", "code", "The command that plays the game again."),
)
TIMING_COLUMNS = (
    Column("bot", "Bot"),
    Column("decisions", "Decisions", "count", "How many decisions were timed."),
    Column("cpu_mean", "Time", "seconds"),
    Column("cpu_p99", "Time, 99 %", "seconds"),
    Column("cpu_max", "Slowest", "seconds", "The longest decision by the processor's time."),
    Column("wall_mean", "Wall time", "seconds", "Mean time of a decision by the wall clock."),
    Column("wall_max", "Slowest, wall", "seconds", "The longest decision by the wall clock."),
)


class Shown(NamedTuple):
    """A fault that is shown with its evidence: the game, its length, the guilty bot."""

    fixture: Fixture
    plies: int
    guilty: str
    fault: Fault


def choose_faults(faults: Iterable[Shown]) -> list[Shown]:
    """Return the faults that are shown: the first ones of each bot and kind."""
    seen: Counter[tuple[str, str]] = Counter()
    chosen = []
    for shown in faults:
        key = shown.guilty, shown.fault.kind
        seen[key] += 1
        if seen[key] <= _MOST_OF_A_KIND:
            chosen.append(shown)
    return chosen[:_MOST_SHOWN]


def faults_section(
    counts: Sequence[Faults],
    pairings: Sequence[Pairing],
    chosen: Sequence[Shown],
    command: Command,
    timings: pd.DataFrame | None,
    links: Sequence[str | None],
) -> Section:
    """Return the faults by kind, some with their evidence, and the slowest decisions.

    `links` lead from the chosen faults to their replays.
    """
    blocks = [*_faults(counts, pairings, chosen, command, links), *_slowest(timings)]
    title = "Faults" if timings is None else "Faults and time"
    return Section("faults", title, blocks)


def _faults(
    counts: Sequence[Faults],
    pairings: Sequence[Pairing],
    chosen: Sequence[Shown],
    command: Command,
    links: Sequence[str | None],
) -> Iterator[Block]:
    by_kind: Counter[tuple[str, str]] = Counter()
    for pairing, loser, kind, games in counts:
        by_kind[pairings[pairing][loser], kind] += games
    if not by_kind:
        yield Text(["No game was forfeited."])
        return
    rows = [(bot, kind, games) for (bot, kind), games in sorted(by_kind.items())]
    yield Table("fault_kinds", "Forfeits by bot and kind of fault", KIND_COLUMNS, rows)
    if not chosen:
        return
    total = sum(games for (_, kind), games in by_kind.items() if kind != BY_RULE)
    note = ""
    if len(chosen) < total:
        note = (
            f"{len(chosen)} of {counted(total, 'fault')}, the first {_MOST_OF_A_KIND} of each bot "
            "and kind; faults.csv has all of them."
        )
    cells = [
        (
            shown.fixture.name,
            shown.guilty,
            shown.fault.kind,
            shown.plies,
            shown.fault.message,
            command(shown.fixture),
        )
        for shown in chosen
    ]
    yield Table("faults", "Faults with their evidence", FAULT_COLUMNS, cells, links, note)
    for shown in chosen:
        yield _evidence(shown, command(shown.fixture))


def _evidence(shown: Shown, command: str) -> Code:
    fault = shown.fault
    parts = [("play it again", command), ("message", fault.message)]
    parts += [("traceback", fault.traceback), ("printed", fault.output)]
    text = "\n\n".join(
        f"{name}:\n{_cut(content.strip())}" for name, content in parts if content.strip()
    )
    return Code(f"{shown.guilty}: {fault.kind} in {shown.fixture.name}", text)


def _cut(text: str) -> str:
    """Return a text, or its end where it is very long."""
    return text if len(text) <= _MOST_TEXT else f"... {text[-_MOST_TEXT:]}"


def _slowest(timings: pd.DataFrame | None) -> Iterator[Block]:
    if timings is None or not len(timings):
        return
    table = timings.sort_values(["cpu_max", "bot"], ascending=[False, True])
    yield frame_table("slowest", "The slowest decisions", TIMING_COLUMNS, table, "timings.csv")
