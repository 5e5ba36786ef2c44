"""How fast recorded decisions are judged, on one core, and what the split of the worlds is for."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np

from arena.batch.judging import Decisions, draw_hands, find_chances, judge
from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.replay import NOTHING
from arena.batch.rollouts import WHOLE, best_legal, pick
from bench.engine import Row
from bots.apprentice import own_network
from bots.champion import values_after
from engine import STANDARD

GAMES = 64
ROUNDS = 3
WORLDS = 8
MANY = 100
POINTS = 100


def rows() -> Iterator[Row]:
    """Yield decisions a second, the time of one game in many worlds, and the loss of the judge."""
    policy = own_network().scores_in
    deals = random_deals(GAMES, np.random.default_rng(1))
    own = play(deals, lambda games: pick(games, policy))
    for games, worlds, asked in ((GAMES, WORLDS, "800"), (1, WORLDS, ""), (1, MANY, "")):
        seconds, count = zip(
            *(measure(deals[:games], own[:games], worlds) for _ in range(ROUNDS)), strict=True
        )
        many = f"{games} games together" if games > 1 else "one game"
        what = f"decisions/s, {worlds} worlds, {many}"
        yield Row(what, f"{count[0] / min(seconds):,.0f}", "", asked)
    yield Row(f"one game in {MANY} worlds, s", f"{min(seconds):.2f}", "", "about 1")
    luck = [np.random.default_rng([2, game]) for game in range(GAMES)]

    def choose(games: Lockstep) -> Any:
        masks, some = games.legal() > 0, np.flatnonzero(~games.over)
        hands = draw_hands(games, some, [luck[game] for game in some.tolist()], WORLDS // 2)
        chances = find_chances(games.select(some), masks[some], hands, policy, values_after)
        actions = np.zeros(games.count, np.intp)
        actions[some] = best_legal(chances.sum(axis=2), masks[some])
        return actions

    for who, actions in (("apprentice", own), ("the judge's choice", play(deals, choose))):
        found = judged(deals, actions, WORLDS)
        naive = [one.chances.max(axis=1) - one.chances[_rows(one), one.action] for one in found]
        for how, parts in (("split", [one.loss for one in found]), ("best less played", naive)):
            losses = POINTS / WHOLE * np.concatenate(parts)
            error = losses.std() / len(losses) ** 0.5
            what = f"loss of {who}, {WORLDS} worlds, {how}: points of 100"
            yield Row(what, f"{losses.mean():.2f} +- {error:.2f}")


def measure(deals: Any, actions: Any, worlds: int) -> tuple[float, int]:
    """Return the seconds of the processor for some games, and how many decisions they have."""
    start = process_time()
    found = judged(deals, actions, worlds)
    return process_time() - start, sum(len(one.game) for one in found)


def judged(deals: Any, actions: Any, worlds: int) -> list[Decisions]:
    """Return all decisions of some games, judged by apprentice."""
    lucks = [np.random.default_rng(game) for game in range(len(deals))]
    wanted = np.ones(actions.shape, np.bool_)
    policy = own_network().scores_in
    return [*judge(deals, actions, wanted, lucks, worlds, policy, values_after)]


def play(deals: Any, choose: Any) -> Any:
    """Return the actions (game, ply) of games that a function plays; NOTHING after the end."""
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    actions = np.full((len(deals), STANDARD.game_plies), NOTHING, np.uint8)
    for of_ply in actions.T:
        live = ~games.over
        chosen = choose(games)
        of_ply[live] = chosen[live]
        games.step(chosen)
    return actions


def _rows(one: Decisions) -> Any:
    return np.arange(len(one.game))
