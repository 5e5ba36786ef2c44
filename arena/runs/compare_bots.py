"""Compare two bots, or two versions of one, by a sequential test."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import TYPE_CHECKING, Any

from arena.errors import InputError, counted
from arena.executors.contract import Executor
from arena.executors.log import NORMAL
from arena.runs.run import Outcome, run
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.keys import MOST_PAIRS
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament
from engine.errors import show

if TYPE_CHECKING:
    from arena.insight.comparison import SprtResult

_MOST_ELO = 1000
_LEAST_RATE = 1e-9


def make_stop(elo0: Any, elo1: Any, alpha: Any, beta: Any, max_pairs: Any) -> Sprt:
    """Return the test with these hypotheses and error rates; raises InputError."""
    for name, elo in (("elo0", elo0), ("elo1", elo1)):
        if not (_is_number(elo) and -_MOST_ELO <= elo <= _MOST_ELO):
            raise InputError(f"{name}: {show(elo)} is not a number from -1,000 to 1,000")
    for name, rate in (("alpha", alpha), ("beta", beta)):
        if not _is_number(rate) or not _LEAST_RATE <= rate < 0.5:
            raise InputError(f"{name}: {show(rate)} is not a number above 0 and below 0.5")
    if type(max_pairs) is not int or not 1 <= max_pairs <= MOST_PAIRS:
        raise InputError(
            f"max_pairs: {show(max_pairs)} is not a whole number from 1 to {MOST_PAIRS:,}"
        )
    if elo1 <= elo0:
        raise InputError(f"elo1: {elo1:g} is not above elo0, which is {elo0:g}")
    return Sprt(elo0 + 0.0, elo1 + 0.0, float(alpha), float(beta), max_pairs)  # -0.0 is 0.0


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def as_comparison(tournament: Tournament, stop: Sprt) -> Tournament:
    """Return the comparison of the first two bots, against the panel if there is one.

    Raises InputError where `max_pairs` is too small for the panel.
    """
    panel = tournament.panel
    if stop.max_pairs < panel:
        raise InputError(
            f"max_pairs: {stop.max_pairs} {'is' if stop.max_pairs == 1 else 'are'} too few for "
            f"{counted(panel, 'opponent')}"
        )
    new, old = tournament.labels[:2]
    return dataclasses.replace(
        tournament,
        name=comparison_name(new, old) + ("-against" if panel else ""),
        pairs=stop.max_pairs,
        stop=stop,
        paired=panel > 0,
    )


def comparison_name(new: str, old: str) -> str:
    """Return the name of a comparison, which is that of its folder.

    >>> comparison_name("mine(depth=3)", "./mine")
    'compare-mine-depth-3-mine'
    """
    words = [re.sub(r"[^A-Za-z0-9_.]+", "-", label).strip("-.") or "bot" for label in (new, old)]
    return "-".join(["compare", *words])


def compare(
    tournament: Tournament,
    executor: Executor,
    folder: RunFolder | None = None,
    shown: int = NORMAL,
    *,
    store: Store | None = None,
    replace: bool = False,
) -> tuple[Outcome, SprtResult]:
    """Play a comparison until it has a verdict, and return what it came to.

    The arguments and errors are those of `run`.
    """
    outcome = run(tournament, executor, folder, shown, store=store, replace=replace)
    assert outcome.comparison is not None
    return outcome, outcome.comparison
