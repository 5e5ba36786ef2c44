"""The real command, in a folder of its own, and what its words ask for."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from arena.cli import cli
from arena.entries.resolve import resolve
from arena.lanes.limits import Limits
from arena.replays.finished_game import Game
from arena.store.folder import WINS
from arena.tournament.config_keys import Venue
from arena.tournament.replay_command import replay_commands
from arena.tournament.tournament import Tournament
from engine import Record, Rules
from tests import ROOT, markdown
from tests.conftest import Arena, run_command, start_command
from tests.console import COMMANDS, Console
from tests.kit import csv_rows
from tests.rogues import write
from tests.tiers import few, tier
from tests.waiting import PATIENCE, until

TABLES = (
    *("games", "standings", "head_to_head", "win_types"),
    *("verdicts", "faults"),
    *WINS,
)
DETERMINISTIC = {
    *("manifest.json", "report.html", "report.md", "README.md"),
    *(f"{table}.csv" for table in TABLES),
}
OTHERS = {"run.log", "run.sqlite", "timings.csv"}
CUP = "name: cup\nseed: 0\npairs: 40\nbots: [uniform, greedy, majority]\n"
SEED_5 = "seed: 5\npairs: 40\nbots: [uniform, greedy]\n"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    (tmp_path / "cup.yaml").write_text(CUP)
    return tmp_path / "results" / "cup"


def digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in OTHERS
    }


def test_a_run_leaves_its_files_and_they_add_up(arena: Arena, cup: Path) -> None:
    """Every game is counted once for each bot, and win types add up to wins."""
    done = arena("run", "cup.yaml", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in cup.rglob("*.*")} == DETERMINISTIC | OTHERS
    games = csv_rows(cup / "games.csv")
    assert len(games) == 3 * 40 * 2
    by_bot = {row["bot"]: row for row in csv_rows(cup / "standings.csv")}
    for name, row in by_bot.items():
        own = [game for game in games if name in (game["bot"], game["opponent"])]
        wins = [game["win_type"] for game in own if game["winner"] == name]
        assert int(row["games"]) == len(own) == 160
        assert int(row["wins"]) == len(wins)
        for win_type in ("city", "points", "tiebreak", "forfeit"):
            assert int(row[f"{win_type}_wins"]) == wins.count(win_type)
    for table in ("standings.csv", "head_to_head.csv", "win_types.csv"):
        lines = csv_rows(cup / table)
        assert sum(int(row["games"]) for row in lines) == 2 * len(games)
        for row in lines:
            types = ("city_wins", "points_wins", "tiebreak_wins", "forfeit_wins")
            assert sum(int(row[column]) for column in types) == int(row["wins"])
            assert int(row["games"]) == sum(int(row[c]) for c in ("wins", "draws", "losses"))
    assert sum(float(row["elo"]) for row in by_bot.values()) == pytest.approx(4500, abs=0.2)


@pytest.mark.slow
def test_the_log_has_lines_of_the_parent_and_its_workers(
    arena: Arena, cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Start and end come from the parent, a line from every worker; an earlier log is kept."""
    monkeypatch.setattr("arena.executors.local._ALONE", 0.0)
    monkeypatch.setattr("arena.executors.local.is_harmless", lambda _: False)
    for _ in range(2):
        arena("run", "cup.yaml", "--pairs", "20", "--workers", "2", "--fresh", "--no-repeat")
    log = (cup / "run.log").read_text().splitlines()
    assert sum("MainProcess INFO run cup: 120 games, 2 workers" in line for line in log) == 2
    assert sum("MainProcess INFO run cup: played 120 games in" in line for line in log) == 2
    workers = [line for line in log if "INFO worker ready" in line]
    assert len(workers) == 4
    assert not any("MainProcess" in line for line in workers)


@pytest.mark.parametrize("counts", few([(1, 3), (1, 2, 7)], 0, 1))
def test_bytes_depend_on_config_and_seed_only(
    arena: Arena, cup: Path, counts: tuple[int, ...]
) -> None:
    """Any number of workers and another PYTHONHASHSEED write the same bytes."""
    runs = []
    for hash_seed, workers in enumerate(map(str, counts)):
        words = ("run", "cup.yaml", "--workers", workers, "--pairs", "12", "--fresh")
        assert run_command(cup.parents[1], *words, PYTHONHASHSEED=str(hash_seed)).returncode == 0
        runs.append(digests(cup))
    assert set(runs[0]) == DETERMINISTIC
    assert all(one == runs[0] for one in runs)
    arena("run", "cup.yaml", "--seed", "1", "--pairs", "12", "--fresh")
    assert digests(cup)["games.csv"] != runs[0]["games.csv"]


