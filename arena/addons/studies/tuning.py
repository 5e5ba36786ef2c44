"""Find good parameters of a bot by successive halving, then test the best ones on fresh deals.

The search is a run: settings of the bot are the challengers of a gauntlet, of which the better half
plays the next round. The comparison is a run in a folder below it. So a stopped search is continued
as runs are.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

from arena.addons.studies import settings as space
from arena.addons.studies.settings import Parameter, Ranges, Setting, describe, read_parameters
from arena.entries.entry import Entry
from arena.entries.spec import default_label, write
from arena.errors import ArenaError, ChangedBots, InputError, counted, shorten
from arena.executors.local import open_executor
from arena.library import keywords
from arena.library.keywords import Bot, Location
from arena.library.running import Comparison, open_run, panel_of
from arena.runs.progress_bar import find_first_faults
from arena.runs.rerun import prepare
from arena.runs.run import Interrupted, Playing, play_games, run
from arena.store.column_titles import list_columns
from arena.store.csv_files import replace_table
from arena.store.folder import EITHER, RunFolder
from arena.store.reader import count_kept
from arena.store.store import Store
from arena.tournament import config_keys as keys
from arena.tournament.rounds import count_halvings
from arena.tournament.sprt_rounds import as_comparison, folder_word
from arena.tournament.stop import Halving, make_sprt
from arena.tournament.tournament import Tournament
from engine.errors import show
from engine.seeds import stream

if TYPE_CHECKING:
    import pandas as pd

PROOF: Final = "proof"
CANDIDATES: Final = list_columns("""
    candidates.csv
    candidate | Candidate | text | The setting by its number; the best one is first.
    setting | Setting | code | The values of the parameters that are tuned.
    pairs | Pairs | count | Pairs that it has played; the longer it stayed, the more.
    score | Score | share | Its score in them; it was chosen by these games.
    fault | Fault | text | Its first fault, which dropped it.
    """)

_STARTERS: Final = (32, 64, 128)  # settings at most, by the number of parameters
_LEAST_DEALS: Final = 4  # of a setting in the first round, against each opponent
_MOST_LABEL = 60
_SHOWN = 5  # settings in the terminal


@dataclass
class Candidate:
    """A setting that is tried: its games and points so far, and its first fault."""

    label: str
    setting: Setting
    games: int = 0
    points: float = 0.0
    fault: str = ""

    @property
    def score(self) -> float:
        """Its score so far, from 0 to 1."""
        return self.points / self.games if self.games else 0.0

    @property
    def cells(self) -> tuple[Any, ...]:
        """Its row of candidates.csv."""
        score = round(self.score, 4) if self.games else None
        return self.label, describe(self.setting), self.games // 2, score, self.fault


class TuningPlan(NamedTuple):
    """A tuning: `base` is a gauntlet whose one challenger is the present bot.

    `budget` is the number of pairs of the search, over all settings and opponents; `proof` is the
    most pairs of the comparison.
    """

    base: Tournament
    parameters: Sequence[Parameter]
    budget: int
    proof: int

    @property
    def bot(self) -> Entry:
        """The present bot."""
        return self.base.entries[0]

    @property
    def folder_name(self) -> str:
        """The default name of its folder."""
        return f"tune-{folder_word(self.bot.label)}"

    def begin(self) -> list[Candidate]:
        """Return the candidates of the first round."""
        wanted = count_starters(self.parameters, self.budget // self.base.panel)
        settings = space.design(self.parameters, wanted, self.base.seed)
        return [Candidate(f"candidate-{n}", one) for n, one in enumerate(settings, 1)]

    def search(self, candidates: Sequence[Candidate]) -> Tournament:
        """Return the tournament of the search, whose deals are not those of the comparison."""
        entries = [self._entry(one.label, one.setting) for one in candidates]
        return dataclasses.replace(
            self.base,
            seed=stream(self.base.seed, "tune").getrandbits(63),
            entries=[*entries, *self.base.entries],
            paired=True,
            stop=Halving(self.budget, self.budget // self.base.panel),
        )

    def comparison(self, best: Setting) -> Tournament:
        """Return the comparison of the best setting with the present bot, on fresh deals."""
        label = default_label(self.bot.target, {**self.bot.params, **best})
        if len(label) > _MOST_LABEL or label in self.base.labels:
            label = f"tuned {self.bot.label}"[:_MOST_LABEL]
        entries = [self._entry(label, best), *self.base.entries]
        stop = make_sprt(keys.ELO0, keys.ELO1, keys.ERROR_RATE, keys.ERROR_RATE, self.proof)
        two = as_comparison(dataclasses.replace(self.base, entries=entries), stop)
        return dataclasses.replace(two, name=PROOF)

    def _entry(self, label: str, setting: Setting) -> Entry:
        return dataclasses.replace(self.bot, label=label, params={**self.bot.params, **setting})


def count_starters(parameters: Sequence[Parameter], deals: int) -> int:
    """Return how many settings so many deals against each opponent allow, 0 if not two."""
    most = min(_STARTERS[len(parameters) - 1], space.count_settings(parameters))
    least = {n: (n + 1) * _LEAST_DEALS * count_halvings(n) for n in range(most, 1, -1)}
    fitting = (n for n in least if deals >= least[n])
    return next(fitting, 0)


def make_tuning(base: Tournament, ranges: Ranges, budget: int, proof: int | None) -> TuningPlan:
    """Return the tuning of the first bot of a gauntlet.

    Without `proof`, the comparison may have as many pairs as the search. Raises InputError, also if
    a bot does not load, or does not take the parameters.
    """
    tuning = TuningPlan(base, read_parameters(ranges), budget, budget if proof is None else proof)
    least = 3 * _LEAST_DEALS * base.panel
    if budget < least:
        raise InputError(f"budget: {counted(budget, 'pair')}, and it takes {least:,} at least")
    if tuning.proof < base.panel:
        raise InputError(f"proof: at least a pair for each of {counted(base.panel, 'opponent')}")
    prepare(tuning.search(tuning.begin()), strict=True)
    return tuning


class Tuning:
    """What a search of parameters has found, and what the comparison on fresh deals says of it.

    >>> import arena
    >>> hasty, ranges = "greedy(patience=1.0)", {"patience": "0..20"}
    >>> found = arena.tune(hasty, ranges, against="majority", budget=150, progress=False)
    >>> found.best["patience"] > 5, found.is_better
    (True, True)
    """

    def __init__(
        self,
        plan: TuningPlan,
        tried: Sequence[Candidate],
        proof: Comparison,
        played: int,
        kept: int,
    ) -> None:
        """Take the candidates, the best first, the comparison, and the games played and kept."""
        self.plan, self.tried, self.proof = plan, tried, proof
        self.played, self.kept = played, kept

    @property
    def best(self) -> dict[str, Any]:
        """The best setting: values by name."""
        return dict(self.tried[0].setting)

    @property
    def spec(self) -> str:
        """The spec of the bot with the best setting."""
        return write(self.plan.bot.target, {**self.plan.bot.params, **self.best})

    @property
    def is_better(self) -> bool:
        """Whether the comparison says that the best setting is better than the bot as it is."""
        return self.proof.sentence.startswith("better:")

    @property
    def candidates(self) -> pd.DataFrame:
        """The settings that were tried, the best first (candidates.csv)."""
        return CANDIDATES.frame([one.cells for one in self.tried])

    @property
    def warnings(self) -> list[str]:
        """What is to be known beside: values at the end of a range, and settings that failed."""
        found = [
            f"{describe({one.name: self.best[one.name]})} is at an end of its range: "
            "a wider one may hold a better value"
            for one in self.plan.parameters
            if one.is_edge(self.best[one.name])
        ]
        failed = [one for one in self.tried if one.fault]
        return found + [f"{c.label} ({describe(c.setting)}) failed: {c.fault}" for c in failed]

    def document(self) -> dict[str, Any]:
        """Return what `arena tune --json` prints of it."""
        return {
            "bot": self.plan.bot.spec,
            "against": self.plan.base.labels[1:],
            "best": self.best,
            "spec": self.spec,
            "better": self.is_better,
            "candidates": [dict(zip(CANDIDATES.names, c.cells, strict=True)) for c in self.tried],
            "proof": self.proof.document(),
            "played": self.played,
            "kept": self.kept,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        """Return the finding, the proof, and the settings that came farthest, a line each."""
        pairs = sum(one.games for one in self.tried) // 2
        tried = f"{counted(len(self.tried), 'setting')}, {counted(pairs, 'pair')}"
        lines = [
            f"best of {tried}: {describe(self.best)}",
            f"on fresh deals: {self.proof.sentence}",
        ]
        if not self.is_better:
            lines.append(f"nothing was found that is surely better than {self.plan.bot.label}")
        lines.append("  pairs   score   setting")
        for one in self.tried[:_SHOWN]:
            score = f"{100 * one.score:.1f} %"
            lines.append(f"  {one.games // 2:>5} {score:>8}  {describe(one.setting)}")
        return "\n".join(lines)

    __repr__ = __str__


def search_parameters(tuning: TuningPlan, path: Path, how: Playing) -> Tuning:
    """Play the missing games of a tuning in a folder, and write candidates.csv.

    Raises what `run` raises, InputError for a folder of something else, and ArenaError if all
    settings or an opponent fail; Interrupted counts all games of the folder.
    """
    folder, proven = RunFolder(path), path / PROOF
    if how.fresh:
        folder.clear()
        RunFolder(proven).clear()
        (path / CANDIDATES.file).unlink(missing_ok=True)
    candidates = tuning.begin()
    search = tuning.search(candidates)
    try:
        with open_executor(how.venue) as executor:
            played, kept = play_games(search, executor, folder, how.shown)
            _count(search, path, candidates)
            candidates.sort(key=lambda one: (bool(one.fault), -one.games, -one.score))
            best = tuning.comparison(candidates[0].setting)
            proof = run(best, executor, RunFolder(proven), how.shown)
    except ChangedBots:
        what = "a search of other settings, or of a bot that has changed"
        raise InputError(f"{path}: {what}; {EITHER}") from None
    except Interrupted:
        kept = count_kept(path) + count_kept(proven)
        most = 2 * (tuning.budget + 2 * tuning.proof)
        raise Interrupted(kept, most, at_most=True) from None
    assert proof.comparison is not None
    table = CANDIDATES.make([one.cells for one in candidates])
    replace_table(path / CANDIDATES.file, table)
    found = Comparison(proof.comparison, open_run(proven))
    return Tuning(tuning, candidates, found, played + proof.played, kept + proof.kept)


def _count(tournament: Tournament, place: Path, candidates: Sequence[Candidate]) -> None:
    """Count the games of the candidates, without those that an opponent has forfeited.

    Raises ArenaError if an opponent forfeited all its games, or every candidate has a fault.
    """
    panel = tournament.panel
    sound: set[int] = set()
    with closing(Store(RunFolder(place).store)) as store:
        for number, result in store.results():
            is_sound = result.fault is None or result.winner != 0
            if is_sound:
                sound.add(number % panel)
            if is_sound and number // panel < len(candidates):
                one = candidates[number // panel]
                one.games, one.points = one.games + 1, one.points + result.score
        faults = find_first_faults(store, tournament, place)
    said = {
        label: f"{one.kind}, {shorten(one.message)}; see `{one.show}`"
        for label, one in faults.items()
    }
    for number, label in enumerate(tournament.labels[-panel:]):
        if number not in sound:
            raise ArenaError(f"{label}, an opponent, fails: {said[label]}")
    for one in candidates:
        one.fault = said.get(one.label, "")
    if all(one.fault for one in candidates):
        raise ArenaError(f"every setting fails: {candidates[0].label}: {candidates[0].fault}")


@keywords.takes(keywords.CompareKeys)
def tune(
    bot: Bot,
    params: Ranges,
    *,
    against: Sequence[Bot] | Bot,
    budget: int = keys.TUNED_PAIRS,
    proof: int | None = None,
    out: Location | None = None,
    fresh: bool = False,
    progress: bool = True,
    **more: Unpack[keywords.CompareKeys],
) -> Tuning:
    """Search good parameters of a bot by games on common deals, and prove what is found.

    `params` are ranges and choices of one to three parameters: `{"patience": "0..5", "mode": ["a",
    "b"]}`, or texts as `arena tune --param` takes them. Settings meet the bots of `against` in
    `budget` pairs; then the best one is compared with the bot as it is in at most `proof` pairs, by
    default as many. `out` is a folder in which a search continues, or a `fresh` one begins. The
    other arguments, and the errors, are those of `run`.

    >>> tune("greedy", {"patience": "5..0"}, against="uniform")
    Traceback (most recent call last):
        ...
    arena.errors.InputError: --param 'patience=5..0': a range goes up, and 0 is not above 5
    """
    for name, pairs in (("budget", budget), ("proof", proof)):
        if pairs is not None and not (type(pairs) is int and 1 <= pairs <= keys.MOST_PAIRS):
            raise InputError(f"{name}: {show(pairs)} is not a number from 1 to {keys.MOST_PAIRS:,}")
    given: dict[str, Any] = {**more, "format": "gauntlet", "panel": panel_of(against, [bot])}
    how = keywords.make_playing(None, fresh=fresh, progress=progress)
    base, how = keywords.request([bot], None, given, {"name": "tune", "pairs": 1}, how)
    tuning = make_tuning(base, params, budget, proof)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tune") if out is None else keywords.folder_path(out, "out")
        return search_parameters(tuning, path, how)
