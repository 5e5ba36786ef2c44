"""Targets: each takes one input, and raises AssertionError where it is neither used nor refused."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from types import FrameType
from typing import Any

from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.executors.log import QUIET
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from arena.replays import judge_records
from arena.replays.finished_game import format_game
from arena.replays.judge_records import read_lines
from arena.runs.run import run
from arena.runs.verify import verify
from arena.store.folder import RunFolder
from arena.tournament import config
from arena.tournament.match import play_together
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD, EngineError
from engine.strategy import Clock
from tests.kit import HERE
from tests.stores import forge

MOST_CALLS = 3_000_000
"""Calls of Python functions that one input may cost: about a second."""

KINDS = {"import", "protocol", "crash", "timeout", "exception", "memory", "illegal"}

Change = Callable[[Path], None]


@contextmanager
def bounded() -> Iterator[None]:
    """Count the calls of Python functions, and fail where there are too many."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"
        assert calls <= MOST_CALLS, "too much work"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


@contextmanager
def one_line() -> Iterator[None]:
    """Accept an error of the arena whose message is one printable line, and nothing printed."""
    message = "none"
    with redirect_stderr(StringIO()) as errors:
        try:
            yield
        except ArenaError as error:
            message = str(error)
    assert message.isprintable(), message
    assert 0 < len(message) < 1000, message
    assert not errors.getvalue()


def try_config(content: bytes) -> None:
    """Read a config and resolve its bots, none of which is run."""
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file, one_line():
        file.write(content)
        file.flush()
        cup = config.read(Path(file.name))
        assert 1 <= cup.pairs <= 10**9
        entries = config.resolve_bots(cup)
        json.dumps([entry.describe() for entry in entries], ensure_ascii=False).encode()


def try_spec(text: str) -> None:
    """Resolve a spec; what it resolves to has an identity that can be written."""
    with one_line():
        entry = resolve(text)
        assert entry.label.isprintable()
        json.dumps(entry.describe(), ensure_ascii=False).encode()


def try_records(content: bytes) -> None:
    """Judge and show the records of a file."""
    for judgement in judge_records.judge(read_lines(BytesIO(content))):
        assert judge_records.to_text(judgement).isprintable()
        assert judge_records.to_json(judgement).isprintable()
    for line in read_lines(BytesIO(content)):
        with suppress(EngineError):
            for row in format_game(judge_records.parse_record(line), "deck"):
                assert row.isprintable()


def try_answers(content: bytes) -> None:
    """Play games with a program that prints this, whatever it is asked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        path.write_bytes(content)
        entry = resolve(f"cmd:cat {path}", label="answers")
        (Path(folder) / "own").mkdir()
        limits = Limits(decision=60.0, start=60.0)
        with bot_process(entry, STANDARD, limits, Path(folder) / "own") as process:
            for game in range(3):
                player = RemotePlayer(process, 0, 0, game, Clock(60.0), Timing())
                _ask(player)


def _ask(player: RemotePlayer) -> None:
    """Begin and end a game with a player; it answers, or a fault says what it has done."""

    def asked() -> Any:
        yield from player.begin()
        yield from player.end()

    try:
        play_together([asked()])
    except Forfeit as forfeit:
        kind, message, traceback, output = forfeit.fault
        assert kind in KINDS
        assert message.isprintable()
        assert len(message) <= 200
        assert len(traceback) <= 2000
        assert len(output) <= 2000
        assert all(char.isprintable() or char == "\n" for char in traceback + output)


@cache
def good_run() -> Path:
    """Return the folder of a finished run; no input changes it."""
    folder = Path(tempfile.mkdtemp(prefix="arena-fuzz-")) / "out"
    run(_cup(), HERE, RunFolder(folder), QUIET)
    return folder


@cache
def _cup() -> Tournament:
    return Tournament("out", 0, 3, [resolve("uniform"), resolve("greedy")], STANDARD)


def try_store(changes: Sequence[Change]) -> None:
    """Verify a run whose folder was changed, and go on with it."""
    for go_on in (_verify, _resume):
        with tempfile.TemporaryDirectory() as parent:
            folder = shutil.copytree(good_run(), Path(parent) / "out")
            for change in changes:
                with suppress(sqlite3.Error, OSError, OverflowError, UnicodeError):
                    change(folder)
            with one_line():
                go_on(folder)


def _verify(folder: Path) -> None:
    list(verify(folder, 2, HERE))


def _resume(folder: Path) -> None:
    run(_cup(), HERE, RunFolder(folder), QUIET)


def flip(place: int, value: int) -> Change:
    """Return a change of one byte of the store."""

    def change(folder: Path) -> None:
        content = bytearray((folder / "run.sqlite").read_bytes())
        if content:
            content[place % len(content)] ^= value
        (folder / "run.sqlite").write_bytes(content)

    return change


def cut(length: int) -> Change:
    """Return a change that leaves only the beginning of the store."""
    return lambda folder: os.truncate(folder / "run.sqlite", length)


def execute(statement: str, *values: object) -> Change:
    """Return a change of the store by a statement, with checksums of what it holds then."""
    return lambda folder: forge(folder / "run.sqlite", statement, *values)


def manifest(text: str) -> Change:
    """Return a change of the manifest's text in the store."""
    return execute("UPDATE run SET value = ?", text)


def edit(path: Sequence[str | int], value: object) -> Change:
    """Return a change of one value of the manifest; None as the value leaves it out."""

    def change(folder: Path) -> None:
        data = json.loads((good_run() / "manifest.json").read_text())
        place = data
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        if value is None:
            del place[path[-1]]
        manifest(json.dumps(data))(folder)

    return change