@pytest.mark.slow
def test_one_more_bot_changes_no_other_pairings_games(arena: Arena, cup: Path) -> None:
    """All old games stay, byte for byte; the further ones are the new bot's."""
    arena("run", "cup.yaml", "--pairs", "10")
    before = set((cup / "games.csv").read_text().splitlines())
    arena("run", "cup.yaml", "--pairs", "10", "--bot", "city_hunter", "--fresh")
    after = (cup / "games.csv").read_text().splitlines()
    assert before < set(after)
    assert all("city_hunter" in line for line in set(after) - before)


@pytest.mark.slow
def test_the_manifest_says_what_was_played(arena: Arena, cup: Path) -> None:
    """It has the resolved config, and every bot with its hash; options override the config."""
    (cup.parent.parent / "mine.py").write_text((ROOT / "bots" / "greedy.py").read_text())
    done = arena("run", "cup.yaml", "--pairs", "2", "--seed", "9", "--bot", "mine.py(patience=1.5)")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((cup / "manifest.json").read_text())
    assert (manifest["name"], manifest["seed"], manifest["pairs"]) == ("cup", 9, 2)
    mine = manifest["bots"][-1]
    assert mine["label"] == "mine(patience=1.5)"
    assert mine["params"] == {"patience": 1.5}
    source = (ROOT / "bots" / "greedy.py").read_bytes()
    assert mine["sha256"] == hashlib.sha256(source).hexdigest()
    assert str(cup.parent.parent) not in (cup / "manifest.json").read_text()


@pytest.mark.slow
def test_the_summary_fits_80_columns_of_a_terminal(arena: Arena, cup: Path) -> None:
    """Even with a long label, which a pipe has whole; it counts the games and names the folder."""
    words = "run", "cup.yaml", "--pairs", "2", "--bot", f"{'long' * 15}=uniform"
    done = arena(*words)
    assert f"{'long' * 15} " in done.stdout
    assert "24 games in" in done.stdout
    assert "results in results/cup/" in done.stdout
    status, shown = (console := Console(cup.parent.parent, *words)).end()
    console.kill()
    assert status == 0, shown
    lines = [line.rpartition("\r")[2] for line in shown.split("\r\n")]
    assert max(map(len, lines)) == 80
    assert any("longlongl\u2026longlong" in line for line in lines), lines


@pytest.mark.slow
def test_a_faulty_game_is_played_again_by_its_command(arena: Arena, tmp_path: Path) -> None:
    """The fault, its evidence, the record up to it, the labels and the rules are the same."""
    write(
        tmp_path, "raises", "    def choose(self, view, /):\n        print('hello')\n        1 / 0"
    )
    (tmp_path / "cup.yaml").write_text(
        "pairs: 2\nrules: {set_bonus: 7}\nlimits: {decision: 3.0}\n"
        "bots: [greedy, {bot: raises.py, label: 'it (fails), always'}]\n"
    )
    assert arena("run", "cup.yaml").returncode == 0
    fault = csv_rows(tmp_path / "results" / "cup" / "faults.csv")[3]
    assert fault["output"] == "hello"
    done = arena(*shlex.split(fault["command"])[1:])
    assert done.returncode == 0
    assert "it (fails), always forfeits (exception at ply 0): ZeroDivisionError" in done.stderr
    assert "1 / 0" in done.stderr
    assert "  hello" in done.stderr
    record = json.loads(done.stdout)
    assert record["bots"] == ["it (fails), always", "greedy"]
    assert record["winner"] == "greedy"
    assert record["rules"] == {"set_bonus": 7}
    assert record["fault"] == {"bot": "it (fails), always", "kind": "exception", "ply": 0}


