"""Search good parameters of a bot from the arguments of a call; the findings are DataFrames."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from arena.addons.studies import tune_parameters as runs
from arena.addons.studies.parameters import write_choices
from arena.addons.studies.search import make_space
from arena.addons.studies.tuned import Tuned, describe_lines, make_tuning, to_document
from arena.differences.difference_columns import CANDIDATES, LANDSCAPE
from arena.errors import InputError
from arena.executors.log import NORMAL, QUIET
from arena.library.comparing import Comparison, panel_of
from arena.library.request import (
    Bot,
    CompareKeys,
    Location,
    folder_path,
    request,
    takes,
)
from arena.library.running import open_run
from arena.tournament.keys import MOST_PAIRS, TUNED_PAIRS
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

Parameters: TypeAlias = "Mapping[str, str | Sequence[Any]] | Sequence[str]"
"""Ranges such as "0..5" or lists of choices by name, or texts as `arena tune --param` has them."""


class Tuning:
    """What a search of parameters has found, and what the comparison on fresh deals says of it.

    >>> import arena
    >>> hasty, ranges = "greedy(patience=1.0)", {"patience": "0..20"}
    >>> found = arena.tune(hasty, ranges, against="majority", budget=150, progress=False)
    >>> found.best["patience"] > 5, found.is_better
    (True, True)
    """

    def __init__(self, tuned: Tuned, proof: Comparison) -> None:
        """Take what was found, and the comparison."""
        self._tuned = tuned
        self.proof = proof

    @property
    def best(self) -> dict[str, Any]:
        """The best setting: values by name."""
        return dict(self._tuned.best)

    @property
    def spec(self) -> str:
        """The spec of the bot with the best setting."""
        return self._tuned.spec

    @property
    def is_better(self) -> bool:
        """Whether the comparison says that the best setting is better than the bot as it is."""
        return self._tuned.is_better

    @property
    def candidates(self) -> pd.DataFrame:
        """The settings that were tried, the best first (candidates.csv)."""
        import pandas as pd

        rows = [(*row[:6], *row.elo.cells, row.status) for row in self._tuned.rows]
        return pd.DataFrame(rows, columns=CANDIDATES.names)

    @property
    def landscape(self) -> pd.DataFrame:
        """The Elo by each parameter, the others as in the best setting (landscape.csv)."""
        import pandas as pd

        rows = [
            (name, spot.value, *spot.elo.cells)
            for name, spots in self._tuned.curves.items()
            for spot in spots
        ]
        return pd.DataFrame(rows, columns=LANDSCAPE.names)

    @property
    def warnings(self) -> list[str]:
        """What is to be known beside: values at the end of a range, and settings that failed."""
        return [*self._tuned.warnings()]

    def document(self) -> dict[str, Any]:
        """Return what `arena tune --json` prints of it."""
        return to_document(self._tuned)

    def __str__(self) -> str:
        return "\n".join(describe_lines(self._tuned))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@takes(CompareKeys)
def tune(
    bot: Bot,
    params: Parameters,
    *,
    against: Sequence[Bot] | Bot,
    budget: int = TUNED_PAIRS,
    proof: int | None = None,
    out: Location | None = None,
    fresh: bool = False,
    progress: bool = True,
    **keys: Unpack[CompareKeys],
) -> Tuning:
    """Search good parameters of a bot by games on common deals, and prove what is found.

    `params` are ranges and choices by name: `{"patience": "0..5", "mode": ["a", "b"]}`, or texts as
    `arena tune --param` takes them. Settings meet the bots of `against` in `budget` pairs; then the
    best one is compared with the bot as it is in at most `proof` pairs, by default as many. `out`
    is a folder in which a search goes on, or a `fresh` one begins. The other arguments, and the
    errors, are those of `run`.

    >>> tune("greedy", {"patience": "5..0"}, against="uniform")
    Traceback (most recent call last):
        ...
    arena.errors.InputError: --param 'patience=5..0': a range goes up, and 0 is not above 5
    """
    space = make_space(_texts(params))
    for name, pairs in (("budget", budget), ("proof", proof)):
        if pairs is not None and not (type(pairs) is int and 1 <= pairs <= MOST_PAIRS):
            raise InputError(f"{name}: {show(pairs)} is not a number from 1 to {MOST_PAIRS:,}")
    given: dict[str, Any] = {**keys, "format": "gauntlet", "panel": panel_of(against, [bot])}
    base, how = request([bot], None, given, {"name": "tune", "pairs": 1})
    tuning = make_tuning(base, space, budget, proof)
    runs.prepare_tuning(tuning)
    how = replace(how, fresh=fresh, shown=NORMAL if progress else QUIET)
    with _folder(out) as path:
        tuned = runs.tune(tuning, path, how)
        return Tuning(tuned, Comparison(tuned.proof, open_run(path / runs.PROOF)))


def _texts(params: Parameters) -> list[str]:
    """Return parameters as texts; raises InputError for what is none."""
    if isinstance(params, Mapping):
        return [f"{name}={_text(values)}" for name, values in params.items()]
    if isinstance(params, str) or not all(isinstance(one, str) for one in params):
        raise InputError('params: expected ranges by name, as in {"patience": "0..5"}')
    return [*params]


def _text(values: str | Sequence[Any]) -> str:
    return values if isinstance(values, str) else write_choices(values)


@contextmanager
def _folder(out: Location | None) -> Iterator[Path]:
    """Yield the folder of a search, which without `out` is deleted at the end."""
    if out is not None:
        yield folder_path(out, "out")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "tune")
