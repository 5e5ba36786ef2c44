"""Play rogues in a lane, and print what became of each.

`python -m tests.lanes.escapes LANE NAME...`; or `... looks LANE SPEC NEED...`, which starts a
program instead, and prints why it was not ready; or `... framed WORKERS SPEC SPEC`, which plays two
bots against each other in the lane process, and prints their games and faults.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import RunLog
from arena.executors.worker import Worker
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from arena.tournament.plan import Chunk, Plan
from arena.tournament.schedule import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules
from tests import rogues

LIMITS = Limits(decision=60.0, start=60.0, memory=256)


def play(name: str, lane: str) -> tuple[str, str]:
    """Return the kind of a rogue's first fault and its message, empty without a fault."""
    entries = [rogues.rogue(name, lane), resolve("uniform")]
    tournament = Tournament("escapes", 0, 1, entries, STANDARD, LIMITS)
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(tournament, Path(folder))
        worker.single.add(name)
        played = worker.play(Chunk(0, 0, 1, seats=(0,)))
        faults = [game.fault for game in played.results if game.fault]
        worker.close()
    return (faults[0].kind, faults[0].message) if faults else ("", "")


def look(spec: str, lane: str, needs: list[str]) -> str:
    """Return why a program is not ready, empty if it is."""
    try:
        entry = resolve(spec, lane=lane, needs=needs)
        with (
            tempfile.TemporaryDirectory() as folder,
            bot_process(entry, STANDARD, LIMITS, Path(folder)) as process,
        ):
            process.start()
    except (Forfeit, InputError) as error:
        return str(error)
    return ""


SHORT = Rules.from_changes({"rounds": 1, "hand_size": 3, "removed": 37})


def play_pair(workers: int, specs: Sequence[str]) -> dict[str, Any]:
    """Play a pair of short games, in which nobody is out, and return the games and the faults."""
    entries = [resolve(spec, lane="process") for spec in specs]
    tournament = Tournament("framed", 0, 1, entries, SHORT, Limits(memory=256))
    (pairing,) = tournament.pairings
    plan = Plan([[range(1)]], Strikes([pairing], 1, most=sys.maxsize))
    games, faults = [], []
    for played in LocalExecutor(workers).play(plan, tournament, RunLog([])):
        plan.learn(played)
        for game in played.results:
            games.append((game.pair, game.seat, game.actions))
            if game.fault:
                faults.append((pairing[game.winner == 0], game.fault.kind, game.fault.message))
    return {"games": sorted(games), "faults": faults}


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    if what == "looks":
        print(json.dumps([look(words[1], words[0], words[2:])]))
    elif what == "framed":
        print(json.dumps(play_pair(int(words[0]), words[1:])))
    else:
        print(json.dumps({name: play(name, what) for name in words}))
