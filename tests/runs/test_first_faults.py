"""The first fault of each bot is told at once: what, where, and how to see it again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd
import pytest

from arena.entries.resolve import resolve
from arena.executors.answers import FAILED, Failed, Frames, Garbled, pack, read_answer, write_answer
from arena.executors.local import LocalExecutor
from arena.executors.log import run_log
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests import markdown
from tests.conftest import Arena

RAISES = """
class Bot:
    def __init__(self, setup):
        pass

    def choose(self, view):
        return {}[view.seat]

bot = Bot
"""


def lines_about_mine(text: str) -> list[str]:
    """Return the lines about the bot `mine`; a slow machine also prints lines of progress."""
    return [line for line in text.splitlines() if "mine" in line]


@pytest.mark.slow
def test_a_run_tells_the_first_fault_of_a_bot(arena: Arena, tmp_path: Path) -> None:
    """Its message, the line of its code, and a command that plays the game again."""
    (tmp_path / "mine.py").write_text(RAISES)
    done = arena("play", "./mine.py", "uniform", "--pairs", "6", "--workers", "1")
    assert done.returncode == 0
    first, place, again, out = lines_about_mine(done.stderr)
    assert first == "mine forfeits a game (exception, ply 0): KeyError: 0"
    assert place == '  File "mine.py", line 7, in choose: return {}[view.seat]'
    assert out == "mine is out after 10 exceptions: its remaining games are forfeits"
    command = shlex.split(again.partition("to see it again: ")[2])
    assert command[:2] == ["arena", "game"]
    assert "KeyError: 0" in arena(*command[1:]).stderr
    assert "mine was out after 10 exceptions" in done.stdout


@pytest.mark.slow
def test_why_a_bot_does_not_start_is_said_once(arena: Arena, tmp_path: Path) -> None:
    """Before the run; the first fault adds its place and a command, and run.log has all."""
    (tmp_path / "mine.py").write_text("import nothing_like_it\n")
    words = ["play", "./mine.py", "uniform", "--pairs", "1", "--workers", "1", "--out", "out"]
    done = arena(*words)
    warning, first, place, again = lines_about_mine(done.stderr)
    assert warning.startswith("warning: bot './mine.py': does not start: ModuleNotFoundError")
    assert first == "mine forfeits a game (import, ply 0)"
    assert place == '  File "mine.py", line 1, in <module>: import nothing_like_it'
    assert again.startswith("  to see it again: arena game ./mine.py uniform ")
    assert "nothing_like_it" in (tmp_path / "out" / "run.log").read_text()


@pytest.mark.slow
def test_a_quiet_run_tells_no_fault(arena: Arena, tmp_path: Path) -> None:
    """As nothing else."""
    (tmp_path / "mine.py").write_text(RAISES)
    assert arena("play", "./mine.py", "uniform", "--pairs", "1", "--quiet").stderr == ""


@pytest.mark.slow
def test_a_fault_is_told_before_the_rest_of_its_chunk_is_played(tmp_path: Path) -> None:
    """So an endless loop is told after one decision, and the first fault only."""
    loops = tmp_path / "loops.py"
    late = "return view.legal[0] if len(view.history) < 2 else any(iter(int, 1))"
    loops.write_text(RAISES.replace("return {}[view.seat]", late))
    bots = [resolve("uniform"), resolve(str(loops), lane="process")]
    limits = Limits(decision=0.2, backstop=1.0)
    tournament = Tournament("told", 3, 3, bots, STANDARD, limits)
    plan = Plan([[range(3)]], Strikes(tournament.pairings, 3, most=1000))
    events: list[GameResult | Played] = []
    with run_log(tmp_path / "log") as log:
        log.tell = lambda _pairing, result: events.append(result)
        events += LocalExecutor(1).play(plan, tournament, log)
    told, *more = events
    assert isinstance(told, GameResult)
    assert told.fault is not None
    assert (told.fault.kind, told.winner) == ("timeout", 0)
    games = [game for event in more if isinstance(event, Played) for game in event.results]
    assert told in games
    assert len(games) == 6
    assert not [event for event in more if isinstance(event, GameResult)]


GAME = GameResult(4, 1, 0, "forfeit", 0, 0, 0, Fault("timeout", "late"), "")


def test_a_worker_tells_only_of_faults_that_can_be() -> None:
    """A bot may write in its name."""
    chunk = Chunk(0, 4, 2, seats=(1,))
    frames = Frames(1 << 20)
    frames.add(write_answer(Failed(GAME)))
    ((kind, data),) = frames.take()
    assert read_answer(kind, data, [chunk]) == Failed(GAME)
    elsewhere = GAME._replace(pair=9)
    unknown = GAME._replace(fault=Fault("felony", "late"))
    hidden = GAME._replace(fault=Fault("timeout", "\x1b[2J"))
    for wrong in (elsewhere, unknown, hidden, GAME._replace(fault=None, win_type="city")):
        frames.add(write_answer(Failed(wrong)))
        ((kind, data),) = frames.take()
        with pytest.raises(Garbled):
            read_answer(kind, data, [chunk])
    with pytest.raises(Garbled):
        read_answer(FAILED, pack(FAILED, b"x"), [chunk])


FOLDER = "a b \N{LATIN SMALL LETTER E WITH ACUTE}'s"  # with a space, a quote and no ASCII
FAILS = """
class Bot:
    def __init__(self, setup, word="", after=1):
        self.word, self.after = word, after

    def choose(self, view):
        if len(view.history) >= self.after:
            raise ValueError("boom " + self.word)
        return view.legal[0]

