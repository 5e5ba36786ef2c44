"""Any input is used, or refused with one printable line, in bounded work.

A function tries each kind of input, and a strategy makes some that is nearly right.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
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

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.executors.log import QUIET
from arena.lanes.evidence import Output
from arena.lanes.faults import Forfeit
from arena.lanes.host import Host, serve
from arena.lanes.limits import Limits
from arena.lanes.messages import Answer, End, New, encode, hello
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
from bots.uniform import bot
from engine import STANDARD, EngineError, Record, play_game
from engine.strategy import Clock
from tests.kit import HERE, forge

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
        assert json.dumps(judgement).isprintable()
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
    _resume(folder)
    return folder


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
    cup = Tournament("out", 0, 3, [resolve("uniform"), resolve("greedy")], STANDARD)
    run(cup, HERE, RunFolder(folder), QUIET)


def flip(place: int, value: int) -> Change:
    """Return a change of one byte of the store."""

    def change(folder: Path) -> None:
        content = bytearray((folder / "run.sqlite").read_bytes())
        if content:
            content[place % len(content)] ^= value
        (folder / "run.sqlite").write_bytes(content)

    return change


def cut(length: int) -> Change:
    return lambda folder: os.truncate(folder / "run.sqlite", length)


def execute(statement: str, *values: object) -> Change:
    """Return a change of the store by a statement, with checksums of what it holds then."""
    return lambda folder: forge(folder / "run.sqlite", statement, *values)


def manifest(text: str) -> Change:
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


_ODD_TEXTS = st.sampled_from(
    ["", "\0", "\ud800", "\udcff", "\x1b[31m", "\n", "é", "a" * 5000, "9" * 5000, "0x" + "f" * 4000]
)
_ODD_NUMBERS = st.sampled_from([-1, 0, 1, 2, 7, 2**31, 2**63, 10**400, -(2**64), 0.5, 1e308])
texts = st.text(st.characters(codec=None), max_size=20) | _ODD_TEXTS
plain = st.none() | st.booleans() | _ODD_NUMBERS | st.floats() | texts
values = st.recursive(
    plain,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(texts, inside, max_size=4),
    max_leaves=8,
)

_PIECES = (
    "bots: [uniform, greedy]\n", "bots:\n- uniform\n- bot: greedy\n  label: g\n  params: ",
    "pairs: 1\n", "pairs: ", "seed: ", "name: ", "rules: ", "limits: {decision: ", "lane: jail\n",
    "workers: 2\n", "max_faults: ", "&a ", "*a", "<<: *a\n",
    "[", "]", "{", "}", ", ", ": ", "- ", "? ", "| \n", "> \n", "'", '"', "\n", "  ", "#", "!", "%",
    "[*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]",
    "!!set ", "!!binary ", "!!timestamp ", "!!int ", "!!python/name:os.system ", "!<x>",
    "%YAML 1.1\n---\n", "---\n", "...\n",
    "59:59:59", "0o17", "0b1", ".inf", ".nan", "2001-01-01", "1_000", "~", "=", "<<",
    '"\\ud800"', '"\\0"', '"\\UFFFFFFFF"', '"\\x1b[31m"',
    "./none.py", "cmd:true", "greedy(patience=", "label=", "a.b", "human",
)  # fmt: skip
_pieces = st.lists(st.sampled_from(_PIECES) | texts, max_size=12).map("".join)
_documents = st.fixed_dictionaries(
    {"bots": st.just(["uniform", "greedy"]) | values, "pairs": st.just(1) | values},
    optional=dict.fromkeys(
        ("seed", "name", "workers", "rules", "lane", "limits", "max_faults"), values
    ),
).map(lambda document: json.dumps(document))  # JSON is YAML
configs = (_pieces | _documents).map(
    lambda text: text.encode("utf-8", "surrogatepass")
) | st.binary()

_SPEC_PIECES = (
    "greedy", "uniform", "human", "label", "=", "(", ")", "patience", "1.5", ",", "x", "cmd:",
    "true", "/dev/zero", "./none.py", "~", ".", "..", "/", "a.b", "[", "]", "{", "}", "'", '"',
    "\\", " ", "**", "lambda", "-", "+", "1j", "b''", "0x", "1e999", "None", "__init__", "os",
)  # fmt: skip
specs = st.lists(st.sampled_from(_SPEC_PIECES) | texts, max_size=12).map("".join) | st.builds(
    lambda piece, times: f"greedy(patience={piece * times}1)",
    st.sampled_from(["(", "-", "[", "1+", "~", "not ", "''", "()"]),
    st.sampled_from([1, 50, 150, 900, 3900]),
)

_GAMES = [play_game(bot, bot, seed=seed).record for seed in range(4)]
_names = st.sampled_from(["copies", "removed", "rounds", "take_size", "tiebreak", "x"])
_rules = st.dictionaries(_names, values, max_size=2)


def _record(game: Record, end: int, more: dict[str, object]) -> bytes:
    """Return the line of a game cut off after some plies, with some of its keys replaced."""
    return json.dumps({"deal": game.deal, "actions": game.actions[:end]} | more).encode()


_records = st.builds(
    _record,
    st.sampled_from(_GAMES),
    st.integers(0, 48),
    st.fixed_dictionaries({}, optional={"rules": _rules, "deal": values, "actions": values}),
)
records = st.lists(
    _records | st.binary() | _pieces.map(lambda t: t.encode("utf-8", "replace")),
    max_size=4,
).map(b"\n".join)

_COLUMNS = ("pairing", "pair", "seat", "winner", "win_type", "points", "plies", "fault", "actions")
_cells = (
    st.integers(-(2**63), 2**63 - 1)
    | st.sampled_from([-1, 0, 1, 2, 3, 0.5, 2**31, None, "", "x", "T", b"", b"\xff", "max_faults"])
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
)
_rows = st.builds(
    lambda column, value, pair: execute(
        f"UPDATE games SET {column} = ? WHERE pair = ?", value, pair
    ),
    st.sampled_from(_COLUMNS),
    _cells,
    st.integers(0, 2),
)
_STATEMENTS = (
    *(f"DROP TABLE {table}" for table in ("games", "evidence", "run")),
    *(f"DELETE FROM {rows}" for rows in ("run", "games", "games WHERE pair = 1")),
    "CREATE TABLE more (a)",
    "CREATE INDEX more ON games (pair)",
    "CREATE VIEW more AS SELECT 1",
    "CREATE TRIGGER more AFTER INSERT ON games BEGIN DELETE FROM games; END",
    "ALTER TABLE games RENAME COLUMN plies TO plays",
    "INSERT INTO run VALUES ('more', 'x', 0)",
    "INSERT INTO evidence VALUES (0, 0, 0, x'ff', 5, x'00', 0)",
    "UPDATE run SET value = zeroblob(20000000)",
    "UPDATE games SET fault = CAST(x'ff' AS TEXT)",
    *("PRAGMA user_version = 1", "PRAGMA application_id = 0"),
    *("PRAGMA writable_schema = ON", "PRAGMA journal_mode = DELETE"),
)
_KEYS = ("name", "seed", "pairs", "rules", "limits", "max_faults", "bots", "versions")
_paths = st.sampled_from([(key,) for key in _KEYS]) | st.tuples(
    st.just("bots"),
    st.integers(0, 1),
    st.sampled_from(["label", "bot", "params", "lane", "sha256"]),
)
_changes: st.SearchStrategy[Change] = (
    st.builds(flip, st.integers(0, 1 << 16), st.integers(1, 255))
    | st.builds(cut, st.integers(0, 1 << 15))
    | _rows
    | st.sampled_from(_STATEMENTS).map(execute)
    | st.builds(edit, _paths, values)
    | (_pieces | values.map(json.dumps)).map(manifest)
)
stores = st.lists(_changes, min_size=1, max_size=3)

_fields = st.fixed_dictionaries(
    {"id": st.integers(0, 3) | values},
    optional=dict.fromkeys(Answer.__struct_fields__[1:], values),
)
answers = st.builds(
    lambda first, lines: b"\n".join([*first, *lines]),
    st.just([b'{"id":0,"ready":true}']) | st.just([]),
    st.lists(
        _fields.map(lambda answer: json.dumps(answer).encode())
        | st.just(b'{"id":1}')
        | st.binary()
        | st.sampled_from([b"", b"[" * 70_000, b'"' + b"x" * 70_000]),
        max_size=5,
    ),
)


TARGETS: dict[str, tuple[Any, Any, int]] = {
    "configs": (configs, try_config, 60),
    "specs": (specs, try_spec, 60),
    "records": (records, try_records, 40),
    "stores": (stores, try_store, 12),
    "answers": (answers, try_answers, 8),
}
"""Of each kind of input what makes it, what tries it, and how many are tried of one seed."""


def attempt(name: str, turn: int) -> int:
    """Try the inputs of a kind that a seed gives, and return how many there were."""
    tried, (strategy, target, most) = 0, TARGETS[name]

    every = list(HealthCheck)

    @seed(turn)
    @settings(max_examples=most, deadline=None, database=None, suppress_health_check=every)
    @given(strategy)
    def try_one(value: Any) -> None:
        nonlocal tried
        tried += 1
        with bounded():
            target(value)

    try_one()
    return tried


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_any_input_is_used_or_refused(name: str) -> None:
    """Configs, specs, records, stores of runs that go on, and what a program answers."""
    assert attempt(name, 0) >= TARGETS[name][2] // 2


@pytest.mark.study
@pytest.mark.parametrize("turn", range(1, 41))
def test_more_input_is_used_or_refused(turn: int) -> None:
    """Of each kind, from other seeds: some thousands."""
    assert all(attempt(name, turn) for name in TARGETS)


@given(st.lists(st.integers(1, 400), max_size=12))
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
def test_our_host_reads_lines_in_whatever_pieces_they_come(cuts: list[int]) -> None:
    """Each message has one answer, with its id."""
    entry = resolve("uniform")
    messages = [hello(entry, STANDARD, None)]
    for game in range(3):
        limits = {"seconds_per_decision": None, "seconds_per_game": None}
        messages += [New(game=game, seat=0, seed="0" * 32, **limits), End(game=game)]
    for number, message in enumerate(messages):
        message.id = number
    text = b"".join(map(encode, messages))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, tempfile.TemporaryFile() as answers:
        for piece in cuts:
            ours.send(text[:piece])
            text = text[piece:]
        ours.send(text)
        ours.shutdown(socket.SHUT_WR)
        serve(Host(Output()), theirs.fileno(), answers.fileno())
        answers.seek(0)
        lines = answers.read().splitlines()
    assert [line.partition(b",")[0].strip(b"}") for line in lines] == [
        b'{"id":%d' % number for number in range(len(messages))
    ]
