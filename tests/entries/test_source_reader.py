"""What strangers wrote is not parsed by the arena; a zip is unpacked by a process with limits."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from arena.entries import source_reader, syntax
from arena.entries.file import MOST_SOURCE
from arena.entries.identity import find_imports
from arena.entries.resolve import summarize
from arena.entries.syntax import open_zip, parse_source
from arena.errors import ArenaError, InputError
from tests import ROOT
from tests.entries.costly import MARK, make_crowded
from tests.entries.test_zipped import make_zip
from tests.threads import changing_places

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


@pytest.mark.slow
def test_a_bot_of_a_stranger_that_plays_was_not_compiled_here(tmp_path: Path) -> None:
    """Nor is one with nothing wrong."""
    (tmp_path / "mine.py").write_bytes(MARK + b"bot = bots.greedy.bot\n")
    status, _, cost = run_watched(tmp_path, "play", "./mine.py", "uniform", "--pairs", "1")
    assert (status, cost["compiled"]) == (0, [])


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
        except E: import bots.five
        else:
            from bots import (  # the last one
                six,
            )
def g(): import bots.nine as n, bots
'''


def test_all_imports_of_bots_are_found(tmp_path: Path) -> None:
    """Wherever they stand, and in a source that does not compile; a summary is a line."""
    (tmp_path / "deep.py").write_bytes(DEEP)
    assert summarize(tmp_path / "deep.py") == "Plays."
    found = {"one", "two", "three", "four", "five", "six", "nine"}
    assert find_imports(DEEP) >= found
    assert find_imports(DEEP) - found <= {"the", "last"}
    assert find_imports(b"x = (; from bots import greedy") == {"greedy"}
    assert find_imports(b"bots.greedy; import_module('bots.pimc')  # import bots.timing") == set()


def test_a_search_comes_to_its_end() -> None:
    """Whatever a stranger has written: it takes a time in proportion to the length."""
    for text in (b"from bots import (", b"import ", b"from bots import \\\n", b";", b"\t"):
        find_imports(text * (MOST_SOURCE // len(text)))


BROKEN = {
    "killed": "import os; os.kill(os.getpid(), 9)",
    "ends": "",
    "fails": "raise ValueError",
    "says_too_much": "print('[]' * 3)",
    "says_less": "print([])",
    "goes_deep": "print('[' * 100_000)",
    "goes_on": "while True: print('a' * 100_000, end='')",
    "hangs": "import time; time.sleep(600)",
    "leads_away": """print('["", {"../../secret": ""}]')""",
    "is_no_text": """print('["", {"bot.py": "%"}]')""",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_reader_that_is_broken_is_not_the_bots_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Neither what it says nor that it is killed counts against a source; nothing is left."""
    (tmp_path / "reader.py").write_text(BROKEN[how])
    monkeypatch.setattr(source_reader, "__file__", str(tmp_path / "reader.py"))
    monkeypatch.setattr(syntax, "_PATIENCE", 0.1 if how == "hangs" else 100)
    with pytest.raises(ArenaError, match="the process that reads zips") as caught:
        open_zip(how.encode())
    assert not isinstance(caught.value, InputError)


@pytest.mark.slow
def test_a_zip_of_a_million_names_is_not_opened_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anybody unpacks it; one that is honest is not."""
    monkeypatch.setattr(syntax, "MEGABYTES", 40)
    open_zip(make_zip(("bot.py", b"bot = 1\n")))
    with pytest.raises(InputError, match="the zip has more than 1,000 files"):
        open_zip(make_crowded(100_000))
