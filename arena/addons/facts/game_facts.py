"""Measure the game by play of equal strength, and print the figures that are stored of it.

A column is a bot, and its figures rest on games against its twin, which has luck of its own. The
stored figures are facts.csv beside this file; a test plays some games again and compares.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arena.addons import hook
from arena.entries.catalogue import names
from arena.errors import InputError, cut, naming
from arena.library.running import open_run
from arena.runs.run import Playing
from arena.statistics.intervals import Moments
from arena.statistics.sprt import elo_of
from arena.store.csv_files import replace_rows
from arena.store.folder import claimed
from arena.tournament.config import Config, make_tournament
from arena.tournament.rule_changes import make_variants
from arena.tournament.tournament import Tournament
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

    from arena.library.results import Results

STORED: Final = Path(__file__).with_name("facts.csv")
"""The figures as they were measured last."""

PLAYERS: Final = ("uniform", "timing", "apprentice", "champion", "journeyman")
"""The bots of the stored figures, from random to strong."""

_PAIRS: Final = dict.fromkeys(("uniform", "timing", "denier", "apprentice", "journeyman"), 3000)
_FEW = 80  # pairs of any other bot: a search takes a second for a game
_RIVALS: Final = {"timing": "denier", "apprentice": "champion", "journeyman": "grandmaster"}
"""For bots that use no luck, another one that is about as strong."""

_PUBLISHED: Final = frozenset({"apprentice", "journeyman"})
"""Bots that play as another one under other rules, so that they say nothing of these."""

_TWIN: Final = """\
from bots.{0} import bot as own


def bot(setup):
    setup.rng.seed(setup.rng.getrandbits(64))
    return own(setup)
"""
"""A bot that plays as another one, with luck of its own.

Both games of a pair have the same luck at each seat: a bot against itself plays one game twice.
"""

_SUFFIXES: Final = {"base": "", "cities_needed=2": "_2", "cities_needed=4": "_4"}

_LISTED: Final = """
Who wins, % of the games (seat 0 begins)
seat_0 | .1% | score of seat 0
fixed | .1% | fixed by deal and seat
draws | .1% | drawn
Who leads in points wins, %
leader_1 | .1% | leader after round 1
leader_2 | .1% | leader after round 2
leader_3 | .1% | leader after round 3
City, % of the games
city | .1% | won by City, 3 needed
city_2 | .1% | won by City, 2 needed
city_4 | .1% | won by City, 4 needed
seat_0_2 | .1% | seat 0, 2 needed
seat_0_4 | .1% | seat 0, 4 needed
Strength and length
elo | +.0f | Elo above the one left
plies | .1f | actions in a game
plies_2 | .1f | actions, 2 needed
"""
"""What is measured: the parts, and in each the keys of its figures, with formats and texts."""

_NOTES: Final = """
± is half of a 95 % interval. A bot meets its twin, which plays alike with
luck of its own. `fixed` is 2p - 1, if one seat wins both games of a share p
of the deals, the players swapped; bots without luck meet another one for
it: timing denier, apprentice champion, and journeyman grandmaster; others
have no such figure. Under other rules champion has no learned values, and
apprentice and journeyman are left out, which play as timing.
"""

ROWS: Final = [line.split(" | ") for line in _LISTED.strip().splitlines()]
KEYS: Final = [row[0] for row in ROWS if len(row) > 1]


class Fact(NamedTuple):
    """A figure: on whose play it rests, its key, its 95 % interval, and how many games."""

    players: str
    fact: str
    value: float
    low: float
    high: float
    games: int


def _fact(players: str, fact: str, estimate: Iterable[Any], games: Any) -> Fact:
    value, low, high = (round(float(one), 4) for one in estimate)
    return Fact(players, fact, value, low, high, int(games))


def read_facts(path: Path = STORED) -> list[Fact]:
    """Return the figures of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)
        return [_fact(row[0], row[1], row[2:5], row[5]) for row in csv.reader(file)]


def facts() -> pd.DataFrame:
    """Return the stored figures of the game, a row for each (docs/facts.md).

    >>> table = facts().set_index(["players", "fact"])
    >>> bool(0.5 < table.loc[("apprentice", "seat_0"), "low"] < 0.6)
    True
    """
    import pandas as pd

    return pd.DataFrame(read_facts(), columns=Fact._fields)


_LABEL = 24  # columns of the terminal


def format_facts(found: Sequence[Fact]) -> Iterator[str]:
    """Yield the figures as a table, of 80 columns for PLAYERS; ± is half of a 95 % interval."""
    cells = {(one.fact, one.players): one for one in found}
    players = [*dict.fromkeys(one.players for one in found)]
    games = [f"{cells['seat_0', name].games:,}" for name in players]
    table = [("", [cut(name, 11) for name in players]), ("games against its twin", games)]
    for key, *more in ROWS:
        shown = [_write(cells.get((key, name)), more[0]) for name in players] if more else []
        table.append((f"  {more[1]}" if more else key, shown))
    columns = zip(*(row for _, row in table if row), strict=True)
    widths = [max(map(len, column)) for column in columns]
    for label, row in table:
        texts = (f" {text:>{width}}" for text, width in zip(row, widths, strict=False))
        yield f"{label:<{_LABEL}}{''.join(texts)}".rstrip()
    yield from _NOTES.strip().splitlines()