bot = Bot
"""
CUP = """
name: cup
pairs: 2
seed: 5
max_faults: 100
rules: {set_bonus: 3}
limits: {decision: 50}
deals: deals.txt
bots:
  - uniform
  - {bot: ./fails.py, lane: inproc, label: "mine (1): x"}
  - {bot: "./two words.py", params: {word: "it's \\"q\\" $HOME `x`", after: 2}}
  - {bot: ./reads.py, needs: [word.txt]}
  - {bot: ./program/}
  - {bot: "cmd:sh 'no answer.sh'"}
"""


@pytest.mark.slow
def test_every_command_of_faults_csv_shows_its_fault_again(tmp_path: Path) -> None:
    """Pasted in a shell: in each lane, for odd names, parameters, rules, limits and deals."""
    here = tmp_path / FOLDER
    (here / "program").mkdir(parents=True)
    for name in ("fails.py", "two words.py"):
        (here / name).write_text(FAILS)
    read = "from pathlib import Path\nWORD = Path(__file__).with_name('word.txt').read_text()\n"
    (here / "reads.py").write_text(read + FAILS.replace('"boom " + self.word', "WORD"))
    (here / "word.txt").write_text("a word")
    (here / "no answer.sh").write_text("read x; echo nonsense\n")
    (here / "program" / "bot.toml").write_text('run = ["sh", "x.sh"]\nlabel = "A program"\n')
    (here / "program" / "x.sh").write_text(
        'read x; echo \'{"id":0,"ready":true}\'; read x; echo y\n'
    )
    deal = "3C4287zxy76yx7y768658668x257385567yC78822Cz58"
    (here / "deals.txt").write_text(f"{deal}\n{deal[::-1]}\n")
    (here / "cup.yaml").write_text(CUP)
    assert markdown.run("arena run cup.yaml --out 'its run'", here).returncode == 0
    faults = pd.read_csv(here / "its run" / "faults.csv").drop_duplicates(["bot"])
    assert len(faults) == 5
    for fault in faults.itertuples():
        again = markdown.run(fault.command, here)
        assert again.returncode == 0, again.stderr
        assert fault.message in again.stderr
        assert f'"kind": "{fault.kind}", "ply": {fault.ply}' in again.stdout
