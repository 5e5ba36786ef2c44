"""`arena check` refuses every rogue for the right reason, and no honest bot."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from arena.check.inspector import run_check
from arena.check.item import NAMES, Order, safest_lane
from arena.check.sparring import VARIANTS, CutShort
from arena.entries.resolve import installed, resolve
from engine.rules import RULE_NAMES
from tests import ROOT, rogues
from tests.conftest import Arena, run_command, start_command
from tests.kit import assert_none_is_left
from tests.runs.test_rogues import EXPECTED as IN_LANES
from tests.runs.test_rogues import NO_JAIL, SAID, needs_jail
from tests.waiting import PATIENCE, until

Report = dict[str, Any]

LANE = "process" if NO_JAIL else "jail"
"""The lane of all of the bot's processes if none is asked for."""

KINDS = {name: kinds[-2 if NO_JAIL else -1] for name, kinds in (IN_LANES | SAID).items()}
KINDS |= {"bends_in_ignored_children": "timeout"}  # by a control group, or by the wall clock here
KINDS |= {"forges": "protocol"}
"""The kind of fault of a rogue in that lane, "" for none."""

OTHER_ITEMS = {
    "reads_frames": {"lane inproc": "exception"},
    "reads_gc": {"lane inproc": "exception"},
    "reads_opponent": {"rules variants": "exception"},  # against a bot that is there
    "peeks_in_frames": {"lane inproc": "differs", "hidden cards": "hidden"},
    "peeks_in_memory": {"lane inproc": "differs", "hidden cards": "hidden"},
    "draws": {"same seed": "differs"},
    "draws_from_numpy": {"same seed": "differs"},
    "depends_on_hashes": {"lane inproc": "differs"},
    "depends_on_the_clock": {"same seed": "differs"},
    "depends_on_the_system": {"same seed": "differs"},
    "depends_on_memory": {"same seed": "differs"},
    "depends_on_earlier_games": {"same seed": "differs"},
    "remembers": {"lane inproc": "differs"},
    "says_other_moves_later": {"same seed": "differs"},
    "knows_one_game": {"rules variants": "exception"},
    "tampers": {"lane inproc": "differs"},
    "tampers_with_the_end": {"lane inproc": "differs"},
}
"""Rogues that play their games without a fault, and the items that fail, with their kinds."""

PARAMS: dict[str, dict[str, Any]] = {
    "prints": {"megabytes": 2},
    "says_100_mb_of_errors": {"megabytes": 2},
}


def items_of(name: str, kind: str) -> dict[str, str]:
    """Return the items that fail for a rogue with this kind of fault, with their kinds."""
    if kind == "import":
        return {"binds bot" if name == "no_bot" else "imports": kind}
    return {f"lane {LANE}": kind} if kind else {}


EXPECTED = {name: items_of(name, kind) for name, kind in KINDS.items()} | OTHER_ITEMS


def report(arena: Arena, *words: str, **environment: str) -> Report:
    """Return the document of `arena check --json`; nothing else may be printed."""
    done = arena("check", *words, "--json", **environment)
    assert done.stderr == ""
    document: Report = json.loads(done.stdout)
    assert [item["name"] for item in document["items"]] == list(NAMES)
    assert done.returncode == (0 if document["ok"] else 1)
    return document


def with_status(document: Report, status: str) -> dict[str, Report]:
    """Return the items that have this status, by name."""
    return {item["name"]: item for item in document["items"] if item["status"] == status}


def quick(decision: float = 10.0, start: float = 10.0, games: int = 4) -> list[str]:
    """Return the options for a short check."""
    limits = {"decision": decision, "start": start, "backstop": decision, "memory": 256}
    limits["idle"] = 60.0  # more than a start may take
    return ["--games", f"{games}", "--limits", json.dumps(limits)]


