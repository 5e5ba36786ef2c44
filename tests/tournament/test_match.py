"""A pair is one deal played twice, and every fault is a forfeit of the guilty bot."""

from __future__ import annotations

from contextlib import closing, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.worker import Worker
from arena.lanes.evidence import Output
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.match import GameResult, WallClock, play_untimed
from arena.tournament.plan import Chunk
from arena.tournament.timing import Pace
from arena.tournament.tournament import Tournament
from engine import STANDARD, State
from engine.play import draw
from tests.rogues import ILLEGAL, RAISING, rogue, write
from tests.tiers import few

UNIFORM, GREEDY = resolve("uniform"), resolve("greedy")
LIMITS = Limits()
WORKS = """\
from time import process_time
end = process_time() + 0.02
while process_time() < end:
    pass
return view.legal[0]"""


def played(
    first: Entry, second: Entry, seed: int = 1, pairs: int = 1, limits: Limits = LIMITS
) -> list[GameResult]:
    """Return the games of some pairs between two bots, played in this process."""
    tournament = Tournament("test", seed, pairs, [first, second], STANDARD, limits)
    with TemporaryDirectory() as folder, closing(Worker(tournament, Path(folder))) as worker:
        return worker.play(Chunk(0, 0, pairs)).results


def fault_of(game: GameResult) -> Fault:
    """Return the fault of a game that has one."""
    assert game.fault is not None
    return game.fault


def inproc(path: Path, **params: object) -> Entry:
    return resolve(str(path), lane="inproc", params=params)


def test_the_two_games_of_a_pair_have_one_deal_and_swapped_seats() -> None:
    """A bot against its copy has the same luck in each seat, so the games mirror each other."""
    games = played(UNIFORM, resolve("double=uniform"), seed=3, pairs=20)
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.seat, second.seat) == (0, 1)
        assert first.points == second.opponent_points
        assert first.opponent_points == second.points
        assert first.actions == second.actions
        if first.winner is not None:
            assert second.winner == 1 - first.winner


def test_a_pairing_has_the_same_games_whichever_bot_is_named_first() -> None:
    """Only the point of view and the order of the two games change."""
    one = played(UNIFORM, GREEDY, seed=5, pairs=10)
    two = played(GREEDY, UNIFORM, seed=5, pairs=10)
    for game in one:
        (seen,) = (g for g in two if (g.pair, g.seat) == (game.pair, 1 - game.seat))
        assert (game.points, game.opponent_points) == (seen.opponent_points, seen.points)
        assert (game.win_type, game.actions) == (seen.win_type, seen.actions)


