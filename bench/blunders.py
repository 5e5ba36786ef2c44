"""Whether listed blunders are blunders: one judge against the other, and both against games.

`python -m bench.blunders calibrate RUN` judges 200 decisions of a run, drawn by a seed, by both
judges, and prints by round which error of the first one makes 95 % of its intervals hold the
second one's loss (`arena.tournament.asking.ROLLOUTS`).

`python -m bench.blunders truth RUN FILE` reads the `worst` of `arena analyse RUN --json` in FILE.
It plays games on from each decision to their end, after the action played and after the better one,
with the same hands and deals: both seats by `champion`. The opponent's hands are weighted by what
the bot that sat there does, or by a model fitted to its moves where no policy is known. The
costliest mistakes of all bots come first. A line for each decision goes to FILE.truth, and what is
there is not played again. Then it prints how often signs agree and intervals hold, and the error of
the second judge by round (`SEARCHES`).
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from arena.batch.beliefs import Belief, Model
from arena.entries.resolve import resolve
from arena.replays.finished_game import Game
from arena.replays.timeline import DISPUTED
from arena.runs.judge_games import find_judge, fit_models
from arena.store.reader import Choice, chosen_games, read_run
from arena.tournament.asking import PARTS, ROLLOUTS, SEARCHES, Habit, Judged, Recorded
from arena.tournament.config_keys import JUDGE, LEAST_WORLDS, SECOND, WORLDS
from bots.champion import Champion
from bots.grandmaster import Grandmaster
from engine import STANDARD, Pack, Setup, State, View, outcome, sample
from engine.cards import CHARS, cards_of
from engine.notation import parse_actions, parse_deal
from engine.seeds import address, digest, stream
from engine.view import view

SEED: Final = 51
POSITIONS: Final = 200
ITERATIONS: Final = 150  # of champion, in the games that are played on
LEAST, MOST = 24, 80  # pairs of games
SURE = 3.0  # standard errors at which no more are played
Z95: Final = 1.96
NOTHING: Final = 0.0005  # what a page rounds off


def games_of(run: Path) -> dict[str, Game]:
    """Return the games of a run by name."""
    tournament, store = read_run(run)
    with closing(store):
        found = chosen_games(tournament, store, Choice())
        return {fixture.name: game for fixture, game in found if game.fault is None}


def calibrate(run: Path) -> None:
    """Print how far the first judge is from the second one, in decisions drawn by the seed."""
    rows: list[tuple[float, ...]] = []
    games, rng = games_of(run), stream(SEED, "calibrate")
    first, second = find_judge(JUDGE, WORLDS, SEED), find_judge(SECOND, LEAST_WORLDS, SEED)
    while len(rows) < POSITIONS:
        name = rng.choice([*games])
        record = games[name].record
        ply = rng.randrange(len(record.actions))
        game = Recorded(name, record.deal, record.actions, (ply,))
        one, two = (by.judge([game])[0] for by in (first, second))
        if one:  # not a forced decision
            rows.append((*_loss(one[0], ROLLOUTS), *_loss(two[0], SEARCHES), _round(ply)))
            print(*rows[-1], file=sys.stderr)
    loss, error, truth, _, number = np.array(rows).T
    _print_errors(number, loss - truth, error)


def _loss(one: Judged, own: tuple[int, ...]) -> tuple[float, float]:
    """Return the loss and its error without that of the judge."""
    sampled = max(0, one.error**2 - own[_round(one.ply) - 1] ** 2)
    return one.loss / PARTS, sampled**0.5 / PARTS


def _round(ply: int) -> int:
    return ply // STANDARD.round_plies + 1


def _print_errors(number: Any, off: Any, sampled: Any) -> None:
    """Print by round which error of a judge makes 95 % of the intervals hold."""
    print("round decisions  mean off  95 % without  own error  95 % with")
    for part in np.unique(number).tolist():
        some = number == part
        more = own_error(off[some], sampled[some])
        without, held = (_held(off[some], sampled[some], own).mean() for own in (0, more))
        print(f"{part:>5} {some.sum():>9} {off[some].mean():>+9.3f} {without:>13.3f}", end="")
        print(f" {more:>10.3f} {held:>10.3f}")


def _held(off: Any, sampled: Any, own: float) -> Any:
    return np.abs(off) <= Z95 * np.hypot(sampled, own) + NOTHING


def own_error(off: Any, sampled: Any) -> float:
    """Return the standard error that, beside the sampled ones, makes 95 % of intervals hold."""
    steps = np.arange(0, 1, 0.001)
    return float(next(own for own in steps if _held(off, sampled, own).mean() >= 0.95))


def truth(run: Path, listed: Path) -> None:
    """Play games on from each listed decision, and print what they say of the list."""
    path = listed.with_suffix(".truth")
    lines = path.read_text().splitlines() if path.exists() else []
    known = {(row["game"], row["ply"]): row for row in map(json.loads, lines)}
    games = games_of(run)
    recorded = [Recorded(name, one.record.deal, one.record.actions) for name, one in games.items()]
    models = fit_models(recorded, [one.seats for one in games.values()])
    worst = json.loads(listed.read_text())["worst"]
    ranks = [sum(other["bot"] == row["bot"] for other in worst[:n]) for n, row in enumerate(worst)]
    order = sorted(range(len(worst)), key=lambda n: (worst[n]["mistake"] == DISPUTED, ranks[n]))
    for row in map(worst.__getitem__, order):
        place = row["game"], row["ply"]
        if place in known:
            continue
        seats = games[row["game"]].seats
        seen = view_at(games[row["game"]], row["ply"])
        belief = believe(seen, seats[seen.opponent], models[seats[seen.opponent]])
        wins = play_on(belief, seen, row["best"], row["action"], str(place))
        known[place] = row | {"true": wins.mean(), "true_error": _error(wins), "pairs": len(wins)}
        with path.open("a") as file:
            print(json.dumps(known[place]), file=file)
        print(*(known[place][name] for name in ("bot", "ply", "loss", "error", "true")), flush=True)
    report([*known.values()])


def view_at(game: Game, ply: int) -> View:
    """Return the view of the seat to act at a ply."""
    state = State(parse_deal(game.record.deal, STANDARD), STANDARD)
    state.follow(parse_actions(game.record.actions[:ply]))
    return view(state, state.to_act)


def play_on(belief: Belief, seen: View, better: str, played: str, name: str) -> Any:
    """Return what the better action brought more than the one played, in each pair of games."""
    sums = [*accumulate(belief.weights.tolist())]
    gains: list[float] = []
    while len(gains) < MOST:
        seed = digest(address(SEED, "truth", name, len(gains)))
        world = draw(seen, belief.hands, sums, Random(seed))
        one, other = (_play(world, CHARS.index(action), seed) for action in (better, played))
        gains.append(one - other if seen.seat == 0 else other - one)
        done = np.array(gains)
        if len(gains) >= LEAST and abs(done.mean()) > SURE * _error(done):
            break
    return np.array(gains)


def _error(wins: Any) -> float:
    """Return a standard error, above 0 also where all pairs were the same."""
    return float(max(wins.std(ddof=1) / len(wins) ** 0.5, 1 / len(wins)))


def believe(seen: View, opponent: str, model: Habit) -> Belief:
    """Return the belief about the opponent's hand by the policy of the bot that sits there.

    A bot without a policy plays as its `model` says.
    """
    own = Setup(Random(0), seen.seat, STANDARD)
    policy = getattr(resolve(opponent).load()(own), "scores", None)
    judge = Grandmaster(own)
    if model:
        judge.expect(dict(model))
    belief = Belief([Model(policy)]) if policy else judge.belief
    belief.update(seen)
    return belief


def draw(seen: View, hands: list[Pack], sums: list[float], rng: Random) -> State:
    """Return a world with a hand of the opponent by its weight, and the other cards at random."""
    world = sample(seen, rng)
    (hand,) = rng.choices(hands, cum_weights=sums)
    rest = [*cards_of(seen.unseen - hand)]
    rng.shuffle(rest)
    world.hands[seen.opponent] = hand
    end = len(rest) - STANDARD.removed
    world.deck, world.removed = bytes(rest[:end]), bytes(rest[end:])
    return world


def _play(world: State, action: int, seed: int) -> float:
    """Return the result of seat 0 if champion plays on for both seats after an action."""
    state = world.copy()
    state.apply(action)
    luck = [Setup(Random(seed + seat), seat, STANDARD) for seat in (0, 1)]
    bots = [Champion(setup, iterations=ITERATIONS) for setup in luck]
    while not state.over:
        seen = view(state, state.to_act)
        only = seen.legal[0] if len(seen.legal) == 1 else None
        state.apply(bots[state.to_act].choose(seen) if only is None else only)
    winner = outcome(state.piles, STANDARD).winner
    return 0.5 if winner is None else 1.0 - winner


def report(rows: list[dict[str, Any]]) -> None:
    """Print how often the sign of a listed loss is that of the games, and the intervals hold."""
    loss, error, true, sampled, ply = (
        np.array([row[name] for row in rows])
        for name in ("loss", "error", "true", "true_error", "ply")
    )
    listed = np.array([row["mistake"] != DISPUTED for row in rows])
    for what, some in (("listed", listed), ("disputed", ~listed)):
        right, wrong = (true > 0)[some].sum(), (true < -Z95 * sampled)[some].sum()
        print(f"{what}: {some.sum()}, {right} with a gain in the games, {wrong} surely without")
    own = np.array([SEARCHES[_round(each) - 1] / PARTS for each in ply])
    plain = np.sqrt(np.maximum(error**2 - own**2, 0))
    held = _held(loss - true, np.hypot(error, sampled), 0)
    met = np.array([({*row["game"].split("/")[:2]} - {row["bot"]}).pop() for row in rows])
    for opponent in np.unique(met).tolist():
        some = listed & (met == opponent)
        print(f"against {opponent}: {some.sum()} listed, {(true > 0)[some].sum()} right, ", end="")
        print(f"{held[some].sum()} intervals hold")
    print("listed, mean said and in the games:", loss[listed].mean(), true[listed].mean())
    _print_errors(np.array([_round(each) for each in ply]), loss - true, np.hypot(plain, sampled))


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    if what == "calibrate":
        calibrate(Path(paths[0]))
    else:
        truth(Path(paths[0]), Path(paths[1]))
