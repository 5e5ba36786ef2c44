"""A bot's process that ends: from outside it costs nothing, by itself the game."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.doubts import Doubts
from arena.executors.worker import OneGame, Worker
from arena.games.match import Finished, GameResult
from arena.lanes import launch
from arena.lanes.faults import Ended, Fault
from arena.lanes.limits import Limits
from arena.lanes.meter import find_below
from arena.lanes.process import BotProcess
from arena.tournament.plan import Chunk
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import STANDARD, State
from engine.state import random_deal
from tests.rogues import write
from tests.tiers import few

PAIRS = 4
FIRST = Path(__file__).parents[1] / "rogues" / "first.py"
PROGRAM = Path(__file__).parents[2] / "docs" / "examples" / "plain.py"


def played(bot: Entry, folder: Path, pairs: int = PAIRS) -> list[GameResult]:
    """Return the games of a bot against uniform."""
    tournament = Tournament("test", 0, pairs, [bot, resolve("uniform")], STANDARD, Limits())
    folder.mkdir()
    with closing(Worker(tournament, folder)) as worker:
        return worker.play(Chunk(0, 0, pairs)).results


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[set[int]], list[int]]:
    """Return a function that has the process killed at some of its questions, and counts them."""

    def install(wanted: set[int]) -> list[int]:
        asked: list[int] = []
        ask = BotProcess.ask

        def killed(self: BotProcess, messages: object, allowed: object) -> object:
            asked.append(len(asked))
            if asked[-1] in wanted and self._process is not None:
                for pid in (*find_below(self._process.pid)[::-1], self._process.pid):
                    with suppress(ProcessLookupError):  # it ends with the others
                        os.kill(pid, signal.SIGKILL)
                self._process.wait()
            return ask(self, messages, allowed)  # type: ignore[arg-type]

        monkeypatch.setattr(BotProcess, "ask", killed)
        return asked

    return install


BOTS = {
    "python": lambda: resolve(f"bot={FIRST}", lane="process"),
    "program": lambda: resolve(f"bot=cmd:{shlex.quote(sys.executable)} {PROGRAM}"),
}


@pytest.mark.parametrize("name", BOTS)
def test_a_process_killed_from_outside_costs_no_game(
    tmp_path: Path, name: str, kill_at: Callable[[set[int]], list[int]]
) -> None:
    """Three kills: at its start, in a game, and in the game that is played again."""
    undisturbed = played(BOTS[name](), tmp_path / "undisturbed")
    asked = kill_at({0, 9, 20})
    assert played(BOTS[name](), tmp_path / "killed") == undisturbed
    assert [game.fault for game in undisturbed] == [None] * 2 * PAIRS
    assert len(asked) > 20


def test_a_process_that_ends_at_the_same_decision_again_is_at_fault(tmp_path: Path) -> None:
    """It is started and asked twice, and no more."""
    body = (
        "    def choose(self, view, /):\n"
        f"        open({str(tmp_path / 'count')!r}, 'a').write('x')\n"
        "        __import__('os')._exit(3)"
    )
    bot = resolve(str(write(tmp_path, "ends", body)), label="bot", lane="process")
    games = played(bot, tmp_path / "games", pairs=1)
    assert [game.fault and game.fault[:2] for game in games] == [
        ("crash", "ended with exit status 3")
    ] * 2
    assert (tmp_path / "count").read_text() == "xx" * 2


@pytest.mark.parametrize(("kills", "kinds"), [(4, []), (5, ["import"])])
def test_a_process_that_is_killed_at_one_decision_is_at_fault_at_the_fourth_time(
    tmp_path: Path, kill_at: Callable[[set[int]], list[int]], kills: int, kinds: list[str]
) -> None:
    """The first two kills hit the two tries of its first start, which count as one end."""
    kill_at({*range(kills)})
    games = played(BOTS["python"](), tmp_path / "killed", pairs=1)
    assert [game.fault.kind for game in games if game.fault] == kinds


@pytest.mark.slow
def test_a_process_that_ends_whenever_it_likes_is_at_fault(tmp_path: Path) -> None:
    """Each time at another decision; after some trials the game is lost."""
    count = tmp_path / "count"
    body = (
        "    def choose(self, view, /):\n"
        f"        count = len(open({str(count)!r}, 'a+').read())\n"
        "        if len(view.history) // 2 >= self.ply: __import__('os')._exit(3)\n"
        "        return view.legal[0]"
    )
    init = (
        f"file = open({str(count)!r}, 'a+'); file.write('x'); file.seek(0); "
        "self.ply = len(file.read())"
    )
    bot = resolve(str(write(tmp_path, "ends", body, init)), label="bot", lane="process")
    games = played(bot, tmp_path / "games", pairs=1)
    kinds = [game.fault.kind for game in games if game.fault]
    assert kinds[:1] == ["crash"]
    assert len(count.read_text()) < 40


def test_a_process_that_cannot_start_is_started_twice(tmp_path: Path) -> None:
    """A kill from outside may have hit its start."""
    count = tmp_path / "count"
    path = tmp_path / "ends.py"
    path.write_text(f"open({str(count)!r}, 'a').write('x')\n__import__('os')._exit(3)\n")
    bot = resolve(str(path), label="bot", lane="process")
    games = played(bot, tmp_path / "games", pairs=1)
    assert [game.fault and game.fault.kind for game in games] == ["import"] * 2
    assert 4 <= len(count.read_text()) <= 6


@pytest.mark.slow
def test_a_second_try_knows_nothing_of_the_first(tmp_path: Path) -> None:
    """Neither from its process, which is a new one, nor from the folder it may write to."""
    body = (
        "    def choose(self, view, /):\n"
        "        import os, pathlib\n"
        "        diary = pathlib.Path(os.environ['HOME'], 'diary')\n"
        "        assert not diary.exists()\n"
        "        diary.write_text('I was here')\n"
        "        os._exit(3)"
    )
    bot = resolve(str(write(tmp_path, "diary", body)), label="bot", lane="process")
    games = played(bot, tmp_path / "games", pairs=1)
    assert [game.fault and game.fault.kind for game in games] == ["crash"] * 2


def test_a_refusal_is_a_fault_though_its_game_is_played_again(tmp_path: Path) -> None:
    """It is for the evidence, where a program holds other games; the new process is honest."""
    mark = tmp_path / "mark"
    program = tmp_path / "twice.py"
    program.write_text(TWICE.format(mark=str(mark)))
    bot = resolve(f"bot=cmd:{shlex.quote(sys.executable)} {program}")
    games = played(bot, tmp_path / "games")
    assert [game.fault.kind for game in games if game.fault] == ["exception"]


TWICE = """\
import json, pathlib, sys
mark = pathlib.Path({mark!r})
for line in sys.stdin:
    message = json.loads(line)
    answer = {{"id": message["id"]}}
    if message["type"] == "hello":
        answer |= {{"ready": True, "games": 64}}
    elif message["type"] == "choose":
        answer["action"] = message["legal"][0]
        if message["game"] == 1 and len(message["history"]) > 20 and not mark.exists():
            mark.touch()
            print("again", file=sys.stderr, flush=True)
            answer = {{"id": message["id"], "error": "again"}}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bots of the lane process see each other, as on a machine without bubblewrap."""
    monkeypatch.setattr(launch, "find_pid_namespaces", lambda: None)


KILLS = """\
    def choose(self, view, /):
        import os, pathlib
        if len(view.history) > 3:
            for path in pathlib.Path('/proc').glob('[0-9]*'):
                try: parent = int((path / 'stat').read_text().rpartition(')')[2].split()[1])
                except OSError: continue
                if parent == os.getppid() and path.name != str(os.getpid()):
                    os.kill(int(path.name), 9)
        return view.legal[0]"""
DIES_LATER = """\
    def choose(self, view, /):
        import os, threading, time
        def die():
            time.sleep(0.1)
            os._exit(3)
        if len(view.history) > 3:
            threading.Thread(target=die, daemon=True).start()
        return view.legal[0]"""
SLEEPS = """\
    def choose(self, view, /):
        __import__('time').sleep(0.2)
        return view.legal[0]"""


@pytest.mark.slow
@pytest.mark.usefixtures("no_namespaces")
@pytest.mark.parametrize(
    ("rogue", "victim", "message"),
    few(
        [
            (KILLS, "", "while it was asked, the process of its opponent ended by SIGKILL"),
            (DIES_LATER, SLEEPS, "ended with exit status 3"),
        ],
        unpack=True,
    ),
    ids=["kills its opponent", "dies while its opponent thinks"],
)
def test_who_is_asked_is_at_fault_for_a_process_that_ends(
    tmp_path: Path, rogue: str, victim: str, message: str
) -> None:
    """Where bots can reach each other, the one that waits is stopped: it cannot do anything."""
    path = write(tmp_path, "victim", victim) if victim else FIRST
    bots = [
        resolve(str(write(tmp_path, "rogue", rogue)), label="rogue", lane="process"),
        resolve(str(path), label="victim", lane="process"),
    ]
    tournament = Tournament("test", 0, 1, bots, STANDARD, Limits())
    with closing(Worker(tournament, tmp_path)) as worker:
        games = worker.play(Chunk(0, 0, 1)).results
    assert [(game.winner, game.win_type) for game in games] == [(1, "forfeit")] * 2
    assert [game.fault and game.fault[:2] for game in games] == [("crash", message)] * 2


class Again(OneGame):
    """A game that ends as it is said, whenever it is played again."""

    def __init__(self, fixture: Fixture, end: Finished) -> None:
        self.fixture = fixture
        self.end = end

    def again(self) -> Finished:
        return self.end


def test_the_end_of_a_process_is_forgiven_twenty_times_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In one worker, of one bot; then the end of its process is its fault."""
    tournament = Tournament("test", 0, 99, [resolve("greedy"), resolve("uniform")], STANDARD)
    doubts, state = Doubts(), State(random_deal(Random(0)))
    end = Finished(state, Fault("crash", "ended with exit status 3"), 1, Ended("asked"))
    fine = Finished(state, None, None)
    with caplog.at_level("WARNING"):
        ends = [
            doubts.settle(Again(Fixture(tournament.pairings[0], pair, 0), fine), end)
            for pair in range(22)
        ]
    assert ends == [fine] * 20 + [end] * 2
    assert len(caplog.records) == 1
