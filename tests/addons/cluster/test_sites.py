"""A site plays what it is asked, refuses what differs, and leaves nothing, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arena.addons.cluster import wire
from arena.addons.cluster import wire as host
from arena.addons.cluster.site import hash_imports
from arena.addons.cluster.wire import SiteEnded
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.lanes.limits import Limits
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from arena.tournament.versions import version_here, versions_here
from engine import STANDARD
from tests import ROOT
from tests.executors.marked import assert_no_process_is_left, assert_nothing_is_left
from tests.executors.test_contract import EXECUTORS, played
from tests.waiting import until

Game = tuple[threading.Thread, list[object]]
LONG = Limits(decision=3600.0, backstop=36_000.0)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the sites' folder for temporary files, with a long name; at the end nothing is left."""
    with tempfile.TemporaryDirectory(prefix="sites-") as above:
        place = Path(above) / ("t" * 150)
        place.mkdir()
        monkeypatch.setenv("TMPDIR", str(place))
        yield place
        host.close_site("test")
        assert_nothing_is_left(place)


def head_for(entries: Sequence[Entry], workers: int = 1, limits: Limits | None = None) -> wire.Head:
    """Return what a site is told of a tournament of these bots."""
    tournament = Tournament("site", 3, 12, entries, STANDARD, limits or Limits(memory=256))
    return wire.Head(tournament, versions_here(), [*map(hash_imports, entries)], workers)


def open_site(head: wire.Head) -> wire.Hello:
    """Open the site of the test, and return what it says first."""
    return wire.read_hello(host.open_site("test", wire.write_head(head)))


def play(number: int, chunks: Sequence[Chunk]) -> bytes:
    """Return what a batch comes to on it."""
    return host.play_batch("test", number, wire.write_batch(number, chunks))


def in_thread(work: Callable[[], object]) -> Game:
    """Start a thread; the list gets what it returns or raises."""
    results: list[object] = []

    def keep() -> None:
        try:
            results.append(work())
        except SiteEnded as error:
            results.append(error)

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    return thread, results


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_site_plays_batches_as_they_come() -> None:
    """Two at once and one later; its results are those of this process."""
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    head = head_for(bots, workers=2)
    assert open_site(head) == wire.Hello([], [])
    batches = {
        1: [Chunk(0, 0, 3), Chunk(1, 0, 12)],
        2: [Chunk(0, 3, 9)],
        3: [Chunk(2, 0, 12)],
    }
    thread, answers = in_thread(lambda: play(1, batches[1]))
    second = play(2, batches[2])
    thread.join()
    third = play(3, batches[3])
    data = {1: answers[0], 2: second, 3: third}
    results = {}
    for number, chunks in batches.items():
        for one in wire.read_answer(data[number], chunks)[0]:
            results |= {(one.chunk.pairing, *game[:2]): game for game in one.results}
    assert results == played(head.tournament, EXECUTORS["here"])


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_site_says_what_differs() -> None:
    """Before it unpickles anything; its client reads it, so "there" is the site."""
    head = head_for([resolve("uniform"), resolve("greedy")])
    here = head.versions
    there = replace_versions(head)
    assert open_site(there).refusals == [
        f"engine: there {here.engine[:12]}, here {'1' * 12}",
        f"arena: there {version_here()} ({here.arena[:12]}), here 0.9 ({'2' * 12})",
        f"python: there {here.python}, here 3.2",
    ]
    with pytest.raises(SiteEnded):
        play(1, [Chunk(0, 0, 1)])


def replace_versions(head: wire.Head) -> wire.Head:
    """Return a head of a machine on which all is different."""
    return head._replace(versions=type(head.versions)("1" * 64, "2" * 64, "3.2", "0.9"))


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_site_says_which_bots_it_lacks(tmp_path: Path) -> None:
    """By bot: another source, a module, a program and a file that are not there."""
    need = tmp_path / "need.txt"
    need.write_text("")
    travelling = tmp_path / "imports.py"
    travelling.write_text("from bots.greedy import bot\n")
    bots = [
        replace(resolve("tests.rogues.first"), sha256="0" * 64),
        replace(resolve("tests.rogues.first", label="gone"), target="tests.rogues.gone"),
        replace(resolve("cmd:env true", label="program"), target="cmd:no-such-program"),
        resolve("majority", needs=[str(need)]),
        resolve(str(travelling)),
    ]
    head = head_for(bots)
    need.unlink()
    imports = [*head.imports[:-1], "1" * 64]
    refusals = open_site(head._replace(imports=imports)).refusals
    assert len(refusals) == len(bots), refusals
    differs, gone, program, needs, of_imports = refusals
    assert differs.startswith("bot 'tests.rogues.first': sha256: there ")
    assert differs.endswith(f", here {'0' * 12}")
    assert "tests.rogues.gone" in gone
    assert "no-such-program" in program
    assert needs == f"bot 'majority': needs: {str(need)!r}: no such file or folder"
    assert of_imports.startswith(f"bot {str(travelling)!r}: the bots that it imports: there ")
    assert of_imports.endswith(f", here {'1' * 12}")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_site_says_which_bots_do_not_start(tmp_path: Path) -> None:
    """It can play, but the client may know better."""
    path = tmp_path / "numeric.py"
    path.write_text("import no_such_library\n")
    hello = open_site(head_for([resolve("uniform"), resolve(str(path))]))
    assert hello.refusals == []
    (problem,) = hello.problems
    assert problem.startswith(f"bot {str(path)!r}: does not start: ModuleNotFoundError")


