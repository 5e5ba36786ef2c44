"""A bot's private folder is empty at its start; with bubblewrap no other bot reaches it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.executors.worker import Worker
from arena.lanes.bubblewrap import find_pid_namespaces
from arena.lanes.limits import Limits
from arena.lanes.scratch import empty_folder, scratch_folder
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from tests.lanes.framed import RULES, play
from tests.rogues import FOLDER, spec, write
from tests.tiers import few
from tests.users import IS_ROOT, USERS, start_python
from tests.waiting import PATIENCE

HONEST, FIRST = f"honest={FOLDER / 'notes.py'}", f"rogue={FOLDER / 'first.py'}"
CAP_SYS_ADMIN = 21
HAS_BUBBLEWRAP = find_pid_namespaces() is not None or "CI" in os.environ
CASES = [
    # the user, the rogue, workers; the last differ little
    *[(user, "frames", 1) for user in USERS],
    *[(user, "frames", 2) for user in USERS],
    *[(user, "frames_by_workers", 1) for user in USERS],
]


def played(user: str, folder: Path, rogue: str, workers: int = 1) -> dict[str, Any]:
    """Return the games and the faults of a bot and an honest one, run as a user."""
    words = ["-m", "tests.lanes.framed", str(workers), f"rogue={rogue}", HONEST]
    with start_python(user, folder, *words) as process:
        out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not HAS_BUBBLEWRAP, reason="no pid namespaces")
@pytest.mark.parametrize(
    ("user", "rogue", "workers"),
    few(CASES, 1, 2, unpack=True),
)
def test_who_removes_the_folders_of_others_frames_nobody(
    tmp_path: Path, user: str, rogue: str, workers: int
) -> None:
    """It does not see them; without bubblewrap the lane process promises nothing of the kind."""
    found = played(user, tmp_path, spec(rogue), workers)
    assert found["faults"] == []
    assert found["games"] == json.loads(json.dumps(play(1, [FIRST, HONEST])))["games"]


def faults(bots: Sequence[Path], folder: Path) -> list[tuple[int | None, str]]:
    """Return who has won each of two games of these bots that a fault has ended, and the fault."""
    entries = [resolve(str(path), label=path.stem, lane="process") for path in bots]
    tournament = Tournament("test", 0, 1, entries, RULES, Limits())
    folder.mkdir()
    with closing(Worker(tournament, folder)) as worker:
        games = worker.play(Chunk(0, 0, 1)).results
    return [(game.winner, game.fault.message) for game in games if game.fault]


def test_a_folder_is_renewed_whatever_a_bot_has_put_in_its_place(tmp_path: Path) -> None:
    """What a link leads to stays as it is, with its mode."""
    strange = tmp_path / "strange"
    strange.mkdir(0o755)
    (strange / "file").touch()
    folder = tmp_path / "worker" / "bot"
    for spoil in (
        lambda: None,
        lambda: folder.rmdir(),
        lambda: (folder.rmdir(), folder.symlink_to(strange)),
        lambda: (folder / "link").symlink_to(strange),
        lambda: (folder.rmdir(), folder.touch()),
    ):
        spoil()
        empty_folder(folder)
        assert folder.is_dir()
        assert not folder.is_symlink()
        assert list(folder.iterdir()) == []
    assert (strange / "file").exists()
    assert strange.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(not IS_ROOT, reason="only root's bots have rights of root")
@pytest.mark.skipif(not HAS_BUBBLEWRAP, reason="no pid namespaces")
def test_a_bot_of_root_cannot_mount_in_a_process(tmp_path: Path) -> None:
    """It has root's other rights there."""
    body = (
        "    def choose(self, view, /):\n"
        "        status = open('/proc/self/status').read()\n"
        "        raise ValueError(status.partition('CapEff:')[2].split()[0])"
    )
    bots = [write(tmp_path, "rogue", body), FOLDER / "first.py"]
    with scratch_folder() as folder:
        found = faults(bots, folder / "games")
    rights = {int(message.split()[1], 16) for _, message in found}
    assert [right >> CAP_SYS_ADMIN & 1 for right in rights] == [0]
    assert rights != {0}
