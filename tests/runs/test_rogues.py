"""Whatever a rogue does, only the rogue loses games, and no process or file is left."""

from __future__ import annotations

import json
import os
import select
import shlex
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil
import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.lanes.jail_support import find_bubblewrap, find_pid_namespaces
from arena.lanes.limits import Limits
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament.schedule import Meeting
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests import rogues
from tests.conftest import run_here
from tests.kit import assert_none_is_left, csv_rows
from tests.tiers import few

Row = dict[str, str]
SHORT = Limits(decision=0.5, start=3.0, backstop=1.0, memory=256)
WORK = Limits(decision=0.5, memory=256)  # its backstop is far away
NO_START = Limits(decision=0.5, start=0.5, backstop=1.0, memory=256)
LONG = Limits(decision=10.0, start=10.0, memory=256)
HONEST = ("greedy", "uniform", "majority")
LANES = ("inproc", "process", "jail")


def alike(lanes: int, **names: str) -> dict[str, tuple[str, ...]]:
    """Return rogues that have the same kind of fault in each lane; `none` is no fault."""
    kinds = {kind: ("" if kind == "none" else kind,) * lanes for kind in names}
    return {name: kinds[kind] for kind, some in names.items() for name in some.split()}


IMPORTING = (
    "no_bot not_python raises_in_import exits_in_import dies_in_import loops_in_import "
    "fails_late_in_import"
)
UNREADY = (
    "says_exits_at_once says_nothing_at_all says_rubbish_at_once says_not_ready "
    "says_error_at_once unknown_program"
)
EXPECTED = {
    # label: the kind of the fault in the lanes inproc, process and jail, "" for no fault
    **dict.fromkeys(rogues.ILLEGAL, ("illegal",) * 3),
    **dict.fromkeys(rogues.RAISING, ("exception",) * 3),
    **alike(
        3,
        **{"import": IMPORTING},
        # the parent of kills_parent is out of reach
        timeout="late loops sleeps swallows stops kills_parent bends_in_thread",
        exception="chooses_nothing raises_in_construction varies",
        crash="exits_at_once kills_itself crashes kills_group hoards forks forks_away "
        "closes_descriptors",
        memory="allocates",
        # what those that read find in a worker is not there a second time
        none="leaves_process leaves_hidden_process prints closes_stdout reads_frames reads_gc "
        "reads_opponent reads_run_folder litters reseeds mutates",
    ),
    "bends_clock": ("", "timeout", "timeout"),
    "bends_in_child": ("", "timeout", "timeout"),  # a worker's child ends at once
    "bends_in_grandchild": ("", "timeout", "timeout"),
    "bends_in_ignored_children": ("",) * 3,  # the seconds of `idle` bound what it gains
    "connects": ("exception", "exception", ""),
    "breaks_log": ("", "protocol", "protocol"),
}
SAID = alike(
    2,
    **{"import": UNREADY},
    timeout="says_never_reads says_half_a_line says_nothing",
    illegal="says_talks_without_reading says_illegal says_long_action",
    protocol="says_rubbish says_not_utf8 says_a_list says_deep says_100_mb says_twice "
    "says_wrong_id says_no_action",
    exception="says_error",
    memory="says_memory",
    crash="says_exits says_closes_stdout",
    none="says_100_mb_of_errors says_other_moves_later",
)
"""The same of programs, in the lanes process and jail."""
WITHOUT_NAMESPACES = {"kills_parent": "crash", "reads_run_folder": "exception"}
"""What the lane process makes of rogues where it has no pid namespaces; second tries, too."""
BEGINNING = {"raises_in_construction", "says_never_reads"}
"""Rogues with a fault before their first decision, like those that cannot be imported."""
NEVER_READY = {"loops_in_import", "says_nothing_at_all"}
"""Rogues that are never ready for a game."""
LATER = {
    **dict.fromkeys(("says_twice", "says_talks_without_reading"), 2),
    **dict.fromkeys(("says_nothing", "says_half_a_line"), 2),
    **{name: 2 for name, spec in rogues.ROGUES.items() if spec.startswith("dies.py")},
}
"""Rogues with a fault this many plies after their first decision."""


def no_jail() -> str:
    """Return why this machine has no jail, empty if it has one."""
    try:
        find_bubblewrap()
    except InputError as error:
        return str(error)
    return ""


NO_JAIL = no_jail()
if find_pid_namespaces() is None:
    for _name, _kind in WITHOUT_NAMESPACES.items():
        EXPECTED[_name] = (_kind, _kind, EXPECTED[_name][2])
needs_jail = pytest.mark.skipif(bool(NO_JAIL) and "CI" not in os.environ, reason=NO_JAIL)


