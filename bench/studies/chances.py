"""Whether the curve of a replay is calibrated, how it jumps, and by how much it is off.

Two bots that differ in strength win more or less often than any curve can say that knows only the
position. So what the curve is off by is the standard deviation, over who leads against whom, of the
share won less the chance that was said, beyond what the number of games explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.replay import NOTHING
from arena.batch.rollouts import Policy, pick
from arena.entries.resolve import resolve
from arena.replays.curve import (
    BOT,
    PARTS,
    SEARCHED,
    find_beliefs,
    find_curve,
    mean_chances,
    part_of,
    zone_of,
)
from engine import STANDARD, Record, to_text
from engine.play import setup

BOTS: Final = ("greedy", "majority", "denier", "timing", "apprentice")
PAIRS = 400  # of each two bots, so that there are 8,000 games
BINS = 10
ZONES = 5
LEAST = 100
"""Games of a group, without which nothing is said of it."""
JUMP = 0.5
"""From this change of the chance in one ply on, a jump is counted."""

Floats = npt.NDArray[np.float64]


class Games(NamedTuple):
    """Games with who sat where, what they brought seat 0, and two curves (game, ply).

    `before` is as the bot says, `now` as a replay has it; both are NaN after the end of a game.
    """

    seats: list[tuple[str, str]]
    won: Floats
    before: Floats
    now: Floats


@cache
def policy_of(name: str) -> Policy:
    """Return the policy of a house bot."""
    scores: Policy = resolve(name).create(setup(0, 0, STANDARD)).scores  # type: ignore[attr-defined]
    return scores


def play(pairs: int, bots: Sequence[str] = BOTS, seed: int = 32) -> Games:
    """Return games of all bots, each pair with the seats swapped."""
    rng = np.random.default_rng(seed)
    seats: list[tuple[str, str]] = []
    won: list[float] = []
    curves: list[list[Floats]] = []
    entry = resolve(BOT)
    for one, two in combinations(bots, 2):
        deals = random_deals(pairs, rng)
        for names in ((one, two), (two, one)):
            for record, result in _play(deals, names):
                before, now = mean_chances(find_beliefs(record, entry)), find_curve(record, entry)
                seats.append(names)
                won.append(result)
                curves.append([_padded(before), _padded(now.chances)])
    before, now = np.array(curves).swapaxes(0, 1)
    return Games(seats, np.array(won), before, now)


def _play(deals: npt.NDArray[np.uint8], names: Sequence[str]) -> Iterator[tuple[Record, float]]:
    """Yield the records of games, and what they brought seat 0."""
    policies = [policy_of(name) for name in names]
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    actions = np.full((len(deals), STANDARD.game_plies), NOTHING, np.uint8)
    for ply, of_ply in enumerate(actions.T):
        live = ~games.over
        chosen = pick(games, policies[STANDARD.seat_at(ply)])
        of_ply[live] = chosen[live]
        games.step(chosen)
    for deal, of_game, result in zip(deals, actions, games.results().tolist(), strict=True):
        text = to_text(of_game[of_game != NOTHING].tobytes())
        yield Record(to_text(deal.tobytes()), text), result


def _padded(chances: Sequence[float | None]) -> Floats:
    """Return the chances before each ply; NaN from the end of the game on."""
    found = np.full(STANDARD.game_plies, np.nan)
    found[: len(chances) - 1] = [np.nan if one is None else one for one in chances[:-1]]
    return found


def lines(pairs: int = PAIRS) -> Iterator[str]:
    """Yield the section."""
    games = play(pairs)
    bots = ", ".join(f"`{bot}`" for bot in BOTS)
    yield f"{len(games.won):,} games of {bots}, {pairs} pairs of each"
    yield "two. `looked up` is the curve as the bot `champion` says it, without a hand;"
    yield f"`searched` is that of a replay: in the last {SEARCHED} plies all hands that fit are"
    yield "searched, too. The chance is that of seat 0."
    yield ""
    yield from _calibration(games)
    yield ""
    yield from _jumps(games)
    yield ""
    yield from _errors(games)


def _calibration(games: Games) -> Iterator[str]:
    """Yield how often games were won, by the chance that was said."""
    heads = ("whole game", "last plies, looked up", "last plies, searched")
    yield f"| chance | {' | '.join(f'{head}: positions | said | won' for head in heads)} |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    last = np.arange(STANDARD.game_plies) >= STANDARD.game_plies - SEARCHED
    parts = (games.now, np.ones_like(last)), (games.before, last), (games.now, last)
    for low in range(BINS):
        cells = [_bin(games, curve, some, low) for curve, some in parts]
        yield f"| {low * BINS} to {(low + 1) * BINS} | {' | '.join(cells)} |"
    scores = [
        f"{np.nanmean((curve[:, last] - games.won[:, None]) ** 2):.3f}"
        for curve in (games.before, games.now)
    ]
    yield ""
    yield f"The mean square of the chance less the result in the last {SEARCHED} plies is"
    yield f"{scores[0]} looked up, and {scores[1]} searched."


def _bin(games: Games, curve: Floats, plies: npt.NDArray[np.bool_], low: int) -> str:
    chance, won = curve[:, plies], np.broadcast_to(games.won[:, None], (len(curve), plies.sum()))
    some = np.minimum(np.nan_to_num(chance * BINS, nan=-1.0).astype(int), BINS - 1) == low
    some &= ~np.isnan(chance)
    if not some.any():
        return "0 | - | -"
    return f"{some.sum():,} | {100 * chance[some].mean():.1f} | {100 * won[some].mean():.1f}"


def _jumps(games: Games) -> Iterator[str]:
    """Yield in what share of the games the curve jumps, ply by ply of the last round."""
    yield f"Games in which one ply changes the chance by {100 * JUMP:.0f} points or more, by the"
    yield "plies that were left:"
    yield ""
    left = range(STANDARD.round_plies + 1, 0, -1)
    yield f"| curve | {' | '.join(map(str, left))} |"
    yield f"|---|{'---|' * len(left)}"
    for name, curve in (("looked up", games.before), ("searched", games.now)):
        steps = np.abs(np.diff(_with_result(games, curve), axis=1))
        shares = [
            float((steps[:, -plies][~np.isnan(steps[:, -plies])] >= JUMP).mean()) for plies in left
        ]
        yield f"| {name} | {' | '.join(f'{share:.1%}' for share in shares)} |"


def _with_result(games: Games, curve: Floats) -> Floats:
    """Return curves with the result after the last ply; games that ended early have none."""
    return np.concatenate([curve, games.won[:, None]], axis=1)


def _errors(games: Games) -> Iterator[str]:
    """Yield by how much the curve is off, by the part of the game and the leader's chance."""
    yield "By how much the curve is off, in points of 100, as one standard deviation, by the chance"
    yield "of the seat that leads; 0 where it is no more than the number of games explains, and"
    yield "nothing where there are too few positions:"
    yield ""
    heads = [f"{50 + 10 * zone} to {60 + 10 * zone}" for zone in range(ZONES)]
    yield f"| part | {' | '.join(heads)} |"
    yield f"|---|{'---|' * ZONES}"
    for name, row in zip(PARTS, find_errors(games), strict=True):
        yield f"| {name} | {' | '.join(map(_write_points, row))} |"