@pytest.mark.slow
def test_games_are_the_same_with_and_without_timing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker chooses which games of cheap bots are timed; their results do not depend on it."""
    quick = played(UNIFORM, GREEDY, pairs=40)
    monkeypatch.setattr(Pace, "needs_no_clock", lambda *_: False)
    assert played(UNIFORM, GREEDY, pairs=40) == quick


@pytest.mark.parametrize("name", [*few(ILLEGAL, 2), *few(RAISING, 2)])
def test_a_rogue_forfeits_in_either_seat(name: str) -> None:
    """The guilty bot loses, its fault has the right kind, and nothing is raised."""
    for game in played(rogue(name, "inproc"), UNIFORM):
        assert (game.winner, game.win_type) == (1, "forfeit")
        fault = fault_of(game)
        assert fault.kind == ("illegal" if name in ILLEGAL else "exception")
        assert game.plies == game.seat  # at its first action
        assert fault.message
        assert fault.message.isprintable()
        assert len(fault.message) <= 200
        assert len(fault.traceback) <= 2000


def test_the_innocent_opponent_of_a_rogue_wins_as_the_first_bot_too() -> None:
    """The winner is 0 when the first bot of the pairing is the innocent one."""
    raises = rogue("raises_boom", "inproc")
    assert [game.winner for game in played(UNIFORM, raises)] == [0, 0]


def test_a_bot_that_cannot_begin_forfeits_at_ply_0(tmp_path: Path) -> None:
    """The guilty bot is known even before the game."""
    stillborn = inproc(write(tmp_path, "stillborn", "pass", init="raise SystemExit(3)"))
    for game in played(UNIFORM, stillborn):
        assert (game.winner, game.win_type, game.plies) == (0, "forfeit", 0)
        assert fault_of(game).kind == "exception"


def lost_in(lane: str, folder: Path, init: str, body: str) -> list[Fault]:
    """Return the faults by which a bot in this lane loses a pair to a bot that prints, too."""
    loser = resolve(str(write(folder, "loser", body, init)), lane=lane)
    choose = "print('winner')\nreturn view.legal[0]"
    winner = inproc(write(folder, "winner", choose, init="print('winner')"))
    tournament = Tournament("test", 1, 1, [loser, winner], STANDARD)
    output = Output()
    with closing(Worker(tournament, folder, output)) as worker, redirect_stdout(output):
        games = worker.play(Chunk(0, 0, 1)).results
    assert [(game.seat, game.winner, game.win_type) for game in games] == [
        (0, 1, "forfeit"),
        (1, 1, "forfeit"),
    ]
    return [fault_of(game) for game in games]


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
@pytest.mark.parametrize(
    ("init", "body", "printed"),
    [
        ("print('here'); raise ValueError('no')", "pass", ("here\n", "here\n")),
        (
            "print('made')",
            "print('ply', len(view.history))\nassert len(view.history) < 4\nreturn view.legal[0]",
            ("made\nply 0\nply 2\nply 4\n", "made\nply 1\nply 3\nply 5\n"),
        ),
        (  # it is imported once in a process, so the first game would differ from the others
            "print('made')",
            "print('imported')\n\ndef choose(self, view, /):\n    1 / 0",
            ("made\n", "made\n"),
        ),
    ],
    ids=["in construction", "in its third decision", "in the import"],
)
def test_all_that_a_bot_printed_in_its_game_is_evidence(
    tmp_path: Path, lane: str, init: str, body: str, printed: tuple[str, str]
) -> None:
    """From its construction on, and nothing of its opponent's or of its import."""
    faults = lost_in(lane, tmp_path, init, body)
    assert tuple(fault.output for fault in faults) == printed
    if "raise" in init:
        assert {fault[:2] for fault in faults} == {("exception", "ValueError: no")}


def test_an_action_may_be_any_integer(tmp_path: Path) -> None:
    """A member of an IntEnum counts as its number, like a numpy integer."""
    body = "import enum\nnames = {f'K{n}': n for n in range(12)}\n"
    body += "return enum.IntEnum('Kind', names)(view.legal[0])"
    for game in played(inproc(write(tmp_path, "named", body)), UNIFORM):
        assert game.win_type != "forfeit"


def test_a_list_among_the_parameters_is_new_in_every_game(tmp_path: Path) -> None:
    """A bot that writes into it finds it empty in the next game."""
    path = tmp_path / "leaks.py"
    path.write_text(
        "class Leaks:\n"
        "    def __init__(self, setup, memory: list):\n"
        "        assert not memory\n"
        "        memory.append(1)\n\n"
        "    def choose(self, view, /):\n"
        "        return view.legal[0]\n\n"
        "bot = Leaks\n"
    )
    for game in played(inproc(path, memory=[]), UNIFORM, pairs=3):
        assert game.win_type != "forfeit"


@pytest.mark.slow
def test_a_late_answer_is_a_forfeit_when_it_comes_back(tmp_path: Path) -> None:
    """By the limit of a decision, and by that of the whole game."""
    slow = inproc(write(tmp_path, "slow", WORKS))
    for limits, message in (
        (Limits(decision=0.01), "no answer within 0.01 s"),
        (Limits(decision=10.0, game=0.3), "the 0.3 s of the game are used up"),
    ):
        game = played(slow, UNIFORM, limits=limits)[0]
        assert game.winner == 1
        assert fault_of(game)[:2] == ("timeout", message)
    assert game.plies > 4  # of the last limit: no single decision took 0.3 s


