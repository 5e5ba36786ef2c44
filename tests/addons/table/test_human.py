"""A person plays in the terminal: sessions of the real command, by a pipe and a console."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from arena.addons.table.table_games import Match, Records, Session
from arena.addons.table.terminal import Terminal, help_lines, read_action
from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.replays.board import card_names
from arena.tournament.config_keys import NAMINGS
from arena.tournament.schedule import Fixture, Pairing
from engine import KINDS, TAKE, Action, Record, Rules, View, outcome
from engine.cards import CHARS, to_text
from engine.play import play as referee
from engine.play import setup
from engine.state import State
from tests.conftest import Arena, Done, run_here
from tests.console import Console
from tests.kit import refused
from tests.rogues import write
from tests.tiers import few
from tests.waiting import until

FILE = Path("results") / "human" / "games.jsonl"
ALL_ANSWERS = ("\n".join("5678234xyzCT") + "\n") * 24  # one of them is legal at every turn
SEED = next(
    str(seed)
    for seed in range(0, 1000, 2)  # an even one: the person begins
    if {"5", "6"} & {*to_text(Fixture(Pairing("human", "greedy"), 0, 0).draw(seed).deal[:5])}
    == {"6"}
)
"""A seed with which the person holds a 6 and no 5 in the first round against greedy."""

ANY = "return view.legal[0]"
"""The body of a bot that plays the first legal action."""

STRICT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    assert asked.get("rules", {"set_bonus": 5})["set_bonus"] == 5
    more = {"hello": {"ready": True}, "choose": {"action": asked.get("legal", "T")[0]}}
    print(json.dumps({"id": asked["id"], **more.get(asked["type"], {})}), flush=True)
"""
"""A program that plays only with the published bonus, and says so at its start."""


class First:
    """Plays like a person who always types the first choice, and keeps what is typed."""

    def __init__(self) -> None:
        self.typed = ""

    def choose(self, view: View, /) -> Action:
        action = view.legal[0]
        if len(view.legal) > 1:
            self.typed += CHARS[action] + "\n"
        return action


def expected(seed: int, number: int = 0, bot: str = "greedy") -> tuple[str, str]:
    """Return what First types against a bot, and the actions of their game."""
    seat, entry = (seed + number) % 2, resolve(bot)
    deal, lucks = Fixture(Pairing("human", entry.label), number, seat).draw(seed)
    state, first = State(deal), First()
    players = [first, entry.create(setup(lucks[1 - seat], 1 - seat))]
    referee(state, players if seat == 0 else players[::-1])
    return first.typed, to_text(state.history)


