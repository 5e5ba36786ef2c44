"""A bit that has flipped in a run's store is named by whatever reads it, or changes no game."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.log import QUIET, RunLog
from arena.runs.run import run
from arena.runs.verify import verify
from arena.store.folder import RunFolder
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import Arena
from tests.rogues import write
from tests.runs.test_verify import HERE, RAISES, finished, inproc

FLIPS = 500
FILES = ("games.csv", "faults.csv", "standings.csv")


@pytest.mark.slow
def test_every_command_names_a_flipped_action(arena: Arena, tmp_path: Path) -> None:
    """In one line that says what can be done; the status is 2, and no file is changed."""
    (tmp_path / "cup.yaml").write_text("name: out\nseed: 0\npairs: 2\nbots: [uniform, greedy]\n")
    folder = finished(tmp_path / "out", [resolve("uniform"), resolve("greedy")], pairs=2)
    actions = library.open(folder).game("uniform", "greedy", 0, 0).record.actions.encode()
    changed = actions[:-1] + bytes([actions[-1] ^ 1])
    store = folder / "run.sqlite"
    store.write_bytes(store.read_bytes().replace(actions, changed))
    before = (folder / "games.csv").read_bytes()
    for words in ("run cup.yaml --out out", "verify out", "show out", "export out", "report out"):
        done = arena(*words.split())
        place = "games: pairs 0 to 63 of pairing 0 are not what was written"
        message = f"error: out/run.sqlite: damaged: {place}; a run with --fresh starts over\n"
        assert (done.returncode, done.stderr, done.stdout) == (2, message, "")
    assert (folder / "games.csv").read_bytes() == before


class Copies:
    """An executor that copies the folder of the run, as kill -9 would leave it, in the middle."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder = folder
        self.target = target

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        for number, played in enumerate(HERE.play(plan, tournament, log)):
            if number == 3:
                shutil.copytree(self.folder, self.target)
            yield played


@pytest.mark.study
@pytest.mark.parametrize("kind", ["finished", "killed"])
def test_of_many_flips_none_is_silently_wrong(tmp_path: Path, kind: str) -> None:
    """Neither for who opens or verifies the folder nor for the run that goes on with it."""
    raises = inproc(write(tmp_path, "raises", RAISES))
    bots = [resolve("uniform"), resolve("greedy"), raises]
    cup = Tournament("out", 0, 30, bots, STANDARD, max_faults=20)
    copies = Copies(tmp_path / "finished", tmp_path / "killed")
    run(cup, copies, RunFolder(tmp_path / "finished"), QUIET)
    whole = {name: (tmp_path / "finished" / name).read_bytes() for name in FILES}
    games = library.open(tmp_path / "finished").games
    folder = tmp_path / "flipped"
    for number in range(FLIPS):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / kind, folder)
        flip(folder, Random(number))
        read = is_used(lambda: library.open(folder).games)
        if read is not None:
            assert len(read.merge(games)) == len(read)
            assert len(read) == len(games) or kind == "killed"
        is_used(lambda: list(verify(folder, 2, HERE)))
        if is_used(lambda: run(cup, HERE, RunFolder(folder), QUIET)):
            assert {name: (folder / name).read_bytes() for name in FILES} == whole


def flip(folder: Path, rng: Random) -> None:
    """Flip a bit of a store or of its log."""
    files = sorted(path for path in folder.glob("run.sqlite*") if path.suffix != ".sqlite-shm")
    file = rng.choice(files)
    content = bytearray(file.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def is_used(use: Callable[[], Any]) -> Any:
    """Return what comes of using a folder, None where it is refused."""
    with suppress(InputError):
        return use()
    return None
