"""How much of a pair's result is the luck of its deals: what a correction for it would save.

AIVAT (Burch and others, 2018) takes from a result what chance has added to it, by an estimate of
what each deal was worth. Here a deal of hands is worth what the round comes to when `apprentice`
plays both seats, by the table of `champion`, less the mean of such numbers over other deals of the
cards that nobody has seen. There is no correction for the players' own chances: they draw none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.positions import deal_rest
from arena.batch.rollouts import Policy, pick, play_on
from arena.entries.resolve import resolve
from bots.champion import values_after
from engine import STANDARD
from engine.play import setup

PAIRS = 2000
OTHERS = 8
"""Other deals beside which a deal is judged."""
PAIRINGS: Final = (("timing", "greedy"), ("apprentice", "timing"))

Floats = npt.NDArray[np.float64]
_COPIES = np.array(STANDARD.copies)[:, None]


def lines() -> Iterator[str]:
    """Yield the section."""
    yield f"{PAIRS:,} pairs of two bots whose choices draw no chance; each deal of hands beside"
    yield f"{OTHERS} others of the cards that nobody has seen. The weights of the four rounds are"
    yield "fitted to one half of the pairs and used in the other half. Wanted was a third of the"
    yield "variance of a pair."
    yield ""
    yield "| bots | variance of a game, times lower | variance of a pair, times lower |"
    yield "|---|---|---|"
    for names in PAIRINGS:
        results, lucks = play(names, PAIRS)
        game, pair = saved(results[0], lucks[0]), saved(results.mean(axis=0), lucks.mean(axis=0))
        yield f"| `{names[0]}`, `{names[1]}` | {game:.2f} | {pair:.2f} |"


def play(names: Sequence[str], pairs: int, seed: int = 7) -> tuple[Floats, Floats]:
    """Return what games brought the first bot (game of a pair, pair), and the luck of its deals.

    The luck is (game of a pair, round, pair), in chances to win.
    """
    rng = np.random.default_rng(seed)
    deals = random_deals(pairs, rng)
    policies = [policy_of(name) for name in names]
    results, lucks = np.empty((2, pairs)), np.zeros((2, STANDARD.rounds, pairs))
    for place, seats in enumerate((policies, policies[::-1])):
        games = Lockstep(pairs)
        games.begin(np.arange(pairs), deals)
        while not games.over.all():
            live = np.flatnonzero(~games.over)
            first = live[0]
            if games.plies[first] == 0:
                lucks[place, games.round[first], live] = luck_of(games.select(live), rng)
            games.step(pick(games, seats[games.to_act[first]]))
        results[place] = games.results()
    results[1], lucks[1] = 1 - results[1], -lucks[1]
    return results, lucks


@cache
def policy_of(name: str) -> Policy:
    """Return the policy of a house bot."""
    scores: Policy = resolve(name).create(setup(0, 0, STANDARD)).scores  # type: ignore[attr-defined]
    return scores


def luck_of(games: Lockstep, rng: np.random.Generator) -> Floats:
    """Return by how much seat 0 is better off than with other hands, as a round begins."""
    others = np.mean([worth(deal_anew(games, rng)) for _ in range(OTHERS)], axis=0)
    found: Floats = worth(games) - others
    return found


def worth(games: Lockstep) -> Floats:
    """Return the chance of seat 0 to win at the end of the round, if `apprentice` plays it."""
    rounds = games.select(np.arange(games.count))
    rounds.by_round = True
    play_on(rounds, [policy_of("apprentice")] * 2)
    chances: Floats = values_after(rounds)
    return chances


def deal_anew(games: Lockstep, rng: np.random.Generator) -> Lockstep:
    """Return these games with other hands, of the cards that neither pile nor row shows."""
    twin = games.select(np.arange(games.count))
    hidden = _COPIES - games.piles.sum(axis=0, dtype=np.int64) - games.in_row
    twin.hands[:] = deal_rest(hidden, STANDARD, int(games.round[0]), rng)[0]
    return twin


def saved(results: Floats, lucks: Floats) -> float:
    """Return how many times lower the variance is when luck (round, game) is taken from results."""
    half = results.size // 2
    parts = slice(None, half), slice(half, None)
    left = []
    for fitted, used in (parts, parts[::-1]):
        centred = lucks[:, fitted].T - lucks[:, fitted].mean(axis=1)
        weights = np.linalg.lstsq(centred, results[fitted] - results[fitted].mean(), rcond=None)[0]
        corrected = results[used] - weights @ lucks[:, used]
        left.append(corrected - corrected.mean())
    return float(results.var() / np.concatenate(left).var())