def command(folder: Path, *words: str, typed: str) -> Done:
    """Run `arena human` with what is typed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(typed))
        return run_here(folder, "human", *words)


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FILE).read_text().splitlines()]


def find_seed(winner: int, win_type: str) -> tuple[int, str]:
    """Return a seed with which First, in seat 0, wins (0) or loses (1) so, and the sentence."""
    for seed in range(0, 2000, 2):
        _, actions = expected(seed, bot="uniform")
        deal = Fixture(Pairing("human", "uniform"), 0, 0).draw(seed).deal
        won, how, points = outcome(Record(to_text(deal), actions).replay().piles)
        if (won, how) == (winner, win_type):
            how = "by City" if win_type == "city" else "on points"
            score = f"{points[winner]} : {points[1 - winner]}"
            return seed, f"{('human', 'uniform')[winner]} wins {how}, {score}."
    raise LookupError(win_type)


@pytest.mark.parametrize(
    ("winner", "win_type"),
    few([(0, "points"), (1, "city"), (1, "points"), (0, "city")], 0, 2, unpack=True),
)
def test_a_whole_game_is_played(tmp_path: Path, arena: Arena, winner: int, win_type: str) -> None:
    """The bot plays as in a run, every action is shown once, `replay` agrees with the record."""
    seed, ending = find_seed(winner, win_type)
    typed, actions = expected(seed, bot="uniform")
    done = command(tmp_path, "uniform", "--seed", str(seed), typed=typed)
    assert (done.returncode, done.stderr) == (0, "")
    (record,) = records(tmp_path)
    assert record["actions"] == actions
    assert record["bots"] == ["human", "uniform"]
    assert record["game"] == "human/uniform/0/0"
    assert record["opponent"]["sha256"] == resolve("uniform").sha256
    judged = json.loads(arena("replay", str(FILE), "--json").stdout)
    assert judged["over"]
    assert record["bots"][judged["winner"]] == record["winner"]
    assert (record["win_type"], record["points"]) == (judged["win_type"], judged["points"])
    assert ending in done.stdout
    assert "\nYou against uniform; you begin.\n" in done.stdout
    shown = re.findall(r"^  (?:you|uniform) (?:plays?|takes?) ", done.stdout, re.MULTILINE)
    assert len(shown) == len(actions)
    assert f"; ? for help > {typed[0]}\n" in done.stdout
    assert f"Recorded: line 1 of {FILE}" in done.stdout
    assert f"arena show {FILE} --line 1" in done.stdout
    assert f"arena human uniform --seed {seed}" in done.stdout
    assert arena("show", str(FILE), "--line", "1").returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_games_of_a_session_have_deals_of_their_own_and_alternating_seats(tmp_path: Path) -> None:
    """With an odd seed the bot begins the first game. New records are appended to the file."""
    typed = expected(seed=7)[0] + expected(seed=7, number=1)[0]
    for _ in range(2):
        done = command(tmp_path, "greedy", "--games", "2", "--seed", "7", typed=typed)
        assert done.returncode == 0, done.stderr
    first, second, *again = records(tmp_path)
    assert first["bots"] == ["greedy", "human"]
    assert second["bots"] == ["human", "greedy"]
    assert sorted(first["deal"]) == sorted(second["deal"])
    assert first["deal"] != second["deal"]
    assert again == [first, second]
    assert "Recorded: line 4 of" in done.stdout


def test_the_command_of_a_session_has_what_differs() -> None:
    """Each option that was given, and the seed."""
    entry = resolve("greedy", lane="jail")
    session = Session("Ann", entry, "greedy", 4, 2, "deck", Rules(set_bonus=4))
    assert session.command == (
        "arena human greedy --me Ann --lane jail --games 2 --names deck "
        "--rules '{\"set_bonus\": 4}' --seed 4"
    )


def test_after_a_mistake_the_person_is_asked_again(tmp_path: Path) -> None:
    """Each mistake gets its message, and the game goes on; other names can be typed, too."""
    typed = "\nfoo\n6 7\n5\nhelp\nt\nt\n\x00\udcff\n\x1b[A\n" + ALL_ANSWERS
    done = command(tmp_path, "greedy", "--seed", SEED, typed=typed)
    assert (done.returncode, done.stderr) == (0, "")
    for wrong in ("'", "'foo", "'6 7", "'5", "'t", r"\x1b[A"):
        assert f"{wrong}' is not possible now" in done.stdout
    assert "'' is not possible now; ? explains." in done.stdout
    assert "R18. After that more cities win" in done.stdout
    assert "\x1b" not in done.stdout
    assert records(tmp_path)[0]["win_type"] is not None
    words = ("greedy", "--seed", SEED, "--names", "german")
    done = command(tmp_path, *words, typed=f"gebäude\nx\n?\n{ALL_ANSWERS}")
    assert ("Support 5" in done.stdout, "Bande 6" in done.stdout) == (False, True)
    assert "--names german" in done.stdout


@pytest.mark.parametrize("naming", NAMINGS)
def test_the_help_has_every_sign_and_the_rules(naming: str) -> None:
    """In 80 columns, with the numbers of changed rules."""
    lines = [line.text for line in help_lines(naming, Rules(take_size=4))]
    assert max(map(len, lines)) <= 80
    for kind in KINDS:
        assert f"{CHARS[kind]} {card_names(naming, kind)[0]}" in " ".join(lines)
    assert "A take puts the newest 4 cards" in " ".join(lines)


@pytest.mark.parametrize(("typed", "status"), [("6\n", 1), ("6\nquit\n", 0)])
def test_a_game_that_is_left_is_kept(tmp_path: Path, arena: Arena, typed: str, status: int) -> None:
    """After quit or the end of the input, as an unfinished record that can be replayed."""
    done = command(tmp_path, "greedy", "--seed", SEED, "--games", "3", typed=typed)
    assert (done.returncode, done.stderr) == (status, "")
    (record,) = records(tmp_path)
    assert (record["actions"][0], record["winner"], record["win_type"]) == ("6", None, None)
    assert "The game is kept unfinished: line 1" in done.stdout
    judged = json.loads(arena("replay", str(FILE), "--json").stdout)
    assert (judged["over"], judged["plies"]) == (False, 2)


@pytest.mark.slow
def test_a_bot_that_fails_forfeits_and_the_person_sees_why(tmp_path: Path, arena: Arena) -> None:
    """The fault, its traceback and the bot's output are on the screen; two games are two."""
    body = "print('so long')\nraise ValueError('boom')"
    write(tmp_path, "raises", body)
    words = ("./raises.py", "--seed", SEED, "--games", "2")
    done = command(tmp_path, *words, typed=ALL_ANSWERS)
    assert (done.returncode, done.stderr) == (0, "")
    for ply in (1, 0):
        assert f"raises forfeits (exception at ply {ply}): ValueError: boom." in done.stdout
    assert "  so long" in done.stdout
    for record in records(tmp_path):
        assert (record["winner"], record["win_type"]) == ("human", "forfeit")
        assert record["fault"]["kind"] == "exception"
        assert record["fault"]["message"] == "ValueError: boom"
    assert arena("show", str(FILE), "--line", "1").returncode == 0


