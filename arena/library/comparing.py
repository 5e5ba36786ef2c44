"""Compare two bots from the arguments of a call: the verdict, the difference, the games."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Unpack

from arena.entries.catalogue import expand_ladder
from arena.library.request import (
    Bot,
    CompareKeys,
    Location,
    list_bots,
    make_playing,
    request,
    takes,
)
from arena.library.results import Results
from arena.library.running import play_out
from arena.tournament.keys import COMPARED_PAIRS, ELO0, ELO1, ERROR_RATE
from arena.tournament.sprt_rounds import Verdict, as_comparison
from arena.tournament.stop import make_sprt

if TYPE_CHECKING:
    import pandas as pd

    from arena.differences import comparison as made


class Comparison:
    """The result of a comparison: the verdict, the lead in Elo points, and its games.

    >>> import arena
    >>> comparison = arena.compare("denier", "uniform", seed=1, max_pairs=16, progress=False)
    >>> comparison.verdict, comparison.pairs, comparison.counts
    ('undecided', 16, (0, 0, 1, 0, 15))
    >>> comparison.differences is None
    True
    """

    def __init__(self, found: made.SprtResult, results: Results) -> None:
        """Take what was found, and the results of the games."""
        self._found = found
        self.results = results

    @property
    def verdict(self) -> Verdict:
        """What the test says: one of better, not better and undecided."""
        return self._found.verdict

    @property
    def sentence(self) -> str:
        """Which of the two is stronger, in words; no more is said than the interval says."""
        return self._found.sentence

    @property
    def pairs(self) -> int:
        """How many pairs were played; against other bots, how many by each version."""
        return self._found.evidence.pairs

    @property
    def counts(self) -> tuple[int, ...]:
        """The pairs by the new bot's score: 0, 1/2, 1, 3/2 and 2.

        Against other bots they are by what it has more than the old one: -2 to 2 by halves.
        """
        return tuple(self._found.evidence.counts)

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of elo1 against elo0."""
        return self._found.evidence.ratio

    @property
    def elo(self) -> float:
        """The lead in Elo points, adjusted for stopping."""
        return self._found.elo.value

    @property
    def elo_low(self) -> float:
        """The lower end of its 95 % interval."""
        return self._found.elo.low

    @property
    def elo_high(self) -> float:
        """The upper end of its 95 % interval."""
        return self._found.elo.high

    @property
    def differences(self) -> pd.DataFrame | None:
        """The lead in total, by opponent, seat and win type (differences.csv).

        None where the two bots played each other.
        """
        return self._found.paired.differences if self._found.paired else None

    @property
    def decided(self) -> pd.DataFrame | None:
        """The games in which the change decided (decided.csv), None as for `differences`."""
        return self._found.paired.decided if self._found.paired else None

    def document(self) -> dict[str, Any]:
        """Return what `arena compare --json` prints of it."""
        return self._found.document()

    def __str__(self) -> str:
        return "\n".join([*self._found.lines(), *self._found.difference_lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return it for a notebook; labels may be anything."""
        text = f"<pre>{escape(chr(10).join(self._found.lines()))}</pre>"
        if self.differences is None:
            return text
        return text + self.differences.to_html(index=False, escape=True, border=0, na_rep="")


@takes(CompareKeys)
def compare(
    new: Bot,
    old: Bot,
    *,
    against: Sequence[Bot] | Bot | None = None,
    elo0: float = ELO0,
    elo1: float = ELO1,
    alpha: float = ERROR_RATE,
    beta: float = ERROR_RATE,
    max_pairs: int = COMPARED_PAIRS,
    out: Location | None = None,
    fresh: bool = False,
    replace: bool = False,
    progress: bool = True,
    **keys: Unpack[CompareKeys],
) -> Comparison:
    """Play until a sequential test says whether `new` is stronger than `old`.

    It weighs an Elo difference of `elo1` (H1) against `elo0` (H0), with error rates `alpha` and
    `beta`, and is undecided after `max_pairs`. With `against`, a bot, some of them or "ladder",
    both meet these bots on the same deals, and the difference by deal is tested. The other
    arguments, and the errors, are those of `run`.

    >>> comparison = compare(
    ...     "denier", "uniform", against="majority", seed=1, max_pairs=16, progress=False
    ... )
    >>> comparison.elo_low > 100
    True
    """
    stop = make_sprt(elo0, elo1, alpha, beta, max_pairs)
    given: dict[str, Any] = {**keys}
    if against is not None:
        given |= {"format": "gauntlet", "panel": panel_of(against, (new, old))}
    default = {"name": "compare", "pairs": max_pairs}
    how = make_playing(out, fresh=fresh, replace=replace, progress=progress)
    tournament, how = request([new, old], None, given, default, how)
    outcome, results = play_out(as_comparison(tournament, stop), how)
    assert outcome.comparison is not None
    return Comparison(outcome.comparison, results)


def panel_of(against: Any, compared: Sequence[Bot]) -> list[Any]:
    """Return the opponents of some bots, the ladder's in place of its name."""
    names = [bot[0] if isinstance(bot, tuple) else bot for bot in compared]
    return expand_ladder(list_bots(against), [name for name in names if isinstance(name, str)])
