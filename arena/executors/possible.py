"""Possible: whether what a site reports of a game can be; what cannot would fail much later."""

from __future__ import annotations

from typing import Final, get_args

from arena.games.match import GameResult
from arena.games.timing import TimingData
from arena.lanes.faults import KINDS, MOST_OUTPUT, Fault, one_line, printable
from engine.cards import CHARS
from engine.scoring import WinType

_FORFEIT: Final = "forfeit"
_DRAW: Final = "draw"
_WIN_TYPES = frozenset(get_args(WinType)) | {_FORFEIT}
_MOST = 1_000_000  # of points and plies: no rules reach it
_MOST_BUCKET = 1000  # of times: those of a bucket above it are no seconds
_MOST_DECISIONS = 1 << 40  # of a bot in one chunk


def is_possible(result: GameResult) -> bool:
    """Return whether there can be such a game: its texts, its numbers, its winner and its fault."""
    return (
        result.win_type in _WIN_TYPES
        and (result.win_type == _DRAW) == (result.winner is None)
        and result.winner in (0, 1, None)
        and abs(result.points) < _MOST
        and abs(result.opponent_points) < _MOST
        and result.plies == len(result.actions) < _MOST
        and not result.actions.strip(CHARS)
        and (result.win_type == _FORFEIT) == (result.fault is not None)
        and (result.fault is None or _is_possible_fault(result.fault))
    )


def _is_possible_fault(fault: Fault) -> bool:
    """Return whether a lane could have found this fault; forfeits by rule are the client's."""
    evidence = fault.traceback + fault.output
    return (
        fault.kind in KINDS
        and fault.message == one_line(fault.message)
        and evidence == printable(evidence)
        and len(evidence) <= 2 * MOST_OUTPUT
    )


def is_possible_timing(data: TimingData) -> bool:
    """Return whether a Timing can be made of this: its counts are counts of times."""
    return all(
        0 <= count < _MOST_DECISIONS
        and all(
            abs(bucket) < _MOST_BUCKET and 0 < n < _MOST_DECISIONS for bucket, n in buckets.items()
        )
        for count, _, _, buckets in data
    )