ONLY = "only `arena human BOT` has a person"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("human nosuch", "bot 'nosuch': no bot 'nosuch' in bots/"),
        ("human human=greedy", "bot 'human=greedy': has the person's label 'human'"),
        ("human human", f"bot 'human': {ONLY}"),
        ("human greedy(x=1)", "unexpected keyword argument 'x'"),
        ("human cmd:false", "bot 'cmd:false': does not start"),
        ("human greedy --lane inproc", "'--lane': 'inproc' is not one of"),
        ("human greedy --games 0", "'--games': 0 is not in the range"),
        ("human greedy --names latin", "'--names': 'latin' is not one of"),
        ("human greedy --out cup.yaml", "cup.yaml: cannot be written"),
        ("play Ann=human greedy", ONLY),
        ("run cup.yaml", f"cup.yaml: bots[1]: bot 'human': {ONLY}"),
        ("game human greedy", f"bot 'human': {ONLY}"),
    ],
)
def test_bad_input_is_one_line(arena: Arena, tmp_path: Path, words: str, reason: str) -> None:
    """Nothing is played, and nothing is written."""
    (tmp_path / "cup.yaml").write_text("seed: 0\npairs: 1\nbots: [greedy, human]\n")
    assert reason in refused(arena(*words.split()))
    assert [path.name for path in tmp_path.iterdir()] == ["cup.yaml"]


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    """Return a session that waits for its first answer."""
    session = Console(tmp_path, "human", "greedy", "--seed", SEED)
    session.until("? for help > ")
    yield session
    session.kill()


@pytest.mark.slow
def test_a_whole_game_in_a_terminal(console: Console, tmp_path: Path) -> None:
    """What is typed is shown once, a mistake is colored, and the game is recorded."""
    console.type("foo\n")
    shown = console.until("? for help > ")
    assert shown.startswith("foo\r\n\x1b[33m'foo' is not possible")
    typed, actions = expected(seed=int(SEED))
    for number, sign in enumerate(typed.split()):
        if number:
            assert "\x1b[1mRound " in console.until("? for help > ")
        console.type(f"{sign}\n")
    status, shown = console.end()
    assert status == 0
    assert "Recorded: line 1" in shown
    assert records(tmp_path)[0]["actions"] == actions


@pytest.mark.parametrize(
    ("end", "status"),
    few([("\x03", 130), ("\x04", 1), (signal.SIGHUP, 129), (signal.SIGTERM, 143)], 0, unpack=True),
)
def test_a_key_or_a_signal_that_ends_it_keeps_the_game(
    console: Console, tmp_path: Path, end: str | signal.Signals, status: int
) -> None:
    """Ctrl-C and Ctrl-D at the prompt, after an action; a window that is closed."""
    console.type("6\n")
    console.until("? for help > ")
    if isinstance(end, str):
        console.type(end)
    else:
        console.process.send_signal(end)
    ended, shown = console.end()
    assert ended == status
    assert "Traceback" not in shown
    assert len(records(tmp_path)[0]["actions"]) == 2


