"""No bot knows of one game in another one, and a fault counts only if it comes back."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import Random

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
from arena.tournament.plan import Chunk, Halves, Plan, Played
from arena.tournament.schedule import Fixture, Pairing, Strikes, round_robin
from arena.tournament.timing import Pace, Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD, Seat, State
from engine.strategy import Spent
from tests import ROOT
from tests.kit import play_plan
from tests.positions import at, dealt, quiet_game
from tests.rogues import FOLDER, first, spec, write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few

PAIRINGS = round_robin("abc")
PAIRS = 40


def plan(most: int = 1000) -> Plan:
    return Plan([[range(PAIRS)]] * 3, Strikes(PAIRINGS, PAIRS, most))


def games(piece: Chunk) -> list[tuple[int, int, int]]:
    """Return the games of a piece by pairing, pair and seat."""
    pairs = range(piece.first, piece.first + piece.pairs)
    return [(piece.pairing, pair, seat) for pair in pairs for seat in piece.seats]


def played(piece: Chunk, seconds: float = 0.02) -> Played:
    """Return what a piece came to: drawn games of one decision each."""
    timing = Timing()
    results = []
    for _, pair, seat in games(piece):
        timing.add(Spent(seconds, seconds))
        results.append(GameResult(pair, seat, None, "draw", 0, 0, 0, None, ""))
    return Played(piece, results, {"a": timing}, seconds * len(results))


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7])
def test_every_game_is_played_once(workers: int) -> None:
    """However long each takes, with workers that die now and then; chunks come back whole."""
    rng = Random(workers)
    todo = plan()
    halves = Halves(todo, workers)
    held: dict[int, list[Chunk]] = {number: [] for number in range(workers)}
    seen: set[tuple[int, int]] = set()  # pairs
    whole: list[Played] = []
    while True:
        for number, pieces in held.items():
            while len(pieces) < 2 and (piece := halves.next(number)):
                pieces.append(piece)
                assert len(piece.seats) == 1
                seen |= {game[:2] for game in games(piece)}
        busy = [number for number in held if held[number]]
        if not busy:
            break
        assert len(busy) == workers or len(seen) == 3 * PAIRS  # in the end only
        number = rng.choice([*busy, 0] if held[0] else busy)  # the first worker is the fastest
        if rng.random() < 0.1:
            halves.take_back(held[number])
            held[number] = []
        else:
            for joined in halves.join(played(held[number].pop(0))):
                todo.learn(joined)
                whole.append(joined)
    places = [(p.chunk.pairing, *result[:2]) for p in whole for result in p.results]
    assert len(places) == 3 * PAIRS * 2
    assert set(places) == {(n, pair, s) for n in range(3) for pair in range(PAIRS) for s in (0, 1)}


def test_what_a_chunk_came_to_is_joined_in_the_order_of_pair_and_seat() -> None:
    """Timings are merged, and seconds added up; a piece of a chunk may come back in pieces."""
    halves = Halves(Plan([[range(1)]], Strikes(PAIRINGS, 1, most=9), seats=(1, 0)), 2)
    one, two = halves.next(0), halves.next(1)
    assert one == Chunk(0, 0, 1, seats=(0,))
    assert two == Chunk(0, 0, 1, seats=(1,))
    halves.take_back([two])
    assert halves.next(0) == two  # there is nothing else
    assert halves.next(1) is None
    assert list(halves.join(played(two, 0.25))) == []
    (joined,) = halves.join(played(one, 0.5))
    assert joined.chunk == Chunk(0, 0, 1, seats=(1, 0))
    assert [result[:2] for result in joined.results] == joined.chunk.places == [(0, 0), (0, 1)]
    assert joined.seconds == 0.75
    assert (joined.timings["a"].decisions, joined.timings["a"].wall.longest) == (2, 0.5)


def test_halves_of_forfeits_are_not_played_and_chunks_in_workers_stay_whole() -> None:
    """Also if the other half is being played; what a dead worker had is whole for the next one."""
    todo = plan(most=1)
    halves = Halves(todo, 2)
    one = halves.next(0)
    todo.strikes.out["a"] = 0  # of pairings 0 and 1
    piece = halves.next(1)
    assert piece.pairing == 2
    assert list(halves.join(played(one))) == []
    halves.take_back([one])
    assert halves.next(0) == piece._replace(seats=(0,))
    halves = Halves(plan(), 2, whole=True)
    one, two = halves.next(0), halves.next(1)
    assert one == Chunk(0, 0, one.pairs)
    assert two.seats == (0, 1)
    assert two.first == one.pairs
    halves.take_back([one])
    assert halves.next(1) == one
    (joined,) = halves.join(played(one))
    assert joined.chunk == one


def actions(tournament: Tournament, workers: int) -> dict[tuple[int, int, int], str]:
    """Return the actions of the games of a tournament by pairing, pair and seat."""
    games = play_plan(tournament, LocalExecutor(workers))
    return {place: game.actions for place, game in games.items()}


def against_uniform(entry: Entry) -> Tournament:
    return Tournament("pairs", 3, 4, [resolve("uniform"), entry], STANDARD)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lane", "workers", "after"),
    [("process", 1, 40), ("process", 3, 0), pytest.param("jail", 1, 0, marks=needs_jail)],
)
def test_a_bot_that_remembers_a_game_knows_nothing(lane: str, workers: int, after: int) -> None:
    """It plays otherwise as soon as it knows its opponent's hand, also when it begins later."""
    remembers = resolve(str(FOLDER / "remembers.py"), "remembers", {"after": after}, lane)
    honest = against_uniform(first("remembers", "inproc"))
    assert actions(against_uniform(remembers), workers) == actions(honest, 1)