OF_A_LANE = {
    "inproc": {*("forks", "kills_group", "hoards", "breaks_log", "closes_descriptors", "sleeps")},
    "process": {
        *("answers_99", "says_error", "says_exits_at_once", "says_nothing", "forks", "allocates"),
        *("says_rubbish", "says_talks_without_reading", "leaves_hidden_process", "litters"),
        *("kills_parent", "bends_clock", "says_100_mb"),
    },
    "jail": {
        *("answers_99", "raises_in_construction", "raises_in_import", "sleeps", "forks_away"),
        *("allocates", "breaks_log", "reads_run_folder", "leaves_hidden_process", "connects"),
        *("kills_parent", "bends_in_grandchild"),
    },
}
"""Rogues of every kind of fault, and those that are most dangerous in a lane."""
QUICK = {
    *("answers_99", "raises_boom", "raises_in_import", "exits_at_once"),
    *("allocates", "varies", "reads_frames", "leaves_process"),
}
"""Rogues of every kind of fault in a worker, but for those that are silent until a limit.

They play in one quick tournament. What answers, pipes and limits do to a fault in the other lanes
is quick in tests/lanes and tests/tournament. In `make test-all` the most dangerous rogues of each
lane play in one tournament for each limit. In `make study` all do so.
"""
SILENT = "kills_parent"
"""The rogue of which nothing is heard until a limit and which is quick by itself."""


def met(folder: Path, others: Sequence[Entry], limits: Limits = LONG) -> Path:
    """Let `uniform` meet each of some bots, as if they were alone, and return the folder."""
    bots = [resolve("uniform"), *others]
    meetings = [[Meeting("uniform", other.label, 1) for other in others]]
    tournament = Tournament("rogues", 7, 1, bots, STANDARD, limits, meetings=meetings)
    run(tournament, LocalExecutor(1), RunFolder(folder), QUIET)
    return folder


@cache
def games_of_first(*labels: str) -> list[Row]:
    """Return the games of honest bots with these labels that play the first legal action."""
    with tempfile.TemporaryDirectory() as folder:
        bots = [rogues.first(label, "inproc") for label in labels]
        return csv_rows(met(Path(folder), bots) / "games.csv")


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder; no file may be left in its `here` and `tmp`, and no process."""
    rogues.spec("no_bot")  # the first short one writes all of them, and not in this folder
    before = set(psutil.Process().children(recursive=True))
    with tempfile.TemporaryDirectory(prefix="rogues-") as name:
        folder = Path(name)
        for part in ("here", "tmp"):
            (folder / part).mkdir()
        monkeypatch.chdir(folder / "here")
        monkeypatch.setattr(tempfile, "tempdir", str(folder / "tmp"))
        yield folder
        monkeypatch.undo()
        assert_none_is_left(name)
        assert list((folder / "here").iterdir()) == []
        assert list((folder / "tmp").iterdir()) == []
        after = psutil.Process().children(recursive=True)
        for process in set(after) - before:
            assert is_dead(process), process


def is_dead(process: psutil.Process) -> bool:
    """Return whether a process has ended, reaped or not."""
    with suppress(psutil.Error):
        return process.status() == psutil.STATUS_ZOMBIE
    return True


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Yield a socket that listens on a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def check_evidence(row: Row) -> None:
    """Check that a fault's evidence is printable and within the documented lengths."""
    assert row["message"]
    assert row["message"].isprintable()
    assert len(row["message"]) <= 200
    for evidence in (row["traceback"], row["output"]):
        assert evidence.isprintable()
        assert len(evidence) <= 2100  # 2,000 characters, and " | " for each line's end
    assert 'arena/executors/worker.py"' not in row["traceback"]


def check_guilty(games: list[Row], faults: list[Row], name: str, kind: str) -> None:
    """Check that a rogue has lost both games with this kind of fault, at the right ply."""
    # on a busy machine the limit of memory can be seen before the process ends by it
    known = {kind, "memory"} if name == "hoards" else {kind}
    assert len(faults) == 2
    assert {row["kind"] for row in faults} <= known, faults
    for game, fault in zip(games, faults, strict=True):
        check_evidence(fault)
        assert fault["bot"] == name
        assert (game["winner"], game["win_type"]) == ("uniform", "forfeit")
        assert game["fault"] == fault["kind"]
        assert fault["ply"] == game["plies"]
        first_decision = 1 - int(game["seat"])  # uniform's seat
        if kind == "import" or name in BEGINNING:
            assert int(fault["ply"]) == 0
        elif name == "hoards":  # the ply at which its own process runs out of memory varies
            assert int(fault["ply"]) >= first_decision
        else:
            assert int(fault["ply"]) == first_decision + LATER.get(name, 0)


def check_command(row: Row, place: Path) -> None:
    """Check that the printed command plays the game to the same fault."""
    done = run_here(place, *shlex.split(row["command"])[1:])
    fault = json.loads(done.stdout)["fault"]
    known = {"memory", "crash"} if row["bot"] == "hoards" else {row["kind"]}
    assert fault["bot"] == row["bot"]
    assert fault["kind"] in known
    assert fault["ply"] == int(row["ply"]) or row["bot"] == "hoards"


def test_every_rogue_has_its_expected_fault_in_a_table() -> None:
    """The tables above name all rogues of the gallery, and no other."""
    assert set(EXPECTED) == set(rogues.ROGUES)
    assert set(SAID) == set(rogues.COMMANDS)


