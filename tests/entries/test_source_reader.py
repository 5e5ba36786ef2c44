"""What strangers wrote is parsed once, within limits, by a small process and no other of ours."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from arena.addons.league import submission
from arena.addons.league.submission import Refused
from arena.entries import source_reader, syntax
from arena.entries.catalogue import catalogue
from arena.entries.resolve import resolve
from arena.entries.source_reader import make_outline
from arena.entries.syntax import open_zip, parse_source, read_outline, read_outlines
from arena.errors import ArenaError, InputError
from tests import ROOT
from tests.addons.league.small import a_league, accept
from tests.addons.table import running
from tests.entries.costly import COSTLY, MARK, ODD, make_crowded
from tests.entries.test_zipped import make_zip
from tests.threads import changing_places
from tests.tiers import few

NESTED = "\n".join(f"x{n} = [a + b * (c - {n}) for a in (1, 2, (3, 4))]" for n in range(50))


@pytest.mark.slow
def test_threads_that_parse_do_not_disturb_each_other() -> None:
    """Python 3.11 ends in a SystemError where two threads are in `ast.parse` at once."""
    failures: list[BaseException] = []

    def parse_often() -> None:
        try:
            for _ in range(5):
                parse_source(NESTED)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=parse_often) for _ in range(8)]
    with changing_places():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_source_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the list of bots nor a bot that imports others is parsed again."""
    before = catalogue(), resolve("champion").sha256
    monkeypatch.setattr(syntax, "make_outline", None)
    assert (catalogue(), resolve("champion").sha256) == before


def test_another_source_is_another_outline() -> None:
    """What counts is the content: a file that was changed is read as it is now."""
    assert read_outline(b"'one'").summary == "one"
    assert read_outline(b"'two'\nfrom bots import greedy").bots == ("greedy",)
    assert read_outline(b"'one'").summary == "one"


def test_a_source_that_does_not_compile_says_so_and_imports_nothing() -> None:
    """Also one that is nested too deep."""
    for source in (b"from bots import greedy\nif", b"\0", b"(" * 5000, b"# coding: none\n"):
        outline = read_outline(source)
        assert outline.summary.startswith("(cannot be read: ")
        assert outline.bots == ()


def test_sources_are_not_kept_without_end() -> None:
    """A server may see any number of them."""
    for number in range(100):
        read_outline(b"%d" % number)
    assert read_outline.cache_info().currsize == 64


def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    """The thread that held the lock is not in the child."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with syntax._lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(not (syntax._lock.acquire(timeout=0) and isinstance(parse_source(""), ast.Module)))
    done.set()
    holder.join()
    assert os.waitpid(child, 0)[1] == 0


COSTS = "reading the source takes more than 1 s of a processor or 100 MB of memory"


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reader have little, so that it has had enough soon."""
    monkeypatch.setattr(syntax, "SECONDS", 1)
    monkeypatch.setattr(syntax, "SECONDS_OF_MB", 0)
    monkeypatch.setattr(syntax, "MEGABYTES", 100)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("kind", COSTLY)
def test_a_source_that_costs_too_much_is_refused_in_one_line(kind: str) -> None:
    """The message names the one of several sources that does."""
    sources = {"fine.py": b"x = 1", "mine.py": COSTLY[kind], "last.py": b"x = 2"}
    with pytest.raises(InputError) as caught:
        syntax.ask("outline", sources)
    assert str(caught.value) == f"mine.py: {COSTS}, or it is nested too deep"


@pytest.mark.parametrize("kind", ODD)
def test_a_source_that_python_refuses_is_answered(kind: str) -> None:
    """As it was when nobody bounded it."""
    (outline,) = read_outlines({"mine.py": ODD[kind]})
    assert outline.summary.startswith("(cannot be read: ")
    assert outline.bots == ()