@pytest.fixture
def listener() -> Iterator[int]:
    """Yield the number of a port of this machine that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_every_rogue_of_the_gallery_is_in_a_table() -> None:
    """The tables name all rogues of the gallery, and no other."""
    assert set(EXPECTED) == {*rogues.ROGUES, *rogues.UNTRUE, *rogues.COMMANDS}


EACH_DIFFERENT = {
    *("answers_99", "late", "kills_parent", "allocates", "forges", "leaves_process", "litters"),
    *("no_bot", "not_python", "loops_in_import", "says_exits", "says_rubbish", "connects"),
    *("reads_gc", "peeks_in_frames", "draws", "depends_on_hashes", "depends_on_earlier_games"),
    *("remembers", "tampers", "knows_one_game", "says_other_moves_later"),
}
"""Rogues that fail an item each in its own way; the study has all, as test_rogues.py has lanes."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in EACH_DIFFERENT else pytest.mark.study)
        for name in EXPECTED
    ],
)
def test_a_rogue_is_refused_rightly(arena: Arena, tmp_path: Path, listener: int, name: str) -> None:
    """The items that fail, and their kinds, are those of the tables; nothing is left behind."""
    params = PARAMS.get(name, {})
    if name.startswith("leaves_"):
        params = {"mark": str(tmp_path)}
    if name == "connects":
        params = {"port": listener}
    rogue = rogues.rogue(name, **params)
    words = ", ".join(f"{name}={value!r}" for name, value in rogue.params.items())
    late = "timeout" in EXPECTED[name].values()
    never = name in ("loops_in_import", "says_nothing_at_all")
    games = 8 if name == "says_other_moves_later" else 4  # it does so from the third game on
    options = quick(0.5 if late else 10.0, 0.5 if never else 10.0, games)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with (tmp_path / "run.log").open("w"):  # for rogues that look for a run's files
        document = report(arena, f"rogue={rogue.target}({words})", *options, TMPDIR=str(scratch))
    failed = with_status(document, "fail")
    assert {item: one.get("kind", "") for item, one in failed.items()} == EXPECTED[name]
    assert not failed or "rating" in with_status(document, "none")
    if "hidden cards" in failed:
        message = failed["hidden cards"]["message"]
        assert re.fullmatch(r"other moves from ply \d+ on: only cards that .* differed", message)
    assert_none_is_left(str(tmp_path))
    assert list(scratch.iterdir()) == []


LIGHT = {
    "champion": "iterations=20, positions=50",
    "endgame": "positions=50",
    "flat_mc": "worlds=2, positions=50",
    "ismcts": "iterations=20, positions=50",
    "pimc": "worlds=1, plies=2, positions=50",
}
"""Parameters with which a bot that searches needs little time."""


