"""What somebody sees who uses the command for the first time."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from arena.__main__ import main
from arena.cli.starting import describe_interruption
from arena.lanes.signals import exit_on_termination, interrupt_on_termination, interrupted_by
from arena.runs.run import Interrupted
from tests.conftest import Arena, start_command
from tests.rogues import write
from tests.waiting import PATIENCE, until

CUP = "name: cup\npairs: 3\nbots: [uniform, greedy]\n"
PLAY = ("play", "uniform", "greedy", "--pairs", "2")
BROKEN = "./broken.py"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    (tmp_path / "cup.yaml").write_text(CUP)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    return tmp_path / "results" / "cup"


def document(text: str) -> dict[str, Any]:
    """Return the only thing on a standard output: a JSON document."""
    data: dict[str, Any] = json.loads(text)
    return data


@pytest.mark.slow
@pytest.mark.usefixtures("cup")
def test_a_finished_run_says_that_nothing_was_left_and_shows_its_table(arena: Arena) -> None:
    """The second start, and the third, show the table of the first."""
    first, *table, spent = arena("run", "cup.yaml").stdout.splitlines()
    assert "6 games in " in first
    assert spent.startswith("CPU time: ")
    for _ in range(2):
        again = arena("run", "cup.yaml")
        assert again.returncode == 0
        assert again.stdout.splitlines() == [
            "nothing was left to play: all 6 games were played before",
            *table,
        ]


@pytest.mark.slow
def test_a_run_as_json_is_one_document(arena: Arena, cup: Path) -> None:
    """With the rows of standings.csv; the second time it differs in what was played."""
    first = document(arena("run", "cup.yaml", "--json").stdout)
    assert (first["run"], first["folder"]) == ("cup", "results/cup")
    assert (first["games"], first["played"], first["kept"]) == (6, 6, 0)
    assert (first["forfeits"], first["out"], first["warnings"]) == (0, [], [])
    lines = (cup / "standings.csv").read_text().splitlines()
    assert [",".join(first["standings"][0]), *map(_csv, first["standings"])] == lines
    again = document(arena("run", "cup.yaml", "--json").stdout)
    assert again == first | {"played": 0, "kept": 6}


def _csv(row: dict[str, Any]) -> str:
    return ",".join("" if value is None else str(value) for value in row.values())


@pytest.mark.slow
@pytest.mark.usefixtures("cup")
def test_a_bot_that_does_not_load_is_not_rated(arena: Arena, tmp_path: Path) -> None:
    """In the table, in the file and in the document; its games are forfeits, and verify agrees."""
    done = arena(*PLAY, BROKEN, "--json", "--out", "out")
    assert "warning: bot './broken.py': does not start: ZeroDivisionError" in done.stderr
    data = document(done.stdout)
    assert data["forfeits"] == 8
    assert data["warnings"][0].startswith("bot './broken.py': does not start: ZeroDivisionError")
    last = data["standings"][-1]
    assert (last["bot"], last["elo"], last["forfeits"]) == ("broken", None, 8)
    assert sum(row["elo"] for row in data["standings"][:2]) == pytest.approx(3000, abs=0.2)
    assert "3,broken,,,,8," in (tmp_path / "out" / "standings.csv").read_text()
    assert "broken                        not rated " in arena(*PLAY, BROKEN).stdout
    assert arena("verify", "out").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run cup.yaml --bot", "play uniform"])
def test_strict_plays_nothing_if_a_bot_does_not_load(arena: Arena, cup: Path, command: str) -> None:
    """One line that names the bot, status 2, and no folder."""
    done = arena(*command.split(), BROKEN, "--strict")
    assert (done.returncode, done.stdout) == (2, "")
    assert "bot './broken.py': does not start: ZeroDivisionError" in done.stderr
    assert "with --strict nothing is played" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not cup.exists()
    words = {"run": ["cup.yaml"], "play": ["uniform", "greedy", "--pairs", "1"]}
    name = command.split()[0]
    assert arena(name, *words[name], "--strict").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "beside", "advice"),
    [
        ("import helper", "helper.py", "stands alone: give a folder of both"),
        pytest.param(
            *("from helper.a import b", "helper/a.py", "stands alone: give a folder of both"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("from .helper import b", "helper.py"),
            "a bot's file stands alone, and has no package",
            marks=pytest.mark.study,
        ),
        pytest.param("import helper", "other.py", None, marks=pytest.mark.study),
    ],
)
def test_a_file_that_imports_one_beside_it_is_told_what_to_do(
    arena: Arena, tmp_path: Path, source: str, beside: str, advice: str | None
) -> None:
    """`play` and `check` say that a bot's file stands alone; a module that is nowhere is not it."""
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).write_text("")
    (tmp_path / "mine.py").write_text(f"{source}\nfrom bots.uniform import bot\n")
    warning = arena("play", "uniform", "./mine.py", "--pairs", "1").stderr
    assert "Error: " in warning
    assert (advice in warning) if advice else ("stands alone" not in warning)
    report = " ".join(arena("check", "./mine.py", "--games", "4").stdout.split())
    assert (advice in report) if advice else ("stands alone" not in report)


