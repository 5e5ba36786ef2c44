"""A game whose process was killed goes on where it was, or ends without an invention."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.addons.table.interrupted import find_interrupted, find_own
from arena.addons.table.player import Terminal
from arena.addons.table.session import Changed, RecordedGame, Records, Session, play_session
from arena.errors import ArenaError
from arena.tournament.schedule import Fixture
from engine import Rules
from engine.cards import CHARS, to_text
from engine.notation import parse_actions
from engine.state import State
from tests.addons.table.interrupting import leave_journal, make_session, play_out
from tests.addons.table.test_session import ALL_ANSWERS, command, expected
from tests.waiting import until

PLIES = 17  # in the second round
COUNTS = """
class Counts:
    def __init__(self, setup):
        self.rng, self.times = setup.rng, 0

    def choose(self, view):
        self.times += 1
        return view.legal[(self.times + self.rng.randrange(9)) % len(view.legal)]

bot = Counts
"""


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """Return the records of a folder."""
    return Records(tmp_path / "human")


def go_on(session: Session, records: Records, typed: str = ALL_ANSWERS) -> str:
    """Go on with the interrupted game of a session, and return what is shown."""
    interrupted, _ = find_own(session, records)
    assert interrupted is not None
    out = io.StringIO()
    game = interrupted.go_on(session.entry, records)
    play_session(session, records, Terminal(io.StringIO(typed), out), game)
    return out.getvalue()


def lines(records: Records) -> list[dict[str, Any]]:
    return [json.loads(line) for line in records.path.read_text().splitlines()]


def left(records: Records) -> list[Path]:
    return [*records.under_way.glob("*")]


def typed_after(session: Session, actions: str, plies: int) -> str:
    """Return what the person types from a ply on, who types nothing where an action is forced."""
    fixture = session.fixture(0)
    state, typed = State(fixture.draw(session.seed).deal), ""
    for ply, char in enumerate(actions):
        if ply >= plies and state.to_act == fixture.seat and len(state.legal()) > 1:
            typed += f"{char}\n"
        state.apply(CHARS.index(char))
    return typed


@pytest.mark.parametrize("plies", [1, PLIES, 99])
def test_a_game_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, records: Records, plies: int
) -> None:
    """The bot has a memory and luck of its own, and both are as they were; also at the end."""
    bot = tmp_path / "counts.py"
    bot.write_text(COUNTS)
    session, actions = make_session(str(bot), 0), expected(0, bot=str(bot))[1]
    plies = min(plies, len(actions))
    leave_journal(records.path.parent, str(bot), 0, plies, actions)
    shown = go_on(session, records, typed_after(session, actions, plies))
    (record,) = lines(records)
    assert record["actions"] == actions
    assert record["win_type"] is not None
    assert record["opponent"] == session.entry.describe()
    assert f"The game goes on where it was interrupted, at ply {plies}." in shown
    assert left(records) == []


def test_a_game_under_other_rules_goes_on_under_them(records: Records) -> None:
    """By the command that is printed for it, which deals the games again, too."""
    session = make_session("greedy", 0, rules=Rules(rounds=2, removed=23))
    folder, actions = records.path.parent, play_out(session)
    leave_journal(folder, "greedy", 0, 1, actions, rules=session.rules)
    assert find_own(make_session("greedy", 0), records) == (
        None,
        [f"Interrupted at ply 1; this goes on with it: {session.command}"],
    )
    shown = go_on(session, records)
    (record,) = lines(records)
    assert record["rules"] == {"removed": 23, "rounds": 2}
    assert record["win_type"] is not None
    assert "The game goes on where it was interrupted, at ply 1." in shown
    again = """arena human greedy --rules '{"removed": 23, "rounds": 2}' --seed 0"""
    assert f"The same again: {again}" in shown


@pytest.mark.slow
def test_a_killed_terminal_loses_no_action(tmp_path: Path) -> None:
    """The real command, with kill -9; the same command goes on."""
    words = ["human", "uniform", "--seed", "0"]
    typed, actions = expected(0, bot="uniform")
    folder = tmp_path / "results" / "human"
    with subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as killed:
        assert killed.stdin is not None
        killed.stdin.write("".join(typed.splitlines(keepends=True)[:5]))
        killed.stdin.flush()
        until(lambda: folder.exists() and left(Records(folder)) and asked(folder) > 9)
        killed.kill()
    plies = asked(folder)
    assert (folder / "games.jsonl").read_text() == ""
    session = make_session("uniform", 0)
    done = command(tmp_path, *words, typed=typed_after(session, actions, plies))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"The game goes on where it was interrupted, at ply {plies}." in done.stdout
    assert [record["actions"] for record in lines(Records(folder))] == [actions]


def asked(folder: Path) -> int:
    """Return how many actions the journal in a folder has."""
    (journal,) = left(Records(folder))
    return journal.read_bytes().count(b"\n") - 1


def test_another_session_says_how_an_interrupted_game_goes_on(records: Records) -> None:
    """It plays a game of its own, and so does one with another seed."""
    leave_journal(records.path.parent, "greedy", 0, PLIES, thoughts=True, naming="deck")
    how = "arena human greedy --names deck --thoughts --seed 0"
    for session in (
        make_session("uniform", 0),
        make_session("greedy", 2),
        make_session("greedy", 0),
    ):
        own, said = find_own(session, records)
        assert own is None
        assert said == [f"Interrupted at ply {PLIES}; this goes on with it: {how}"]
    assert left(records)


def changed(records: Records, session: Session) -> tuple[str, dict[str, Any]]:
    """Go on with a game whose bot has changed; return what is said, and the record."""
    with pytest.raises(Changed) as error:
        go_on(session, records)
    (record,) = lines(records)
    assert (record["winner"], record["win_type"], record.get("fault")) == (None, None, None)
    assert left(records) == []
    return str(error.value), record


def test_a_bot_that_plays_otherwise_now_ends_the_game(tmp_path: Path, records: Records) -> None:
    """What it did counts, and nothing is invented; the record has the actions of then."""
    bot = tmp_path / "counts.py"
    bot.write_text(COUNTS)
    session, actions = make_session(str(bot), 0), expected(0, bot=str(bot))[1]
    state = State(session.fixture(0).draw(0).deal)
    state.follow(parse_actions(actions[:PLIES]))
    while state.to_act == 0:
        state.apply(state.legal()[0])
    right = CHARS.index(actions[len(state.history)])
    other = next(action for action in state.legal() if action != right)
    state.apply(other)
    played = to_text(state.history)
    leave_journal(records.path.parent, str(bot), 0, len(played), played)
    said, record = changed(records, session)
    where = f"ply {len(played) - 1}: it was {CHARS[other]} and is {CHARS[right]} now"
    assert said == f"counts does not play as before, {where}"
    assert record["actions"] == played


@pytest.mark.parametrize("times", [0, 2])
def test_a_bot_that_fails_now_forfeits_nothing(
    tmp_path: Path, records: Records, times: int
) -> None:
    """It had answered; its file is as it was, so it is something else that has changed."""
    bot = tmp_path / "fails.py"
    wrong = f"self.times += 1 if self.times < {times} else 1 // 0\n        return view.legal[0]"
    bot.write_text(COUNTS.replace("self.times += 1", wrong))
    actions = play_out(make_session(str(bot), 1))
    leave_journal(records.path.parent, str(bot), 1, PLIES, actions)
    said, record = changed(records, make_session(str(bot), 1))
    where = f"ply {2 * times}: ZeroDivisionError"  # the bot begins, and nobody has taken yet
    assert f"fails does not play as before, {where}" in said
    assert record["actions"] == actions[:PLIES]


def test_a_bot_that_was_edited_is_not_asked(tmp_path: Path, records: Records) -> None:
    """It is another bot: the game is kept unfinished, with the bot that had played it."""
    bot = tmp_path / "counts.py"
    bot.write_text(COUNTS)
    before = make_session(str(bot), 0)
    leave_journal(records.path.parent, str(bot), 0, PLIES)
    bot.write_text(f"{COUNTS}# edited\n")
    said, record = changed(records, make_session(str(bot), 0))
    assert said.startswith(
        f"counts has changed: its sha256 was {before.entry.sha256[:12]}... and is "
    )
    assert said.endswith(f"; the game is kept unfinished: line 1 of {records.path}")
    assert record["opponent"] == before.entry.describe()
    assert len(record["actions"]) == PLIES


def test_another_deal_ends_the_game(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later version of the arena might deal other cards with this seed."""
    leave_journal(records.path.parent, "greedy", 0, PLIES)
    session = make_session("greedy", 0)
    draw = Fixture.draw
    monkeypatch.setattr(Fixture, "draw", lambda self, seed, rules: draw(self, seed + 1, rules))
    said, record = changed(records, session)
    assert said.startswith("this version of the arena deals other cards; the game is kept")
    assert len(record["actions"]) == PLIES


