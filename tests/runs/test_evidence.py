"""The evidence of faults is the same in every run, for any number of workers."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors.worker import Worker
from arena.lanes.scratch import scratch_folder
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests import rogues
from tests.runs.test_rogues import NO_JAIL, rows
from tests.waiting import PATIENCE

LANES = ("inproc", "process") if NO_JAIL and "CI" not in os.environ else rogues.LANES
VARIES = str(rogues.FOLDER / "varies.py")
BOTS = [
    "uniform",
    *({"bot": VARIES, "label": lane, "lane": lane, "params": {"what": "all"}} for lane in LANES),
    {"bot": rogues.spec("fails_late_in_import"), "label": "import", "lane": "inproc"},
]


def start(folder: Path, workers: int) -> subprocess.Popen[str]:
    """Start a run of these bots by the real command: its workers have their own hashes."""
    config = {"name": "cup", "seed": 5, "pairs": 4, "max_faults": 1000, "bots": BOTS}
    (folder / "cup.yaml").write_text(json.dumps(config | {"limits": {"decision": 60.0}}))
    words = ["run", "cup.yaml", "--quiet", "--out", str(workers), "--workers", str(workers)]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "arena", *words],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": str(workers)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.study
def test_faults_are_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    """faults.csv has the same bytes and the store the same rows, whatever bots raise and print."""
    runs = [start(tmp_path, workers) for workers in (1, 3)]
    for done in runs:
        _, errors = done.communicate(timeout=PATIENCE)
        assert (done.returncode, errors) == (0, "")
    tables, dumps = [], []
    for out in (tmp_path / "1", tmp_path / "3"):
        tables.append((out / "faults.csv").read_bytes())
        with closing(sqlite3.connect(out / "run.sqlite")) as database:
            dumps.append(list(database.iterdump()))
    assert tables[0] == tables[1]
    assert dumps[0] == dumps[1]
    check_ways(tmp_path / "1" / "faults.csv")


def check_ways(path: Path) -> None:
    """Check that all kinds of evidence occur, and that they are readable."""
    faults = rows(path)
    assert {row["kind"] for row in faults} == {"exception", "crash", "import"}
    texts = "".join(f"{row['message']}{row['output']}" for row in faults)
    for words in (
        "Addr object at 0x...>",
        "'<folder>/notes.txt'",
        "recursion depth exceeded",
        "too deep",
        "played like this for years",
        "by a child",
        "Thread-... (address)",
        "never pass silently",
    ):
        assert words in texts
    assert "the last of a game" not in texts


PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    answer = {"id": message["id"], "ready": True, "games": 16}
    if message["type"] == "choose":
        ply = len(message["history"])
        print("seat", message["seat"], "ply", ply, file=sys.stderr, flush=True)
        answer["action"] = message["legal"][0] if ply < 6 else "Q"
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.slow
def test_a_program_that_holds_many_games_shows_the_output_of_one(tmp_path: Path) -> None:
    """It is the same however many games the program held as it failed."""
    path = tmp_path / "holds.py"
    path.write_text(PROGRAM)
    words = shlex.join([sys.executable, str(path)])
    bots = [resolve("uniform"), resolve(f"cmd:{words}", label="program")]
    tournament = Tournament("cup", 3, 4, bots, STANDARD)
    results = []
    for chunks in ([Chunk(0, 0, 4)], [Chunk(0, pair, 1) for pair in range(4)]):
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            results.append([game for chunk in chunks for game in worker.play(chunk).results])
    assert results[0] == results[1]
    for game in results[0]:
        assert game.fault is not None
        assert game.fault.output.count("ply") == 4
