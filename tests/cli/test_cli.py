"""The real command, in a folder of its own."""

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

import psutil
import pytest

from arena.store.folder import WINS
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


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("run none.yaml", "error: none.yaml: No such file"),
        ("run cup.yaml --pairs 0", "'--pairs': 0 is not in the range"),
        ("run cup.yaml --pairs 99999999999999999999", "is not in the range 1<=x<=1000000000"),
        ("game greedy uniform --pair 1000000000", "'--pair': 1000000000 is not in the range"),
        ("run cup.yaml --workers 0", "'--workers': 0 is not in the range"),
        ("run cup.yaml --seed -1", "'--seed': -1 is not in the range"),
        ("run cup.yaml --bot nobody", "error: cup.yaml: bot 'nobody': no bot"),
        ("run cup.yaml --bot greedy", "error: cup.yaml: bots 2 and 4 have the same label"),
        ("run cup.yaml --bot greedy(x=1)", "unexpected keyword argument 'x'"),
        ("run cup.yaml --out cup.yaml", "error: cup.yaml: cannot be written"),
        ("run cup.yaml --out .", "error: .: holds other files and no run"),
        ("run cup.yaml --lane train", "'--lane': 'train' is not one of"),
        ("run cup.yaml --quiet --verbose", "--verbose and --quiet: choose one of them"),
        ("play greedy cmd:none", "error: bot 'cmd:none': none: no such program"),
        ("play greedy cmd:true --lane inproc", "lane 'inproc' is not one of its lanes"),
        ("game greedy uniform --rules x", "error: --rules: JSON is malformed"),
        ('game greedy uniform --rules {"x":1}', "error: --rules: unknown rule"),
        ('game greedy uniform --limits {"decision":0}', "error: --limits: Expected `float`"),
        ("game greedy uniform --label one", "error: --label: give it twice"),
        ("game greedy uniform --lane a", "'--lane': 'a' is not one of"),
        ("game greedy greedy", "error: bots 1 and 2 have the same label"),
        ("verify none", "error: none: no run: there is no run.sqlite"),
        ("run cup.yaml --colour", "No such option"),
        ("run", "Missing argument 'CONFIG'"),
        ("play greedy", "error: bots: a tournament needs two, there is 1"),
        ("play", "Missing argument"),
        ("replay none", "No such file"),
        ("dance", "No such command 'dance'"),
        ("run /dev/zero", "error: /dev/zero: not a regular file"),
        ("replay /dev/zero", "error: /dev/zero: not a regular file"),
        ("show /dev/zero", "error: /dev/zero: not a regular file"),
        ("show cup.yaml --line 9999999999999999999", "'--line': 9999999999999999999 is not in"),
        ("check /dev/zero", "error: bot '/dev/zero': not a regular file"),
        ("run a\x1b[31m\x7f.yaml", r"error: a\x1b[31m\x7f.yaml: No such file"),
        ("run \udcff.yaml", r"error: \udcff.yaml: No such file"),
        ("bots \x1b", r"(\x1b)"),
        ("verify a\x1b", r"error: a\x1b: no run"),
        ("play uniform cmd:true\0", "a spec has no NUL"),
        ("play uniform cmd:\udcff", r"'\udcff' cannot be written as UTF-8"),
        ("game greedy uniform --rules \udcff", "error: --rules: "),
        (f"play uniform {'x' * 100_000}", "longer than 4,000 characters"),
        (f"new {'a' * 100_000}", "longer than 40 characters"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arena: Arena, cup: Path, words: str, reason: str
) -> None:
    """Nothing is played, nothing is written, and no traceback is shown."""
    done = arena(*words.split())
    assert done.returncode == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert [path.name for path in cup.parent.parent.iterdir()] == ["cup.yaml"]


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
