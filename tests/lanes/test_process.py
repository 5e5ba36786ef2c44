"""A bot in a process of its own sees and plays the same as in the worker's process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from unittest.mock import Mock

import pytest

from arena import processes
from arena.entries.layout import remove_tree
from arena.entries.resolve import resolve
from arena.executors.worker import Worker
from arena.lanes.evidence import Output
from arena.lanes.faults import Fault
from arena.lanes.host import Host
from arena.lanes.limits import Limits
from arena.lanes.messages import encode
from arena.lanes.meter import Held
from arena.lanes.process import BotProcess, bot_process
from arena.processes import (
    FOLDER_VARIABLE,
    Child,
    find_children,
    kill,
    kill_orphans,
    read_status,
    run_program,
    sweep,
)
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules, Setup, State, View
from engine.state import random_deal
from engine.strategy import Clock
from engine.view import view
from tests.positions import RULE_SETS
from tests.rogues import write
from tests.tiers import few
from tests.waiting import PATIENCE, until

PAIRS = 6
LIMITS = Limits(decision=5.0)


class Recorder:
    """A bot that keeps its setups and views."""

    seen: list[View]
    setups: list[Setup]

    def __init__(self, setup: Setup) -> None:
        self.setups.append(setup)

    def choose(self, seen: View, /) -> int:
        self.seen.append(seen)
        return seen.legal[-1]


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_a_view_is_the_same_after_its_way_through_the_protocol(rules: Rules) -> None:
    """Every field and the hash are equal, in games of every variant."""
    Recorder.seen, Recorder.setups = [], []
    host = Host(Output())
    host.bot, host.rules = Recorder, rules
    player = RemotePlayer(None, 3, 1, 0, Clock(1.0), Timing())
    luck = Random(5).getrandbits(128)
    new = {"type": "new", "game": 3, "seat": 1, "seed": f"{luck:032x}"}
    host.answer(new | {"seconds_per_decision": 2.5, "seconds_per_game": None})
    assert Recorder.setups[0].rng.random() == Random(luck).random()
    assert (Recorder.setups[0].seat, Recorder.setups[0].clock.decision) == (1, 2.5)
    expected = []
    rng = Random(1)
    for state in [State(random_deal(rng, rules), rules) for _ in range(3)]:
        while not state.over:
            seen = view(state, state.to_act)
            expected.append(seen)
            answer = host.answer(json.loads(encode(player.choose_message(seen))))
            assert answer["action"] == "5678234xyzCT"[seen.legal[-1]]
            state.apply(rng.choice(seen.legal))
    assert Recorder.seen == expected
    assert [hash(seen) for seen in Recorder.seen] == [hash(seen) for seen in expected]


def played(
    path: Path, folder: Path, together: bool, limits: Limits = LIMITS
) -> tuple[list[GameResult], list[Fault]]:
    """Return the games of a bot in its own process against uniform, and their faults."""
    entries = [resolve(str(path), label="bot"), resolve("uniform")]
    tournament = Tournament("test", 0, PAIRS, entries, STANDARD, limits)
    folder.mkdir()
    worker = Worker(tournament, folder)
    if not together:
        worker.single.add("bot")
    results = worker.play(Chunk(0, 0, PAIRS)).results
    worker.close()
    remove_tree(folder)
    return results, [game.fault for game in results if game.fault]


def test_many_games_at_once_are_played_as_one_by_one(tmp_path: Path) -> None:
    """The bot keeps a count of its decisions and a generator for each game."""
    body = (
        "self.count += 1\n"
        "assert self.count == len(view.history) // 2 + 1 or view.round > 1\n"
        "return self.rng.choice(view.legal)"
    )
    path = write(tmp_path, "counts", body, init="self.rng, self.count = setup.rng, 0")
    together = played(path, tmp_path / "together", together=True)
    assert together == played(path, tmp_path / "singly", together=False)
    assert together[1] == []


@pytest.mark.parametrize(
    ("ending", "kind"),
    few(
        [
            ("__import__('os')._exit(3)", "crash"),
            ("raise ValueError('boom')", "exception"),
            ("__import__('time').sleep(60)", "timeout"),
            ("bytearray(10**12)", "memory"),
        ],
        *(1, 1),
        unpack=True,
    ),
)
def test_of_many_games_at_once_only_the_guilty_ones_are_lost(
    tmp_path: Path, ending: str, kind: str
) -> None:
    """A process that dies ends all its games; the innocent ones are played again."""
    body = (
        "print('ply', len(view.history))\n"
        f"if self.lot < 0.25 and len(view.history) > 20: {ending}\n"
        "return view.legal[0]"
    )
    path = write(tmp_path, "dies", body, init="self.lot = setup.rng.random()")
    limits = Limits(decision=1.0, backstop=1.0, idle=999.0) if kind == "timeout" else LIMITS
    results, faults = played(path, tmp_path / "own", together=True, limits=limits)
    assert (results, faults) == played(path, tmp_path / "own", together=False, limits=limits)
    assert {fault.kind for fault in faults} == {kind}
    assert 0 < len(faults) < len(results) / 2
    for game, fault in zip([game for game in results if game.fault], faults, strict=True):
        first, *_, last = fault.output.splitlines()
        assert (first in ("ply 0", "ply 1"), last) == (True, f"ply {game.plies}")
        assert game.plies in (21, 22)


LOOKS = """
import os
held = {}
for name in os.listdir('/proc/self/fd'):
    try: held[name] = os.readlink('/proc/self/fd/' + name)
    except OSError: pass
