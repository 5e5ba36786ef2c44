"""The files of a run: each is written by its own writer."""

from __future__ import annotations

import io
import json

from arena.differences.run_files import RunTables, timings_writer
from arena.entries.resolve import resolve
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.store.folder import INDEX, MANIFEST, TABLES, WINS
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.strategy import Spent

FAULT = Fault("exception", "boom")
RESULTS = [
    GameResult(0, 0, 0, "city", 3, 8, 20, None, ""),
    GameResult(0, 1, 1, "forfeit", 0, 0, 7, FAULT, ""),
]


def test_every_file_has_a_writer_of_its_own() -> None:
    """Each has its own first line and number of rows; one game is lost by a fault."""
    bots = [resolve("uniform"), resolve("greedy")]
    tournament = Tournament("cup", 7, 1, bots, STANDARD, Limits())
    store = Store(None)
    store.add(Played(Chunk(0, 0, 1), RESULTS, {}, 1.0))
    files = RunTables(tournament, store)
    assert set(files.writers) == {MANIFEST, INDEX, *TABLES}
    texts = {}
    for name, write in files.writers.items():
        file = io.StringIO()
        write(file)
        texts[name] = file.getvalue().splitlines()
    assert json.loads("".join(texts.pop(MANIFEST))) == tournament.manifest()
    assert texts.pop(INDEX)[0] == "# What each file is for"
    for name in WINS:
        assert texts.pop(f"{name}.csv")[0].split(",")[0] == "bot"
    assert {name: (lines[0].split(",")[:3], len(lines) - 1) for name, lines in texts.items()} == {
        "games.csv": (["bot", "opponent", "pair"], 2),
        "standings.csv": (["rank", "bot", "elo"], 2),
        "head_to_head.csv": (["bot", "opponent", "games"], 2),
        "win_types.csv": (["bot", "seat", "games"], 4),
        "verdicts.csv": (["bot", "opponent", "lead"], 1),
        "faults.csv": (["game", "bot", "kind"], 1),
    }
    assert list(files.standings["bot"]) == [
        line.split(",")[1] for line in texts["standings.csv"][1:]
    ]


def test_timings_have_a_file_too() -> None:
    """It has a row for each bot that has made a decision."""
    timing = Timing()
    timing.add(Spent(0.25, 0.25))
    file = io.StringIO()
    timings_writer({"b": timing}, ["a", "b"])(file)
    head, row = file.getvalue().splitlines()
    assert head.startswith("bot,decisions,")
    assert row.startswith("b,1,")
