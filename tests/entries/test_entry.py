"""A spec names a bot, or is refused; a new bot is written, and plays."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.entries.catalogue import ELO, STRENGTHS
from arena.entries.entry import check_labels
from arena.entries.loader import find_parameter_error
from arena.entries.new_bot import write_draft
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.lanes.load_check import find_problems
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.play import setup
from tests import ROOT
from tests.conftest import Arena
from tests.kit import refused, run_python
from tests.tiers import few

BOT = """
class Mine:
    def __init__(self, setup, depth: int = 3, width: float = 1.0, mode="x", deep: bool = False):
        self.depth = depth

    def choose(self, view, /):
        return view.legal[0]

bot = Mine
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a bot in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(BOT)
    return path


def test_a_bot_has_a_label_and_a_lane_unless_they_are_given(mine: Path) -> None:
    """A label stands in front of the spec, or separately; of two with one it is said which."""
    greedy, own = resolve("greedy"), resolve(str(mine))
    assert (greedy.label, greedy.lane) == ("greedy", "inproc")
    assert greedy.sha256 == hashlib.sha256((ROOT / "bots" / "greedy.py").read_bytes()).hexdigest()
    assert (own.label, own.lane) == ("mine", "process")
    assert resolve("cmd:true").lane == "process"
    assert resolve(str(mine), lane="inproc").lane == "inproc"
    assert resolve(f"new={mine}(depth=1)").label == resolve(str(mine), label="new").label == "new"
    assert resolve(f"{LONGEST}=greedy").label == resolve("greedy", LONGEST).label == LONGEST
    entries = [resolve("greedy"), resolve("uniform"), resolve("greedy")]
    with pytest.raises(InputError, match=r"bots 1 and 3 .* 'greedy'; .* other=greedy"):
        check_labels(entries)


def test_a_file_travels_with_its_source_and_a_dotted_module_is_a_bot(mine: Path) -> None:
    """Every worker plays the source that was hashed; a module is found from this folder, too."""
    entry = pickle.loads(pickle.dumps(resolve(str(mine))))
    mine.write_text("raise SystemExit")
    assert entry.create(setup(0, 0)).depth == 3
    assert entry.sha256 == hashlib.sha256(BOT.encode()).hexdigest()
    package = mine.parent / "my_package_of_bots"
    package.mkdir()
    mine.rename(package / "mine.py")
    assert resolve("my_package_of_bots.mine").label == "mine"


@pytest.mark.parametrize(
    ("words", "config", "params", "label"),
    [
        (
            *("width=2.5, depth=4", {"mode": "y"}, {"depth": 4, "width": 2.5, "mode": "y"}),
            "depth=4, mode='y', width=2.5",
        ),
        ("depth=4, width=2.5", {"depth": 5}, {"depth": 5, "width": 2.5}, "depth=5, width=2.5"),
        ("mode=(1, (2, -0.0))", {}, {"mode": [1, [2, -0.0]]}, "mode=[1, [2, -0.0]]"),
        ("depth=0, deep=False", {}, {"depth": 0, "deep": False}, "deep=False, depth=0"),
    ],
)
def test_parameters_come_from_the_spec_and_before_it_from_the_config(
    mine: Path, words: str, config: dict[str, Any], params: dict[str, Any], label: str
) -> None:
    """They are kept as in a manifest, and stand in the label in the order of their names."""
    entry = resolve(f"{mine}({words})", params=config)
    assert (entry.params, entry.label) == (params, f"mine({label})")
    assert entry.create(setup(0, 0)).depth == params.get("depth", 3)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("depht=3", "unexpected keyword argument 'depht'; .* takes depth, width, mode, deep"),
        ("depth='3'", "parameter depth='3': Expected `int`, got `str`"),
        ("depth=True", "parameter depth=True: Expected `int`, got `bool`"),
        ("setup=3", "multiple values for argument 'setup'"),
    ],
)
def test_parameters_that_a_bot_does_not_take_are_named(mine: Path, words: str, reason: str) -> None:
    """By the process that loads it; our own bots are checked in this one."""
    with pytest.raises(InputError, match=reason):
        list(find_problems([resolve(f"{mine}({words})")], STANDARD, Limits()))
    with pytest.raises(InputError, match=r"bot 'greedy': .* 'x'; the bot takes patience"):
        list(find_problems([resolve("greedy(x=1)")], STANDARD, Limits()))


