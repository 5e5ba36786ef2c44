"""A fault counts only if it comes back; a second try is no second chance."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, Reporter, run_log
from arena.executors.worker import UNSTEADY, OneGame, Worker, decide
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.lanes.process import BotProcess
from arena.processes import find_below
from arena.tournament.match import Finished, GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.timing import Pace
from arena.tournament.tournament import Tournament
from engine import STANDARD, Seat, State
from tests import ROOT
from tests.kit import play_plan
from tests.positions import at, dealt, quiet_game
from tests.rogues import FOLDER, spec, write
from tests.tiers import few

PAIRS = 4
FIRST = FOLDER / "first.py"
PROGRAM = ROOT / "docs" / "examples" / "plain.py"
BOOM = Fault("exception", "boom")


def played(bot: Entry, folder: Path, pairs: int = PAIRS) -> Played:
    """Return the games of a bot against uniform."""
    tournament = Tournament("test", 0, pairs, [bot, resolve("uniform")], STANDARD, Limits())
    folder.mkdir()
    with closing(Worker(tournament, folder)) as worker:
        return worker.play(Chunk(0, 0, pairs))


class Scripted(OneGame):
    """A game that ends in these ways when it is played again."""

    fixture = Fixture(Pairing("bot", "opponent"), 0, 0)

    def __init__(self, *ends: Finished) -> None:
        self.ends: Iterator[Finished] = iter(ends)

    def begin(self) -> State:
        return at(DEAL, "")

    def again(self, guilty: Seat | None) -> Finished:  # noqa: ARG002 (a script knows)
        return next(self.ends)


DEAL = dealt("55667", "78822", "88", "55667", "78833", "56677", "78xxx", "8224y", removed="CCC")
MOVES = quiet_game(DEAL)


def faulty(plies: int, fault: Fault = BOOM, moves: str = MOVES, seat: int = 0) -> Finished:
    """Return a game that this seat has lost by a fault after so many plies."""
    return Finished(at(DEAL, moves[:plies]), fault, seat)


WHOLE = Finished(at(DEAL, MOVES))
EARLY = faulty(6)
CRASH = faulty(7, Fault("crash", "ended with exit status 3"))
IDLE = faulty(4, Fault("idle", "slept"))
OF_OTHER = faulty(9, seat=1)


@pytest.mark.parametrize(
    ("first", "again", "end"),
    [
        (EARLY, [CRASH], CRASH),
        (EARLY, [WHOLE], WHOLE),
        (EARLY, [OF_OTHER, WHOLE], WHOLE),
        (None, [OF_OTHER, OF_OTHER], OF_OTHER),
        (IDLE, [], IDLE),
        (
            *(EARLY, [Finished(at(DEAL, "6758"))]),
            EARLY._replace(fault=Fault("exception", f"{UNSTEADY}boom")),
        ),
    ],
    ids=[
        *("it comes back as another", "it does not come back", "the other bot's is a first one"),
        *("the other bot's comes back", "idleness is of the run", "no second chance"),
    ],
)
def test_a_fault_counts_if_it_comes_back(
    first: Finished | None, again: list[Finished], end: Finished
) -> None:
    """As it was the second time; after other moves the first one stands, and is marked."""
    assert decide(Scripted(*again), first) == end


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
            return ask(self, messages, allowed)

        monkeypatch.setattr(BotProcess, "ask", killed)
        return asked

    return install


BOTS = {
    "python": lambda: resolve(f"bot={FIRST}", lane="process"),
    "program": lambda: resolve(f"bot=cmd:{shlex.join([sys.executable, str(PROGRAM)])}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTS)
def test_a_process_killed_from_outside_costs_no_game(
    tmp_path: Path, name: str, kill_at: Callable[[set[int]], list[int]]
) -> None:
    """Once at its start, and twice in games."""
    undisturbed = played(BOTS[name](), tmp_path / "undisturbed")
    asked = kill_at({0, 9, 80})
    assert played(BOTS[name](), tmp_path / "killed").results == undisturbed.results
    assert [game.fault for game in undisturbed.results] == [None] * 2 * PAIRS
    assert len(asked) > 80


GAMES = "global games; games = globals().get('games', 0) + 1"


@pytest.mark.slow
@pytest.mark.parametrize("lane", few(["inproc", "process"], 1, 0))
def test_what_a_process_has_gathered_costs_no_game(tmp_path: Path, lane: str) -> None:
    """A bot that fails in its third game in a process gets a new one."""
    body = "if games > 2: raise ValueError('too many games')\nreturn view.legal[0]"
    path = write(tmp_path, "gathers", body, GAMES)
    bot = resolve(str(path), label="bot", lane=lane)
    found = played(bot, tmp_path / "games", pairs=12)
    assert [game.fault for game in found.results] == [None] * 24


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", *few(["process"])])
def test_a_bot_that_fails_when_it_is_behind_gains_nothing(tmp_path: Path, lane: str) -> None:
    """It draws its moves from the system's randomness, so that its second game is another one."""
    log = str(tmp_path / "log")  # of its games: it fails in the first one of a deal
    body = (
        f"if len(view.history) > 40 and len(open({log!r}).read()) % 2:\n"
        "    raise ValueError('I give up')\n"
        "return view.legal[__import__('os').urandom(1)[0] % len(view.legal)]"
    )
    init = f"open({log!r}, 'a').write('x')"
    bot = resolve(str(write(tmp_path, "behind", body, init)), label="bot", lane=lane)
    found = played(bot, tmp_path / "games", pairs=3)
    faults = [game.fault for game in found.results if game.fault]
    assert faults
    assert all(fault.message.startswith(UNSTEADY) for fault in faults)


