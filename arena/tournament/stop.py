"""Stop: when a run has played enough, if that is not known before it begins."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from arena.tournament.numbers import Pairs


class Until(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="until", tag_field="kind"):
    """Until every two neighbours in the standings are told apart, or Elo is known so closely.

    `target` is "resolved", or half the width of a 95 % interval in Elo points; no pairing plays
    more than `max_pairs`.
    """

    target: Literal["resolved"] | float
    max_pairs: Pairs


class Sprt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sprt", tag_field="kind"):
    """Until a sequential probability ratio test has a verdict on the first bot.

    It weighs `elo1` against `elo0`: with error rates `alpha` and `beta`, and at most `max_pairs`
    pairs, counted over all opponents.
    """

    elo0: float
    elo1: float
    alpha: float
    beta: float
    max_pairs: Pairs


Stop: TypeAlias = Until | Sprt
