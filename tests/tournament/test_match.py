"""Pairs and faults of games, the command that plays one again, how strategies are closed."""

from __future__ import annotations

import json
import shlex
import subprocess
from contextlib import closing, redirect_stdout
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from arena.cli.play import game as game_command
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.entries.spec import check_label, parse
from arena.errors import InputError, shell_line
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.executors.worker import Worker
from arena.lanes.evidence import Output
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament import asking, match
from arena.tournament.asking import PARTS, Judged
from arena.tournament.match import GameResult, WallClock, play_untimed
from arena.tournament.plan import Chunk
from arena.tournament.rule_changes import MOST_VARIANTS, deals_alike, make_variants, name_of
from arena.tournament.timing import Pace
from arena.tournament.tournament import Tournament, replay_commands
from engine import STANDARD, Rules, Setup, State, View, play_game
from engine.play import draw
from tests.rogues import FOLDER, ILLEGAL, RAISING, rogue, write
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
    tournament = Tournament("test", seed, pairs, [first, second], STANDARD, limits)
    with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
        return worker.play(Chunk(0, 0, pairs)).results


def inproc(path: Path, **params: object) -> Entry:
    return resolve(str(path), lane="inproc", params=params)


def test_the_two_games_of_a_pair_have_one_deal_and_swapped_seats() -> None:
    """A bot against its copy has the same luck in each seat, so the games mirror each other."""
    games = played(UNIFORM, resolve("double=uniform"), seed=3, pairs=20)
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.seat, second.seat) == (0, 1)
        assert (first.points, first.opponent_points) == (second.opponent_points, second.points)
        assert first.actions == second.actions
        assert second.winner == (None if first.winner is None else 1 - first.winner)


def test_a_pairing_has_the_same_games_whichever_bot_is_named_first() -> None:
    one = played(UNIFORM, GREEDY, seed=5, pairs=10)
    two = played(GREEDY, UNIFORM, seed=5, pairs=10)
    for game in one:
        (seen,) = (g for g in two if (g.pair, g.seat) == (game.pair, 1 - game.seat))
        assert (game.points, game.opponent_points) == (seen.opponent_points, seen.points)
        assert (game.win_type, game.actions) == (seen.win_type, seen.actions)


@pytest.mark.slow
def test_games_are_the_same_with_and_without_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = played(UNIFORM, GREEDY, pairs=40)
    monkeypatch.setattr(Pace, "needs_no_clock", lambda *_: False)
    assert played(UNIFORM, GREEDY, pairs=40) == quick


@pytest.mark.parametrize("name", [*few(ILLEGAL, 2), *few(RAISING, 2)])
def test_a_rogue_forfeits_in_either_seat(name: str) -> None:
    for game in played(rogue(name, "inproc"), UNIFORM):
        assert (game.winner, game.win_type) == (1, "forfeit")
        assert game.fault.kind == ("illegal" if name in ILLEGAL else "exception")
        assert game.plies == game.seat  # at its first action
        assert game.fault.message.isprintable()
        assert 0 < len(game.fault.message) <= 200
        assert len(game.fault.traceback) <= 2000


def test_a_bot_that_cannot_begin_forfeits_at_ply_0_also_as_the_second_bot(tmp_path: Path) -> None:
    stillborn = inproc(write(tmp_path, "stillborn", "pass", init="raise SystemExit(3)"))
    for game in played(UNIFORM, stillborn):
        assert (game.winner, game.win_type, game.plies) == (0, "forfeit", 0)
        assert game.fault.kind == "exception"


def lost_in(lane: str, folder: Path, init: str, body: str) -> list[Fault]:
    """Return the faults by which a bot in this lane loses a pair to a bot that prints, too."""
    loser = resolve(str(write(folder, "loser", body, init)), lane=lane)
    choose = "print('winner')\nreturn view.legal[0]"
    winner = inproc(write(folder, "winner", choose, init="print('winner')"))
    tournament = Tournament("test", 1, 1, [loser, winner], STANDARD)
    output = Output()
    with closing(Worker(tournament, folder, output)) as worker, redirect_stdout(output):
        games = worker.play(Chunk(0, 0, 1)).results
    assert [game[1:4] for game in games] == [(seat, 1, "forfeit") for seat in (0, 1)]
    return [game.fault for game in games]


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