@pytest.mark.slow
def test_a_bot_that_sleeps_is_late_by_the_wall_clock_alone(tmp_path: Path) -> None:
    """Sleep costs nothing up to the backstop, of a decision and of the game."""
    body = "__import__('time').sleep(0.05)\nreturn view.legal[0]"
    sleepy = inproc(write(tmp_path, "sleepy", body))
    limits = Limits(decision=0.04)
    assert [game.fault for game in played(sleepy, UNIFORM, limits=limits)] == [None, None]
    for limits, message in (
        (Limits(decision=0.01, backstop=0.04), "no answer within 0.04 s by the wall clock"),
        (Limits(game=0.5, backstop=0.5), "the 0.5 s of the game are used up by the wall clock"),
    ):
        fault = fault_of(played(sleepy, UNIFORM, limits=limits)[0])
        assert fault[:2] == ("timeout", message)


def test_a_bot_can_ask_how_much_time_it_has_left(tmp_path: Path) -> None:
    """It falls while the bot thinks, and from decision to decision."""
    body = (
        "clock = self.setup.clock\n"
        "before = clock.left()\n"
        "sum(range(20_000))\n"
        "assert clock.left() < before <= 0.5, (clock.left(), before)\n"
        "if view.history[2:]:\n"
        "    assert before < 0.4999\n"
        "return view.legal[0]"
    )
    asks = inproc(write(tmp_path, "asks", body, init="self.setup = setup"))
    limits = Limits(decision=5.0, game=0.5)
    assert [game.fault for game in played(asks, UNIFORM, limits=limits)] == [None, None]


@pytest.mark.parametrize(
    ("text", "limit", "well"),
    [
        ("", 10.0, True),
        ("", 1e-6, False),
        ("from time import sleep\nsleep(0.01)\nreturn view.legal[0]", 10.0, False),
    ],
)
def test_an_untimed_game_counts_only_where_it_was_surely_in_time(
    tmp_path: Path, text: str, limit: float, *, well: bool
) -> None:
    """By the wall clock, which charges at least as much; other games are played again."""
    bot = inproc(write(tmp_path, "bot", text)) if text else UNIFORM
    luck = draw(b"somewhere")
    clock = WallClock.like(Limits(decision=limit).clock())
    finished, in_time = play_untimed(State(luck.deal), [bot, GREEDY], luck, clock)
    assert (finished.state.over, finished.fault, in_time) == (True, None, well)


@pytest.mark.parametrize("init", ["raise ValueError('begun')", "pass"])
def test_a_fault_in_an_untimed_game_is_that_bot_s(tmp_path: Path, init: str) -> None:
    """Whether it fails as it is made, or in its first decision."""
    bot = inproc(write(tmp_path, "bot", "raise ValueError('chosen')", init))
    luck = draw(b"somewhere")
    clock = WallClock.like(LIMITS.clock())
    finished, _ = play_untimed(State(luck.deal), [GREEDY, bot], luck, clock)
    assert finished.guilty == 1
    assert finished.fault is not None
    assert finished.fault.message == f"ValueError: {'chosen' if init == 'pass' else 'begun'}"


def test_a_game_counts_for_the_first_bot() -> None:
    """1, 1/2 or 0."""
    games = [GameResult(0, 0, winner, "points", 1, 1, 2, None, "55") for winner in (0, None, 1)]
    assert [game.score for game in games] == [1.0, 0.5, 0.0]


def test_a_wall_clock_has_its_own_limit_or_that_of_the_decision() -> None:
    """As the other clock has."""
    clock = WallClock(decision=100.0)
    clock.start()
    left = clock.left()
    assert left is not None
    assert 50 < left <= 100
    clock.start(1000.0)
    left = clock.left()
    assert left is not None
    assert 500 < left <= 1000