def test_a_bot_without_a_setup_is_told_what_to_write() -> None:
    """A function, a class without a constructor, and one whose constructor takes nothing."""

    def make() -> None:
        """Take no setup."""

    class Empty:
        pass

    class Bare:
        def __init__(self) -> None:
            self.depth = 3

    assert find_parameter_error(make, {}) == "make takes no setup; write `def make(setup)`"
    write = "write `__init__(self, setup)`"
    assert find_parameter_error(Empty, {}) == f"class Empty has no __init__; {write}"
    assert find_parameter_error(Bare, {}) == f"the __init__ of class Bare takes no setup; {write}"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1", "does not bind `bot`"),
        ("class Bot:\n    choose = 1\nBOT = Bot", "does not bind `bot`: write `bot = Bot`"),
        ("import numpyy", r"ModuleNotFoundError: No module named 'numpyy' \(line 1 of mine\.py\)"),
        ("x = 1\ndef f(:", r"SyntaxError: .*\(line 2\)"),
        ("bot = 5", "binds `bot` to int"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("x = 1\x00", "does not start"),
    ],
)
def test_a_file_that_is_no_bot_is_reported(mine: Path, source: str, reason: str) -> None:
    """One line names the file and what is wrong with it; its games will be forfeits."""
    mine.write_text(source)
    (message,) = find_problems([resolve(str(mine))], STANDARD, Limits())
    assert re.search(reason, message)
    assert str(mine) in message
    assert "\n" not in message


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
def test_a_bot_that_forgets_to_return_a_strategy_is_told_so(mine: Path, lane: str) -> None:
    """Its games are forfeits with a message that says what is missing."""
    mine.write_text("def bot(setup):\n    pass\n")
    bots = [resolve(str(mine), lane=lane), resolve("uniform")]
    with closing(Worker(Tournament("none", 0, 1, bots, STANDARD), mine.parent)) as worker:
        (fault, _) = (game.fault for game in worker.play(Chunk(0, 0, 1)).results)
    assert "bot(setup) returned None, and not a strategy" in fault.message


LONGEST = "x" * 60
LABEL = "must be 1 to 60 printable characters, with no space at its ends"
PARAMETERS = "parameters are written name=value"
PLAIN = "only numbers, texts"


@pytest.mark.parametrize(
    ("spec", "more", "reason"),
    [
        ("", {}, "the spec is empty"),
        ("gredy", {}, "did you mean greedy?"),
        ("nobody", {}, "there are apprentice, champion"),
        ("./none.py", {}, "No such file"),
        ("./mine.py/", {}, "a file, not a folder: leave out the / at its end"),
        ("no.such.module", {}, "no module 'no.such.module'"),
        ("bots..greedy", {}, "no module 'bots..greedy'"),
        ("__init__", {}, "no bot"),
        ("(" * 300_000, {}, r"^bot '\(+'\.\.\.: longer than 4,000 characters$"),
        ("./a\0b.py", {}, "a spec has no NUL"),
        ("./\ud800.py", {}, r"'.ud800' cannot be written as UTF-8"),
        ("~nobody_of_this_name/a.py", {}, "No such file"),
        ("/dev/zero", {}, "bot '/dev/zero': not a regular file"),
        ("cmd:", {}, "the command is empty"),
        ("cmd:'x", {}, "No closing quotation"),
        ("cmd:no_such_program_here -x", {}, "no_such_program_here: no such program"),
        ("cmd:true", {"lane": "inproc"}, "lane 'inproc' is not one of its lanes: process, jail"),
        ("greedy", {"lane": "train"}, "'train' is not one of its lanes: inproc, process, jail"),
        ("a\nb=greedy", {}, LABEL),
        (f"{LONGEST}x=greedy", {}, LABEL),
        *(("greedy", {"label": label}, LABEL) for label in (" greedy", "greedy ", "", "x" * 61)),
        ("./mine.py(3)", {}, PARAMETERS),
        ("./mine.py(depth=other)", {}, PARAMETERS),
        ("./mine.py(depth=1)#)", {}, PARAMETERS),
        (f"./mine.py(mode={'-' * 3900}1)", {}, PARAMETERS),
        ("./mine.py(depth=1, depth=2)", {}, "each once"),
        ("./mine.py(depth=3", {}, "a bracket is not closed"),
        ("./mine.py(mode={1, 2})", {}, f"parameter mode={{1, 2}}: {PLAIN}"),
        ("./mine.py(mode=1e999)", {}, f"parameter mode=inf: {PLAIN}"),
        ("./mine.py(mode='\\ud800')", {}, f"parameter mode='.ud800': {PLAIN}"),
        (f"./mine.py(mode=0x{'f' * 3900})", {}, f"mode=a value too long to print: {PLAIN}"),
        ("./mine.py(mode={1: 2})", {}, "parameter mode={1: 2}: .* the keys being texts"),
        ("./mine.py(mode=[{'a': {None: 2}}])", {}, "the keys being texts"),
        ("./mine.py", {"label": "hides", "params": {"\ud800": 1}}, PLAIN),
    ],
)
@pytest.mark.usefixtures("mine")
def test_what_names_no_bot_is_refused(spec: str, more: dict[str, Any], reason: str) -> None:
    """Before any process is started; the error has the nearest name, or all names."""
    with pytest.raises(InputError, match=reason):
        resolve(spec, **more)


