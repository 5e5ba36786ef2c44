"""Stop: when a run has played enough, if that is not known before it begins."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from arena.tournament.numbers import Pairs

Elo = Annotated[float, msgspec.Meta(ge=-1000, le=1000)]
ErrorRate = Annotated[float, msgspec.Meta(ge=1e-9, lt=0.5)]


class Until(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="until", tag_field="kind"):
    """Until every two neighbours in the standings are told apart, or Elo is known so closely.

    `target` is "resolved", or half the width of a 95 % interval in Elo points; no pairing plays
    more than `max_pairs`.
    """

    target: Literal["resolved"] | float
    max_pairs: Pairs


class Sprt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sprt", tag_field="kind"):
    """Until a sequential probability ratio test has a verdict on the first bot.

    It weighs a lead of `elo1` against one of `elo0`: with error rates `alpha` and `beta`, and at
    most `max_pairs` pairs, counted over all opponents.
    """

    elo0: Elo
    elo1: Elo
    alpha: ErrorRate
    beta: ErrorRate
    max_pairs: Pairs

    def __post_init__(self) -> None:
        if self.elo1 <= self.elo0:
            raise ValueError(f"elo1: {self.elo1:g} is not above elo0, {self.elo0:g}")


Stop: TypeAlias = Until | Sprt
