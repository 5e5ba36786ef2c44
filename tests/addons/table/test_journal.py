"""The journal of a game: a line for each action, which outlives the process that wrote it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from arena.addons.table import journal as module
from arena.addons.table.interrupted import find_interrupted
from arena.addons.table.journal import Journal, read_journal
from arena.addons.table.session import RecordedGame, Records
from arena.errors import ArenaError, InputError
from engine.cards import CHARS, to_text
from tests.addons.table.interrupting import leave_journal, make_session
from tests.addons.table.test_session import expected

PLIES = 5
ACTIONS = expected(0)[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the journal of a game against greedy, interrupted after five actions."""
    return leave_journal(tmp_path, "greedy", 0, PLIES)


def actions_of(path: Path) -> str:
    """Return the actions that a journal holds."""
    content = read_journal(path)
    assert content is not None
    return to_text(content.state.history)


def test_there_is_a_line_for_each_action_and_none_before_the_first(tmp_path: Path) -> None:
    """Only the user can read it while the game goes on; it goes when the game is recorded."""
    records = Records(tmp_path)
    journal = RecordedGame(make_session("greedy", 0), 0)._begin_journal(records)
    assert not records.under_way.exists()
    for ply, char in enumerate(ACTIONS[:PLIES]):
        journal.add(ply, CHARS.index(char))
        assert len(journal.path.read_bytes().splitlines()) == 1 + ply + 1
    assert [*records.under_way.iterdir()] == [journal.path]
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    journal.remove()
    journal.close()
    assert [*records.under_way.iterdir()] == []


def test_a_line_that_is_cut_loses_only_itself(path: Path) -> None:
    """Wherever the kill, or the loss of power, has cut it; the game is written on behind it."""
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    for kept in range(len(last)):
        path.write_bytes(whole[: len(whole) - len(last) + kept])
        assert actions_of(path) == ACTIONS[: PLIES - 1]
    journal = Journal.take(path)
    journal.add(PLIES - 1, CHARS.index(ACTIONS[PLIES - 1]))
    journal.close()
    assert path.read_bytes() == whole


DAMAGED = [
    b"\n",
    b"\0" * 20 + b"\n",
    b"\xff\n",
    b"[]\n",
    b'{"ply": 4}\n',
    b'{"ply": 4, "action": "5", "more": 1}\n',
    b'{"ply": 3, "action": "{right}"}\n',
    b'{"ply": 5, "action": "{right}"}\n',
    b'{"ply": 4, "action": ""}\n',
    b'{"ply": 4, "action": "56"}\n',
    b'{"ply": 4, "action": "q"}\n',
    b"[" * 5000 + b"\n",
]


@pytest.mark.parametrize("line", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_line_ends_what_is_known(path: Path, line: bytes) -> None:
    """Noise, another ply, an action that is not legal: nothing behind it is believed."""
    *before, right = path.read_bytes().splitlines(keepends=True)
    line = line.replace(b"{right}", ACTIONS[PLIES - 1].encode())
    path.write_bytes(b"".join([*before, line, right, right.replace(b"4", b"5", 1)]))
    assert actions_of(path) == ACTIONS[: PLIES - 1]


def test_an_action_that_is_not_legal_is_not_believed(path: Path) -> None:
    """A card that the player does not have."""
    *before, _ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(before))
    content = read_journal(path)
    assert content is not None
    wrong = [char for kind, char in enumerate(CHARS) if kind not in content.state.legal()]
    for char in wrong:
        path.write_bytes(b"".join([*before, b'{"ply":4,"action":"%b"}\n' % char.encode()]))
        assert actions_of(path) == ACTIONS[: PLIES - 1]


HEADS = [b"", b"noise\n", b"[]\n", b'{"deal": "5"}\n', b'{"deal": "5", "actions": ""}\n', b"\xff"]


@pytest.mark.parametrize("head", HEADS, ids=range(len(HEADS)))
def test_a_file_that_is_no_journal_is_named_and_left_alone(
    tmp_path: Path, path: Path, head: bytes
) -> None:
    """With its first line; the other games are found."""
    other = path.with_name("a.jsonl")
    other.write_bytes(head)
    with pytest.raises(InputError, match=r"a\.jsonl: line 1: "):
        Journal.take(other)
    found, problems = find_interrupted(Records(tmp_path))
    assert [one.path for one in found] == [path]
    assert len(problems) == 1
    assert f"{other}: line 1: " in problems[0]
    assert other.read_bytes() == head


def test_a_record_that_does_not_say_whose_it_is_is_no_journal(tmp_path: Path, path: Path) -> None:
    """It could be any file of records."""
    path.write_bytes(path.read_bytes().replace(b'"session"', b'"sessions"'))
    found, problems = find_interrupted(Records(tmp_path))
    assert found == []
    assert "line 1: Object missing required field `session`" in problems[0]


def test_a_game_is_taken_up_once(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tables at once do not play the same game, and neither offers what the other plays."""
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    journal = Journal.take(path)
    assert find_interrupted(Records(tmp_path)) == ([], [])
    with pytest.raises(InputError, match="goes on elsewhere"):
        Journal.take(path)
    journal.close()
    assert len(find_interrupted(Records(tmp_path))[0]) == 1
    journal = Journal.take(path)
    journal.remove()
    journal.close()
    with pytest.raises(InputError, match="has ended there"):
        Journal.take(path)


def test_a_game_that_ends_just_before_it_is_locked_is_not_taken_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process has recorded it, and removed the journal."""
    lock = module.fcntl.flock

    def end_and_lock(file: int, kind: int) -> None:
        path.unlink()
        lock(file, kind)

    monkeypatch.setattr(module.fcntl, "flock", end_and_lock)
    with pytest.raises(InputError, match="has ended there"):
        Journal.take(path)


def test_a_process_that_only_looks_does_not_keep_a_game_from_another(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may be loaded just when the game is taken up."""
    looking = module._lock(path, module.fcntl.LOCK_SH, 1)
    assert looking is not None
    monkeypatch.setattr(module.time, "sleep", lambda wait: os.close(looking) if wait else None)
    Journal.take(path).close()


def test_a_link_is_not_followed_and_a_pipe_is_not_waited_for(tmp_path: Path, path: Path) -> None:
    """Somebody else may have put them there."""
    path.with_name("link.jsonl").symlink_to(path)
    os.mkfifo(path.with_name("pipe.jsonl"))
    path.with_name("folder.jsonl").mkdir()
    path.with_name(".made.jsonl").write_text("")  # a journal in the making
    found, problems = find_interrupted(Records(tmp_path))
    assert [one.path for one in found] == [path]
    assert len(problems) == 3


def test_what_cannot_be_written_is_said_with_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk may take a part of the line."""
    journal = Journal.take(path)
    monkeypatch.setattr(module.os, "write", lambda *_: 3)
    with pytest.raises(ArenaError, match=rf"{path.name}: No space left on device"):
        journal.add(PLIES, 0)
    journal.close()


def test_a_folder_that_cannot_be_locked_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems have no locks."""

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(module.fcntl, "flock", refuse)
    with pytest.raises(ArenaError, match=rf"{path.name}: Operation not supported"):
        Journal.take(path)