def run_watched(folder: Path, *words: str) -> tuple[int, str, dict[str, object]]:
    """Return status and errors of a command, and what it cost its own process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.entries.watched", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    *errors, last = done.stderr.splitlines()
    return done.returncode, "\n".join(errors), json.loads(last)


COMMANDS = [
    ("check", "./mine.py"),
    ("play", "./mine.py", "uniform", "--pairs", "1"),
    ("check", "./folder/"),
    ("run", "cup.yaml"),
    ("league", "submit", "club", "./mine.py"),
    ("league", "submit", "club", "./folder"),
]


@pytest.mark.parametrize("kind", few(["statements", "f_string"], 0, 1))
@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_reads_a_strangers_source_itself(
    tmp_path: Path, words: tuple[str, ...], kind: str
) -> None:
    """It says in one line what the source takes; its own memory stays small."""
    (tmp_path / "mine.py").write_bytes(COSTLY[kind])
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bot.py").write_bytes(COSTLY[kind])
    (tmp_path / "cup.yaml").write_text("bots: [./mine.py, uniform]\npairs: 1\n")
    if words[0] == "league":
        new = ["league", "new", "club", "--seed", "1", "--lane", "process", "--panel", "uniform"]
        assert run_watched(tmp_path, *new)[0] == 0
    status, errors, cost = run_watched(tmp_path, *words)
    assert status in (1, 2)
    assert errors.count("\n") == 0
    assert "reading the source takes more than" in errors
    assert cost["compiled"] == []
    assert int(str(cost["megabytes"])) < 300


@pytest.mark.slow
def test_a_bot_of_a_stranger_that_plays_was_not_compiled_here(tmp_path: Path) -> None:
    """Nor is one with nothing wrong."""
    (tmp_path / "mine.py").write_bytes(MARK + b"bot = bots.greedy.bot\n")
    status, _, cost = run_watched(tmp_path, "play", "./mine.py", "uniform", "--pairs", "1")
    assert (status, cost["compiled"]) == (0, [])


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_a_league_refuses_such_a_source_in_its_authors_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says nothing of the place where it is kept; the refusal is kept."""
    monkeypatch.setattr(submission, "run_check", accept)
    (tmp_path / "mine.py").write_bytes(COSTLY["signs"])
    with a_league(tmp_path / "club") as league:
        with pytest.raises(Refused, match=f"^{COSTS}"):
            league.desk.submit(str(tmp_path / "mine.py"), "mine")
        assert [one.why.startswith(COSTS) for one in league.ledger.refusals()] == [True]


@pytest.mark.usefixtures("_small")
def test_the_table_says_so_too(tmp_path: Path) -> None:
    """As of any bot that it cannot play."""
    (tmp_path / "mine.py").write_bytes(COSTLY["signs"])
    with running(tmp_path) as client:
        said = client.ask("api/games", {"bots": [f"{tmp_path}/mine.py"]}, status=400)
    assert COSTS in str(said)


@pytest.mark.usefixtures("_small")
def test_a_list_of_bots_says_so_of_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And goes on with the others."""
    (tmp_path / "costly_one.py").write_bytes(COSTLY["signs"])
    monkeypatch.syspath_prepend(tmp_path)
    offered = [EntryPoint("mine", "costly_one:bot", "arena.bots")]
    monkeypatch.setattr("arena.entries.catalogue.entry_points", lambda: offered)
    described = [one.description for one in catalogue() if one.name == "mine"]
    assert described == [f"(cannot be read: {COSTS}, or it is nested too deep)"]


def test_our_own_bots_need_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing starts later for them."""
    read_outline.cache_clear()
    monkeypatch.setattr(subprocess, "Popen", None)
    assert resolve("champion").sha256
    assert [one.name for one in catalogue() if not one.package]


DEEP = b'''"""\n\n  Plays.  \n\n  More."""
import os, bots.one
from . import bots
from bots import *
from bots.two.more import x
class A:
    async def f(self):
        try:
            with a:
                from bots import three, four
        except E:
            import bots.five
        else:
            import bots.six
        finally:
            import bots.seven
def g():
    match a:
        case 1:
            for b in c:
                import bots.eight
            else:
                import bots.nine as n, bots
'''


def test_an_outline_has_all_imports_of_bots() -> None:
    """Wherever they stand; a summary is a line."""
    found = ["eight", "five", "four", "nine", "one", "seven", "six", "three", "two"]
    assert make_outline(DEEP) == ["Plays.", *found]
    assert read_outlines({"mine.py": DEEP}) == [("Plays.", tuple(found))]


BROKEN = {
    "killed": "import os; os.kill(os.getpid(), 9)",
    "ends": "",
    "fails": "raise ValueError",
    "says_too_much": "print('a\\n' * 3)",
    "never_ends_a_line": "print('a', end='')",
    "goes_on": "while True: print('a' * 100_000, end='')",
    "hangs": "import time; time.sleep(600)",
    "leads_away": r"print('a\t../../secret')",
    "is_no_text": r"print('\\N{none}')",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_reader_that_is_broken_is_not_the_bots_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Neither what it says nor that it is killed counts against a source; nothing is left."""
    (tmp_path / "reader.py").write_text(BROKEN[how])
    monkeypatch.setattr(source_reader, "__file__", str(tmp_path / "reader.py"))
    monkeypatch.setattr(syntax, "_PATIENCE", 0.1 if how == "hangs" else 100)
    with pytest.raises(ArenaError, match="the process that reads sources") as caught:
        read_outlines({"mine.py": MARK + b"# " + how.encode()})
    assert not isinstance(caught.value, InputError)


@pytest.mark.slow
def test_a_zip_of_a_million_names_is_not_opened_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anybody unpacks it; one that is honest is not."""
    monkeypatch.setattr(syntax, "MEGABYTES", 40)
    open_zip(make_zip(("bot.py", b"bot = 1\n")))
    with pytest.raises(InputError, match="the zip has more than 1,000 files"):
        open_zip(make_crowded(100_000))