def test_what_is_too_large_is_not_read_and_a_package_is_found_without_running_it(
    mine: Path,
) -> None:
    """A pipe is not waited for; foreign code runs in its own process, which reports its error."""
    mine.write_text("#".ljust(1 << 20))
    assert resolve(str(mine)).label == "mine"
    mine.write_text("#".ljust((1 << 20) + 1))
    with pytest.raises(InputError, match=r"mine\.py': larger than 1,048,576 bytes"):
        resolve(str(mine))
    os.mkfifo("pipe.py")
    with pytest.raises(InputError, match=r"pipe\.py': not a regular file"):
        resolve("./pipe.py")
    resolve("cmd:true ./pipe.py")  # a word, and no file to be hashed
    package = mine.parent / "broken_package"
    package.mkdir()
    (package / "__init__.py").write_text("1 / 0")
    (package / "bot.py").touch()
    entry = resolve("broken_package.bot")
    assert (entry.label, entry.lane) == ("bot", "process")
    (message,) = find_problems([entry], STANDARD, Limits())
    assert "ZeroDivisionError: division by zero (line 1 of __init__.py)" in message


@pytest.mark.parametrize(
    ("spec", "file", "reason"),
    few(
        [
            ("./first/", "first/bot.toml", "a bot has at most 47,185,920 bytes in all its files"),
            ("./mine.py", "mine.py", "larger than 1,048,576 bytes"),
            ("./mine.zip", "mine.zip", "larger than 67,108,864 bytes"),
            ("cmd:true ./huge", "huge", "huge: larger than 1,073,741,824 bytes"),
        ],
        unpack=True,
    ),
)
def test_a_file_of_a_gigabyte_is_not_read(mine: Path, spec: str, file: str, reason: str) -> None:
    """No more than the limit is read; the disk holds none of it."""
    (mine.parent / "first").mkdir()
    Path(file).touch()
    os.truncate(file, (1 << 30) + 1)
    with pytest.raises(InputError, match=reason):
        resolve(spec)


POINTS = "martian = mars.strategies:bot\ngreedy = mars.strategies\nlost = venus\nsmart = wise:bot\n"