THINKS = """
import time

class Thinks:
    def __init__(self, setup):
        pass

    def choose(self, view):
        open({path!r}, "w").close()
        time.sleep(10**6)

bot = Thinks
"""


@pytest.fixture
def thinks(folder: Path, tmp_path: Path) -> Entry:
    """Return a bot that thinks for days in its first decision."""
    path = tmp_path / "thinks.py"
    path.write_text(THINKS.format(path=str(folder.parent / "asked")))
    return resolve(str(path), lane="process")


@pytest.fixture
def long_game(folder: Path, thinks: Entry) -> Game:
    """Return the thread of a batch in which this bot thinks, and what the batch came to."""
    open_site(head_for([resolve("uniform"), thinks], limits=LONG))
    thread = in_thread(lambda: play(1, [Chunk(0, 0, 1)]))
    until((folder.parent / "asked").exists)
    return thread


@pytest.mark.slow
def test_the_end_of_its_input_ends_a_site_in_a_game(long_game: Game) -> None:
    """It does not wait for a bot that thinks for days, nor is it killed."""
    thread, results = long_game
    site = host._sites["test"]
    host.close_site("test")
    thread.join()
    assert isinstance(results[0], SiteEnded)
    assert site._process.returncode == 128 + signal.SIGTERM


@pytest.mark.slow
def test_a_site_that_is_killed_leaves_nothing(folder: Path, long_game: Game) -> None:
    """Whoever waits for an answer gets SiteEnded, and so does who asks later."""
    thread, results = long_game
    host._sites["test"]._process.send_signal(signal.SIGKILL)
    thread.join()
    assert str(results[0]) == "its program ended by SIGKILL"
    with pytest.raises(SiteEnded, match="SIGKILL"):
        host.beat_site("test")
    assert_no_process_is_left(folder)


@pytest.mark.slow
def test_a_site_that_says_nothing_is_killed(
    folder: Path, long_game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that was stopped; the next one removes its files."""
    thread, results = long_game
    host._sites["test"]._process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(host, "_SITE_PATIENCE", 0.5)
    thread.join()
    assert str(results[0]) == "its program was silent for 0.5 s"
    assert_no_process_is_left(folder)


@pytest.mark.slow
def test_a_site_ends_when_its_client_is_silent(
    folder: Path, long_game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for what it plays."""
    thread, results = long_game
    monkeypatch.setattr(host, "CLIENT_PATIENCE", 0.5)
    thread.join()
    assert str(results[0]) == "the client was silent for 0.5 s"
    assert_nothing_is_left(folder)


HOST = """
import sys
from arena.addons.cluster import wire as host
data = sys.stdin.buffer.read()
head, batch = data.split(b"--half--")
host.open_site("test", head)
print("open", flush=True)
host.play_batch("test", 1, batch)
"""


@pytest.mark.slow
def test_a_host_that_is_killed_leaves_no_site(folder: Path, thinks: Entry) -> None:
    """Its site ends in the middle of a game that takes days."""
    head = head_for([resolve("uniform"), thinks], limits=LONG)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", HOST],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(wire.write_head(head) + b"--half--")
    process.stdin.write(wire.write_batch(1, [Chunk(0, 0, 1)]))
    process.stdin.close()
    assert process.stdout.readline() == b"open\n"
    until((folder.parent / "asked").exists)
    process.kill()
    process.wait()
    process.stdout.close()
    assert_nothing_is_left(folder)


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ("exit 7", "its program ended with exit status 7"),
        ("echo no module called arena >&2; exit 1", "exit status 1: no module called arena"),
        (r"printf '\1\0\0\0\0\0\0\0\2\301'; exec sleep 3600", "its program ended by SIGKILL"),
        (r"printf '\377\377\377\377\377\377\377\377\1'; exec sleep 3600", "ended by SIGKILL"),
    ],
    ids=["ends", "complains", "garbles", "shouts"],
)
@pytest.mark.usefixtures("folder")
def test_a_program_that_is_no_site_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, reason: str
) -> None:
    """Nobody waits for it."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(SiteEnded, match=reason):
        open_site(head_for([resolve("uniform"), resolve("greedy")]))
