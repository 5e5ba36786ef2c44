"""Faults have the same evidence in every run, and a change in a run's folder is found and named."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import Executor, LocalExecutor
from arena.executors.log import QUIET, run_log
from arena.executors.worker import Worker
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits, idle_seconds
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.runs.run import run
from arena.runs.verify import Difference, _is_odd, _pairs_of, spread, verify
from arena.statistics.counts import Faults
from arena.store.folder import RunFolder
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.schedule import Forfeits, Pairing, Strikes, find_out
from arena.tournament.tournament import Tournament
from arena.tournament.versions import version_here
from engine import STANDARD
from engine.strategy import Spent
from tests import markdown
from tests.conftest import Arena
from tests.kit import HERE, forge, refused, same_files
from tests.rogues import FOLDER, write
from tests.tiers import few

RAISES = "raise ValueError('boom')"
TIRES = "assert len(view.history) < 6\nreturn view.legal[0]"
FIRST = resolve(str(FOLDER / "first.py"), lane="inproc")


def inproc(path: Path) -> Entry:
    return resolve(str(path), lane="inproc")


def finished(folder: Path, bots: list[Entry], pairs: int = 8, executor: Executor = HERE) -> Path:
    """Return the folder of a finished run."""
    run(Tournament("out", 0, pairs, bots, STANDARD), executor, RunFolder(folder), QUIET)
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run with forfeits, some of them by rule."""
    folder = tmp_path_factory.mktemp("verify")
    raises = inproc(write(folder, "raises", RAISES))
    return finished(folder / "out", [resolve("uniform"), resolve("greedy"), raises])


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder, which a test may change."""
    return shutil.copytree(whole, tmp_path / "out")


@pytest.fixture
def tired(tmp_path: Path) -> Path:
    """Return the folder of a run in which `tires` fails at ply 6 or 7 of every game.

    No bot takes before that, so that the score is 0 : 0.
    """
    tires = inproc(write(tmp_path, "tires", TIRES))
    return finished(tmp_path / "out", [FIRST, tires], pairs=2)


def change(folder: Path, statement: str) -> None:
    """Change the store of a run."""
    assert forge(folder / "run.sqlite", statement) > 0


def difference(folder: Path, sample: int = 20) -> str:
    """Return the message about a folder in which something differs, without the folder."""
    with pytest.raises(Difference) as caught:
        list(verify(folder, sample, HERE))
    text = str(caught.value)
    assert text.startswith(f"{folder}/")
    assert "\n" not in text
    return text.removeprefix(f"{folder}/")


def test_an_unchanged_run_is_right(arena: Arena, out: Path) -> None:
    """Games, files and bots are checked, a line each, and verify changes nothing."""
    before = same_files(out)
    done = arena("verify", "out", "--sample", "4", "--workers", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "games: 48 replayed\nfiles: 13 compared\nbots: 12 games played again\n"
    assert same_files(out) == before


CHANGES = {
    "UPDATE games SET points = points + 1 WHERE pair = 3": "uniform/greedy/3/0: points is",
    "UPDATE games SET win_type = 'city' WHERE pair = 2": "uniform/greedy/2/0: win_type is",
    "UPDATE games SET actions = 'T' || actions WHERE pair = 1": "uniform/greedy/1/0: its record "
    "cannot be played: ",
    "DELETE FROM games WHERE pair = 1 AND seat = 1": "uniform/greedy/1/1: is missing",
    "DELETE FROM games WHERE pairing = 0": "uniform/greedy/0/0: is missing",
    "UPDATE games SET fault = '' WHERE pairing = 1": "uniform/raises/0/0: its record ends in the",
    "UPDATE games SET winner = 1 - winner WHERE fault = 'exception'": "uniform/raises/0/0: winner "
    "is 1",
    "UPDATE games SET winner = 1 - winner WHERE fault = 'max_faults'": "uniform/raises/2/0: winner "
    "is 1, and the record gives 0",
    "UPDATE games SET winner = 0, win_type = 'forfeit', points = 0, opponent_points = 0, plies = 0,"
    " fault = 'max_faults', actions = '' WHERE pairing = 0 AND pair = 2": "uniform/greedy/2/0: its "
    "record ends in the middle",
}


@pytest.mark.parametrize("statement", CHANGES)
def test_a_changed_game_is_named(out: Path, statement: str) -> None:
    change(out, statement)
    assert difference(out).startswith(f"run.sqlite: game {CHANGES[statement]}")


def test_a_game_too_many_is_reported(arena: Arena, out: Path) -> None:
    """It is of a pairing that the run does not have; the status is 1."""
    games = "SELECT 9, pair, seat, 0, 'city', 0, 0, 0, '', '' FROM games LIMIT 1"
    change(out, f"INSERT INTO games {games}")
    done = arena("verify", "out")
    said = "error: out/run.sqlite: more games than the run has\n"
    assert (done.stdout, done.stderr, done.returncode) == ("", said, 1)
    again = refused(arena("run", "out/manifest.json", "--out", "out"))
    assert again.startswith("out/run.sqlite: damaged: a game of pair 0 of pairing 9; ")


def test_a_run_that_is_being_extended_has_not_finished(out: Path) -> None:
    """It has the files of the smaller run, and misses games of the larger one."""
    change = "UPDATE run SET value = replace(value, ?, ?)"
    forge(out / "run.sqlite", change, '"pairs": 8', '"pairs": 9')
    with pytest.raises(InputError, match=f"^{out}: the run has not finished; start it again"):
        list(verify(out, 0, HERE))


@pytest.mark.parametrize(
    ("seat", "statement"),
    [(0, "actions = substr(actions, 1, 6), plies = 6"), (1, "actions = actions || 'T', plies = 7")],
)
def test_a_fault_a_ply_too_early_or_too_late_is_named(
    tired: Path, seat: int, statement: str
) -> None:
    """The opponent is to act at that ply, so it would be the loser.

    tires fails at ply 7 in seat 1, where the opponent has seat 0, and at ply 6 in seat 0.
    """
    change(tired, f"UPDATE games SET {statement} WHERE pair = 1 AND seat = {seat}")
    message = difference(tired)
    assert message.startswith(f"run.sqlite: game first/tires/1/{seat}: winner is 0, and the record")


@pytest.mark.slow
def test_a_fault_two_plies_too_early_is_found_only_by_playing_again(tired: Path) -> None:
    """The records are valid and the files match them, but tires still plays at ply 4."""
    change(tired, "UPDATE games SET actions = substr(actions, 1, 4), plies = 4 WHERE seat = 1")
    finished(tired, [FIRST, inproc(tired.parent / "tires.py")], pairs=2)  # writes the files again
    assert difference(tired) == (
        "game first/tires/0/1: played again: plies is 4, and the record gives 6 "
        "(do its moves depend on the games that its process played before?)"
    )


@pytest.mark.slow
def test_a_bot_that_does_not_play_its_recorded_games_is_named(tmp_path: Path) -> None:
    """The records are valid and the files match them, but another source has played them."""
    assert FIRST.source is not None
    last = replace(FIRST, source=FIRST.source.replace(b"view.legal[0]", b"view.legal[-1]"))
    assert last.source != FIRST.source
    executor = LocalExecutor(1)  # this process would take one for the other
    out = finished(tmp_path / "out", [resolve("uniform"), last], 4, executor)
    assert difference(out, sample=1).startswith("game uniform/first/0/0: played again: ")
    assert list(verify(out, 0, HERE))[-1] == "bots: 0 games played again"


@pytest.mark.parametrize("name", few(["games.csv", "manifest.json", "details/cards.csv"]))
def test_a_changed_file_is_named_with_its_line(out: Path, name: str) -> None:
    path = out / name
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    lines[2] = lines[2].swapcase()
    for changed, line in (("".join(lines), 3), (text + "x\n", len(lines) + 1)):
        path.write_text(changed)
        assert difference(out).startswith(f"{name}: line {line} ")
    path.unlink()
    if name == "manifest.json":
        with pytest.raises(InputError, match=r"the run has not finished"):
            list(verify(out, 0, HERE))
    else:
        assert difference(out).startswith(f"{name}: cannot be read: ")


@pytest.mark.parametrize(
    ("change_of", "reason"),
    [
        ({"seed": "x"}, "Expected `int`, got `str` - at `$.seed`"),
        ({"pairs": 2.5}, "Expected `int`, got `float` - at `$.pairs`"),
        ({"rules": {"colour": 1}}, "unknown rule 'colour'"),
        ({"bots": []}, "a tournament needs two bots"),
        ({"bots": [1, 2]}, "Expected `object`, got `int` - at `$.bots[0]`"),
        ({"bots": [{"label": "b"}] * 20_000}, "Expected `array` of length <= 1000"),
        ({"limits": None}, "Expected `object`, got `null` - at `$.limits`"),
    ],
)
def test_a_manifest_of_wrong_types_is_refused(
    out: Path, change_of: dict[str, object], reason: str
) -> None:
    changed = json.loads((out / "manifest.json").read_text()) | change_of
    forge(out / "run.sqlite", "UPDATE run SET value = ?", json.dumps(changed))
    with pytest.raises(InputError) as caught:
        list(verify(out, 0, HERE))
    start = f"{out}/run.sqlite: its manifest cannot be read: {reason}"
    assert str(caught.value).startswith(start)


def test_a_run_of_another_version_is_not_called_forged(out: Path) -> None:
    """Its games and files may differ from what this version makes; the message names both."""
    manifest = json.loads((out / "manifest.json").read_text())
    forge(out / "run.sqlite", "UPDATE games SET plies = plies + 1")
    for part, there, shown, maker in (
        ("engine", "1f" * 32, "1f1f1f1f1f1f...", f"version {version_here()} (pip install"),
        ("arena", "0.0.9", "0.0", "a development version before 1.0, which can verify it"),
    ):
        versions = manifest["versions"] | {part: there}
        (out / "manifest.json").write_text(json.dumps(manifest | {"versions": versions}))
        with pytest.raises(InputError) as caught:
            list(verify(out, 0, HERE))
        assert str(caught.value).startswith(f"{out}: made by {maker}")
        assert f", which can verify it: versions.{part}: there {shown}, here " in str(caught.value)


@pytest.mark.slow
def test_bots_that_have_changed_are_named_and_left_out(tmp_path: Path) -> None:
    """The records of their games are still replayed."""
    raises = write(tmp_path, "raises", RAISES)
    out = finished(tmp_path / "out", [resolve("uniform"), resolve("greedy"), inproc(raises)])
    write(tmp_path, "raises", "    pass")
    *_, changed, again = verify(out, 4, HERE)
    assert changed == "raises: not played again: its source has changed"
    assert again == "bots: 4 games played again"
    raises.unlink()
    message = list(verify(out, 20, HERE))[2]
    assert message.startswith("raises: not played again: ")
    assert "No such file" in message


@pytest.mark.slow
def test_a_bot_that_plays_at_random_is_reported(tmp_path: Path) -> None:
    """That is not an error, because its games cannot be repeated."""
    body = "import os\nreturn view.legal[os.urandom(1)[0] % len(view.legal)]"
    fickle = inproc(write(tmp_path, "fickle", body))
    out = finished(tmp_path / "out", [resolve("uniform"), fickle], pairs=4)
    last = list(verify(out, 20, HERE))[-1]
    assert last.startswith("uniform - fickle: do not play the same game twice (do their moves ")


@pytest.mark.slow
def test_a_bot_whose_moves_depend_on_earlier_games_is_reported(tmp_path: Path) -> None:
    """It counts the games of its process, which verify plays in another order."""
    what = {"what": "earlier_games"}
    counts = resolve(str(FOLDER / "depends.py"), label="counts", params=what, lane="process")
    out = finished(tmp_path / "out", [FIRST, counts], pairs=6)
    try:
        last = list(verify(out, 20, LocalExecutor(2)))[-1]
    except Difference as difference:
        last = str(difference)
    assert "depend on the games that" in last


def test_only_a_difference_that_no_clock_explains_is_odd() -> None:
    """A fault that depends on the machine excuses a game, whichever of the two has it."""
    game = GameResult(0, 0, 1, "points", 0, 0, 3, None, "555")
    crash, boom = (
        game._replace(fault=Fault(kind, ""), win_type="forfeit") for kind in ("crash", "exception")
    )
    for stored, again, odd in (
        *((game, game, False), (game, boom, True), (game, game._replace(plies=4), True)),
        *((crash, game, False), (boom, crash, False)),
    ):
        assert _is_odd(stored, again) == odd


def test_what_differs_is_played_again_in_whole_pairs() -> None:
    places = {(0, 3, 1), (0, 3, 0), (2, 1, 0), (0, 1, 1)}
    assert _pairs_of(places, 3) == [[range(1, 2), range(3, 4)], [], [range(1, 2)]]


def test_a_sample_has_whole_pairs_and_no_more_than_were_played() -> None:
    """Of ten pairs; an odd number of games is rounded up to a pair, and the pairs are spread."""
    spreads = {0: [], 1: [0], 2: [0], 3: [0, 5], 5: [0, 3, 6]}
    for games, pairs in (spreads | {many: [*range(10)] for many in (19, 20, 21, 1000)}).items():
        assert spread(10, games) == [range(pair, pair + 1) for pair in pairs]


@pytest.mark.slow
def test_without_a_sample_no_bot_is_loaded(tmp_path: Path) -> None:
    """A stranger's folder may name any program; and with a sample the bot is."""
    mark = tmp_path / "mark"
    bot = write(tmp_path, "marks", RAISES)
    bot.write_text(f"open({str(mark)!r}, 'w').close()\n{bot.read_text()}")
    bots = [resolve("uniform"), resolve(str(bot), lane="process")]
    folder = finished(tmp_path / "out", bots, pairs=1)
    mark.unlink()
    assert list(verify(folder, 0, HERE))[:1] == ["games: 2 replayed"]
    assert not mark.exists()
    list(verify(folder, 2, HERE))
    assert mark.exists()


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


ODD = "a b \N{LATIN SMALL LETTER E WITH ACUTE}'s"  # with a space, a quote and no ASCII
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
    here = tmp_path / ODD
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