@pytest.fixture
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that offers four bots, in a folder of the search path."""
    info = tmp_path / "mars_bots-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mars-bots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[arena.bots]\n{POINTS}")
    (tmp_path / "mars").mkdir()
    (tmp_path / "mars" / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "mars" / "strategies.py").write_text(
        '"""Plays \x1bred cards.\n\nAnd more."""\nraise SystemExit("imported")\n'
    )
    (tmp_path / "wise.py").write_text("from bots.greedy import bot\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("_package")
def test_bots_of_packages_are_listed_without_being_imported(arena: Arena) -> None:
    """With the first line of their docstring and the package; a name of ours stays ours."""
    lines = arena("bots").stdout.splitlines()
    (line,) = (line for line in lines if line.startswith("martian "))
    assert line.split(maxsplit=1)[1] == r"Plays \x1bred cards. [mars-bots]"
    assert next(line for line in lines if "[" not in line).startswith("apprentice ")
    assert sum(line.startswith("greedy ") for line in lines) == 1
    (lost,) = (line for line in lines if line.startswith("lost "))
    assert "cannot be read" in lost
    entry = resolve("smart")
    assert (entry.module, entry.label, entry.lane) == ("wise", "smart", "process")
    assert list(find_problems([entry], STANDARD, Limits())) == []


def test_the_ratings_and_strengths_are_those_of_the_pages() -> None:
    """Strengths with words of their own rise with the number; docs/table.md has a row for each."""
    rows = (line.split("|") for line in (ROOT / "docs" / "ladder.md").read_text().splitlines())
    ladder = {row[1].strip(" `"): row[2].strip() for row in rows if len(row) > 9}
    assert {name: str(elo) for name, elo in ELO.items()}.items() <= ladder.items()
    assert all(ladder[strength.bot] == str(strength.elo) for strength in STRENGTHS)
    assert [strength.number for strength in STRENGTHS] == [*range(1, 9)]
    assert len({strength.words for strength in STRENGTHS}) == len(STRENGTHS)
    elos = [strength.elo for strength in STRENGTHS]
    assert elos == sorted(elos)
    assert (STRENGTHS[0].bot, STRENGTHS[-1].bot) == ("uniform", "grandmaster")
    page = (ROOT / "docs" / "table.md").read_text()
    rows = [f"| {one.number} {one.words} | `{one.bot}` | {one.elo} |" for one in STRENGTHS]
    assert [line for line in page.splitlines() if line.startswith("| ")][1:] == rows


@pytest.fixture
def written(arena: Arena, tmp_path: Path) -> Path:
    """Return the folder in which `arena new clever_one` has written its files."""
    done = arena("new", "clever_one")
    assert (done.returncode, done.stderr) == (0, "")
    return tmp_path


@pytest.mark.slow
def test_it_is_accepted_and_beats_random(arena: Arena, tmp_path: Path, written: Path) -> None:
    """The commands it prints run as they are; a parameter of the wrong type is refused."""
    (tmp_path / "mine").mkdir()
    shown = arena("new", "clever_one", "--dir", "mine").stdout
    assert shown.splitlines()[0] == "wrote mine/clever_one.py and mine/test_clever_one.py; now:"
    assert "  arena check mine/clever_one.py " in shown
    assert "  arena play mine/clever_one.py greedy " in shown
    assert "  python mine/test_clever_one.py " in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert arena("play", "mine/clever_one.py", "greedy", "--pairs", "2").returncode == 0
    done = arena("check", "./clever_one.py", "--games", "40", "--json")
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
    rating = json.loads(done.stdout)["items"][-1]["figures"]
    assert rating["low"] > ELO["uniform"] + 50
    assert (written / "clever_one.py").exists()
    assert (written / "clever_one.py").exists()
    words = ("uniform", "--pairs", "2")
    assert arena("play", "./clever_one.py(enough=2.5)", *words).returncode == 0
    wrong = arena("play", "./clever_one.py(enough='much')", *words)
    assert "parameter enough='much': Expected `float`, got `str`" in refused(wrong)


def test_the_bot_has_its_name_everywhere(written: Path, tmp_path: Path) -> None:
    """The template's name is left nowhere, and no folder is made."""
    assert {path.name for path in written.iterdir()} == {"clever_one.py", "test_clever_one.py"}
    text = "".join(path.read_text() for path in written.iterdir())
    assert "class CleverOne:" in text
    assert "from clever_one import bot" in text
    assert "my_bot" not in text.lower()
    with pytest.raises(InputError, match="none: no such folder; make it first"):
        write_draft("mine", tmp_path / "none")


@pytest.mark.slow
def test_its_own_test_passes(written: Path) -> None:
    """With plain pytest; without it, by the command that is printed, which says if it fails."""
    name = "test_clever_one.py"
    done = run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", name, folder=written)
    assert (done.returncode, "4 passed" in done.stdout) == (0, True), done.stdout
    (written / "pytest.py").write_text("raise ImportError('not installed')\n")
    done = run_python(name, folder=written)
    assert (done.returncode, done.stdout) == (0, "4 tests passed\n"), done.stderr
    text = (written / name).read_text()
    (written / name).write_text(text.replace("wins >= 67", "wins >= 670"))
    done = run_python(name, folder=written)
    assert (done.returncode, done.stdout) == (1, "")
    assert "AssertionError" in done.stderr


@pytest.mark.parametrize("config", [["--isolated"], ["--config", str(ROOT / "pyproject.toml")]])
def test_it_passes_ruff(written: Path, config: list[str]) -> None:
    """With ruff's default settings, and with this repository's."""
    done = run_python("-m", "ruff", "check", "--no-cache", *config, ".", folder=written)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "not a plain name") for name in ("class", "my-bot", "mine.py", "mein_böser", "")),
        ("../mine", "--dir names another folder"),
        ("x" * 41, "longer than 40"),
        ("greedy", "a bot in bots/"),
        ("random", "a Python module"),
        ("engine", "a Python module"),
    ],
)
def test_an_invalid_name_is_refused(arena: Arena, tmp_path: Path, name: str, reason: str) -> None:
    """With one line and status 2, and nothing is written."""
    assert reason in refused(arena("new", name))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_or_written_in_part(arena: Arena, tmp_path: Path) -> None:
    """If one of the two files exists, it is kept and the other is not written."""
    for existing in ("mine.py", "test_mine.py"):
        (tmp_path / existing).write_text("precious")
        assert refused(arena("new", "mine")) == f"{existing}: exists already, and is not changed"
        assert [path.name for path in tmp_path.iterdir()] == [existing]
        assert (tmp_path / existing).read_text() == "precious"
        (tmp_path / existing).unlink()
