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
SWAPS: Final = 8_000  # of cards, by default: with fast bots some ten seconds on two cores
MOST_SWAPS: Final = 1_000_000

_LONGEST = 18  # digits of a number that is suggested


def advise_whole(value: object) -> str:
    """Return how to write a number that has to be whole.

    >>> advise_whole("1e3"), advise_whole("1,000"), advise_whole("many")
    ('write 1000', 'write 1000', 'write a whole number, such as 1000')
    """
    try:
        number = float(str(value)[: 2 * _LONGEST].replace(",", ""))
    except ValueError:
        number = 0.5
    if number.is_integer() and abs(number) < 10**_LONGEST and not isinstance(value, bool):
        return f"write {int(number)}"
    return "write a whole number, such as 1000"
