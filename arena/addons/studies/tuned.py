"""Describe the games of `arena tune`, and report the results of its search."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.addons.studies.parameters import Parameter
from arena.addons.studies.search import Point, Search, Setting, Space, least_budget
from arena.differences.comparison import SprtResult
from arena.differences.difference_columns import CANDIDATES, CONTOURS, LANDSCAPE
from arena.entries.entry import Entry
from arena.entries.spec import default_label, write
from arena.errors import InputError, counted
from arena.statistics.intervals import Z95, Estimate
from arena.statistics.sprt import elo_of
from arena.statistics.wording import write_estimate
from arena.store.csv_files import replace_rows
from arena.tables.table_columns import TableColumns
from arena.tournament import keys
from arena.tournament.sprt_rounds import as_comparison, folder_word
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine.seeds import stream

_MOST_LABEL = 60


@dataclass
class Candidate:
    """A setting that was tried: its rounds, number of pairs, and total score.

    `fault` is the text of its first fault, empty without one.
    """

    label: str
    point: Point
    setting: Setting
    rounds: list[int] = field(default_factory=list)
    pairs: int = 0
    total: float = 0.0
    fault: str = ""


class TuningPlan(NamedTuple):
    """A tuning: the bot and its panel, the search space, and the numbers of pairs.

    `base` is a gauntlet whose only challenger is the present bot. `budget` is the number of pairs
    of the search, over all candidates and opponents; `proof` is the most pairs of the comparison.
    """

    base: Tournament
    space: Space
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

    def search(self) -> Search:
        """Return a new search, before its first round."""
        return Search(self.space, self.budget, self.base.panel, self.base.seed)

    def candidate(self, setting: Setting, label: str) -> Entry:
        """Return the bot with a setting."""
        return dataclasses.replace(self.bot, label=label, params={**self.bot.params, **setting})

    def round(self, number: int, candidates: Mapping[str, Setting], deals: int) -> Tournament:
        """Return the tournament of a round, in which candidates, by label, meet the panel.

        Every round has its own seed, and therefore fresh deals.
        """
        entries = [self.candidate(setting, label) for label, setting in candidates.items()]
        return dataclasses.replace(
            self.base,
            name=f"round-{number:03}",
            seed=stream(self.base.seed, "tune", "round", number).getrandbits(63),
            pairs=deals,
            entries=[*entries, *self.base.entries[1:]],
            paired=len(entries) > 1,
        )

    def comparison(self, best: Point) -> Tournament:
        """Return the comparison of the best setting with the present bot, on fresh deals."""
        setting = self.space.setting(best)
        label = default_label(self.bot.target, {**self.bot.params, **setting})
        if len(label) > _MOST_LABEL or label in self.base.labels:
            label = f"tuned {self.bot.label}"[:_MOST_LABEL]
        two = dataclasses.replace(
            self.base, entries=[self.candidate(setting, label), *self.base.entries]
        )
        made = as_comparison(
            two, make_sprt(keys.ELO0, keys.ELO1, keys.ERROR_RATE, keys.ERROR_RATE, self.proof)
        )
        return dataclasses.replace(made, name="proof")

    def manifest(self) -> dict[str, Any]:
        """Return the settings of the tuning as plain data: enough to repeat it."""
        asked = self.base.manifest()
        del asked["pairs"]
        parameters = [str(one) for one in self.space.parameters]
        return asked | {"parameters": parameters, "budget": self.budget, "proof": self.proof}


def make_tuning(
    base: Tournament, space: Space, budget: int, proof: int | None = None
) -> TuningPlan:
    """Return a tuning of the first bot of a gauntlet; raises InputError.

    Without `proof`, the comparison may have as many pairs as the search.
    """
    least = least_budget(space, base.panel)
    if budget < least:
        raise InputError(
            f"budget: {counted(budget, 'pair')} for {counted(len(space.parameters), 'parameter')} "
            f"and {counted(base.panel, 'opponent')}, which need {least:,} at least"
        )
    proof = budget if proof is None else proof
    if proof < base.panel:
        raise InputError(f"proof: at least a pair for each of {counted(base.panel, 'opponent')}")
    return TuningPlan(base, space, budget, proof)


_STEPS, _STEPS_OF_TWO = 41, 17  # of a parameter in a curve, and in a map of two
_EDGE = 1e-3  # of a score from 0 or 1, so that it has an Elo


class Spot(NamedTuple):
    """A value of a parameter, with the others as in the best setting, and its Elo from that."""

    value: Any
    elo: Estimate


class Map(NamedTuple):
    """Elo from the best setting by the values of two parameters, row by row of the second."""

    first: str
    second: str
    cells: Sequence[tuple[Any, Any, float]]


class Landscape:
    """The expected Elo differences between settings and the best one."""

    def __init__(self, search: Search, best: Point) -> None:
        self.search = search
        self.space = search.space
        self.best = best
        self.reference = search.encode([best])[0]
        mean, _ = search.surrogate.predict(search.encode([best]))
        self.level = float(mean[0])

    def elos(self, points: Sequence[Point], errors_wide: float = Z95) -> list[Estimate]:
        """Return the Elo of points from the best one; intervals reach `errors_wide` errors away."""
        means, errors = self.search.surrogate.compare(self.search.encode(points), self.reference)
        half = errors_wide * errors
        ends = zip(*((means + side * half).tolist() for side in (0, -1, 1)), strict=True)
        return [Estimate(*map(self._at, leads)) for leads in ends]

    def _at(self, lead: float) -> float:
        ends = (min(1 - _EDGE, max(_EDGE, score)) for score in (self.level + lead, self.level))
        there, here = map(elo_of, ends)
        return round(there - here, 1) + 0.0

    def curve(self, one: Parameter) -> Iterator[Spot]:
        """Yield the values of a parameter, with the others as in the best setting."""
        place = self.space.parameters.index(one)
        points = [*dict.fromkeys([*self._line(one), self.best])]
        points.sort(key=lambda point: point[place])
        for point, elo in zip(points, self.elos(points), strict=True):
            yield Spot(one.value(point[place]), elo)

    def worst(self, one: Parameter, errors_wide: float) -> Estimate:
        """Return the Elo of the value of a parameter that is expected to be its worst."""
        return min(self.elos(self._line(one), errors_wide), key=lambda elo: elo.value)

    def _line(self, one: Parameter) -> list[Point]:
        place = self.space.parameters.index(one)
        return [self._moved({place: coordinate}) for coordinate in one.steps(_STEPS)]

    def map(self, first: Parameter, second: Parameter) -> Map:
        """Return the Elo by the values of two parameters."""
        places = [self.space.parameters.index(one) for one in (first, second)]
        steps = [
            sorted({*one.steps(_STEPS_OF_TWO), self.best[place]})
            for one, place in zip((first, second), places, strict=True)
        ]
        both = [(x, y) for y in steps[1] for x in steps[0]]
        elos = self.elos([self._moved(dict(zip(places, two, strict=True))) for two in both])
        values = ((first.value(x), second.value(y)) for x, y in both)
        cells = [(*two, elo.value) for two, elo in zip(values, elos, strict=True)]
        return Map(first.name, second.name, cells)

    def _moved(self, coordinates: Mapping[int, float]) -> Point:
        point = [coordinates.get(place, old) for place, old in enumerate(self.best)]
        return self.space.snap(point)


TABLES: Final = (CANDIDATES.file, LANDSCAPE.file, CONTOURS.file)

_MOST_MAPS = 6
_FLAT = 10.0  # Elo points over a whole range: less is negligible
_SURE = 3.0  # standard errors of a claim on a parameter: its worst value was chosen by the games


class Row(NamedTuple):
    """A candidate: its score in its own rounds, its Elo from the best setting, and its status."""

    label: str
    setting: str
    first: int
    last: int
    pairs: int
    score: float | None
    elo: Estimate
    status: str
    fault: str

    @property
    def cells(self) -> tuple[Any, ...]:
        """The cells of its row in the table of candidates."""
        return (*self[:6], *self.elo.cells, self.status)


class Tuned(NamedTuple):
    """The result of a tuning.

    `curves` are the Elo points by value of each parameter of the best setting, `worst` is the Elo
    of each parameter's worst value, with an interval of three standard errors because it was chosen
    by its games, and `edges` are the parameters at an end of their range. `proof` compares the best
    setting with the unchanged bot.
    """

    tuning: TuningPlan
    best: Setting
    rounds: int
    pairs: int
    rows: Sequence[Row]
    curves: Mapping[str, Sequence[Spot]]
    worst: Mapping[str, Estimate]
    maps: Sequence[Map]
    edges: Sequence[Parameter]
    proof: SprtResult
    played: int
    kept: int

    @property
    def spec(self) -> str:
        """The spec of the bot with the best setting."""
        bot = self.tuning.bot
        return write(bot.target, {**bot.params, **self.best})

    @property
    def is_better(self) -> bool:
        """Whether the comparison finds the best setting better than the unchanged bot."""
        return self.proof.sentence.startswith("better:")

    def describe_parameter(self, name: str) -> str:
        """Return the finding on a parameter, with the others as in the best setting."""
        worst = self.worst[name]
        cost = Estimate(-worst.value, -worst.high, -worst.low)
        shown = write_estimate(cost, unit=" Elo points")
        value = describe({name: self.best[name]})
        if -worst.low < _FLAT:
            return f"{value}; it does not matter: any other costs less than {_FLAT:.0f} Elo points"
        if worst.high < 0:
            return f"{value}; its worst value costs {shown}"
        return f"{value}; its worst value costs {shown}, but that is not sure"

    def warnings(self) -> Iterator[str]:
        """Yield the warnings for the reader."""
        for one in self.edges:
            yield (
                f"{describe({one.name: self.best[one.name]})} is at an end of its range, "
                f"{one}: a wider one may hold a better value"
            )
        for row in self.rows:
            if row.status == FAILED:
                yield f"{row.label} ({row.setting}) failed in round {row.last}: {row.fault}"


KEPT, BEHIND, FAILED = "may be the best", "behind", "failed"


def describe(setting: Setting) -> str:
    """Return a setting as text.

    >>> describe({"patience": 3.5, "mode": "deep"})
    "patience=3.5, mode='deep'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in setting.items())