@pytest.mark.slow
def test_verify_as_json_says_what_was_checked_and_what_differs(arena: Arena, cup: Path) -> None:
    """Status 0 or 1, as without; a folder without a run is still one line and status 2."""
    arena("run", "cup.yaml")
    good = document(arena("verify", "results/cup", "--json").stdout)
    assert (good["run"], good["ok"], good["difference"]) == ("results/cup", True, None)
    assert good["checked"][0] == "games: 6 replayed"
    (cup / "games.csv").write_text("bot\n")
    done = arena("verify", "results/cup", "--json")
    assert done.returncode == 1
    bad = document(done.stdout)
    assert not bad["ok"]
    assert "games.csv: line 1 is not what the games add up to" in bad["difference"]
    done = arena("verify", "none", "--json")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the installed package."""
    monkeypatch.setattr("arena.cli.look._PACKAGE", tmp_path / "arena")
    return tmp_path / "arena"


def make_site(folder: Path) -> None:
    """Write some pages."""
    for name in ("index", "probe", "gallery/index", "gallery/live/index", "reference/arena-run"):
        page = folder / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(name)


def test_the_documentation_opens_from_the_package(
    arena: Arena, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first page or a named one; a line says where it is, also without a browser."""
    make_site(package / "site")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda page: not opened.append(page))
    for words, name in (([], "index"), (["arena-run"], "reference/arena-run")):
        page = package / "site" / f"{name}.html"
        done = arena("docs", *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{page}\n", "")
        assert opened.pop() == page.as_uri()
    assert arena("docs", "gallery", "--path").stdout == f"{package}/site/gallery/index.html\n"
    wrong = arena("docs", "prob")
    assert (
        wrong.stderr == "error: 'prob': the documentation has no such page; did you mean 'probe'?\n"
    )
    assert wrong.returncode == 2
    assert not opened
    make_site(package / "site")
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = arena("docs")
    assert (done.returncode, done.stdout) == (0, f"{package}/site/index.html\n")
    assert done.stderr == "no browser was found here; open this file in one\n"


def test_a_package_without_a_site_says_how_to_build_it(arena: Arena, package: Path) -> None:
    """In one line; a clone also has the pages as text, and opens what `make docs` has written."""
    done = arena("docs")
    line = "this package was built without its site; `make docs` in a clone makes it"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {line}\n")
    clone = package.parent / "docs"
    (clone / "making").mkdir(parents=True)
    for page in ("index", "league"):
        (clone / f"{page}.md").touch()
    done = arena("docs", "--path")
    assert (done.returncode, done.stdout) == (0, f"{clone}/index.md\n")
    assert done.stderr == "as text: `make docs` builds the site\n"
    assert arena("docs", "league", "--path").stdout == f"{clone}/league.md\n"
    assert "no such page; did you mean 'league'?" in arena("docs", "leagu").stderr
    make_site(clone / "site")
    assert arena("docs", "--path").stdout == f"{clone}/site/index.html\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_says_what_is_kept_and_which_command_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    """It is the same command without --fresh; the exit status names the signal."""
    started = f"open({str(tmp_path / 'started')!r}, 'w').close()"
    body = f"    def choose(self, view, /):\n        {started}\n        while True: pass"
    write(tmp_path, "waits", body)
    words = ["play", "uniform", "greedy", "waits.py", "--pairs", "2", "--out", "my out", "--fresh"]
    process = start_command(tmp_path, *words)
    log = tmp_path / "my out" / "run.log"
    until((tmp_path / "started").exists)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    *state, line = errors.splitlines()  # what the bar said last stays
    assert len(state) <= 1
    kept, _, command = line.partition(" are kept in my out/; go on with: ")
    assert kept.startswith("interrupted: ")
    assert kept.endswith(" of 12 games")
    assert command == "arena play uniform greedy waits.py --pairs 2 --out 'my out'"
    assert "ended early: KeyboardInterrupt" in log.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_is_interrupted_by_other_signals_too(number: signal.Signals) -> None:
    """In a program that calls the arena they still end the program."""
    with interrupt_on_termination(), exit_on_termination(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    assert interrupted_by() == number
    with exit_on_termination(), pytest.raises(SystemExit):
        signal.raise_signal(number)
    with interrupt_on_termination():
        assert interrupted_by() == signal.SIGINT


def test_under_nohup_a_run_goes_on_and_ctrl_c_says_what_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When its terminal goes away; --fresh is no part of the command that goes on."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupt_on_termination(), exit_on_termination():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    monkeypatch.setattr(sys, "argv", ["arena", "run", "a b.yaml", "--fresh", "--seed", "1"])
    interrupted = Interrupted(kept=1234, games=5678)
    assert describe_interruption(interrupted, None) == "nothing is kept without --out"
    assert describe_interruption(interrupted, Path("out")) == (
        "1,234 of 5,678 games are kept in out/; go on with: arena run 'a b.yaml' --seed 1"
    )
    assert str(Interrupted(8, 90, at_most=True)) == "8 of at most 90 games are kept"


def test_ctrl_c_is_quiet_while_the_command_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status is that of a command that was interrupted later."""

    class Halted(ModuleType):
        @property
        def main(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "arena.cli", Halted("arena.cli"))
    with pytest.raises((SystemExit, KeyboardInterrupt)) as caught:
        main()
    assert repr(caught.value) == "SystemExit(130)"