def test_a_member_of_an_int_enum_is_an_action(tmp_path: Path) -> None:
    body = "import enum\nnames = {f'K{n}': n for n in range(12)}\n"
    body += "return enum.IntEnum('Kind', names)(view.legal[0])"
    for game in played(inproc(write(tmp_path, "named", body)), UNIFORM):
        assert game.win_type != "forfeit"


def test_a_list_among_the_parameters_is_new_in_every_game(tmp_path: Path) -> None:
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
def test_an_answer_is_late_by_the_processor_or_by_the_backstop(tmp_path: Path) -> None:
    """Sleep costs nothing up to the backstop, of a decision and of the game."""
    body = "__import__('time').sleep(0.05)\nreturn view.legal[0]"
    slow, sleepy = (
        inproc(write(tmp_path, name, text)) for name, text in (("slow", WORKS), ("sleepy", body))
    )
    within = played(sleepy, UNIFORM, limits=Limits(decision=0.04))
    assert [game.fault for game in within] == [None, None]
    for bot, limits, message in (
        (slow, Limits(decision=0.01), "no answer within 0.01 s"),
        (sleepy, Limits(decision=0.01, backstop=0.04), "no answer within 0.04 s by the wall clock"),
        (
            sleepy,
            Limits(game=0.5, backstop=0.5),
            "the 0.5 s of the game are used up by the wall clock",
        ),
        (slow, Limits(decision=10.0, game=0.3), "the 0.3 s of the game are used up"),
    ):
        game = played(bot, UNIFORM, limits=limits)[0]
        assert (game.winner, game.fault[:2]) == (1, ("timeout", message))
    assert game.plies > 4  # of the last limit: no single decision took 0.3 s


def test_a_bot_can_ask_how_much_time_it_has_left(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(("init", "said"), [("raise ValueError('begun')", "begun"), ("", "chosen")])
def test_a_fault_in_an_untimed_game_is_that_bot_s(tmp_path: Path, init: str, said: str) -> None:
    bot = inproc(write(tmp_path, "bot", "raise ValueError('chosen')", init or "pass"))
    luck = draw(b"somewhere")
    clock = WallClock.like(LIMITS.clock())
    finished, _ = play_untimed(State(luck.deal), [GREEDY, bot], luck, clock)
    assert (finished.guilty, finished.fault.message) == (1, f"ValueError: {said}")


def test_a_wall_clock_has_its_own_limit_or_that_of_the_decision() -> None:
    clock = WallClock(decision=100.0)
    clock.start()
    assert 50 < clock.left() <= 100
    clock.start(1000.0)
    assert 500 < clock.left() <= 1000


def cup(*specs: str, rules: Rules = STANDARD, limits: Limits | None = None) -> Tournament:
    bots = [resolve(spec) for spec in specs]
    return Tournament("cup", 7, 10, bots, rules, limits or Limits())


@pytest.mark.parametrize(
    ("pairing", "pair", "seat", "bots"), [(0, 3, 1, "uniform greedy"), (2, 0, 0, "greedy majority")]
)
def test_a_command_names_the_bots_and_the_place_and_no_default(
    pairing: int, pair: int, seat: int, bots: str
) -> None:
    assert command(cup("uniform", "greedy", "majority"), pairing, pair, seat) == (
        f"arena game {bots} --seed 7 --pair {pair} --seat {seat} --lane inproc --lane inproc"
    )


anything = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
odd = st.sampled_from(
    ["-", "\x1b[2J", "\n", "'", "$'", "\\", "\x9b", "!", " ", "(", "=", "é\u202e", "1"]
)
words = st.lists(anything | odd, min_size=1, max_size=4).map("".join)


def read_by_bash(text: str) -> list[str]:
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(words, min_size=1, max_size=5))
def test_a_shell_reads_the_words_of_a_command_as_they_were(texts: list[str]) -> None:
    text = shell_line(texts)
    assert text.isprintable()
    assert read_by_bash(text) == texts


