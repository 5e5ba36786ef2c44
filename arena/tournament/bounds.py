"""Bounds: how much a tournament may ask for, and where. The command line reads this: no imports."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

ExecutorKind: TypeAlias = Literal["local", "dask", "mpi"]
EXECUTORS: Final[tuple[str, ...]] = get_args(ExecutorKind)

HalvesChoice: TypeAlias = Literal["together", "apart"]
HALVES: Final[tuple[str, ...]] = get_args(HalvesChoice)

MOST_SEED: Final = 2**63 - 1
MOST_BOTS: Final = 1000  # which are half a million pairings
MOST_PAIRS: Final = 1_000_000_000  # in each pairing
MOST_ROUNDS: Final = 1000  # of a Swiss tournament
MOST_WIDTH: Final = 1000  # of half an interval that a run is to narrow, in Elo points
MOST_WORKERS: Final = 256
MAX_FAULTS: Final = 10  # of each bot, unless the config says otherwise
