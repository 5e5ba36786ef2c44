"""Keys of a tournament's config: types, bounds, the texts of options, venues and anchors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
)

from msgspec import Meta, Struct, convert, json

from arena.errors import InputError, naming
from arena.statistics.counts import Anchors
from engine.errors import show

if TYPE_CHECKING:
    from concurrent import futures

    from distributed import Client

_T = TypeVar("_T")
_converting = Lock()


def converted(data: Any, kind: type[_T]) -> _T:
    """Return plain data as a struct; raises msgspec.ValidationError.

    The first time, msgspec prepares that in 9 ms, which is unsafe in two threads.
    """
    with _converting:
        json.Decoder(kind)
    return convert(data, kind)


ExecutorKind: TypeAlias = Literal["local", "dask", "mpi"]
EXECUTORS: Final[tuple[str, ...]] = get_args(ExecutorKind)

Naming: TypeAlias = Literal["english", "german", "deck"]
NAMINGS: Final[tuple[Naming, ...]] = get_args(Naming)
"""The sets of card names; `deck` is a standard deck of 52 cards."""

TargetWord: TypeAlias = Annotated[
    str, Meta(pattern=r"^(resolved|first|top:[1-9][0-9]{0,2}|against:.+)$")
]
TARGETS: Final = ("resolved", "first", "top:K", "against:BOT")
"""The targets of `until` that are words; others are numbers of Elo points."""

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
JUDGE: Final = "apprentice"  # of decisions, by default
SECOND: Final = "grandmaster"  # judges again what would be called a blunder
ANALYSED: Final = 500  # games to analyse, by default; half a minute on one core
MOST_ANALYSED: Final = 1_000_000
WORLDS: Final = 8  # sampled worlds in which an action is tried, by default
LEAST_WORLDS: Final = 4  # two in each half, the fewest with a standard error
MOST_WORLDS: Final = 1000
WORST: Final = 10  # worst decisions shown of each bot, by default

BOUNDS: Final = {"pairs": (1, MOST_PAIRS), "seed": (0, MOST_SEED), "workers": (1, MOST_WORKERS)}
"""The least and the most that a whole number can be: in a config, a call and an option."""

TEXTS: Final = {
    "pairs": "Deals for each two bots, each played twice.",
    "until": (
        "Go on until neighbours, the first bot, the first K or BOT are told apart, or intervals are"
        " within ELO points."
    ),
    "max_pairs": "With until, deals for each two bots at most.",
    "deals": "Fixed deals, a line each, which every two bots play in place of random ones.",
    "anchor": "A bot whose Elo is fixed.",
    "workers": "Worker processes.",
    "executor": "Where games are played: on this machine, a Dask cluster, or the ranks of MPI.",
    "scheduler": "A Dask scheduler: tcp://10.0.0.1:8786.",
    "scheduler_file": "A file that says where the scheduler is.",
    "seed": "Seed of all randomness.",
    "lane": "How all bots are executed.",
    "rules": "Numbers of the rules to change.",
    "limits": "Seconds and memory of a bot to change.",
}
"""What a key means: the help of its option in every command, and its row in the reference."""


def told(key: str) -> Meta:
    """Return the description of a key, which is also the help of its option."""
    return Meta(description=TEXTS[key])


def within(key: str) -> Meta:
    """Return what says the bounds of a key that is a whole number."""
    least, most = BOUNDS[key]
    return Meta(ge=least, le=most)


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


Seed = Annotated[int, within("seed")]
Positive = Annotated[int, Meta(ge=1)]
Pairs = Annotated[int, within("pairs")]
Rounds = Annotated[int, Meta(ge=0, le=MOST_ROUNDS)]
SwissRounds = Annotated[int, Meta(ge=1, le=MOST_ROUNDS)]
Width = Annotated[float, Meta(ge=1, le=MOST_WIDTH)]  # half of an interval, in Elo points
Bots = Annotated[list[_T], Meta(max_length=MOST_BOTS)]


PATIENCE: Final = 60.0
"""Seconds to wait while a cluster has no machine."""


class ExecutorChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """The choice of an executor: this machine, a Dask cluster, or the ranks of MPI.

    A Dask scheduler is given by its address or by a file with the address; without both, Dask's own
    config names it.
    """

    kind: Annotated[ExecutorKind, told("executor")] = "local"
    scheduler: Annotated[str | None, told("scheduler")] = None
    scheduler_file: Annotated[str | None, told("scheduler_file")] = None
    patience: Annotated[
        float, Meta(gt=0, description="Seconds for which a cluster may have no machine.")
    ] = PATIENCE

    def __post_init__(self) -> None:
        if self.scheduler and self.scheduler_file:
            raise ValueError("a scheduler and a scheduler file: choose one of them")
        if (self.scheduler or self.scheduler_file) and self.kind != "dask":
            raise ValueError(f"only dask has a scheduler, and not {self.kind}")


class Venue(Struct, frozen=True, kw_only=True):
    """Where games are played: what a config, the options of a command or a call say of it.

    Each field is a key of a config, and an option of every command that plays (`venue_options`).
    `open_executor` opens a venue, and all its workers know it.
    """

    workers: Annotated[Annotated[int, within("workers")] | None, told("workers")] = None
    executor: Annotated[ExecutorKind | ExecutorChoice | None, told("executor")] = None

    @property
    def kind(self) -> ExecutorKind:
        """The kind of its executor."""
        choice = self.executor or "local"
        return choice.kind if isinstance(choice, ExecutorChoice) else choice


HERE: Final = Venue()
"""This machine, with a worker for each core."""

Where: TypeAlias = "str | Mapping[str, Any] | futures.Executor | Client"
"""The name of an executor, a mapping as in a config, an executor, or a Dask client."""


class EveryCallKeys(TypedDict, total=False):
    """The fields of a venue that every call which plays takes as keywords: there is none yet."""


class LocalKeys(EveryCallKeys, total=False):
    """Those that a call takes which plays on this machine."""

    workers: int | None


class VenueKeys(LocalKeys, total=False):
    """Those that a call takes which plays anywhere."""

    executor: Where | None


def choose_venue(options: Mapping[str, Any], config: Venue = HERE) -> Venue:
    """Return the venue of a config with what options say in place of it; None says nothing.

    Raises InputError for contradictory options.

    >>> of_config = Venue(workers=4, executor="mpi")
    >>> chosen = choose_venue({"scheduler": "tcp://10.0.0.1:8786"}, of_config)
    >>> chosen.workers, chosen.kind
    (4, 'dask')
    """
    given = {name: value for name, value in options.items() if value is not None}
    chosen = {name: given.get(name, getattr(config, name)) for name in Venue.__struct_fields__}
    of_config, kind = config.executor or "local", given.get("executor")
    choice = of_config if isinstance(of_config, ExecutorChoice) else ExecutorChoice(of_config)
    schedulers = options.get("scheduler"), options.get("scheduler_file")
    if any(schedulers) or kind not in (None, choice.kind):
        with naming("--executor", ValueError):
            choice = ExecutorChoice(kind or "dask", *schedulers, patience=choice.patience)
    return Venue(**chosen | {"executor": choice})


MOST_ELO: Final = 100_000.0

Anchored: TypeAlias = str | Sequence[str] | Mapping[str, float | tuple[float, float]]
"""Anchors as input: texts, or Elo by label, also with half the width of its 95 % interval."""


class Anchor(Struct, frozen=True, omit_defaults=True):
    """A bot, by its label, whose Elo is fixed at this value.

    If the value was measured, `error` is half the width of its 95 % interval.
    """

    bot: str
    elo: float
    error: float = 0  # an int, which msgspec can tell from another one and leaves out


def read_anchor(value: Anchored, labels: Sequence[str]) -> Anchor | None:
    """Parse the anchor of a run, a text such as "greedy=1239" or a mapping; None if empty.

    Raises InputError for an invalid text, and for a label that no bot of the run has.

    >>> read_anchor("greedy=1239", ["greedy", "uniform"])
    Anchor(bot='greedy', elo=1239.0, error=0)
    """
    anchors = read_anchors(value, labels)
    if len(anchors) > 1:
        raise InputError(f"anchor: one bot and its Elo, not {len(anchors)} bots")
    return first_anchor(anchors)


def first_anchor(anchors: Anchors) -> Anchor | None:
    """Return the first of some anchors, None without anchors."""
    return next((Anchor(bot, elo, error or 0) for bot, (elo, error) in anchors.items()), None)


def read_anchors(value: Anchored, labels: Sequence[str]) -> Anchors:
    """Parse several anchors, as `read_anchor`: the Elo and half the width of its 95 % interval.

    >>> read_anchors(["greedy=1239+-12", "uniform=1000"], ["greedy", "uniform"])
    {'greedy': (1239.0, 12.0), 'uniform': (1000.0, 0.0)}
    """
    if isinstance(value, Mapping):
        given = [
            Anchor(bot, *known) if isinstance(known, tuple) else Anchor(bot, known)
            for bot, known in value.items()
        ]
    else:
        texts = [value] if isinstance(value, str) else value
        given = [_read_text(text) for text in texts if text]
    found: dict[str, tuple[float, float]] = {}
    for anchor in given:
        check_anchor(anchor, labels)
        if anchor.bot in found:
            raise InputError(f"anchor: {show(anchor.bot)} is named twice")
        found[anchor.bot] = anchor.elo, anchor.error
    return found


def _read_text(text: str) -> Anchor:
    bot, _, known = text.rpartition("=")
    elo, sign, error = known.partition("+-")
    return Anchor(bot.strip(), _number(elo), _number(error) if sign else 0.0)


def check_anchor(anchor: Anchor, labels: Sequence[str]) -> None:
    """Raise InputError for an anchor that is invalid for a run of these bots."""
    if not (abs(anchor.elo) <= MOST_ELO and 0 <= anchor.error <= MOST_ELO):
        wanted = f"a bot and its Elo, {-MOST_ELO:.0f} to {MOST_ELO:.0f}, as in greedy=1239"
        raise InputError(f"anchor: expected {wanted}, or greedy=1239+-12")
    if anchor.bot not in labels:
        known = ", ".join(labels)
        raise InputError(f"anchor: no bot {show(anchor.bot)} in this run; there are {known}")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
