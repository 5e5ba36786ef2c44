"""The evidence of faults is the same in every run, for any number of workers."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

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
