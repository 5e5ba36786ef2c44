"""Faults: the same evidence in every run, told at once, also of a bot that sleeps."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, run_log
from arena.executors.worker import Worker
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits, idle_seconds
from arena.lanes.scratch import scratch_folder
from arena.runs.run import run
from arena.statistics.counts import Faults
from arena.store.folder import RunFolder
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.schedule import Forfeits, Pairing, Strikes, find_out
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.strategy import Spent
from tests import markdown
from tests.conftest import Arena
from tests.rogues import FOLDER, write

PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    answer = {"id": message["id"], "ready": True, "games": 16}
    if message["type"] == "choose":
        ply = len(message["history"])
        print("seat", message["seat"], "ply", ply, file=sys.stderr, flush=True)
        answer["action"] = message["legal"][0] if ply < 6 else "Q"
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.slow
def test_a_program_that_holds_many_games_shows_the_output_of_one(tmp_path: Path) -> None:
    """It is the same however many games the program held as it failed."""
    (tmp_path / "holds.py").write_text(PROGRAM)
    words = shlex.join([sys.executable, str(tmp_path / "holds.py")])
    bots = [resolve("uniform"), resolve(f"cmd:{words}", label="program")]
    tournament = Tournament("cup", 3, 4, bots, STANDARD)
    results = []
    for chunks in ([Chunk(0, 0, 4)], [Chunk(0, pair, 1) for pair in range(4)]):
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            results.append([game for chunk in chunks for game in worker.play(chunk).results])
    assert results[0] == results[1]
    for game in results[0]:
        assert game.fault is not None
        assert game.fault.output.count("ply") == 4


AB = [Pairing("a", "b")]
IDLE = Fault("idle", "slept")


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["process", "inproc"])
def test_a_bot_that_naps_is_out_after_its_seconds(tmp_path: Path, lane: str) -> None:
    """Each nap is far below the backstop, and no decision is charged for it."""
    naps = resolve(str(FOLDER / "dies.py"), "naps", {"how": "naps"}, lane)
    limits = Limits(decision=0.2, game=1.0, idle=1.5, memory=256)
    bots = [resolve("uniform"), naps]
    tournament = Tournament("naps", 3, 10, bots, STANDARD, limits)
    outcome = run(tournament, LocalExecutor(1), RunFolder(tmp_path), QUIET)
    assert [*outcome.out] == ["naps"]
    first, *rest = (tmp_path / "faults.csv").read_text().splitlines()[1:]
    assert ",idle,5," in first  # at its second nap
    assert "its turns took much longer than it worked: 1.5 s of a run may be idle" in first
    assert len(rest) == 19
    assert all(",max_faults," in line for line in rest)


def test_one_fault_of_this_kind_is_enough_to_be_out() -> None:
    """In the run itself, and where a store is read later."""
    strikes = Strikes(AB, 3, most=10)
    result = GameResult(0, 1, 0, "forfeit", 0, 0, 3, IDLE, "")
    strikes.finish(0, 0, 3, [result])
    assert [*strikes.out] == ["b"]
    assert strikes.take_due() == [Forfeits(0, 2, 6, 1)]
    assert find_out(AB, [Faults(0, 1, "idle", 1)], max_faults=10) == {"b"}
    assert find_out(AB, [Faults(0, 1, "timeout", 1)], max_faults=10) == set()


@pytest.mark.slow
def test_why_a_bot_does_not_start_is_said_once(arena: Arena, tmp_path: Path) -> None:
    """Before the run; the first fault adds its place and a command, and run.log has all."""
    (tmp_path / "mine.py").write_text("import nothing_like_it\n")
    words = ["play", "./mine.py", "uniform", "--pairs", "1", "--workers", "1", "--out", "out"]
    done = arena(*words)
    warning, first, place, again = (line for line in done.stderr.splitlines() if "mine" in line)
    assert warning.startswith("warning: bot './mine.py': does not start: ModuleNotFoundError")
    assert first == "mine forfeits a game (import, ply 0)"
    assert place == '  File "mine.py", line 1, in <module>: import nothing_like_it'
    assert again.startswith("  to see it again: arena game ./mine.py uniform ")
    assert "nothing_like_it" in (tmp_path / "out" / "run.log").read_text()


@pytest.mark.slow
def test_a_fault_is_told_before_the_rest_of_its_chunk_is_played(tmp_path: Path) -> None:
    """So an endless loop is told after one decision, and the first fault only."""
    late = "return view.legal[0] if len(view.history) < 2 else any(iter(int, 1))"
    loops = write(tmp_path, "loops", late)
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


HERE = "a b \N{LATIN SMALL LETTER E WITH ACUTE}'s"  # with a space, a quote and no ASCII
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
    here = tmp_path / HERE
    (here / "program").mkdir(parents=True)
    for name in ("fails.py", "two words.py"):
        (here / name).write_text(FAILS)
    read = "from pathlib import Path\nWORD = Path(__file__).with_name('word.txt').read_text()\n"
    (here / "reads.py").write_text(read + FAILS.replace('"boom " + self.word', "WORD"))
    (here / "word.txt").write_text("a word")
    (here / "no answer.sh").write_text("read x; echo nonsense\n")
    (here / "program" / "bot.toml").write_text('run = ["sh", "x.sh"]\nlabel = "A program"\n')
    answer = """read x; echo '{"id":0,"ready":true}'; read x; echo y\n"""
    (here / "program" / "x.sh").write_text(answer)
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


def test_what_a_busy_machine_explains_is_not_idle_and_sleep_spends_the_budget() -> None:
    """Ten times the time of the processor and a tenth of a second; such turns cost nothing."""
    assert idle_seconds(Spent(wall=30.0, cpu=3.0)) == 0
    assert idle_seconds(Spent(wall=0.1, cpu=0.0)) == 0
    assert idle_seconds(Spent(wall=5.0, cpu=0.2, before=0.1)) == 1.9
    budget = Limits(decision=0.2, idle=1.5).budget()
    for wall, left in ((1.1, 0.5), (0.1, 0.5), (0.9, -0.3)):
        budget.spend(Spent(wall=wall, cpu=0.0))
        assert budget.left == pytest.approx(left)
    for decision, idle, seconds in ((10, None, 60), (0.2, None, 10), (3, None, 30), (0.2, 9, 9)):
        budget = Limits(decision=decision, idle=idle).budget()
        assert budget.seconds == budget.left == seconds
