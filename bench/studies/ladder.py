"""A newcomer to the real ladder of cheap bots: pairs that find its place, with games played."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import arena
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing, round_robin
from arena.tournament.until_rounds import Standings

SEED = 592
BOTS = ("uniform", "greedy", "city_hunter", "majority", "denier", "timing")
FIRST = 20  # pairs of each pairing in the first round
MOST = 5000
STEP = 5  # pairs of each of the newcomer's pairings in each turn
BLOCK = 100  # pairs of these pairings that are played at once


class Search(NamedTuple):
    """How many pairs found a newcomer's place in two ways; None if `MOST` did not."""

    by_rounds: int | None
    in_turn: int | None
    place: str


def find_place(newcomer: str) -> Search:
    """Return what it took to find a bot's place among the others, whose games were played before.

    Both ways play the same games, in another order, and tell bots apart by the same tests.
    """
    others = [bot for bot in BOTS if bot != newcomer]
    with tempfile.TemporaryDirectory() as place:
        old = _until_resolved(others, Path(place))
        before = count_pairs(old.games)
        new = _until_resolved([*others, newcomer], Path(place))
        counts = count_pairs(new.games)
        pairs = sum(max(0, sum(five) - sum(before.get(two, ()))) for two, five in counts.items())
        order = [*new.standings["bot"]]
        where = order.index(newcomer)
        between = " - ".join(order[max(0, where - 1) : where + 2])
        resolved = new.unresolved.empty
    return Search(pairs if resolved else None, _in_turn(newcomer, others, before), between)


def _until_resolved(bots: list[str], place: Path) -> arena.Results:
    return arena.run(
        bots,
        pairs=FIRST,
        until="resolved",
        max_pairs=MOST,
        seed=SEED,
        out=place,
        progress=False,
    )


def _in_turn(newcomer: str, others: list[str], before: Mapping[Pairing, Counts]) -> int | None:
    """Return how many pairs told a newcomer apart from its neighbours, all its pairings in turn."""
    pairings = round_robin([*others, newcomer])
    with tempfile.TemporaryDirectory() as place:
        for most in range(BLOCK, MOST + 1, BLOCK):
            games = arena.run(
                others, against=[newcomer], pairs=most, seed=SEED, out=place, progress=False
            ).games
            for pairs in range(max(FIRST, most - BLOCK + STEP), most + 1, STEP):
                known = {**before, **count_pairs(games[games["pair"] < pairs])}
                counts = {number: known[pairing] for number, pairing in enumerate(pairings)}
                standings = Standings(pairings, counts, ())
                mine = standings.labels.index(newcomer)
                if all(mine not in two for two in standings.doubtful("resolved")):
                    return pairs * len(others)
    return None


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


def lines() -> Iterator[str]:
    """Yield the table of the section, each row as soon as its games have been played."""
    yield f"Real games, seed {SEED}. The other five had been told apart before.\n"
    yield "| newcomer | its place | pairs, rounds | pairs, all in turn | saved |"
    yield "|---|---|---|---|---|"
    for newcomer in BOTS:
        by_rounds, in_turn, place = find_place(newcomer)
        saved = f"{1 - by_rounds / in_turn:.0%}" if by_rounds and in_turn else ""
        yield (f"| {newcomer} | {place} | {_number(by_rounds)} | {_number(in_turn)} | {saved} |")


def _number(pairs: int | None) -> str:
    return f"more than {MOST:,} in a pairing" if pairs is None else f"{pairs:,}"