def _write(fact: Fact | None, form: str) -> str:
    if fact is None:
        return ""
    scale, form = (100, form.replace("%", "f")) if form.endswith("%") else (1, form)
    half = scale * (fact.high - fact.low) / 2
    return f"{scale * fact.value:{form}} ±{half:{form.removeprefix('+')}}"


@dataclass(frozen=True)
class Asked:
    """What is measured again: with these bots, this part of the games, and this seed."""

    bots: Sequence[str] = PLAYERS
    percent: int = 100
    seed: int = 0

    def pairs(self, *bots: str) -> int:
        """Return the pairs of a run of these bots."""
        return max(2, min(_PAIRS.get(bot, _FEW) for bot in bots) * self.percent // 100)


def play_facts(asked: Asked, how: Playing) -> list[Fact]:
    """Play what is left into the folder, write facts.csv there, and return the figures.

    Raises what `run` raises.
    """
    assert how.out
    for bot in asked.bots:
        if bot not in names():
            raise InputError(f"bot {show(bot)}: none of bots/; there are {', '.join(names())}")
        if asked.bots.count(bot) > 1:
            raise InputError(f"bot {show(bot)}: named twice")
    with claimed(how.out, {"facts": "of the game", "seed": asked.seed}):
        measured = (_Measured(bot, asked, how, how.out / bot).facts() for bot in asked.bots)
        found = [*chain(*measured, _rate(asked, how, how.out / "elo"))]
        found.sort(key=lambda one: (asked.bots.index(one.players), KEYS.index(one.fact)))
        replace_rows(how.out / STORED.name, Fact._fields, found)
    return found


def _make(asked: Asked, pairs: int, *bots: str) -> Tournament:
    config = Config([], pairs, name="facts", seed=asked.seed)
    return make_tournament(config, bots, (), "inproc")


def _play(tournament: Tournament, how: Playing, folder: Path) -> Results:
    """Play what is left of a run in its folder."""
    replace(how, out=folder).play(tournament)
    return open_run(folder)


def _rate(asked: Asked, how: Playing, folder: Path) -> Iterator[Fact]:
    """Yield by how many Elo points each bot is stronger than the one before."""
    for weaker, bot in pairwise(asked.bots):
        tournament = _make(asked, asked.pairs(weaker, bot), weaker, bot)
        results = _play(tournament, how, folder / f"{weaker}-{bot}")
        row: Any = results.head_to_head.set_index("bot").loc[bot]
        scores = row[["score", "score_low", "score_high"]]
        if all(0 < score < 1 for score in scores):
            yield _fact(bot, "elo", map(elo_of, scores), row["games"])


@dataclass(frozen=True)
class _Measured:
    """The figures of one bot, whose runs are in a folder."""

    bot: str
    asked: Asked
    how: Playing
    folder: Path

    def facts(self) -> Iterator[Fact]:
        """Yield all but the Elo."""
        pairs, twin = self.asked.pairs(self.bot), f"twin={self._write_twin()}"
        tournament = _make(self.asked, pairs, self.bot, twin)
        yield from self._vary(tournament)
        base = open_run(self.folder / "base")
        yield from self._lead(base)
        yield from self._fix(base)

    def _write_twin(self) -> Path:
        path = self.folder.with_name("twins") / f"{self.bot}.py"
        with naming(path, OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_TWIN.format(self.bot), encoding="utf-8")
        return path

    def _vary(self, tournament: Tournament) -> Iterator[Fact]:
        """Yield what an ablation measures, under the published rules and with other cities."""
        variants = make_variants(tournament.rules, ["cities_needed=2,4"])
        tried = variants[:1] if self.bot in _PUBLISHED else variants
        for row in hook("ablate")(tournament, tried, self.folder, self.how).rows():
            key = row[1] + _SUFFIXES[row[0]]
            if key in KEYS and None not in row[8:11]:
                yield _fact(self.bot, key, row[8:11], row[5])

    def _lead(self, base: Results) -> Iterator[Fact]:
        leads = base.leads
        for row in leads[leads["bot"].isna() & (leads["after"] == "led")].itertuples():
            ends = row.score, row.score_low, row.score_high
            yield _fact(self.bot, f"leader_{row.round}", ends, row.games)

    def _fix(self, base: Results) -> Iterator[Fact]:
        """Yield the share of results that the deal and the seat fix, whoever of two equals plays.

        If the same seat wins both games of a share p of the deals, it is 2p - 1: the other results
        are as those of a coin.
        """
        if rival := _RIVALS.get(self.bot):
            pairs = self.asked.pairs(self.bot, rival)
            base = _play(_make(self.asked, pairs, self.bot, rival), self.how, self.folder / rival)
        games = base.games
        won = games["winner"].map({games["bot"][0]: 1, games["opponent"][0]: -1}).fillna(0)
        of_seat_0 = (won * (1 - 2 * games["seat"])).to_numpy().reshape(-1, 2)
        same = np.array([(of_seat_0[:, 0] == of_seat_0[:, 1]).sum()])
        if same[0] == len(of_seat_0):
            return  # as of a bot without luck, which plays the same game twice
        shares = Moments.independent(np.array([len(of_seat_0)]), same, same).shares()
        yield _fact(self.bot, "fixed", (2 * one[0, 0] - 1 for one in shares), len(games))