@pytest.mark.slow
def test_ctrl_c_while_the_bot_thinks_ends_its_process(tmp_path: Path) -> None:
    """The person's action is kept."""
    asked = tmp_path / "asked"
    body = f"        open({str(asked)!r}, 'w').close()\n        __import__('time').sleep(9999)"
    write(tmp_path, "waits", f"    def choose(self, view, /):\n{body}")
    session = Console(tmp_path, "human", "./waits.py", "--seed", SEED)
    try:
        session.until("? for help > ")
        session.type("t\n")
        until(asked.exists)
        *_, bot = psutil.Process(session.process.pid).children(recursive=True)
        session.type("\x03")
        status, shown = session.end()
    finally:
        session.kill()
    assert (status, "Traceback" in shown) == (130, False)
    assert records(tmp_path)[0]["actions"] == "T"
    assert not bot.is_running()


def test_ctrl_c_is_seen_before_a_line_is_read() -> None:
    """A read that has begun without a line misses a signal that came a moment before."""

    reads, writes = os.pipe()
    keyboard = Mock(**{"fileno.return_value": reads, "isatty.return_value": True})
    keyboard.readline.side_effect = AssertionError("a signal before this read waits for a key")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            Terminal(keyboard, io.StringIO()).ask("? ")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        os.close(reads)
        os.close(writes)


def test_a_record_that_cannot_be_written_is_in_the_error(tmp_path: Path) -> None:
    """The game is not lost, because the line can be put into a file."""
    kept = Records(tmp_path / "results")
    kept.path.unlink()
    kept.path.mkdir()
    match = Match(Fixture(Pairing("human", "greedy"), 0, 0), {1: resolve("greedy")}, 4)
    assert kept.keep(match) is None  # nobody has acted
    match.state.apply(match.state.legal()[0])
    with pytest.raises(ArenaError, match=r'games.jsonl: Is a directory; the record: \{"deal"'):
        kept.keep(match)


@pytest.mark.slow
def test_a_person_plays_under_other_rules(arena: Arena, tmp_path: Path) -> None:
    """A bot that knows the published ones only is refused, or forfeits."""
    strict = str(write(tmp_path, "strict", ANY, "assert setup.rules.set_bonus == 5, 'unknown'"))
    (tmp_path / "program.py").write_text(STRICT)
    program = f"program=cmd:{shlex.quote(sys.executable)} program.py"
    for bot in ("greedy", strict):
        done = command(tmp_path, bot, "--rules", '{"set_bonus": 4}', typed=ALL_ANSWERS)
        assert (done.returncode, done.stderr) == (0, "")
    found = records(tmp_path)
    assert [record["rules"] for record in found] == [{"set_bonus": 4}] * 2
    assert [record["win_type"] == "forfeit" for record in found] == [False, True]
    for bot, changes, why in (
        ("greedy", '{"set_bonus": "x"}', "--rules: set_bonus must be a whole number"),
        (program, '{"set_bonus": 4}', "bot "),
    ):
        assert refused(arena("human", bot, "--rules", changes)).startswith(why)


HAND = View.from_text("0 578xC CC")


@pytest.mark.parametrize(
    ("text", "naming", "action"),
    [
        *(("T", "english", TAKE), (" Take ", "english", TAKE), ("city", "english", 10)),
        *(("Support   8", "english", 3), ("Betrayal \u22121", "english", 7)),
        *(("Gebäude", "german", 10), ("Geba\u0308ude", "german", 10)),
        *(("5c", "deck", 0), ("10D", "deck", 3)),
        *((wrong, "english", None) for wrong in ("5C", "6", "5 7", "")),
    ],
)
def test_an_action_can_be_typed_in_several_ways(text: str, naming: str, action: int | None) -> None:
    """Spaces, capitals and the kind of minus do not matter; what is not legal is no action."""
    assert read_action(text, HAND, naming) == action