def test_a_game_that_was_recorded_just_before_the_kill_is_not_recorded_again(
    records: Records,
) -> None:
    """Its journal was all that was left to be removed."""
    session = make_session("greedy", 0)
    leave_journal(records.path.parent, "greedy", 0, 99)
    assert len(find_interrupted(records)[0]) == 1
    go_on(session, records, "")
    leave_journal(records.path.parent, "greedy", 0, 99)
    assert find_interrupted(records) == ([], [])
    assert left(records) == []
    assert len(lines(records)) == 1


@pytest.mark.slow
def test_a_session_goes_on_with_its_further_games(records: Records) -> None:
    """The second of three was interrupted."""
    session = make_session("greedy", 1, games=3)
    journal = RecordedGame(session, 1)._begin_journal(records)
    journal.add(0, CHARS.index(expected(1, number=1)[1][0]))
    journal.close()
    go_on(session, records)
    names = [record["game"] for record in lines(records)]
    assert names == ["human/greedy/1/0", "human/greedy/2/1"]


def test_a_game_whose_record_cannot_be_written_is_not_lost(records: Records) -> None:
    """Its journal stays."""
    leave_journal(records.path.parent, "greedy", 0, PLIES)
    records.path.unlink()
    records.path.mkdir()
    with pytest.raises(ArenaError, match="the record: "):
        go_on(make_session("greedy", 0), records)
    records.path.rmdir()
    records.path.touch()
    (interrupted,) = find_interrupted(records)[0]
    assert interrupted.content.state.over