def make_tuned(
    tuning: TuningPlan,
    search: Search,
    tried: Sequence[Candidate],
    best: Point,
    proof: SprtResult,
    games: tuple[int, int],
) -> Tuned:
    """Return the result of a search; `games` counts the games played now, and those kept."""
    landscape = Landscape(search, best)
    setting = tuning.space.setting(best)
    used = [one for one in tuning.space.parameters if one.name in setting]
    curves = {one.name: [*landscape.curve(one)] for one in used}
    numbers = [one for one in used if one.is_number]
    return Tuned(
        tuning,
        setting,
        search.number,
        search.spent * tuning.base.panel,
        [*_rows(tried, landscape)],
        curves,
        {one.name: landscape.worst(one, _SURE) for one in used},
        [landscape.map(*two) for two in [*combinations(numbers, 2)][:_MOST_MAPS]],
        [*tuning.space.edges(setting)],
        proof,
        *games,
    )


def _rows(tried: Iterable[Candidate], landscape: Landscape) -> Iterator[Row]:
    """Yield the candidates, the best ones first, and those that failed last."""
    tried = [*tried]
    elos = landscape.elos([one.point for one in tried])
    both = zip(tried, elos, strict=True)
    for one, elo in sorted(both, key=lambda two: (bool(two[0].fault), -two[1].value)):
        status = FAILED if one.fault else BEHIND if elo.high < 0 else KEPT
        yield Row(
            one.label,
            describe(one.setting),
            one.rounds[0],
            one.rounds[-1],
            one.pairs,
            round(one.total / one.pairs, 4) if one.pairs else None,
            Estimate() if one.fault else elo,
            status,
            one.fault,
        )