AN_HONEST_BOT = "flat_mc"
"""A bot that draws; simple bots are accepted below."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == AN_HONEST_BOT else pytest.mark.study)
        for name, _ in installed()
    ],
)
def test_an_honest_bot_is_accepted(arena: Arena, name: str) -> None:
    """Nothing fails, and every item is tried."""
    document = report(arena, f"{name}({LIGHT.get(name, '')})", "--games", "4")
    assert document["ok"], with_status(document, "fail")
    untried = {"lane jail" if NO_JAIL else "lane process"}
    assert set(with_status(document, "none")) == untried
    assert document["jailed"] is not bool(NO_JAIL)


@pytest.mark.slow
def test_an_honest_program_is_accepted_and_unknown_parameters_are_reported(arena: Arena) -> None:
    """A command has no lane inproc; items that need it are not tried, and those before pass."""
    command = shlex.join([sys.executable, str(ROOT / "docs" / "examples" / "plain.py")])
    document = report(arena, f"cmd:{command}", "--games", "4")
    assert document["ok"], with_status(document, "fail")
    untried = {"binds bot", "parameters", "lane inproc", "hidden cards"}
    untried |= {"lane jail" if NO_JAIL else "lane process"}
    assert set(with_status(document, "none")) == untried
    document = report(arena, "greedy(patient=1)", *quick())
    (name, item), *more = with_status(document, "fail").items()
    assert (name, more) == ("parameters", [])
    assert "'patient'" in item["message"]
    assert {"imports", "binds bot"} == set(with_status(document, "ok"))


@pytest.mark.slow
def test_without_a_jail_there_is_no_verdict(tmp_path: Path) -> None:
    """Where bubblewrap is not installed; this bot is a module of a package."""
    package = tmp_path / "my_package_of_bots"
    package.mkdir()
    (package / "mine.py").write_text((ROOT / "bots" / "city_hunter.py").read_text())
    words = ("check", "my_package_of_bots.mine", *quick(), "--json")
    done = run_command(tmp_path, *words, PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["ok"], with_status(document, "fail")
    assert document["jailed"] is False
    assert document["warning"] == "not jailed: a bot can write this report itself"
    assert set(with_status(document, "none")) == {"lane jail"}


@pytest.mark.slow
def test_the_report_has_a_line_for_each_item_in_80_columns(arena: Arena, tmp_path: Path) -> None:
    """Below a failure are its evidence and, in one line, a command that plays that game again."""
    rogues.write(tmp_path, "raises", "print('hm')\n1 / 0")
    done = arena("check", "raises.py", "--games", "4", "--lane", "process")
    assert (done.returncode, done.stderr) == (1, "")
    shown = done.stdout.splitlines()
    assert max(len(line) for line in shown if "$ " not in line) <= 80
    assert "FAIL lane process    exception at ply 0 against uniform: ZeroDivisionError:" in shown
    assert "                     | hm" in shown
    assert shown[-2:] == ["refused: lane process", "not jailed: a bot can write this report itself"]
    command = done.stdout.partition("$ ")[2].partition("\n")[0]
    again = arena(*shlex.split(command)[1:])
    assert "checked forfeits" not in again.stderr
    assert "raises forfeits (exception at ply 0): ZeroDivisionError" in again.stderr


@pytest.mark.slow
def test_a_check_that_takes_too_long_is_no_verdict(tmp_path: Path) -> None:
    """Neither accepted nor refused: an error, of a bot that has worked for too long."""
    path = rogues.write(tmp_path, "first", "    def choose(self, view, /): return view.legal[0]")
    order = Order(str(path), safest_lane(), games=1000)
    with pytest.raises(CutShort, match=r"cut short at .* the bot used \d+ s of processor time$"):
        list(run_check(order, longest=1.0))


@pytest.mark.slow
@needs_jail
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_bot_cannot_write_its_own_report(tmp_path: Path, words: list[str]) -> None:
    """It writes one into every output that it finds, of the command and of its parents."""
    done = run_command(tmp_path, "check", rogues.spec("forges"), "--games", "4", *words)
    assert done.returncode == 1
    assert [text for text in done.stdout.splitlines() if text.endswith("forged")] == []
    if words:
        document = json.loads(done.stdout)
        assert (document["ok"], document["jailed"]) == (False, True)
    else:
        assert done.stdout.endswith("\nrefused: lane jail\n")


@needs_jail
@pytest.mark.slow
def test_no_code_of_a_bot_runs_outside_the_jail(tmp_path: Path) -> None:
    """Neither of a folder nor of a module in it: outside they could make a file."""
    mark = tmp_path / "mark"
    source = (rogues.FOLDER / "first.py").read_text()
    source += f"\ntry: open({str(mark)!r}, 'w').close()\nexcept OSError: pass\n"
    for name in ("bot", "helper"):
        (tmp_path / "mine").mkdir(exist_ok=True)
        (tmp_path / "mine" / f"{name}.py").write_text(f"from . import helper\n{source}")
    done = run_command(tmp_path, "check", "./mine", "--games", "4", "--json")
    assert json.loads(done.stdout)["jailed"], done.stderr
    assert done.returncode == 0
    assert not mark.exists()
    run_command(tmp_path, "play", "./mine", "uniform", "--pairs", "1", "--lane", "inproc")
    assert mark.exists()


def test_the_variants_change_every_number_of_the_rules_and_our_own_opponents_play_them() -> None:
    """A new rule needs a variant, too; a fault in one is the checked bot's."""
    changed = {name for rules in VARIANTS for name in rules.changes()}
    assert changed == set(RULE_NAMES)
    assert {rules.rounds for rules in VARIANTS} >= {1, 2, 4}
    uniform, greedy = (resolve(name).load() for name in ("uniform", "greedy"))
    for rules in VARIANTS:
        for seed in range(5):
            engine.play_game(uniform, greedy, seed=seed, rules=rules)


@pytest.mark.slow
def test_interrupts_leave_nothing(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a check: status 130, no traceback, no process.

    In the jail the bot could not tell that it has been asked.
    """
    asked = f"open({str(tmp_path / 'asked')!r}, 'w').close()"
    body = f"    def choose(self, view, /):\n        {asked}\n        while True: pass"
    rogues.write(tmp_path, "loops", body)
    words = ("check", "loops.py", "--lane", "process")
    process = start_command(tmp_path, *words, TMPDIR=str(tmp_path))
    until((tmp_path / "asked").exists)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert_none_is_left(str(tmp_path))
