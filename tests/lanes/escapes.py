"""Play rogues in a lane, and print what became of each.

`python -m tests.lanes.escapes LANE NAME...`; or `... looks LANE SPEC NEED...`, which starts a
program instead, and prints why it was not ready.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.worker import Worker
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from engine import STANDARD
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


if __name__ == "__main__":
    if sys.argv[1] == "looks":
        found = [look(sys.argv[3], sys.argv[2], sys.argv[4:])]
        print(json.dumps(found))
    else:
        print(json.dumps({name: play(name, sys.argv[1]) for name in sys.argv[2:]}))