def entry(label: str, target: str) -> Entry:
    """Return a bot that has been accepted under a label, from a file of this name."""
    try:
        check_label(target, label)
        assume(parse(target) == (None, target, {}))
    except InputError:
        assume(False)
    return replace(GREEDY, target=target, label=label, params={"mode": label})


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(words, words.map(lambda name: f"{name.replace('/', '')}.py"), st.sampled_from(["", "./"]))
@example("0", "().py", "")
@example("0", "().py", "./")
def test_a_command_names_every_bot_that_is_accepted(label: str, file: str, folder: str) -> None:
    assume(label != "uniform")
    mine = entry(label, folder + file)
    shown = command(Tournament("cup", 7, 10, [mine, UNIFORM], STANDARD))
    assert shown.isprintable()
    read = game_command.make_context("game", read_by_bash(shown)[2:]).params
    bots = dict(zip(read["labels"], map(parse, (read["bot"], read["opponent"])), strict=True))
    assert bots == {label: (None, mine.target, mine.params), "uniform": (None, "uniform", {})}


PAIRS = 3
CLOSES = """\
    def choose(self, view, /):
        assert not self.fails or not view.history[1:]
        return view.legal[0]

    def close(self):
        with open({file!r}, "a") as file:
            file.write("closed ")"""


def closes(folder: Path, lane: str, *, fails: bool = False) -> tuple[Entry, Path]:
    """Return a bot that may fail in a decision, and the file in which it notes each `close`."""
    file = folder / "closed"
    path = write(folder, "closes", CLOSES.format(file=str(file)), f"self.fails = {fails}")
    return resolve(str(path), lane=lane), file


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
@pytest.mark.parametrize("fails", ["nobody", "itself", "its opponent"])
def test_a_bot_is_closed_once_after_each_game(tmp_path: Path, lane: str, fails: str) -> None:
    bot, file = closes(tmp_path, lane, fails=fails == "itself")
    other = rogue("raises_boom", lane) if fails == "its opponent" else UNIFORM
    games = played(bot, other, pairs=PAIRS)
    assert {game.fault and game.fault.kind for game in games} == {
        None if fails == "nobody" else "exception"
    }
    closed = file.read_text().split()  # more where a game is tried again
    assert len(closed) == 2 * PAIRS or (fails != "nobody" and len(closed) > 2 * PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "lane"),
    [("raises", "inproc"), ("loops", "inproc"), ("exits", "process"), ("sleeps", "process")],
)
def test_a_close_that_fails_costs_no_game_and_is_warned_of(
    tmp_path: Path, what: str, lane: str
) -> None:
    name, found = f"closes_and_{what}", []
    limits = Limits(decision=1.0, start=2.0, backstop=3.0)
    honest = resolve(f"{name}={FOLDER / 'first.py'}", lane=lane)
    for number, entry in enumerate([rogue(name, lane), honest]):
        folder = RunFolder(tmp_path / f"{number}")
        cup = Tournament("cup", 1, 2, [entry, UNIFORM], STANDARD, limits)
        run(cup, LocalExecutor(2), folder, QUIET)
        found.append((folder.path / "games.csv").read_text())
        warned = f"{name} failed in close(), after its game: " in folder.log.read_text()
        assert warned == (number == 0)
    assert found[0] == found[1]


class Notes:
    """A strategy that counts how often it is closed, and then raises."""

    closed = 0

    def __init__(self, _setup: Setup) -> None:
        pass

    def choose(self, view: View, /) -> int:
        return view.legal[0]

    def close(self) -> None:
        Notes.closed += 1
        raise RuntimeError("too late")


def test_a_bot_that_fails_to_close_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(match, "_warned", set())
    monkeypatch.setattr(match._logger, "warning", lambda text, *words: said.append(text % words))
    for label, why in (("a", "late"), ("a", "again"), ("b", "late")):
        match.warn_of_close(label, why)
    assert said == [f"{label} failed in close(), after its game: late" for label in "ab"]


