"""How near the judge is to the results in the last round, by how many plies it searches.

`python -m bench.last_round RUN` reads a run of a strong bot against itself, and prints the mean
square of what lay between the chance after an action and the result of the game. Two plies before
the end nothing is left to choose: there the judge of `2` lets its network play all of the round.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np

from arena.batch import judging
from arena.batch.replay import in_rows
from arena.batch.rollouts import WHOLE
from arena.store.reader import Choice, chosen_games, read_run
from bots.apprentice import own_network
from bots.champion import values_after
from engine import STANDARD
from engine.notation import parse_actions, parse_cards

SEARCHED: Final = (2, 4, 6, 7, 8)
WORLDS: Final = 8
LEFT: Final = ((3, 4), (5, 6), (7, 8), (9, 10), (11, 12), (3, 12))


def main(path: Path) -> None:
    """Print a line for each part of the last round."""
    tournament, store = read_run(path)
    with closing(store):
        games = [game for _, game in chosen_games(tournament, store, Choice()) if not game.fault]
    found = {plies: measure(games, plies) for plies in SEARCHED}
    left, _, _, pairs = found[SEARCHED[0]]
    print("plies left  decisions", *(f"{plies:>8}" for plies in SEARCHED), "  last less first")
    for low, high in LEFT:
        some = (low <= left) & (left <= high)
        squares = [((chances - won)[some]) ** 2 for _, chances, won, _ in found.values()]
        gain = squares[-1] - squares[0]
        print(
            f"{low:>4}..{high:<4} {some.sum():>10}",
            *(f"{each.mean():>8.4f}" for each in squares),
            f"  {gain.mean():+.4f} +- {error(gain, pairs[some]):.4f}",
        )


def measure(games: Any, plies: int) -> tuple[Any, Any, Any, Any]:
    """Return of each decision the plies left, the chance after it, the result, and the pair."""
    vars(judging)["OPEN"] = plies
    rows = []
    for some in judged(games):
        seat = STANDARD.seat_at(some.ply)
        chances = some.chances[np.arange(len(some.game)), some.action] / WHOLE
        for game, chance in zip(some.game.tolist(), chances.tolist(), strict=True):
            winner = games[game].winner
            won = 0.5 if winner is None else float(winner == games[game].seats[seat])
            rows.append((STANDARD.game_plies - some.ply, chance, won, game // 2))
    left, chance, won, pair = np.array(rows).T
    return left, chance, won, pair


def error(numbers: Any, pairs: Any) -> float:
    """Return the standard error of a mean of numbers, where those of a pair belong together."""
    sums = np.bincount(pairs.astype(np.intp), numbers - numbers.mean())
    return float((sums**2).sum() ** 0.5 / len(numbers))


def judged(games: Any) -> Any:
    """Yield the decisions of the last round."""
    deals = np.frombuffer(b"".join(parse_cards(game.record.deal) for game in games), np.uint8)
    actions = in_rows([parse_actions(game.record.actions) for game in games], STANDARD.game_plies)
    wanted = np.zeros(actions.shape, np.bool_)
    wanted[:, -STANDARD.round_plies :] = True
    lucks = [np.random.default_rng(game) for game in range(len(games))]
    how = WORLDS, own_network().scores_in, values_after
    yield from judging.judge(deals.reshape(len(games), -1), actions, wanted, lucks, *how)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