def kinds_in(lane: str) -> dict[str, str]:
    """Return the kind of fault of every rogue of a lane, "" for none."""
    number = LANES.index(lane)
    kinds = {name: of_lanes[number] for name, of_lanes in EXPECTED.items()}
    return kinds if lane == "inproc" else kinds | {n: said[number - 1] for n, said in SAID.items()}


def limits_of(name: str, kind: str) -> Limits:
    """Return the limits under which a rogue of this name and kind of fault plays."""
    if name.startswith("bends_"):
        return WORK
    if kind == "timeout" or name == "kills_parent":  # silence is detected after these limits
        return SHORT
    return NO_START if name in NEVER_READY else LONG


def params_of(name: str, mark: str, listener: socket.socket) -> dict[str, object]:
    """Return what a rogue is told."""
    if name.startswith("leaves_"):
        return {"mark": mark}
    return {"port": listener.getsockname()[1]} if name == "connects" else {}


def test_rogues_have_their_faults_in_one_quick_tournament(
    empty: Path, listener: socket.socket
) -> None:
    check_a_tournament(empty, listener, "inproc", sorted(QUICK), LONG)


def names_with(lane: str, limits: Limits) -> list[str]:
    """Return the rogues that play in a lane with these limits; one would spoil their worker."""
    kinds = kinds_in(lane)
    apart = ["bends_clock"] if lane == "inproc" else []
    return [name for name in kinds if name not in apart and limits_of(name, kinds[name]) == limits]


def groups(chosen: Mapping[str, Set[str]], mark: pytest.MarkDecorator) -> list[object]:
    """Return the chosen rogues of each lane in groups with the same limits."""
    found = {
        (lane, limits): [name for name in names_with(lane, limits) if name in chosen[lane]]
        for lane in LANES
        for limits in (LONG, SHORT, NO_START, WORK)
    }
    return [
        pytest.param(
            *(lane, limits, names),
            marks=[mark, *[needs_jail][lane != "jail" :]],
            id=f"{mark.name}-{lane}-{names[0]}",
        )
        for (lane, limits), names in found.items()
        if names
    ]


@pytest.mark.parametrize(
    ("lane", "limits", "names"),
    [
        *groups(OF_A_LANE, pytest.mark.slow),
        *groups({lane: kinds_in(lane).keys() for lane in LANES}, pytest.mark.study),
    ],
)
def test_rogues_of_a_lane_have_their_faults_in_one_tournament(
    empty: Path, listener: socket.socket, lane: str, limits: Limits, names: list[str]
) -> None:
    """And one command of faults.csv for each kind of fault shows the fault again."""
    faults = check_a_tournament(empty, listener, lane, names, limits)
    for fault in {fault["kind"]: fault for fault in faults}.values():
        check_command(fault, empty / "here")


def check_a_tournament(
    empty: Path, listener: socket.socket, lane: str, names: Sequence[str], limits: Limits
) -> list[Row]:
    """Check that each rogue loses by its fault and no other, and return the faults."""
    kinds = kinds_in(lane)
    bots = [rogues.rogue(name, lane, **params_of(name, str(empty), listener)) for name in names]
    folder = met(empty / "out", bots, limits)
    games, faults = csv_rows(folder / "games.csv"), csv_rows(folder / "faults.csv")
    for name in filter(kinds.__getitem__, names):
        own = [row for row in faults if name in row["game"].split("/")]
        check_guilty([row for row in games if row["opponent"] == name], own, name, kinds[name])
    honest = [name for name in names if not kinds[name]]
    as_honest = games_of_first(*honest) if honest else []
    assert [row for row in games if row["opponent"] in honest] == as_honest
    assert {row["bot"] for row in faults} == {*names} - {*honest}
    if "connects" in names:
        reached = bool(select.select([listener], [], [], 0)[0])
        assert reached == (lane != "jail")
    return faults


@pytest.mark.parametrize("pairs", few([4, 10], 0, 1))
def test_a_lane_changes_no_honest_game(empty: Path, pairs: int) -> None:
    """games.csv has the same bytes in every lane of this machine."""
    tables = set()
    for lane in LANES[: 2 if NO_JAIL and "CI" not in os.environ else 3]:
        bots = [resolve(name, lane=lane) for name in HONEST]
        tournament = Tournament("honest", 7, pairs, bots, STANDARD, LONG)
        run(tournament, LocalExecutor(1), RunFolder(empty / lane), QUIET)
        tables.add((empty / lane / "games.csv").read_bytes())
    assert len(tables) == 1


@pytest.mark.parametrize(
    ("name", "kind"), [(SILENT, "timeout"), pytest.param("bends_clock", "", marks=pytest.mark.slow)]
)
def test_a_rogue_by_itself_has_its_fault_and_leaves_nothing(
    empty: Path, name: str, kind: str
) -> None:
    """One that nobody hears of, and one that spoils the worker that it shares with others."""
    folder = met(empty / "out", [rogues.rogue(name, "inproc")], limits_of(name, kind))
    games, faults = csv_rows(folder / "games.csv"), csv_rows(folder / "faults.csv")
    if kind:
        check_guilty(games, faults, name, kind)
    else:
        assert (faults, games) == ([], games_of_first(name))
