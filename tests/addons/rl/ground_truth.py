"""Ground truth: small games solved exactly, and how far policies are from the best.

`python -m tests.addons.rl.ground_truth` computes ground_truth.json again, in some minutes; with
names of variants, only these. It needs OpenSpiel. Each exploitability stands there twice: of
`arena.addons.rl.exact`, and of OpenSpiel.
"""

from __future__ import annotations

import json
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

from arena.addons.rl.exact import SMALL, Exact, Policy, estimate
from bots.greedy import bot as greedy
from bots.ismcts import bot as ismcts
from engine import Action, Rules, View

PATH = Path(__file__).parent / "ground_truth.json"

VARIANTS = {name: SMALL[name] for name in ("open", "points", "city", "rounds")}

SMALL_DECKS = {
    **VARIANTS,
    "three cards": Rules((2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 1, 1, 1, 1),
    "no opening row": Rules((1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0), 0, 2, 0, 2, 1),
    "one kind": Rules((7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 3, 1, 4, 1),
    "no supports": Rules((0, 0, 0, 0, 3, 2, 1, 2, 1, 0, 0), 1, 2, 0, 2, 2),
    "ten cards": Rules((1, 2, 1, 2, 1, 0, 0, 0, 1, 0, 2), 0, 4, 2, 7, 1, 2),
    "eleven cards": Rules((2, 2, 2, 1, 0, 1, 0, 1, 0, 1, 1), 0, 1, 1, 1, 5),
}
"""Of decks shorter than an observation's newest cards, and at that length. The numbers are copies,
removed, hand_size, opening_row, take_size, rounds, cities_needed."""

SAMPLES = 4
SEARCHES = {"open": 100, "points": 1000, "city": 1000, "rounds": 100}
"""The most iterations of a search in each variant."""


def uniform(seen: View) -> dict[Action, float]:
    """Return the policy of the bot `uniform`, without asking it."""
    return dict.fromkeys(seen.legal, 1 / len(seen.legal))


def search(rules: Rules, iterations: int) -> Policy:
    """Return how often the bare search plays each action: no exact ending, random playouts."""
    bot = partial(ismcts, iterations=iterations, playout="game", positions=0)
    return estimate(bot, rules, SAMPLES)


def policies(name: str) -> dict[str, Policy]:
    """Return the policies to be measured in a variant, by name."""
    rules = VARIANTS[name]
    made = {
        "uniform": uniform,
        "greedy": estimate(greedy, rules, 1),
        "ismcts": estimate(ismcts, rules, SAMPLES),
    }
    iterations = 10
    while iterations <= SEARCHES[name]:
        made[f"search {iterations}"] = search(rules, iterations)
        iterations *= 10
    return made


def spiel_exploitability(rules: Rules, policy: Policy, views: list[View]) -> float:
    """Return what OpenSpiel says of a policy."""
    from arena.addons.rl.spiel import pyspiel
    from arena.addons.rl.spiel_bots import table

    return float(pyspiel.exploitability(cached(rules), table(policy, views)))


@cache
def cached(rules: Rules) -> Any:
    """Return the game of OpenSpiel whose tree is kept in C++ once it has been seen."""
    from arena.addons.rl.spiel import load_game, pyspiel

    return pyspiel.load_game(f"cached_tree(game={load_game(rules)})")


def cfr(rules: Rules, iterations: int) -> dict[str, float]:
    """Return the value of the average policy of OpenSpiel's CFR+, and its exploitability."""
    from arena.addons.rl.spiel import pyspiel

    game = cached(rules)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    values = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
    far = pyspiel.exploitability(game, policy)
    return {"iterations": iterations, "value": values[0], "exploitability": far}


def measure(name: str) -> dict[str, Any]:
    """Return all that is known of a variant."""
    rules = VARIANTS[name]
    game = Exact(rules)
    rows = {}
    for label, policy in policies(name).items():
        rows[label] = {
            "exploitability": game.exploitability(policy),
            "openspiel": round(spiel_exploitability(rules, policy, game.views()), 9),
            "first": round(game.worst(0, policy), 9),
            "second": round(game.worst(1, policy), 9),
        }
        print(name, label, rows[label], flush=True)
    return {
        "rules": rules.changes(),
        "views": len(game.views()),
        "value": game.value,
        "cfr": cfr(rules, 300),
        "policies": rows,
    }


def main() -> None:
    """Write the file again, or the variants that are named."""
    for name in sys.argv[1:] or VARIANTS:
        measured = measure(name)
        truth = json.loads(PATH.read_text()) if PATH.exists() else {}
        truth[name] = measured
        ordered = {each: truth[each] for each in VARIANTS if each in truth}
        PATH.write_text(json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main()
