"""`python -m bench.ladder FOLDER` stores what a run of configs/ladder.yaml says of the ladder.

The counts of its pairs go to bench/ladder.csv, the Elo to arena/entries/catalogue.py, and by how
much pairings deviate from it to arena/statistics/bradley_terry.py.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import arena
from arena.statistics.bradley_terry import estimate_spread
from arena.statistics.intervals import Estimate
from arena.statistics.ratings import ELO, Fit, fit_one
from arena.statistics.two_bots import pair_scores
from arena.tournament import config
from arena.tournament.config_keys import read_anchor
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "ladder.yaml"
PAIRS = ROOT / "bench" / "ladder.csv"
STEPS = ROOT / "bench" / "steps.csv"
"""The pairs of the steps of docs/rollouts.md, from a first bot to a network of one's own."""
HEAD = ("bot", "opponent", "0", "0.5", "1", "1.5", "2")
"""The columns: two bots, and in how many pairs the first one had so many points."""


class Ladder(NamedTuple):
    """Elo by bot, in ascending order, and the spread of pairings about it: value, low, high."""

    elos: Mapping[str, int]
    spread: tuple[float, float, float]


def read(path: Path = PAIRS) -> dict[Pairing, Counts]:
    """Return the stored pairs by score of every two bots."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [*csv.reader(file)][1:]
    counts: dict[Pairing, Counts] = {}
    for bot, opponent, *by_score in rows:
        lost, less, even, more, won = map(int, by_score)
        counts[Pairing(bot, opponent)] = lost, less, even, more, won
    return counts


def rate(counts: Mapping[Pairing, Counts]) -> Ladder:
    """Return what these pairs say; the spread by its likelihood alone, with no prior."""
    labels = sorted({label for two in counts for label in two})
    scores = [
        pair_scores(labels.index(two.bot), labels.index(two.opponent), by_score)
        for two, by_score in counts.items()
    ]
    fit = Fit(len(labels), scores)
    anchor = read_anchor(config.read(CONFIG).anchor, labels)
    assert anchor, CONFIG
    scale = fit.scale({labels.index(anchor.bot): 1.0})
    rated = (anchor.elo + ELO * scale.move(fit.strengths)).tolist()
    elos = {label: round(one) for label, one in zip(labels, rated, strict=True)}
    spread = estimate_spread(fit.model, fit.strengths, math.inf)
    elo, low, high = (float(round(one)) for one in spread[:3])
    return Ladder(dict(sorted(elos.items(), key=lambda one: one[1])), (elo, low, high))


def place(bot: str, counts: Mapping[Pairing, Counts]) -> Estimate:
    """Return the Elo of a bot by its pairs against bots of the ladder, whose Elo is fixed."""
    elos = rate(read()).elos
    met = [
        (elos[two.opponent], by_score) if two.bot == bot else (elos[two.bot], by_score[::-1])
        for two, by_score in counts.items()
        if bot in two
    ]
    scores = [pair_scores(len(met), number, one) for number, (_, one) in enumerate(met)]
    return fit_one([elo for elo, _ in met], scores)


def count_pairs(games: pd.DataFrame) -> dict[Pairing, Counts]:
    """Return the pairs by score of every two bots in a table of games."""
    score = np.where(games["winner"].isna(), 1, 2 * (games["winner"] == games["bot"]))
    keys = ["bot", "opponent", "pair"]
    by_pair = games.assign(score=score).groupby(keys, sort=False)["score"].sum()
    found: dict[Pairing, Counts] = {}
    for two, scores in by_pair.groupby(["bot", "opponent"], sort=False):
        lost, less, even, more, won = np.bincount(scores, minlength=5).tolist()
        found[Pairing(*map(str, two))] = lost, less, even, more, won
    return found


def write(games: pd.DataFrame, path: Path) -> dict[Pairing, Counts]:
    """Store the pairs by score of every two bots, and return them."""
    counts = dict(sorted(count_pairs(games).items()))
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = ((*two, *by_score) for two, by_score in counts.items())
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
    return counts


def store(games: pd.DataFrame) -> Iterator[Path]:
    """Write the three files, and yield their paths."""
    counts = write(games, PAIRS)
    yield PAIRS
    elos, spread = rate(counts)
    written = "".join(f'    "{name}": {elo},\n' for name, elo in elos.items())
    yield _replace("entries/catalogue.py", r"(?<=^_MEASURED = \{\n)[^}]*", written)
    numbers = ", ".join(map(str, spread))
    yield _replace("statistics/bradley_terry.py", r"(?<=^LADDER_SPREAD = Estimate\()[^)]*", numbers)


def _replace(name: str, pattern: str, text: str) -> Path:
    path = ROOT / "arena" / name
    source, replaced = re.subn(pattern, text, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert replaced == 1, path
    path.write_text(source, encoding="utf-8")
    return path


def main(words: Iterable[str]) -> None:
    """Store the ladder of a folder, and print what was written."""
    (folder,) = words
    for path in store(arena.open(folder).games):
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