assert len(set(held.values()) - {'/dev/null'}) == 3, held
assert all(v[:5] in ('pipe:', '/dev/') for v in held.values()), held
return view.legal[0]
"""


def test_a_bots_process_has_only_its_own_pipes(tmp_path: Path) -> None:
    """It has neither the log's queue nor the worker's pipe nor a file of the run."""
    results, faults = played(write(tmp_path, "looks", LOOKS), tmp_path / "folder", together=True)
    assert faults == []
    assert len(results) == 2 * PAIRS


def test_a_sweep_kills_only_the_folders_own_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those of bot-10, whose name begins with bot-1."""
    monkeypatch.setattr(processes, "_adopting", False)  # else it reaps them itself
    path = {"PATH": os.defpath}
    started = [
        subprocess.Popen(["sleep", "60"], env=path | {FOLDER_VARIABLE: str(tmp_path / name)})
        for name in ("bot-1", "bot-10", "bot-1/deep")
    ]
    try:
        sweep(tmp_path / "bot-1")
        ended = [process.wait(PATIENCE) for process in started[::2]]
        assert ended == [-signal.SIGKILL, -signal.SIGKILL]
        assert started[1].poll() is None
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_what_a_process_holds_is_read_once_it_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is only prepared is still importing; one that was killed begins again."""
    held = Mock(return_value=Held())
    monkeypatch.setattr(BotProcess, "held", held)
    entry = resolve("uniform", lane="process")
    with bot_process(entry, STANDARD, LIMITS, tmp_path) as process:
        process.prepare()
        first = process.pid
        process.count_games(1)
        assert not held.called
        process.start()
        assert process.pid == first
        process.count_games(1)
        assert held.called
        process.kill()
        process.start()
        assert process.pid not in (None, first)


@pytest.mark.parametrize("adopts", [False, True])
def test_only_who_adopts_orphans_takes_them_from_the_table_of_processes(
    monkeypatch: pytest.MonkeyPatch, adopts: bool
) -> None:
    """Others are not their parent, but wait for their ends, too."""
    monkeypatch.setattr("arena.processes._adopting", adopts)
    with subprocess.Popen(["sleep", "60"]) as orphan:
        assert kill([orphan.pid])
        assert (read_status(orphan.pid) == {}) == adopts
        assert orphan.wait() == (0 if adopts else -signal.SIGKILL)


def test_a_child_of_another_thread_is_no_orphan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several runs or checks go on, the first that ends kills what was left to it alone."""
    monkeypatch.setattr("arena.processes._adopting", True)
    others = find_children(os.getpid())
    with Child(["sleep", "60"]) as child, subprocess.Popen(["sleep", "60"]) as orphan:
        kill_orphans(others)
        assert orphan.wait() in (0, -signal.SIGKILL)  # 0: waited for already
        assert child.poll() is None
        assert child.end() == -signal.SIGKILL


def test_a_program_that_another_thread_asks_is_no_orphan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed `ldconfig -p` left out libraries of all jails, until the arena was started again."""
    monkeypatch.setattr("arena.processes._adopting", True)
    others, begun = find_children(os.getpid()), tmp_path / "begun"
    words = "sh", "-c", f"touch {begun}; sleep 0.5; echo said; echo why >&2; exit 3"
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(run_program, *words)
        until(begun.exists)
        kill_orphans(others)
        done = asked.result()
    assert (done.returncode, done.stdout, done.stderr) == (3, "said\n", "why\n")
    with pytest.raises(OSError, match=r"timed out after 0\.1 seconds"):
        run_program("sleep", "60", seconds=0.1)
    assert {*find_children(os.getpid())} <= {*others}


def test_the_end_of_a_child_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not looked for again and again; without descriptors of processes it is."""
    child = Child(["sleep", "0.05"])
    with monkeypatch.context() as patch:
        patch.setattr("time.sleep", None)
        assert child.wait(PATIENCE) == 0
    monkeypatch.delattr(os, "pidfd_open")
    child = Child(["sleep", "60"])
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.01)
    assert child.end() == child.end() == -signal.SIGKILL
