"""A folder is a bot: read within bounds, hashed whole, and played from memory."""

from __future__ import annotations

import csv
import os
import pickle
import re
import shutil
import socket
import sys
from pathlib import Path

import pytest

from arena.entries import file as folders
from arena.entries.resolve import resolve
from arena.errors import InputError
from engine.play import setup
from tests.conftest import Arena
from tests.entries.learned import BOT, DEEP_ORDER, ORDER, write_learned


@pytest.fixture
def learned(tmp_path: Path) -> Path:
    return write_learned(tmp_path / "learned")


def test_a_folder_travels_with_all_its_files(learned: Path) -> None:
    """Every worker plays what was hashed, even if the folder has gone meanwhile."""
    entry = pickle.loads(pickle.dumps(resolve(f"{learned}/")))
    assert (entry.label, entry.lane, entry.path) == ("learned", "process", ())
    shutil.rmtree(learned)
    strategy = entry.create(setup(0, 0))
    assert (strategy.order, strategy.deep) == (ORDER, DEEP_ORDER)


def test_a_folder_can_be_written_with_and_without_a_slash(
    learned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same bot; a bare name is one in bots/, and the error says what was meant."""
    assert resolve(str(learned)).sha256 == resolve(f"{learned}/").sha256
    monkeypatch.chdir(learned.parent)
    assert resolve("./learned").label == "learned"
    with pytest.raises(InputError, match=r"no bot 'learned' in bots/; did you mean \./learned/\?"):
        resolve("learned")


def test_a_folder_with_a_dot_in_its_name_keeps_its_whole_name(learned: Path) -> None:
    """The label does not end at the dot, as a file's does; the bot is found all the same."""
    entry = resolve(f"{learned.rename(learned.parent / 'v1.2')}/")
    assert entry.label == "v1.2"
    assert entry.create(setup(0, 0)).order == ORDER


def test_bot_py_is_preferred_to_the_package_itself(learned: Path) -> None:
    """Without `bot.py`, `__init__.py` binds `bot`, and can import with and without a dot."""
    (learned / "__init__.py").write_text("bot = lambda setup: 'the package'\n")
    assert resolve(str(learned)).create(setup(0, 0)).order == ORDER
    (learned / "bot.py").rename(learned / "main.py")
    assert resolve(str(learned)).create(setup(0, 0)) == "the package"
    (learned / "__init__.py").write_text("from .main import bot\nfrom main import bot as same\n")
    assert resolve(str(learned)).create(setup(0, 0)).order == ORDER


@pytest.mark.parametrize("name", ["bot.py", "helper.py", "order.txt", "nets/order.txt"])
def test_an_edit_of_any_file_is_another_bot(learned: Path, name: str) -> None:
    """So is a file that is added, renamed or moved."""
    before = resolve(str(learned)).sha256
    path = learned / name
    path.write_bytes(path.read_bytes() + b"\n")
    edited = resolve(str(learned)).sha256
    path.rename(path.with_name("other.py"))
    if name != "bot.py":
        assert len({before, edited, resolve(str(learned)).sha256}) == 3
    assert before != edited


def test_the_border_between_two_files_counts(tmp_path: Path) -> None:
    """The same bytes in other files are another bot."""
    for name, first, second in (("one", "a", "bc"), ("two", "ab", "c")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text("bot = 1")
        (tmp_path / name / "x").write_text(first)
        (tmp_path / name / "y").write_text(second)
    assert resolve(f"{tmp_path}/one").sha256 != resolve(f"{tmp_path}/two").sha256


def test_what_python_and_editors_leave_is_no_part_of_it(learned: Path) -> None:
    """Hidden files and `__pycache__` change nothing, and are not read."""
    before = resolve(str(learned))
    (learned / "nets" / "__pycache__").mkdir()
    (learned / "nets" / "__pycache__" / "deep.pyc").write_text("x")
    (learned / ".git").mkdir()
    os.mkfifo(learned / ".git" / "pipe")
    (learned / ".hidden").symlink_to("/nowhere")
    assert resolve(str(learned)) == before


@pytest.mark.slow
def test_other_weights_are_refused_where_the_run_goes_on(arena: Arena, learned: Path) -> None:
    """A finished run is not continued with a bot that has learned more."""
    (learned.parent / "cup.yaml").write_text("pairs: 1\nbots: [./learned/, uniform]\n")
    assert arena("run", "cup.yaml", "--quiet").returncode == 0
    (learned / "order.txt").write_bytes(DEEP_ORDER)
    done = arena("run", "cup.yaml", "--quiet")
    assert (done.returncode, "sha256" in done.stderr) == (2, True)
    assert "learned: not replayed: its source has changed" in arena("verify", "results/cup").stdout


@pytest.mark.slow
def test_its_fault_is_told_alike_in_every_lane(arena: Arena, learned: Path) -> None:
    """The traceback has the bot's own files, by their names in its folder and no others."""
    told = set()
    for lane in ("inproc", "process", "jail"):
        done = arena("game", f"./{learned.name}/(fail=True)", "uniform", "--lane", lane)
        assert "forfeits (exception at ply 0): ValueError: helpless" in done.stderr
        told.add(done.stderr)
    (text,) = told
    assert re.findall(r'File "(.+)", line (\d+), in (\w+)', text) == [
        ("learned/bot.py", "17", "choose"),
        ("learned/helper.py", "2", "fail"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["process", "inproc"])
def test_an_import_that_fails_names_the_bots_own_line(
    arena: Arena, learned: Path, lane: str
) -> None:
    """And none of the frames through which one module imports another."""
    (learned / "helper.py").write_text("import nothing_of_this_name\n")
    words = ["--lane", lane, "--pairs", "1", "--out", "out"]
    assert arena("play", "./learned/", "uniform", *words).returncode == 0
    with (learned.parent / "out" / "faults.csv").open() as file:
        fault = next(csv.DictReader(file))
    assert fault["kind"] == "import"
    assert fault["message"].endswith("'nothing_of_this_name' (line 1 of helper.py)")
    assert "archive.py" not in fault["traceback"]
    assert "importlib" not in fault["traceback"]


@pytest.mark.slow
def test_two_folders_with_the_same_helper_play_in_one_process(arena: Arena, learned: Path) -> None:
    """Each has its own, and code outside has neither."""
    other = learned.parent / "other"
    shutil.copytree(learned, other)
    (other / "order.txt").write_bytes(DEEP_ORDER)
    first, second = (resolve(str(path)).create(setup(0, 0)) for path in (learned, other))
    assert (first.order, second.order) == (ORDER, DEEP_ORDER)
    assert "helper" not in sys.modules
    words = ["--lane", "inproc", "--workers", "1", "--pairs", "1"]
    done = arena("play", "./learned/", "./other/", *words)
    assert (done.returncode, "forfeits" in done.stdout) == (0, False)


def refused(arena: Arena, folder: Path, spec: str = "./learned/") -> str:
    """Return the one line with which a folder is refused."""
    done = arena("play", spec, "uniform", "--pairs", "1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: bot '{spec}': ")
    assert folder.exists()
    return done.stderr.removeprefix(f"error: bot '{spec}': ").strip()


def test_a_folder_without_a_bot_is_refused(arena: Arena, learned: Path) -> None:
    """The error says which file binds `bot`."""
    (learned / "bot.py").unlink()
    assert refused(arena, learned).startswith("a bot's folder has a bot.py or a __init__.py")


def test_links_are_refused(arena: Arena, learned: Path) -> None:
    """To files, to folders, to nowhere and in a circle: what is hashed is in the folder."""
    for target in ("/etc/passwd", "..", "/nowhere", "link", "helper.py"):
        (learned / "link").symlink_to(target)
        assert refused(arena, learned) == "link: a link; copy what it leads to"
        (learned / "link").unlink()


def test_pipes_sockets_and_devices_are_refused(arena: Arena, learned: Path) -> None:
    """None of them is waited for."""
    os.mkfifo(learned / "pipe")
    assert refused(arena, learned) == "pipe: not a regular file"
    (learned / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(learned / "socket"))
        assert refused(arena, learned).startswith("socket: ")


def test_a_name_that_is_no_text_is_refused(arena: Arena, learned: Path) -> None:
    """The error shows it escaped; a line break in a name is only escaped."""
    path = os.fsencode(learned) + b"/\xff.txt"
    with open(path, "wb"):
        pass
    assert refused(arena, learned) == r"'\udcff.txt': the name is not UTF-8"
    os.unlink(path)
    (learned / "two\nlines").write_text("")
    assert resolve(str(learned)).label == "learned"


@pytest.mark.slow
def test_too_many_files_are_refused(arena: Arena, learned: Path) -> None:
    """1,000 files and folders are the most; they are counted, and not listed first."""
    for number in range(1000 - 6):
        (learned / str(number)).touch()
    assert resolve(str(learned)).create(setup(0, 0)).order == ORDER
    (learned / "one more").touch()
    assert refused(arena, learned) == "more than 1,000 files and folders"


@pytest.mark.slow
def test_too_many_bytes_are_refused(arena: Arena, learned: Path) -> None:
    """All files count together; the disk holds none of these."""
    used = sum(path.stat().st_size for path in learned.rglob("*.*"))
    with (learned / "weights.npz").open("wb") as file:
        file.truncate(45 * (1 << 20) - used)
    assert len(resolve(str(learned)).source or b"") > 45 * (1 << 20)
    (learned / "x").write_text("x")
    message = "x: a bot has at most 47,185,920 bytes in all its files"
    assert refused(arena, learned) == message
    with (learned / "a huge one").open("wb") as file:
        file.truncate(1 << 40)
    assert refused(arena, learned).startswith("a huge one: a bot has at most")


@pytest.mark.slow
def test_a_folder_that_holds_runs_is_refused(arena: Arena, learned: Path) -> None:
    """Also where the whole working folder is named."""
    words = ["greedy", "uniform", "--pairs", "1", "--out"]
    assert arena("play", *words, "learned/results").returncode == 0
    message = "results/run.sqlite: a run; a bot's folder holds only the bot"
    assert refused(arena, learned) == message
    (learned.parent / "bot.py").write_text(BOT)
    assert refused(arena, learned, "./") == f"learned/{message}"


@pytest.mark.slow
def test_a_very_deep_folder_is_refused_or_read(learned: Path) -> None:
    """There is no recursion that could end the arena."""
    here = os.open(learned, os.O_RDONLY)
    for _ in range(900):
        os.mkdir("deeper", dir_fd=here)
        here, before = os.open("deeper", os.O_RDONLY, dir_fd=here), here
        os.close(before)
    os.close(here)
    with pytest.raises(InputError, match="File name too long"):
        resolve(str(learned))


def test_a_folder_of_folders_only_is_counted(
    learned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty folders count as files do."""
    monkeypatch.setattr(folders, "MOST_FILES", 20)
    for number in range(20):
        (learned / f"empty{number}").mkdir()
    with pytest.raises(InputError, match="more than 20 files and folders"):
        resolve(str(learned))
