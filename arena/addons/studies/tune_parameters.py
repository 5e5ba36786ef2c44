"""Search for good parameters of a bot round by round, then test the best on fresh deals.

Each round is a run in a folder of its own, and so is the comparison at the end. Once a round has
begun, its candidates are read from its store, so that an interrupted search continues unchanged
even on a machine whose arithmetic differs in the last bit.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from arena.addons.studies.parameters import write_choices
from arena.addons.studies.search import Batch, Point, Search, make_space
from arena.addons.studies.tuned import (
    Candidate,
    Tuned,
    TuningPlan,
    describe,
    describe_lines,
    make_tuned,
    make_tuning,
    to_document,
)
from arena.differences.difference_columns import CANDIDATES, LANDSCAPE
from arena.errors import ArenaError, InputError, shorten
from arena.executors.contract import Executor, open_executor
from arena.library.comparing import Comparison, panel_of
from arena.library.request import (
    Bot,
    CompareKeys,
    Location,
    folder_path,
    make_playing,
    request,
    takes,
)
from arena.library.running import open_run
from arena.runs.interim import FirstFault, find_first_faults
from arena.runs.rerun import prepare
from arena.runs.run import Interrupted, Playing, play_games, run
from arena.statistics.distributions import Floats
from arena.store.database import NAME
from arena.store.folder import REPORTS, TUNING, RunFolder, write_text
from arena.store.manifest import differences, obstacles, read_manifest
from arena.store.reader import count_kept, read_run
from arena.store.store import Store
from arena.tournament.keys import MOST_PAIRS, TUNED_PAIRS
from arena.tournament.tournament import Tournament
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

ROUNDS, PROOF = "rounds", "proof"


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
    is a folder in which a search continues, or a `fresh` one begins. The other arguments, and the
    errors, are those of `run`.

    >>> tune("greedy", {"patience": "5..0"}, against="uniform")
    Traceback (most recent call last):
        ...
    arena.errors.InputError: --param 'patience=5..0': a range goes up, and 0 is not above 5
    """
    space = make_space(_write_parameters(params))
    for name, pairs in (("budget", budget), ("proof", proof)):
        if pairs is not None and not (type(pairs) is int and 1 <= pairs <= MOST_PAIRS):
            raise InputError(f"{name}: {show(pairs)} is not a number from 1 to {MOST_PAIRS:,}")
    given: dict[str, Any] = {**keys, "format": "gauntlet", "panel": panel_of(against, [bot])}
    how = make_playing(None, fresh=fresh, progress=progress)
    base, how = request([bot], None, given, {"name": "tune", "pairs": 1}, how)
    tuning = make_tuning(base, space, budget, proof)
    prepare_tuning(tuning)
    with _open_folder(out) as path:
        tuned = search_parameters(tuning, path, how)
        return Tuning(tuned, Comparison(tuned.proof, open_run(path / PROOF)))


def _write_parameters(params: Parameters) -> list[str]:
    """Return parameters as texts; raises InputError for anything else."""
    if isinstance(params, Mapping):
        return [f"{name}={_write_values(values)}" for name, values in params.items()]
    if isinstance(params, str) or not all(isinstance(one, str) for one in params):
        raise InputError('params: expected ranges by name, as in {"patience": "0..5"}')
    return [*params]


def _write_values(values: str | Sequence[Any]) -> str:
    return values if isinstance(values, str) else write_choices(values)


@contextmanager
def _open_folder(out: Location | None) -> Iterator[Path]:
    """Yield the folder of a search, which without `out` is deleted at the end."""
    if out is not None:
        yield folder_path(out, "out")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "tune")


def search_parameters(tuning: TuningPlan, path: Path, how: Playing) -> Tuned:
    """Play the missing games of a tuning, and write its tables and reports to the folder.

    Raises what `run` raises; Interrupted counts all games of the folder. Raises InputError for a
    folder of something else, and ArenaError if a round has no result, as all candidates or an
    opponent failed.
    """
    from arena.addons.studies.tuned import write_tables
    from arena.addons.studies.tuning_report import make_tuning_report
    from arena.reports.html import write_reports

    search = tuning.search()
    hunt = _Hunt(tuning, search, path)
    try:
        with open_executor(how.venue) as executor:
            if how.fresh:
                clear(path)
            check_folder(path, tuning)
            text = json.dumps(tuning.manifest(), indent=2, ensure_ascii=False)
            write_text(path / TUNING, f"{text}\n")
            while hunt.play(executor, how.shown):
                how.tell(hunt.describe())
            begun = hunt.read(path / PROOF)
            best = begun.points[0] if begun else search.best()
            proof = run(tuning.comparison(best), executor, RunFolder(path / PROOF), how.shown)
    except Interrupted:
        raise Interrupted(hunt.count_kept(), 2 * (tuning.budget + 2 * tuning.proof)) from None
    assert proof.comparison is not None
    games = hunt.played + proof.played, hunt.kept + proof.kept
    found = [*hunt.candidates.values()], best, proof.comparison
    tuned = make_tuned(tuning, search, *found, games)
    write_tables(path, tuned)
    write_reports(path, make_tuning_report(tuned))
    return tuned


