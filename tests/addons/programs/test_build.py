"""A build runs once, in the jail; whatever it does, one line says why its program is no bot."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from arena.addons.programs import build
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from tests import rogues
from tests.conftest import Arena
from tests.runs.test_rogues import needs_jail

pytestmark = needs_jail
SHORT = Limits(start=1.0, backstop=30.0, idle=0.5, memory=256)

MADE = {
    # what the build does, and the files that it adds or changes
    "makes": {"made": b"1\n"},
    "leaves": {"made": b"1\n"},
    "removes": {"made": b"1\n"},
    "reads": {"made": b"read \n"},
    "looks": {"made": b""},
    "prints": {},
    "hides": {},
    "links": {},
    "leads_out": {},
    "pipes": {},
    "changes": {"plays.sh": (rogues.FOLDER / "builds" / "plays.sh").read_bytes() + b"exit\n"},
}
LONG = r"more than 1 s of a processor, or 0\.5 s without work"
REFUSED = {
    "fails": r"exit status 1 \| plays\.sh:1: error: no such rule",
    "loops": LONG,
    "sleeps": LONG,
    "fills": r"exit status -25|exit status 1 \| yes: .*",
    "forks": rf"started more than 32 processes.*|exit status \d.*|{LONG}.*",
    "controls": r"exit status 3 \| a\\x1b\[2Jb",
    "litters": r"the zip has more than 1,000 files",
    "hoards": rf"exit status -?\d+.*|{LONG}.*",
    "connects": r"exit status 1 .*OSError: .*",
    "forges": r"the zip is damaged: .*",
    "rubbish": r"not an answer: .*",
    "kills": r"ended by SIGKILL",
}


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what builds make in a cache of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def rogue(folder: Path, what: str, build: str = '"sh", "build.sh"') -> Path:
    """Return the folder of the rogue whose build does this."""
    made = folder / what
    shutil.copytree(rogues.FOLDER / "builds", made)
    text = (made / "bot.toml").read_text().replace("links", what)
    (made / "bot.toml").write_text(text.replace('"sh", "build.sh"', build))
    return made


def kept(folder: Path) -> list[Path]:
    """Return the builds that are kept."""
    return [*(folder / "cache").rglob("*.bot")]


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_build_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """With the folder and the reason; nothing is kept."""
    if LONG in REFUSED[what]:
        monkeypatch.setattr(build, "LIMITS", SHORT)
    folder = rogue(tmp_path, what)
    with pytest.raises(InputError) as caught:
        resolve(str(folder))
    message = str(caught.value)
    assert re.fullmatch(rf"bot '{re.escape(str(folder))}': build: (?:{REFUSED[what]})", message)
    assert message.isprintable()
    assert not kept(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("what", MADE)
def test_a_build_adds_what_it_makes_to_the_sources(tmp_path: Path, what: str) -> None:
    """What it removes is there again, and what is no file is left out; it sees no secret."""
    (tmp_path / "secret").write_text("of the organiser")
    folder = rogue(tmp_path, what)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert resolve(str(folder)).files() == before | MADE[what]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_a_build_can_be_a_script_and_replaces_what_was_made(tmp_path: Path, arena: Arena) -> None:
    """It needs no right to be executed; an author's own program is no source. The bot plays."""
    folder = rogue(tmp_path, "makes", '"./build.sh"')
    (folder / "build.sh").chmod(0o644)
    made = resolve(str(folder))
    assert made.files()["made"] == b"1\n"
    (folder / "made").write_bytes(b"\x7fELF\0")  # it has bytes that no text has
    assert resolve(str(folder)).sha256 == made.sha256
    done = arena("play", str(folder), "uniform", "--pairs", "1", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "forfeit" not in (tmp_path / "out" / "games.csv").read_text()


@pytest.mark.slow
def test_a_compiler_of_a_home_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A jail shows no home; the line says where a build finds its programs."""
    (tmp_path / "bin").mkdir()
    shutil.copy(rogues.FOLDER / "builds" / "build.sh", tmp_path / "bin" / "own-compiler")
    (tmp_path / "bin" / "own-compiler").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    line = "No such file or directory: 'own-compiler'; a build sees what is in /usr and /opt"
    with pytest.raises(InputError, match=line):
        resolve(str(rogue(tmp_path, "makes", '"own-compiler"')))


@pytest.mark.slow
def test_a_build_runs_once_and_again_after_an_edit_or_damage(tmp_path: Path) -> None:
    """What it made is kept for the same files, and hashed; without a cache, it is built again."""
    folder = rogue(tmp_path, "makes")
    (folder / "build.sh").write_text("date +%N >made")
    first = resolve(str(folder))
    assert resolve(str(folder)) == first
    (folder / "plays.sh").write_text("# another one")
    second = resolve(str(folder))
    assert second.files()["made"] != first.files()["made"]
    for path in kept(tmp_path):
        path.unlink()
    third = resolve(str(folder))
    assert third.sha256 not in (first.sha256, second.sha256)
    (path,) = kept(tmp_path)
    path.write_bytes(b"no archive")
    again = resolve(str(folder))
    assert again.files()["made"] != third.files()["made"]
    (folder / "build.sh").write_text("echo 1 >made")
    made = resolve(str(folder))
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file")
    assert resolve(str(folder)) == made


def test_a_build_without_a_jail_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never runs outside; what to do is said."""

    def missing() -> str:
        raise InputError("lane jail: bubblewrap (bwrap) is not installed; see `arena doctor`")

    monkeypatch.setattr(build, "find_bubblewrap", missing)
    with pytest.raises(InputError, match=r"build: lane jail: bubblewrap .* is not installed"):
        resolve(str(rogue(tmp_path, "makes")))