def _write_points(error: float) -> str:
    return "-" if np.isnan(error) else f"{100 * error:.0f}"


def find_errors(games: Games) -> Floats:
    """Return the standard deviation (part, zone) of the share won less the chance of the leader."""
    two = [*dict.fromkeys(games.seats)]
    group = np.array([two.index(seats) for seats in games.seats])
    swapped = np.array([two.index((other, one)) for one, other in games.seats])
    found = np.zeros((len(PARTS), ZONES))
    part = np.array([part_of(ply) for ply in range(STANDARD.game_plies)])
    zone = np.array([[zone_of(c) if c == c else -1 for c in row] for row in games.now.tolist()])
    leads = games.now >= 0.5
    off = np.where(leads, 1, -1) * (games.won[:, None] - games.now)
    leader = np.where(leads, group[:, None], swapped[:, None])
    for place in np.ndindex(found.shape):
        some = (part[None, :] == place[0]) & (zone == place[1])
        found[place] = _spread(off, some, leader, len(two))
    return found


def _spread(off: Floats, some: npt.NDArray[np.bool_], leader: Floats, groups: int) -> float:
    """Return the standard deviation between groups beyond that of their means; games are units.

    It is NaN where no group has LEAST games.
    """
    squares = weights = 0.0
    for one in range(groups):
        cell = some & (leader == one)
        counts = cell.sum(axis=1)
        units = counts > 0
        if units.sum() < LEAST:
            continue
        sums = np.where(cell, off, 0.0).sum(axis=1)[units]
        total = counts[units].sum()
        mean = sums.sum() / total
        variance = ((sums - mean * counts[units]) ** 2).sum() / total**2
        squares += units.sum() * (mean**2 - variance)
        weights += units.sum()
    return float(max(0.0, squares / weights) ** 0.5) if weights else np.nan