def write_tables(path: Path, tuned: Tuned) -> None:
    """Write candidates.csv, landscape.csv and contours.csv, each atomically."""
    curves = [(name, spot) for name, spots in tuned.curves.items() for spot in spots]
    cells = [(one, cell) for one in tuned.maps for cell in one.cells]
    rows: Mapping[TableColumns, Iterable[Sequence[Any]]] = {
        CANDIDATES: (row.cells for row in tuned.rows),
        LANDSCAPE: ((name, spot.value, *spot.elo.cells) for name, spot in curves),
        CONTOURS: ((one.first, x, one.second, y, elo) for one, (x, y, elo) in cells),
    }
    for table, of_table in rows.items():
        replace_rows(path / table.file, table.names, of_table)


def describe_lines(tuned: Tuned) -> Iterator[str]:
    """Yield the result of a tuning, a line each: the finding, the proof, the parameters."""
    yield from describe_search(tuned)
    yield f"on fresh deals: {tuned.proof.sentence}"
    yield from (f"  {tuned.describe_parameter(name)}" for name in tuned.curves)


def describe_search(tuned: Tuned) -> Iterator[str]:
    """Yield the findings of the search, a line each, and whether the best setting is better."""
    tried = f"{counted(len(tuned.rows), 'setting')} in {counted(tuned.rounds, 'round')}"
    yield f"best of {tried}, {counted(tuned.pairs, 'pair')}: {describe(tuned.best)}"
    if not tuned.is_better:
        yield f"nothing was found that is surely better than {tuned.tuning.bot.label}"


def to_document(tuned: Tuned) -> dict[str, Any]:
    """Return a tuning as plain data."""
    return {
        "bot": tuned.tuning.bot.spec,
        "against": tuned.tuning.base.labels[1:],
        "best": dict(tuned.best),
        "spec": tuned.spec,
        "better": tuned.is_better,
        "rounds": tuned.rounds,
        "pairs": tuned.pairs,
        "candidates": [dict(zip(CANDIDATES.names, row.cells, strict=True)) for row in tuned.rows],
        "parameters": {name: tuned.describe_parameter(name) for name in tuned.curves},
        "proof": tuned.proof.document(),
        "played": tuned.played,
        "kept": tuned.kept,
        "warnings": [*tuned.warnings()],
    }