def test_one_game_of_the_engine_closes_both_and_warns() -> None:
    """The game is the same as that of bots without `close`; a fault closes both as well."""
    Notes.closed = 0
    first = resolve(str(FOLDER / "first.py")).load()
    with pytest.warns(RuntimeWarning, match=r"close\(\) raised RuntimeError\('too late'\)"):
        assert play_game(Notes, Notes, seed=7) == play_game(first, first, seed=7)
    assert Notes.closed == 2
    raises = rogue("raises_boom").load()
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match="boom"):
        play_game(Notes, lambda setup: raises(setup, what="boom"), seed=7)
    assert Notes.closed == 3


def test_a_blunder_is_one_by_two_judges_and_not_the_best_action() -> None:
    """The best action is a legal one, and a game counts for the first bot."""
    for chances, best in (([asking.ILLEGAL, 0, 0], 1), ([asking.ILLEGAL, 1, 2], 2)):
        assert Judged(0, 2, chances, -PARTS, 0).best == best
    games = [GameResult(0, 0, winner, "points", 1, 1, 2, None, "55") for winner in (0, None, 1)]
    assert [game.score for game in games] == [1.0, 0.5, 0.0]
    lost = Judged(0, 2, [0, PARTS, 0], PARTS // 2, 0)
    assert not lost.blunder
    assert lost._replace(first=1).blunder
    assert not lost._replace(first=1, action=1).blunder
    assert not lost._replace(first=1, loss=1).blunder


def command(tournament: Tournament, pairing: int = 0, pair: int = 3, seat: int = 1) -> str:
    return replay_commands(tournament)(tournament.fixture(pairing, pair, seat))


def options(tournament: Tournament, name: str) -> list[list[str]]:
    numbers = range(len(tournament.pairings))
    words = (shlex.split(command(tournament, number)) for number in numbers)
    return [[value for one, value in pairwise(own) if one == f"--{name}"] for own in words]


def test_what_is_not_as_usual_is_in_the_command() -> None:
    """Parameters are quoted for a shell; both labels and lanes, as the deal depends on both."""
    text = command(cup("uniform", "greedy(patience=1.5)"))
    assert text.startswith("arena game uniform 'greedy(patience=1.5)' --seed 7 ")
    ((said,),) = options(cup("uniform", "greedy", limits=Limits(decision=3.0)), "limits")
    assert json.loads(said) == {"decision": 3.0}
    for limits in (Limits(game=60.0), Limits(start=1.0), Limits(memory=64)):
        assert options(cup("uniform", "greedy", limits=limits), "limits") != [[]]
    rules = Rules(set_bonus=7, take_size=4)
    ((said,),) = options(cup("uniform", "greedy", rules=rules), "rules")
    assert json.loads(said) == {"set_bonus": 7, "take_size": 4}
    labels = options(cup("uniform", "mine=greedy", "majority"), "label")
    assert labels == [["uniform", "mine"], [], ["mine", "majority"]]
    lanes = {"uniform": "process", "greedy": "jail", "majority": "inproc"}
    bots = [resolve(name, lane=lane) for name, lane in lanes.items()]
    found = options(Tournament("cup", 7, 10, bots, STANDARD), "lane")
    assert found == [["process", "jail"], ["process", "inproc"], ["jail", "inproc"]]


def test_the_command_of_a_class_is_a_call_of_the_library() -> None:
    bots = [replace(GREEDY, target="python:Mine", label="m", params={"x": 1}), UNIFORM]
    of_mine = "{'bot': Mine, 'label': 'm', 'params': {'x': 1}, 'lane': 'inproc'}"
    other = "{'bot': 'uniform', 'label': 'uniform', 'params': {}, 'lane': 'inproc'}"
    usual = f"arena.play({of_mine}, {other}, seed=7, pair=3, seat=1"
    assert command(Tournament("cup", 7, 10, bots, STANDARD)) == f"{usual})"
    changed = Tournament("cup", 7, 10, bots, Rules(set_bonus=7), Limits(decision=3.0))
    said = ", rules={'set_bonus': 7}, limits={'decision': 3.0})"
    assert command(changed) == usual + said


MINE = Rules(set_bonus=4, tiebreak="supports")


@pytest.mark.parametrize(
    ("base", "options", "variants"),
    [
        (  # one rule at a time; a value of the base and a repeated one are left out
            STANDARD,
            ["set_bonus=0,8", "cities_needed=2,3", "set_bonus=5,0"],
            {
                "set_bonus=0": Rules(set_bonus=0),
                "set_bonus=8": Rules(set_bonus=8),
                "cities_needed=2": Rules(cities_needed=2),
            },
        ),
        (  # by the type of the rule; a name is safe as that of a folder
            STANDARD,
            ["majority_values=[1, 2,3,4],[0,0,0,0]", "tiebreak=supports", "set_bonus=-2"],
            {
                "majority_values=1-2-3-4": Rules(majority_values=(1, 2, 3, 4)),
                "majority_values=0-0-0-0": Rules(majority_values=(0, 0, 0, 0)),
                "tiebreak=supports": Rules(tiebreak="supports"),
                "set_bonus=-2": Rules(set_bonus=-2),
            },
        ),
        (  # neither could change alone, because the cards would not add up
            STANDARD,
            ["hand_size=4+removed=11,3+removed=19+take_size=3"],
            {
                "removed=11,hand_size=4": Rules(hand_size=4, removed=11),
                "removed=19,hand_size=3,take_size=3": Rules(hand_size=3, removed=19, take_size=3),
            },
        ),
        # the published value is a change, and changes keep what the config has changed
        (MINE, ["set_bonus=4,5"], {"set_bonus=5": Rules(tiebreak="supports")}),
    ],
)
def test_each_variant_has_the_rules_of_its_name(
    base: Rules, options: list[str], variants: dict[str, Rules]
) -> None:
    found = [tuple(variant) for variant in make_variants(base, options)]
    assert found == [("base", base), *variants.items()]
    assert name_of(MINE, STANDARD) == "set_bonus=4,tiebreak=supports"
    assert not deals_alike(STANDARD, Rules(hand_size=4, removed=11))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("set_bonus", "--rule 'set_bonus': write NAME=VALUE, such as set_bonus=0,3"),
        ("set_bonus=", "--rule 'set_bonus=': a value is missing"),
        ("set_bonus=0,,3", "--rule 'set_bonus=0,,3': a value is missing"),
        ("set_bonus=x", "--rule set_bonus=x: set_bonus must be a whole number up to 1000: 'x'"),
        ("set_bonus=1.5", "--rule set_bonus=1.5: set_bonus must be a whole"),
        ("set_bonus=" + "9" * 5000, "--rule set_bonus=9"),
        ("take_size=0", "--rule take_size=0: take_size must be a whole number from 1"),
        ("tiebreak=5", "--rule tiebreak=5: tiebreak must be 'cities' or 'supports': 5"),
        ("bonus=5", "--rule bonus=5: unknown rule 'bonus'; the rules are copies, removed"),
        ("copies=[1,2]", "--rule copies=1-2: copies must be 11 whole numbers"),
        ("copies=[1,[2", "--rule copies=[1: copies must be a list of whole numbers"),
        ("majority_values=[]", "--rule majority_values=: majority_values must be 4"),
        ("hand_size=4", "rounds 4 x 2 x hand_size 4 + removed 3 = 37 cards, but the copies"),
        ("removed=3+removed=4", "removed stands twice in one change"),
        ("set_bonus=" + ",".join(map(str, range(202))), f"than {MOST_VARIANTS} variants"),
        ("set_bonus=5", "--rule: every value is that of the base; there is nothing to compare"),
    ],
)
def test_a_bad_rule_or_value_is_named(option: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_variants(STANDARD, [option])
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 700
