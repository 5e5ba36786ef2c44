"""Define the stopping rules of a tournament, as data.

A rule names in `rounds`, as module:name, the class or function that makes its `Rounds`. Its method
`most_games` returns the greatest number of games; `chooses_pairings` is whether some pairings get
more pairs than others. A new rule is a class here, with its rounds in a module of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec

from arena.errors import InputError
from arena.tournament.config_keys import MOST_PAIRS, Pairs, TargetWord, converted
from engine.errors import show

_TIMES = 100  # times the pairs of the first round: the default of `max_pairs`

_MOST_ELO = 1000
_LEAST_RATE = 1e-9

Elo = Annotated[float, msgspec.Meta(ge=-_MOST_ELO, le=_MOST_ELO)]
ErrorRate = Annotated[float, msgspec.Meta(ge=_LEAST_RATE, lt=0.5)]


class Until(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="until", tag_field="kind"):
    """Stop when the wanted bots are separated, or all intervals are narrow enough.

    `target` is "resolved" for all neighbours in the standings, "first" for the first bot and every
    other one, "top:K" for the first K and the rest, "against:BOT" for BOT and every other one, or
    half the width of a 95 % interval in Elo points; no pairing plays more than `max_pairs` pairs.
    """

    rounds: ClassVar[str] = "arena.tournament.until_rounds:make_rounds"
    chooses_pairings: ClassVar[bool] = True

    target: TargetWord | float
    max_pairs: Pairs

    def most_games(self, pairings: int, *, paired: bool) -> int:  # noqa: ARG002
        """Return the greatest number of games, with `max_pairs` in every pairing."""
        return 2 * self.max_pairs * pairings


class Sprt(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag="sprt",
    tag_field="kind",
):
    """Stop when a sequential probability ratio test decides about the first bot.

    The hypotheses are a lead of `elo0` and a lead of `elo1`, with error rates `alpha` and `beta`
    and at most `max_pairs` pairs, counted over all opponents.
    """

    rounds: ClassVar[str] = "arena.tournament.sprt_rounds:SprtRounds"
    chooses_pairings: ClassVar[bool] = False

    elo0: Elo
    elo1: Elo
    alpha: ErrorRate
    beta: ErrorRate
    max_pairs: Pairs

    def most_games(self, pairings: int, *, paired: bool) -> int:  # noqa: ARG002
        """Return the greatest number of games; a paired test plays each deal with both versions."""
        return 2 * self.max_pairs * (1 + paired)

    def __post_init__(self) -> None:
        if self.elo1 <= self.elo0:
            raise ValueError(f"elo1: {self.elo1:g} is not above elo0, which is {self.elo0:g}")


class Halving(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="halving", tag_field="kind"
):
    """Drop the worse half of the challengers after each round, until one is left.

    `budget` is the number of pairs of all rounds, and no pairing plays more than `max_pairs`.
    """

    rounds: ClassVar[str] = "arena.tournament.rounds:HalvingRounds"
    chooses_pairings: ClassVar[bool] = True

    budget: Pairs
    max_pairs: Pairs

    def most_games(self, _pairings: int, *, paired: bool) -> int:  # noqa: ARG002
        """Return the greatest number of games."""
        return 2 * self.budget


def make_until(
    target: TargetWord | float | None, pairs: int, max_pairs: int | None
) -> Until | None:
    """Return the stopping rule of a run whose first round has `pairs` pairs, None without target.

    Raises InputError.

    >>> make_until("resolved", 20, None)
    Until(target='resolved', max_pairs=2000)
    """
    if target is None:
        if max_pairs:
            raise InputError("max_pairs: only with until")
        return None
    if max_pairs is not None and max_pairs < pairs:
        raise InputError(f"max_pairs: {max_pairs:,} is less than pairs, {pairs:,}")
    most = max_pairs or min(MOST_PAIRS, _TIMES * pairs)
    return Until(target if isinstance(target, str) else float(target), most)


def check_target(target: TargetWord | float, labels: Sequence[str]) -> None:
    """Raise InputError for a target that no run of these bots can reach."""
    kind, _, value = str(target).partition(":")
    if kind == "top" and int(value) >= len(labels):
        raise InputError(f"until: {target}: there are {len(labels)} bots in this run")
    if kind == "against" and value not in labels:
        known = ", ".join(labels)
        raise InputError(f"until: no bot {show(value)} in this run; there are {known}")


def make_sprt(elo0: Any, elo1: Any, alpha: Any, beta: Any, max_pairs: Any) -> Sprt:
    """Return the test with these hypotheses and error rates; raises InputError."""
    given = {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta, "max_pairs": max_pairs}
    try:
        made = converted({"kind": "sprt", **given}, Sprt)
    except msgspec.ValidationError as error:
        from arena.tournament.yaml_text import explain  # takes 30 ms

        raise InputError(explain(str(error), given, {}, {})) from None
    return msgspec.structs.replace(made, elo0=made.elo0 + 0.0, elo1=made.elo1 + 0.0)  # no -0.0


Stop: TypeAlias = Until | Sprt | Halving