@pytest.mark.slow
def test_a_bot_may_have_the_name_of_a_standard_module(tmp_path: Path) -> None:
    """random.py in the current folder is not imported by the processes that start workers."""
    (tmp_path / "random.py").write_text((ROOT / "bots" / "uniform.py").read_text())
    script = tmp_path / "scripts" / "arena"
    script.parent.mkdir()
    script.write_text("from arena.cli import main\nif __name__ == '__main__':\n    main()\n")
    done = subprocess.run(
        [sys.executable, str(script), "play", "./random.py", "greedy", "--pairs", "2"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "random" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("event", ["asked", "out"])
def test_ctrl_c_stops_at_once_and_leaves_no_process(tmp_path: Path, event: str) -> None:
    """At the start, and while a bot never answers: status 130, no traceback, no results."""
    asked = f"open({str(tmp_path / 'asked')!r}, 'w').close()"
    body = f"    def choose(self, view, /):\n        {asked}\n        while True: pass"
    write(tmp_path, "loops", body)
    words = ["play", "uniform", "loops.py", "--workers", "2", "--out", "out"]
    process = start_command(tmp_path, *words)
    until((tmp_path / event).exists)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in errors
    until(lambda: is_gone(process.pid))
    assert not (tmp_path / "out" / "games.csv").exists()


def is_gone(group: int) -> bool:
    """Return whether no process of a process group is running."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            zombie = process.status() == psutil.STATUS_ZOMBIE
            if os.getpgid(process.pid) == group and not zombie:
                return False
    return True


def test_replay_prints_a_line_for_every_record(arena: Arena, tmp_path: Path) -> None:
    """JSON with --json, sentences without; the status is 1 if a record is bad."""
    deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    good = json.dumps({"deal": deal, "actions": "56T"})
    (tmp_path / "games.jsonl").write_text(f"{good}\nnot json\n{good}\n")
    done = arena("replay", "games.jsonl", "--json")
    assert done.returncode == 1
    judgements = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("plies", line.get("error")) for line in judgements] == [3, "bad-json", 3]
    assert arena("replay", "games.jsonl").stdout.count("unfinished after 3 plies") == 2
    (tmp_path / "games.jsonl").write_text(good)
    assert arena("replay", "games.jsonl").returncode == 0


QUICK = {"", "bots", "replay"}
"""Commands that take no second; what the others do is tried in the tests of their rooms."""
LONG = {"ablate", "analyse", "check", "export", "probe"}
LONG |= {"tune", "view"}
"""Commands that take long; examples of some are on their pages, too."""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=tier((name not in QUICK) + (name in LONG), 1, 1))
        for name in ("", *sorted(COMMANDS.keys() - {"table", "serve-bot"}))
    ],
)
def test_every_help_has_an_example_that_works(arena: Arena, tmp_path: Path, command: str) -> None:
    """The words after `Example:` are run in a folder with the repository's files, with 4 pairs."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "my_bot.py").write_text((ROOT / "bots" / "uniform.py").read_text())
    help_text = arena(*command.split(), "--help").stdout
    example = help_text.split("Example:\n")[1].split("\n\n")[0].strip()
    done = markdown.run(re.sub(r"pairs \d+", "pairs 4", example), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


class Asked(NamedTuple):
    """What a command would have played; `place` is the pair and the seat of a single game."""

    tournament: Tournament
    place: tuple[int, int] | None = None


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Return a list that collects what commands ask for; no bot and no process is started."""
    calls: list[Asked] = []

    def play_again(tournament: Tournament, pair: int, seat: int, _: Venue) -> Game:
        calls.append(Asked(tournament, (pair, seat)))
        return Game(Record("", ""), ("", ""), None, "draw", (0, 0), None)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.runs.run.run", lambda what, *_, **__: calls.append(Asked(what)))
    monkeypatch.setattr("arena.runs.rerun.play_again", play_again)
    monkeypatch.setattr("arena.runs.rerun.probe", lambda *_: [])
    monkeypatch.setattr("arena.processes.adopt_orphans", lambda: None)
    return calls


def run(asked: list[Asked], *words: str, config: str = SEED_5) -> Tournament:
    """Return the tournament that `arena run` with these words asks for."""
    Path("cup.yaml").write_text(config)
    cli.main(["run", "cup.yaml", "--quiet", *words], standalone_mode=False)
    return asked.pop().tournament


def test_the_config_yields_to_the_command_line_in_seed_and_pairs(asked: list[Asked]) -> None:
    """0 is a seed like any other; more pairs or fewer."""
    assert run(asked).seed == 5
    assert run(asked, "--seed", "0").seed == 0
    assert run(asked, "--seed", "9").seed == 9
    assert run(asked).pairs == 40
    assert run(asked, "--pairs", "1").pairs == 1
    assert run(asked, "--pairs", "41").pairs == 41


def test_a_bot_of_the_command_line_joins_in_the_lane_of_the_config(asked: list[Asked]) -> None:
    """It comes last; --lane holds for all bots, over the config."""
    words = ("--bot", "more=uniform")
    config = f"{SEED_5}lane: process\n"
    tournament = run(asked, *words, config=config)
    assert tournament.labels == ["uniform", "greedy", "more"]
    assert [entry.lane for entry in tournament.entries] == ["process"] * 3
    tournament = run(asked, *words, "--lane", "jail", config=config)
    assert [entry.lane for entry in tournament.entries] == ["jail"] * 3
    assert [entry.lane for entry in run(asked, *words).entries] == ["inproc"] * 3


def test_a_command_asks_for_the_game_that_it_was_written_for(asked: list[Asked]) -> None:
    """Its words give the same bots, lanes, seed, rules, limits, pair and seat."""
    bots = [resolve("first=greedy(patience=1.5)", lane="process"), resolve("uniform", lane="jail")]
    rules, limits = Rules(set_bonus=7), Limits(decision=3.0, game=60.0, memory=64)
    tournament = Tournament("cup", 9, 10, bots, rules, limits)
    for pair, seat in ((0, 1), (4, 0)):
        words = shlex.split(replay_commands(tournament)(tournament.fixture(0, pair, seat)))
        cli.main(words[1:], standalone_mode=False)
        game = asked.pop()
        assert game.place == (pair, seat)
        assert list(game.tournament.entries) == bots
        assert game.tournament.seed == 9
        assert game.tournament.rules == rules
        assert game.tournament.limits == limits