@pytest.mark.slow
def test_a_fault_ends_its_process(tmp_path: Path) -> None:
    """What comes after it is played in a new one: its modules know of one game, or of two."""
    body = "if self.number > 1: raise ValueError(f'game {self.number}')\nreturn view.legal[7]"
    path = write(tmp_path, "first", body, f"{GAMES}; self.number = games")
    bot = resolve(str(path), label="bot", lane="process")
    found = played(bot, tmp_path / "games", pairs=2)
    messages = {game.fault.message for game in found.results if game.fault}
    assert all("tuple index" in message for message in messages)


@pytest.mark.slow
def test_a_second_try_knows_nothing_of_the_first(tmp_path: Path) -> None:
    """Neither from its process, which is a new one, nor from the folder it may write to."""
    body = (
        "import os, pathlib\n"
        "diary = pathlib.Path(os.environ['HOME'], 'diary')\n"
        "assert not diary.exists()\n"
        "diary.write_text('I was here')\n"
        "os._exit(3)"
    )
    bot = resolve(str(write(tmp_path, "diary", body)), label="bot", lane="process")
    games = played(bot, tmp_path / "games", pairs=1).results
    assert [game.fault and game.fault.kind for game in games] == ["crash"] * 2


@pytest.mark.slow
def test_a_bot_that_breaks_the_engine_holds_no_run(tmp_path: Path) -> None:
    """The parent reads the processor time of its worker; the game is played apart, to its end."""
    breaks = resolve(spec("breaks_engine"), label="breaks", lane="inproc")
    limits = Limits(decision=0.01, start=1.0)
    tournament = Tournament("test", 0, 1, [breaks, resolve("uniform")], STANDARD, limits)
    log = tmp_path / "run.log"
    with run_log(log, QUIET) as lines:
        games = play_plan(tournament, LocalExecutor(1), lines)
    assert [game.plies >= 40 for game in games.values()] == [True] * 2
    assert "worker-1 finished no game in time in breaks - uniform" in log.read_text()


class Hears(Reporter):
    """Keeps what it is told of first faults."""

    def __init__(self) -> None:
        self.failures: list[tuple[int, GameResult]] = []

    def failed(self, pairing: int, result: GameResult) -> None:
        self.failures.append((pairing, result))


@pytest.mark.slow
def test_games_of_several_pairings_are_played_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message asks a bot about several; each game ends as by itself, and a fault is its own."""
    monkeypatch.setattr(Pace, "most_games", lambda _self, _label, most: most)
    sizes, ask = [1], BotProcess.ask

    def counting(self: BotProcess, messages: list[object], allowed: object) -> object:
        sizes.append(len(messages))
        return ask(self, messages, allowed)

    monkeypatch.setattr(BotProcess, "ask", counting)
    fails = write(tmp_path, "fails", "assert len(view.history) < 9\nreturn view.legal[0]")
    bots = [resolve(f"{name}={FIRST}", lane="process") for name in "abc"]
    bots.append(resolve(f"d={fails}", lane="process"))
    cup = Tournament("test", 0, 2, bots, STANDARD, Limits())
    chunks = [Chunk(number, 1, 1, seats=(0,)) for number in range(len(cup.pairings))]
    hears = Hears()
    with closing(Worker(cup, tmp_path / "together", reporter=hears)) as worker:
        for chunk in chunks:  # what a game takes is known then
            worker.play(chunk._replace(first=0))
        hears.failures.clear()
        worker.told.clear()
        together = [*worker.play_all(chunks)]
    assert max(sizes) > 1
    del sizes[1:]
    with closing(Worker(cup, tmp_path / "alone")) as worker:
        alone = [worker.play(chunk) for chunk in chunks]
    assert max(sizes) == 1
    assert [one.chunk for one in together] == chunks
    ends = [[one.results[0]._replace(fault=None) for one in some] for some in (together, alone)]
    assert ends[0] == ends[1]
    ((number, told),) = hears.failures
    assert "d" in cup.pairings[number]
    assert told in together[number].results
