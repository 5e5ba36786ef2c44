"""Runs for reports: random games, put into a store without a worker."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from arena.differences.run_files import RunTables
from arena.entries.resolve import resolve
from arena.executors.log import QUIET
from arena.lanes.faults import Fault
from arena.reports.blocks import Report, Table
from arena.reports.run_report import make_report, report_writers
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.match import Finished, GameResult, result_of
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD, State
from engine.notation import parse_actions
from engine.play import playout
from tests.kit import HERE

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quotes\" & 'more'",
    "全" * 60,
    "שלום עולם",
    "W" * 60,
    "all bots",
    "=1+1",
)


VARIANTS = [
    *(
        f"ismcts(exploration={e}, iterations=400, temperature=1.{t})"
        for e in (0.15, 0.3, 0.45, 0.6)
        for t in range(1, 5)
    ),
    *(f"city_hunter(city={c}, patience={p})" for c in (2.4, 2.8, 3.2, 3.6) for p in (6, 7, 8.1)),
    *(f"flat_mc(positions={p}, worlds={w})" for p in (100, 200) for w in range(2, 8)),
]
"""40 variants of three bots."""


class RunGames(NamedTuple):
    """A run that was played, and its games."""

    tournament: Tournament
    store: Store


BASE = ("greedy", "uniform", "mine=greedy(patience=2.5)")


def tournament(*bots: str, seed: int = 3, pairs: int = 12) -> Tournament:
    return Tournament("cup", seed, pairs, [resolve(bot, lane="inproc") for bot in bots], STANDARD)


def played(what: Tournament) -> RunGames:
    """Return a run whose games are played in this process."""
    store = Store(None)
    run(what, HERE, None, QUIET, store=store)
    return RunGames(what, store)


def cup(labels: Sequence[str], pairs: int, **more: Any) -> Tournament:
    """Return a tournament of bots with these labels."""
    uniform = resolve("uniform")
    entries = [replace(uniform, label=label) for label in labels]
    given: dict[str, Any] = {"name": "cup", "seed": 7, "pairs": pairs, "rules": STANDARD}
    return Tournament(entries=entries, **given | more)


def result(
    tournament: Tournament, place: tuple[int, int, int], fault: Fault | None, always: str = ""
) -> GameResult:
    """Return the better of two random games for the stronger bot; a fault ends it in the middle.

    The bot with the label `always` wins all its games.
    """
    _, pair, seat = place
    fixture = tournament.fixture(*place)
    better = always if always in fixture.pairing else min(fixture.pairing)
    sign = 1 if better == fixture.pairing.bot else -1
    played = list[GameResult]()
    while len(played) < 2 or (better == always and played[-1].score != (sign > 0)):
        state = State(tournament.draw(fixture).deal, tournament.rules)
        playout(state, Random(f"{place} {len(played)}"))
        played.append(result_of(Finished(state), pair, seat))
    best = max(played, key=lambda game: sign * game.score)
    if fault is None:
        return best
    half = State(tournament.draw(fixture).deal, tournament.rules)
    half.follow(parse_actions(best.actions)[: 0 if fault.kind == "import" else 9])
    return result_of(Finished(half, fault, seat), pair, seat)


def make_store(
    tournament: Tournament,
    lengths: Mapping[int, int] | None = None,
    faults: Mapping[tuple[int, int, int], Fault] | None = None,
) -> Store:
    """Return a store with random games: so many pairs of each pairing, by number."""
    lengths = lengths or dict.fromkeys(range(len(tournament.pairings)), tournament.most_pairs)
    store = Store(None)
    for number, pairs in lengths.items():
        games = [
            result(tournament, (number, pair, seat), (faults or {}).get((number, pair, seat)))
            for pair in range(pairs)
            for seat in (0, 1)
        ]
        store.add(Played(Chunk(number, 0, pairs), games, {}, 0.0))
    store.commit()
    return store


def report_of(tournament: Tournament, store: Store) -> tuple[Report, RunTables]:
    files = RunTables(tournament, store)
    return make_report(tournament, store, files), files


def table_of(report: Report, name: str) -> Table:
    (found,) = (table for table in report.tables() if table.name == name)
    return found


def page_of(tournament: Tournament, store: Store) -> str:
    """Return report.html as the run writes it."""
    file = io.StringIO()
    report_writers(tournament, store, RunTables(tournament, store))["report.html"](file)
    return file.getvalue()
