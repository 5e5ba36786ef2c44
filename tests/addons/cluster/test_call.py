"""A call plays what it is told, refuses what differs on its machine, and leaves nothing."""

from __future__ import annotations

import os
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from arena.addons.cluster.call import find_here, hash_imports, play_call, read_answer, write_head
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.answers import Garbled
from arena.lanes.limits import Limits
from arena.tournament.config_keys import Venue
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from arena.tournament.versions import Versions, version_here, versions_here
from engine import STANDARD
from tests.executors.test_contract import EXECUTORS, played


@pytest.mark.slow
def test_a_call_plays_its_chunks_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results are those of this process; its workers are those of the venue."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    cup = Tournament("call", 3, 6, bots, STANDARD, Limits(memory=256))
    chunks = [Chunk(0, 0, 2), Chunk(0, 2, 4), Chunk(1, 0, 6), Chunk(2, 0, 6)]
    data = play_call(versions_here(), write_head(cup, Venue(workers=2)), pickle.dumps(chunks))
    machine, results, lines = read_answer(data, chunks)
    assert machine == os.uname().nodename
    assert {line.process for line in lines} == {machine}
    found = {(one.chunk.pairing, *game[:2]): game for one in results for game in one.results}
    assert found == played(cup, EXECUTORS["here"])
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(Garbled, match="other games"):
        read_answer(data, chunks[1:])


@pytest.mark.parametrize("data", [b"", b"\x93", b"\xc1", b"\x93\xa1a\x90\x91\x90"])
def test_what_is_no_answer_is_not_read(data: bytes) -> None:
    """Whatever it is."""
    with pytest.raises(Garbled, match="cannot be read"):
        read_answer(data, [])


def test_a_machine_with_another_version_refuses_before_it_reads_anything() -> None:
    """The client reads it, so "there" is the machine that was called."""
    here = versions_here()
    with pytest.raises(InputError) as found:
        play_call(Versions("1" * 64, "2" * 64, "3.2", "0.9"), b"no pickle", b"")
    assert str(found.value) == (
        f"{os.uname().nodename}: engine: there {here.engine[:12]}, here {'1' * 12}; "
        f"arena: there {version_here()} ({here.arena[:12]}), here 0.9 ({'2' * 12}); "
        f"python: there {here.python}, here 3.2"
    )


def test_a_machine_says_what_a_bot_lacks_there(tmp_path: Path) -> None:
    """Another source, a module, a program, a file, a bot that it imports."""
    need = tmp_path / "need.txt"
    need.write_text("")
    first, majority = resolve("tests.rogues.first"), resolve("majority", needs=[str(need)])
    travelling = tmp_path / "imports.py"
    travelling.write_text("from bots.greedy import bot\n")
    imports = resolve(str(travelling))
    assert find_here(imports, hash_imports(imports)) == imports
    need.unlink()
    for entry, reason in (
        (replace(first, sha256="0" * 64), "'tests.rogues.first': sha256: there .*, here 0{12}$"),
        (replace(first, target="tests.rogues.gone"), "tests.rogues.gone"),
        (replace(resolve("cmd:env true"), target="cmd:no-such-program"), "no-such-program"),
        (majority, r"'majority': needs: '.*need.txt': no such file or folder"),
        (imports, "the bots that it imports: there .*, here 1{12}$"),
    ):
        with pytest.raises(InputError, match=reason):
            find_here(entry, "1" * 64)
