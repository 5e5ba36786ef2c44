"""Rerun: one game of a run played again, by a command of one line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from arena.entries.entry import Entry
from arena.entries.spec import default_label
from arena.executors import local as executors
from arena.executors import log
from arena.lanes.limits import Limits
from arena.tournament.chunk import FaultyGame
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import Record
from engine.cards import to_text
from engine.play import deal_at
from engine.state import Seat

_NO_LIMIT = 2**31


class Rerun(NamedTuple):
    """A game that was played again: its record, who sat where, who won, and the fault.

    `winner` is a label, None for a draw.
    """

    record: Record
    seats: tuple[str, str]
    winner: str | None
    win_type: str
    points: tuple[int, int]
    faulty: FaultyGame | None


def commands(tournament: Tournament) -> Callable[[int, int, Seat], str]:
    """Return what gives the command that plays a game again, where the run was started.

    It is asked for the number of the pairing, the pair, and the seat of the pairing's first
    bot. A command holds all that decides the game, and nothing of the run's folder.
    """
    pairings = tournament.pairings
    entries = {entry.label: entry for entry in tournament.entries}
    specs = {label: _spec(entry) for label, entry in entries.items()}
    own = {e.label for e in tournament.entries if e.label != default_label(e.target, e.params)}
    common = ["--seed", str(tournament.seed)]
    if changes := tournament.rules.changes():
        common += ["--rules", json.dumps(changes)]
    if tournament.limits != Limits():
        common += ["--limits", json.dumps(msgspec.structs.asdict(tournament.limits))]

    def command(pairing: int, pair: int, seat: Seat) -> str:
        labels = pairings[pairing]
        words = ["arena", "game", *(specs[label] for label in labels), *common]
        words += ["--pair", str(pair), "--seat", str(seat)]
        words += [word for label in labels for word in ("--lane", entries[label].lane)]
        if own & {*labels}:
            words += [word for label in labels for word in ("--label", label)]
        return shlex.join(words)

    return command


def _spec(entry: Entry) -> str:
    if not entry.params:
        return entry.target
    return f"{entry.target}({', '.join(f'{k}={v!r}' for k, v in entry.params.items())})"


def play(tournament: Tournament, pair: int, seat: Seat) -> Rerun:
    """Play the game in which the tournament's first bot has this seat, as a run plays it."""
    job = tournament.job
    pairing = job.pairings[0]
    strikes = Strikes(job.pairings, job.pairs, most=_NO_LIMIT)
    missing = [[range(pair, pair + 1)], *([] for _ in job.pairings[1:])]
    with log.run_log(None) as run_log:
        (played,) = executors.play_all(Plan(missing, strikes), job, 1, run_log)
    _, _, winner, win_type, points, theirs, _, _, actions = played.results[seat]
    deal = to_text(deal_at(job.seed, pairing.deal_address(pair), job.rules))
    faulty = next((faulty for faulty in played.faults if faulty.seat == seat), None)
    return Rerun(
        Record(deal, actions, job.rules),
        (pairing[seat], pairing[1 - seat]),
        None if winner is None else pairing[winner],
        win_type,
        (points, theirs) if seat == 0 else (theirs, points),
        faulty,
    )


def as_json(game: Rerun) -> str:
    """Return the game's record as one JSON line, with who sat where and the result."""
    faulty = game.faulty
    fault = faulty and {"bot": faulty.label, "kind": faulty.fault.kind, "ply": faulty.fault.ply}
    return game.record.to_json(
        bots=game.seats,
        winner=game.winner,
        win_type=game.win_type,
        points=game.points,
        **({"fault": fault} if fault else {}),
    )


def evidence(game: Rerun) -> Iterator[str]:
    """Yield the lines that tell of the fault, if there was one."""
    if game.faulty:
        fault = game.faulty.fault
        yield f"{game.faulty.label} forfeits ({fault.kind} at ply {fault.ply}): {fault.message}"
        for name, text in (("traceback", fault.traceback), ("printed", fault.output)):
            if text.strip():
                yield f"{name}:"
                yield from (f"  {line}" for line in text.strip().splitlines())