class _Hunt:
    """A search in a folder: plays its rounds, and keeps the results of each candidate."""

    def __init__(self, tuning: TuningPlan, search: Search, path: Path) -> None:
        self.tuning = tuning
        self.search = search
        self.path = path
        self.number = self.played = self.kept = 0
        self.candidates: dict[Point, Candidate] = {}

    def play(self, executor: Executor, shown: int) -> bool:
        """Play one round, or the rest of it; return False if the search has ended."""
        place = self.path / ROUNDS / f"{self.number + 1:03}"
        batch = self.read(place) or self.search.next()
        if batch is None:
            return False
        self.number += 1
        of_round = [self._find_candidate(point) for point in batch.points]
        settings = {one.label: one.setting for one in of_round}
        tournament = self.tuning.round(self.number, settings, batch.deals)
        folder = RunFolder(place)
        played, kept = play_games(tournament, executor, folder, shown)
        self.played, self.kept = self.played + played, self.kept + kept
        with closing(Store(folder.store)) as store:
            scores = read_scores(store, tournament)
            faults = find_first_faults(store, tournament, place)
            failures = {label: _describe(fault) for label, fault in faults.items()}
        for one, of_one in zip(of_round, scores, strict=True):
            one.rounds.append(self.number)
            one.fault = one.fault or failures.get(one.label, "")
            one.pairs += int((~np.isnan(of_one)).sum())
            one.total += float(np.nansum(of_one))
        failed = [n for n, one in enumerate(of_round) if one.fault]
        self._check_panel(tournament, scores, failures)
        self.search.tell(batch, scores, failed)
        if not self.search.rounds:
            label, what = next(iter(failures.items()))
            raise ArenaError(f"every setting fails: {label}: {what}")
        return True

    def _check_panel(
        self, tournament: Tournament, scores: Floats, failures: Mapping[str, str]
    ) -> None:
        """Raise ArenaError if an opponent had a fault on every deal of a round."""
        panel = tournament.labels[-tournament.panel :]
        for label, of_one in zip(panel, scores.swapaxes(0, 1), strict=True):
            if np.isnan(of_one).any(axis=0).all():
                raise ArenaError(f"{label}, an opponent, fails: {failures[label]}")

    def _find_candidate(self, point: Point) -> Candidate:
        if point not in self.candidates:
            label = f"candidate-{1 + len(self.candidates)}"
            setting = self.tuning.space.setting(point)
            self.candidates[point] = Candidate(label, point, setting)
        return self.candidates[point]

    def read(self, place: Path) -> Batch | None:
        """Return the candidates of a stored round or of the proof, None if it has not begun."""
        try:
            tournament, store = read_run(place)
        except InputError:  # reported when the round is played
            return None
        store.close()
        space, candidates = self.tuning.space, tournament.entries[: -tournament.panel]
        tried = candidates[:-1] if tournament.stop else candidates  # the last is the unchanged bot
        try:
            points = [space.point(entry.params) for entry in tried]
        except (TypeError, ValueError):
            raise InputError(f"{place}: its candidates are not of this tuning") from None
        return Batch(points, tournament.pairs)

    def describe(self) -> str:
        """Return the progress of the search: its last round, and the best setting so far."""
        pairs = f"{self.search.spent * self.tuning.base.panel:,} of {self.tuning.budget:,} pairs"
        best = describe(self.tuning.space.setting(self.search.best()))
        tried = f"{len(self.candidates)} settings, {pairs}"
        return f"round {self.number}: {tried}, best so far {best}"

    def count_kept(self) -> int:
        """Return how many games are kept in the folder."""
        places = [*(self.path / ROUNDS).glob("*"), self.path / PROOF]
        return sum(map(count_kept, places))


def _describe(fault: FirstFault) -> str:
    return f"{fault.kind}, {shorten(fault.message)}; see `{fault.show}`"


def read_scores(store: Store, tournament: Tournament) -> Floats:
    """Return the score of each pair, 0 to 1, by candidate, opponent and deal.

    It is nan for a pair that is incomplete or has a fault of the opponent.
    """
    panel = tournament.panel
    scores = np.zeros((len(tournament.pairings) // panel, panel, tournament.pairs))
    games = np.zeros(scores.shape, dtype=int)
    for number, result in store.results():
        place = (*divmod(number, panel), result.pair)
        by_opponent = result.fault is not None and result.winner == 0
        scores[place] += np.nan if by_opponent else result.score / 2
        games[place] += 1
    scores[games < 2] = np.nan
    return scores


def check_folder(path: Path, tuning: TuningPlan) -> None:
    """Raise InputError unless a folder is empty or holds this tuning."""
    try:
        names = {entry.name for entry in path.iterdir()} if path.exists() else set()
        if TUNING not in names:
            if names - {ROUNDS, PROOF}:  # --fresh leaves these, with their logs
                raise InputError(f"{path}: holds other files and no tuning; choose a new folder")
            return
        stored = read_manifest((path / TUNING).read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except InputError as error:
        raise InputError(f"{path / TUNING}: {error}") from None
    wanted = tuning.manifest()
    differs = differences(stored.get("bots"), wanted["bots"], "bots")
    if differs := differs + obstacles(stored, wanted):
        raise InputError(
            f"{path}: holds another tuning: {'; '.join(differs)}; --fresh starts over, and "
            "--out FOLDER writes elsewhere"
        )


def clear(path: Path) -> None:
    """Remove an earlier tuning from a folder; raises InputError for a folder of something else."""
    from arena.addons.studies.tuned import TABLES

    if not (path / TUNING).is_file():
        return
    for place in [*sorted((path / ROUNDS).glob("[0-9]*")), path / PROOF]:
        if (place / NAME).is_file():
            RunFolder(place).clear()
    for name in (TUNING, *TABLES, *REPORTS):
        (path / name).unlink(missing_ok=True)


def prepare_tuning(tuning: TuningPlan) -> None:
    """Raise InputError if a bot does not load, or does not take the parameters to tune."""
    batch = tuning.search().next()
    assert batch is not None
    settings = {f"candidate-{n}": tuning.space.setting(p) for n, p in enumerate(batch.points, 1)}
    tournament = tuning.round(1, settings, batch.deals)
    prepare(replace(tournament, entries=[*tournament.entries, tuning.bot]), strict=True)