def paired(panel: Entry, pairs: int = 12, new: Sequence[str] = ("greedy",)) -> Tournament:
    """Return a tournament in which greedy, or some bots, replace uniform against one bot."""
    bots = [*map(resolve, new), resolve("uniform"), panel]
    return Tournament("paired", 3, pairs, bots, STANDARD, panel=1, paired=True)


def test_all_versions_meet_the_same_deals_with_the_same_luck_in_parts_of_their_own() -> None:
    """Those of the last one, also without others; no two games of a deal are in one part."""
    tournament = paired(resolve("denier"))
    new, old = tournament.pairings
    alone = Tournament("alone", 3, 12, tournament.entries[1:], STANDARD)
    for pair in range(3):
        for seat in (0, 1):
            draws = [
                tournament.draw(tournament.fixture(0, pair, seat)),
                tournament.draw(tournament.fixture(1, pair, seat)),
                alone.draw(alone.fixture(0, pair, seat)),
            ]
            assert draws[0] == draws[1] == draws[2]
    assert (new.bot, old.bot) == ("greedy", "uniform")
    assert tournament.part(new, 0) != tournament.part(old, 0)
    bots = [*map(resolve, ("greedy", "timing", "uniform", "denier", "majority"))]
    tournament = Tournament("paired", 3, 12, bots, STANDARD, panel=2, paired=True)
    assert tournament.new_pairings == {0, 1, 2, 3}
    assert [*map(tournament.old_pairing, range(6))] == [4, 5, 4, 5, 4, 5]
    assert [*map(tournament.version_of, range(6))] == [2, 2, 1, 1, 0, 0]
    for opponent in (0, 1):
        draws = [
            tournament.draw(tournament.fixture(bot + opponent, 1, seat))
            for bot in (0, 2, 4)
            for seat in (0, 1)
        ]
        assert draws == draws[:1] * 6
        parts = {
            tournament.part(tournament.pairings[bot], seat) for bot in (0, 2, 4) for seat in (0, 1)
        }
        assert len(parts) == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lane", "workers"),
    few([("process", 2), ("process", 4)], 1, 0, unpack=True),
)
@pytest.mark.parametrize("new", few([("greedy",), ("greedy", "denier", "timing")], 1, 1))
def test_an_opponent_meets_no_deal_again(lane: str, workers: int, new: Sequence[str]) -> None:
    """It would play otherwise in another version's game."""
    rogue = resolve(spec("meets_again"), "rogue", {}, lane)
    honest = first("rogue", "process")
    assert actions(paired(rogue, 4, new), workers) == actions(paired(honest, 4, new), 1)


REPEATED = 4
FIRST = FOLDER / "first.py"
PROGRAM = ROOT / "docs" / "examples" / "plain.py"
BOOM = Fault("exception", "boom")


def play_bot(bot: Entry, folder: Path, pairs: int = REPEATED) -> Played:
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
def test_a_fault_may_return(first: Finished | None, again: list[Finished], end: Finished) -> None:
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
    undisturbed = play_bot(BOTS[name](), tmp_path / "undisturbed")
    asked = kill_at({0, 9, 80})
    assert play_bot(BOTS[name](), tmp_path / "killed").results == undisturbed.results
    assert [game.fault for game in undisturbed.results] == [None] * 2 * REPEATED
    assert len(asked) > 80


GAMES = "global games; games = globals().get('games', 0) + 1"


@pytest.mark.slow
@pytest.mark.parametrize("lane", few(["inproc", "process"], 1, 0))
def test_what_a_process_has_gathered_costs_no_game(tmp_path: Path, lane: str) -> None:
    """A bot that fails in its third game in a process gets a new one."""
    body = "if games > 2: raise ValueError('too many games')\nreturn view.legal[0]"
    path = write(tmp_path, "gathers", body, GAMES)
    bot = resolve(str(path), label="bot", lane=lane)
    found = play_bot(bot, tmp_path / "games", pairs=12)
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
    found = play_bot(bot, tmp_path / "games", pairs=3)
    faults = [game.fault for game in found.results if game.fault]
    assert faults
    assert all(fault.message.startswith(UNSTEADY) for fault in faults)


@pytest.mark.slow
def test_a_fault_ends_its_process_and_a_second_try_knows_nothing(tmp_path: Path) -> None:
    """What comes after it is played in a new one, whose modules and folder know of no game."""
    body = "if self.number > 1: raise ValueError(f'game {self.number}')\nreturn view.legal[7]"
    path = write(tmp_path, "first", body, f"{GAMES}; self.number = games")
    bot = resolve(str(path), label="bot", lane="process")
    found = play_bot(bot, tmp_path / "games", pairs=2)
    messages = {game.fault.message for game in found.results if game.fault}
    assert all("tuple index" in message for message in messages)
    body = (
        "import os, pathlib\n"
        "diary = pathlib.Path(os.environ['HOME'], 'diary')\n"
        "assert not diary.exists()\n"
        "diary.write_text('I was here')\n"
        "os._exit(3)"
    )
    bot = resolve(str(write(tmp_path, "diary", body)), label="bot", lane="process")
    games = play_bot(bot, tmp_path / "more", pairs=1).results
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
def test_pairings_are_played_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
