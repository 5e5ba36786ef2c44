"""Play two bots against each other in the lane process, and print what came of it.

`python -m tests.lanes.framed WORKERS SPEC SPEC` prints the actions of every game, and for each
fault the label of the bot, the kind and the message. The games have one round.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import RunLog
from arena.lanes.limits import Limits
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import Rules

PAIRS = 1
RULES = Rules.from_changes({"rounds": 1, "hand_size": 3, "removed": 37})


def play(workers: int, specs: Sequence[str]) -> dict[str, Any]:
    """Play a pair, in which nobody is out, and return the games and the faults."""
    entries = [resolve(spec, lane="process") for spec in specs]
    tournament = Tournament("framed", 0, PAIRS, entries, RULES, Limits(memory=256))
    (pairing,) = tournament.pairings
    plan = Plan([[range(PAIRS)]], Strikes([pairing], PAIRS, most=sys.maxsize))
    games, faults = [], []
    for played in LocalExecutor(workers).play(plan, tournament, RunLog([])):
        plan.learn(played)
        for game in played.results:
            games.append((game.pair, game.seat, game.actions))
            if game.fault:
                faults.append((pairing[game.winner == 0], game.fault.kind, game.fault.message))
    return {"games": sorted(games), "faults": faults}


if __name__ == "__main__":
    print(json.dumps(play(int(sys.argv[1]), sys.argv[2:])))
