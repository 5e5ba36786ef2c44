"""Keys of a tournament's config: their types, their bounds, and the texts of their options."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias, TypeVar, get_args

from msgspec import Meta, Struct

from arena.errors import InputError

ExecutorKind: TypeAlias = Literal["local", "dask", "mpi"]
EXECUTORS: Final[tuple[str, ...]] = get_args(ExecutorKind)

HalvesChoice: TypeAlias = Literal["together", "apart"]
HALVES: Final[tuple[str, ...]] = get_args(HalvesChoice)

MOST_SEED: Final = 2**63 - 1
MOST_BOTS: Final = 1000  # half a million pairings
MOST_PAIRS: Final = 1_000_000_000  # in each pairing
MOST_ROUNDS: Final = 1000  # of a Swiss tournament
MOST_WIDTH: Final = 1000  # half the width of a target interval, in Elo points
MOST_WORKERS: Final = 256
MAX_FAULTS: Final = 10  # of each bot, unless the config says otherwise
ELO0: Final = 0  # of a comparison, by default: Elo differences under both hypotheses
ELO1: Final = 10
ERROR_RATE: Final = 0.05
POWER: Final = 0.8  # of a plan: the probability that neighbours are separated
COMPARED_PAIRS: Final = 20_000
TUNED_PAIRS: Final = 10_000
PROBED_PAIRS: Final = 400  # the interval is then some 8 points wide
SWAPS: Final = 8_000  # of cards, by default; some ten seconds for fast bots on two cores
MOST_SWAPS: Final = 1_000_000
JUDGE: Final = "apprentice"  # of decisions, by default
ANALYSED: Final = 500  # games to analyse, by default; half a minute on one core
MOST_ANALYSED: Final = 1_000_000
WORLDS: Final = 8  # sampled worlds in which an action is tried, by default
LEAST_WORLDS: Final = 4  # two in each half, the fewest with a standard error
MOST_WORLDS: Final = 1000
WORST: Final = 10  # worst decisions shown of each bot, by default

TEXTS: Final = {
    "pairs": "Deals for each two bots, each played twice.",
    "until": "Go on until neighbours are told apart, or intervals are within ELO points.",
    "max_pairs": "With until, deals for each two bots at most.",
    "anchor": "A bot whose Elo is fixed.",
    "workers": "Worker processes.",
    "executor": "Where games are played: on this machine, a Dask cluster, or the ranks of MPI.",
    "seed": "Seed of all randomness.",
    "lane": "How all bots are executed.",
    "rules": "Numbers of the rules to change.",
    "limits": "Seconds and memory of a bot to change.",
}
"""What a key means: the help of its option in every command, and its row in the reference."""


def told(key: str) -> Meta:
    """Return the description of a key, which is also the help of its option."""
    return Meta(description=TEXTS[key])


_LONGEST = 18  # digits of a suggested number


def advise_whole(value: object) -> str:
    """Suggest how to write a value that must be a whole number.

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


_Bot = TypeVar("_Bot")

Seed = Annotated[int, Meta(ge=0, le=MOST_SEED)]
Positive = Annotated[int, Meta(ge=1)]
Pairs = Annotated[int, Meta(ge=1, le=MOST_PAIRS)]
Rounds = Annotated[int, Meta(ge=0, le=MOST_ROUNDS)]
SwissRounds = Annotated[int, Meta(ge=1, le=MOST_ROUNDS)]
Width = Annotated[float, Meta(ge=1, le=MOST_WIDTH)]  # half of an interval, in Elo points
Workers = Annotated[int, Meta(ge=1, le=MOST_WORKERS)]
Bots = Annotated[list[_Bot], Meta(max_length=MOST_BOTS)]


PATIENCE: Final = 60.0
"""Seconds to wait while a cluster has no site."""


class ExecutorChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """The choice of an executor: this machine, a Dask cluster, or the ranks of MPI.

    A Dask scheduler is given by its address or by a file with the address; without both, Dask's own
    config names it.
    """

    kind: Annotated[ExecutorKind, told("executor")] = "local"
    scheduler: Annotated[
        str | None, Meta(description="The address of a Dask scheduler: `tcp://10.0.0.1:8786`.")
    ] = None
    scheduler_file: Annotated[
        str | None, Meta(description="A file that says where the scheduler is.")
    ] = None
    patience: Annotated[
        float, Meta(gt=0, description="Seconds for which a cluster may have no site.")
    ] = PATIENCE

    def __post_init__(self) -> None:
        if self.scheduler and self.scheduler_file:
            raise ValueError("a scheduler and a scheduler file: choose one of them")
        if (self.scheduler or self.scheduler_file) and self.kind != "dask":
            raise ValueError(f"only dask has a scheduler, and not {self.kind}")


def choose_executor(
    of_config: ExecutorKind | ExecutorChoice | None,
    kind: ExecutorKind | None = None,
    scheduler: str | None = None,
    scheduler_file: str | None = None,
) -> ExecutorChoice:
    """Return a config's choice, overridden by options; a scheduler implies Dask.

    Raises InputError for contradictory options.

    >>> choose_executor("mpi", scheduler="tcp://10.0.0.1:8786").kind
    'dask'
    """
    choice = of_config if isinstance(of_config, ExecutorChoice) else None
    if choice is None:
        choice = ExecutorChoice(of_config if isinstance(of_config, str) else "local")
    named = scheduler or scheduler_file
    if not (kind or named):
        return choice
    try:
        if named or kind != choice.kind:
            return ExecutorChoice(
                kind or "dask", scheduler, scheduler_file, patience=choice.patience
            )
    except ValueError as error:
        raise InputError(f"--executor: {error}") from None
    return choice
