"""Loading bots by name, file or module, with parameters and needs; and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import shlex
import shutil
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from arena.entries.entry import check_labels
from arena.entries.needs import explain_missing
from arena.entries.resolve import resolve
from arena.entries.signature import find_parameter_error
from arena.errors import InputError
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.lanes.probe import find_problems
from arena.tournament.config import read, resolve_bots
from arena.tournament.plan import Chunk
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.play import setup
from tests.conftest import Arena


def missing(name: str) -> str:
    """Return the message of a bot that has not found a file."""
    return f"FileNotFoundError: [Errno 2] No such file or directory: '{name}'"


def test_an_installed_package_is_to_be_named() -> None:
    """Else a jail does not show it; what is not installed, or is a part of it, brings no advice."""
    message = "ModuleNotFoundError: No module named '{}'"
    for target in ("./mine.py", "club.mine", "cmd:python3 mine.py"):
        assert "`needs: [numpy]`" in explain_missing(target, message.format("numpy"))
        for name in ("nothing", "numpy.nothing"):
            assert "needs" not in explain_missing(target, message.format(name))


def test_a_file_of_its_own_is_to_be_in_a_folder(tmp_path: Path) -> None:
    """One beside it, or below."""
    (tmp_path / "weights.txt").touch()
    advice = explain_missing(str(tmp_path / "mine.py"), missing("weights.txt"))
    assert 'read it with Path(__file__).parent / "weights.txt"' in advice
    assert "give a folder of both" in advice


@pytest.mark.parametrize("name", ["{}/secret", "../secret", "below/../../secret", "x" * 300])
def test_a_name_that_leads_elsewhere_or_nowhere_brings_no_advice(tmp_path: Path, name: str) -> None:
    """Else a stranger's bot would have its user hand in what it names, or end the run."""
    (tmp_path / "secret").touch()
    (tmp_path / "bot" / "below").mkdir(parents=True)
    assert not explain_missing(str(tmp_path / "bot" / "mine.py"), missing(name.format(tmp_path)))


CONFIG = "pairs: 1\nbots: [greedy, {bot: uniform, needs: [book, ./data]}]\n"


def write_config(folder: Path) -> Path:
    """Write a config whose second bot needs two folders, and return it."""
    for name in ("book", "data"):
        (folder / name).mkdir()
    path = folder / "cup.yaml"
    path.write_text(CONFIG)
    return path


def test_needs_are_in_the_manifest_and_the_replay_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were written; a bot without needs is described as before."""
    monkeypatch.chdir(tmp_path)
    entries = resolve_bots(read(write_config(tmp_path)))
    assert "needs" not in entries[0].describe()
    assert entries[1].describe()["needs"] == ["book", "./data"]
    tournament = Tournament("cup", 0, 1, entries, STANDARD)
    command = shlex.split(replay_commands(tournament)(Fixture(Pairing("greedy", "uniform"), 0, 0)))
    needs = [json.loads(text) for word, text in pairwise(command) if word == "--needs"]
    assert needs == [[], ["book", "./data"]]


@pytest.mark.slow
def test_a_run_with_needs_is_verified_and_its_games_are_played_again(
    tmp_path: Path, arena: Arena
) -> None:
    """By `arena verify`, and by `arena game` with the option that the command has."""
    write_config(tmp_path)
    assert arena("run", "cup.yaml", "--quiet", "--workers", "1").returncode == 0
    assert arena("verify", "results/cup").returncode == 0
    words = ["--needs", "[]", "--needs", '["book"]']
    assert arena("game", "greedy", "uniform", *words).returncode == 0
    assert arena("game", "greedy", "uniform", "--needs", '["results"]').returncode == 2


def test_a_need_that_is_missing_is_an_error_of_the_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the bot's place and the path."""
    monkeypatch.chdir(tmp_path)
    path = write_config(tmp_path)
    (tmp_path / "data").rmdir()
    with pytest.raises(InputError, match=r"bots\[1\].*needs: './data': no such file"):
        resolve_bots(read(path))


BOT = """
class Mine:
    def __init__(self, setup, depth: int = 3, width: float = 1.0, mode="x", deep: bool = False):
        self.depth = depth

    def choose(self, view, /):
        return view.legal[0]

bot = Mine
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(BOT)
    return path


def test_a_name_resolves_to_a_bot_in_the_folder() -> None:
    """Its label is its name, and its hash is that of its source."""
    entry = resolve("greedy")
    assert entry.label == "greedy"
    assert entry.sha256 == hashlib.sha256(Path("bots/greedy.py").read_bytes()).hexdigest()


def test_a_file_travels_with_its_source(mine: Path) -> None:
    """Every worker plays the source that was hashed, even if the file changes."""
    entry = pickle.loads(pickle.dumps(resolve(str(mine))))
    mine.write_text("raise SystemExit")
    assert entry.create(setup(0, 0)).depth == 3
    assert entry.sha256 == hashlib.sha256(BOT.encode()).hexdigest()


def test_a_dotted_module_in_this_folder_is_a_bot(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`package.module` is imported as Python would, from the current folder too."""
    package = mine.parent / "my_package_of_bots"
    package.mkdir()
    mine.rename(package / "mine.py")
    monkeypatch.chdir(mine.parent)
    assert resolve("my_package_of_bots.mine").label == "mine"


def test_parameters_come_from_the_spec_and_from_the_config(mine: Path) -> None:
    """The bot gets them, and its label has them in the order of their names."""
    entry = resolve(f"{mine}(width=2.5, depth=4)", params={"mode": "y"})
    assert entry.label == "mine(depth=4, mode='y', width=2.5)"
    assert entry.params == {"depth": 4, "width": 2.5, "mode": "y"}
    assert entry.create(setup(0, 0)).depth == 4


def test_a_parameter_of_the_config_wins_over_the_specs(mine: Path) -> None:
    """The spec's other parameters stay."""
    entry = resolve(f"{mine}(depth=4, width=2.5)", params={"depth": 5})
    assert entry.params == {"depth": 5, "width": 2.5}
    assert entry.label == "mine(depth=5, width=2.5)"
    assert entry.create(setup(0, 0)).depth == 5


def test_parameters_are_kept_as_in_a_manifest(mine: Path) -> None:
    """A tuple becomes a list at once, so that a resumed run has the same bots."""
    entry = resolve(f"{mine}(mode=(1, (2, -0.0)))")
    assert entry.params == {"mode": [1, [2, -0.0]]}
    assert entry.label == "mine(mode=[1, [2, -0.0]])"


def test_a_label_can_be_given(mine: Path) -> None:
    """In front of the spec, or separately."""
    assert resolve(f"new={mine}(depth=1)").label == "new"
    assert resolve(str(mine), label="new").label == "new"


def test_zero_and_false_are_values(mine: Path) -> None:
    """A parameter of 0 is not a missing one."""
    assert resolve(f"{mine}(depth=0, deep=False)").params == {"depth": 0, "deep": False}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("(depht=3)", "unexpected keyword argument 'depht'; .* takes depth, width, mode, deep"),
        ("(depth='3')", "parameter depth='3': Expected `int`, got `str`"),
        ("(depth=True)", "parameter depth=True: Expected `int`, got `bool`"),
        ("(depth=2.5)", "parameter depth=2.5: Expected `int`, got `float`"),
        ("(3)", "parameters are written name=value"),
        ("(depth=other)", "parameters are written name=value"),
        ("(depth=3", "a bracket is not closed"),
        ("(**{})", "parameters are written name=value"),
        ("(depth=1, depth=2)", "each once"),
        ("(depth=1)#)", "parameters are written name=value"),
        ("(mode={1, 2})", "parameter mode={1, 2}: only numbers, texts"),
        ("(mode=b'x')", "parameter mode=b'x': only numbers, texts"),
        ("(mode=1e999)", "parameter mode=inf: only numbers, texts"),
        ("(mode='\\ud800')", "parameter mode='.ud800': only numbers, texts"),
        ("(mode={1: 2})", "parameter mode={1: 2}: .* the keys being texts"),
        ("(mode=[{'a': {None: 2}}])", "the keys being texts"),
        (f"(mode=0x{'f' * 3900})", "parameter mode=a value too long to print: only numbers"),
        (f"(mode={'-' * 3900}1)", "parameters are written name=value"),
        (f"(mode={'1+' * 1900}1j)", "parameters are written name=value"),
        ("(setup=3)", "multiple values for argument 'setup'"),
    ],
)
@pytest.mark.parametrize("lane", ["inproc", "process"])
def test_bad_parameters_are_named(mine: Path, words: str, reason: str, lane: str) -> None:
    """Unknown ones, values of the wrong type, and what is not a parameter."""
    with pytest.raises(InputError, match=reason):
        list(find_problems([resolve(f"{mine}{words}", lane=lane)], STANDARD, Limits()))


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


def test_bad_parameters_of_our_own_bots_are_named() -> None:
    """They are checked in this process."""
    with pytest.raises(InputError, match=r"bot 'greedy': .* 'x'; the bot takes patience"):
        list(find_problems([resolve("greedy(x=1)")], STANDARD, Limits()))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1", "does not bind `bot`"),
        ("class Bot:\n    choose = 1\nBOT = Bot", "does not bind `bot`: write `bot = Bot`"),
        ("import numpyy", r"ModuleNotFoundError: No module named 'numpyy' \(line 1 of b\.py\)"),
        ("x = 1\ndef f(:", r"SyntaxError: .*\(line 2\)"),
        ("bot = 5", "binds `bot` to int"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("x = 1\x00", "does not start"),
    ],
)
@pytest.mark.parametrize("lane", ["inproc", "process"])
def test_a_file_that_is_no_bot_is_reported(
    tmp_path: Path, source: str, reason: str, lane: str
) -> None:
    """One line names the file and what is wrong with it; its games will be forfeits."""
    path = tmp_path / "b.py"
    path.write_text(source)
    (message,) = find_problems([resolve(str(path), lane=lane)], STANDARD, Limits())
    assert re.search(reason, message)
    assert str(path) in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("", "the spec is empty"),
        ("gredy", "did you mean greedy?"),
        ("nobody", "there are apprentice, champion"),
        ("./none.py", "No such file"),
        ("no.such.module", "no module 'no.such.module'"),
        ("bots..greedy", "no module 'bots..greedy'"),
        ("bots.", "no module 'bots.'"),
        ("__init__", "no bot"),
        ("a\nb=greedy", "label"),
        ("a" * 61 + "=greedy", "label"),
        ("(" * 300_000, r"^bot '\(+'\.\.\.: longer than 4,000 characters$"),
        ("./a\0b.py", "a spec has no NUL"),
        ("~nobody_of_this_name/a.py", "No such file"),
        ("cmd:true a\0b", "a spec has no NUL"),
        ("./\ud800.py", r"'.ud800' cannot be written as UTF-8"),
        ("cmd:true \udcff", r"'.udcff' cannot be written as UTF-8"),
        ("/dev/zero", "bot '/dev/zero': not a regular file"),
    ],
)
def test_a_missing_bot_is_named(spec: str, reason: str) -> None:
    """The error has the nearest name, or all names."""
    with pytest.raises(InputError, match=reason):
        resolve(spec)


def test_a_label_has_no_space_at_its_ends() -> None:
    """It would look like another label; an empty label is refused too."""
    for label in (" greedy", "greedy ", ""):
        with pytest.raises(InputError, match="label"):
            resolve("greedy", label=label)


def test_a_label_has_60_characters_at_most() -> None:
    """60 are allowed, 61 are not, in the spec and separately."""
    longest = "x" * 60
    assert resolve("greedy", label=longest).label == longest
    assert resolve(f"{longest}=greedy").label == longest
    for spec, label in (("greedy", f"{longest}x"), (f"{longest}x=greedy", None)):
        with pytest.raises(InputError, match="must be 1 to 60 printable characters"):
            resolve(spec, label=label)


def test_a_package_is_found_without_running_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Foreign code runs in its own process, which reports its error."""
    (tmp_path / "broken_package").mkdir()
    (tmp_path / "broken_package" / "__init__.py").write_text("1 / 0")
    (tmp_path / "broken_package" / "bot.py").write_text("")
    monkeypatch.chdir(tmp_path)
    entry = resolve("broken_package.bot")
    assert (entry.label, entry.lane) == ("bot", "process")
    (message,) = find_problems([entry], STANDARD, Limits())
    assert "ZeroDivisionError: division by zero (line 1 of __init__.py)" in message


def test_the_default_lane_depends_on_the_kind_of_bot(mine: Path) -> None:
    """`inproc` for bots in bots/, `process` for files and commands."""
    assert resolve("greedy").lane == "inproc"
    assert resolve(str(mine)).lane == resolve("cmd:true").lane == "process"
    assert resolve(str(mine), lane="inproc").lane == "inproc"


@pytest.mark.parametrize(
    ("spec", "lane", "reason"),
    [
        ("cmd:true", "inproc", "lane 'inproc' is not one of its lanes: process, jail"),
        ("greedy", "train", "lane 'train' is not one of its lanes: inproc, process, jail"),
        ("cmd:", None, "the command is empty"),
        ("cmd:'x", None, "No closing quotation"),
        ("cmd:no_such_program_here -x", None, "no_such_program_here: no such program"),
    ],
)
def test_an_impossible_lane_or_command_is_named(spec: str, lane: str | None, reason: str) -> None:
    """Before any process is started."""
    with pytest.raises(InputError, match=reason):
        resolve(spec, lane=lane)


def test_a_command_is_hashed_with_the_files_it_names(tmp_path: Path) -> None:
    """Another script is another bot; the words are split as by a shell."""
    script = tmp_path / "my bot.sh"
    script.write_text("one")
    first = resolve(f"cmd:sh '{script}' --fast (depth=3)")
    assert first.at(tmp_path).command == (shutil.which("sh"), str(script), "--fast")
    assert first.params == {"depth": 3}
    assert first.label == "my bot(depth=3)"
    script.write_text("two")
    assert resolve(f"cmd:sh '{script}' --fast (depth=3)").sha256 != first.sha256


def test_a_word_of_a_command_may_be_too_long_for_a_file() -> None:
    """It is an argument then, as it is where there is no such file."""
    word = "x" * 3000
    assert resolve(f"cmd:true {word}", label="long").command[1:] == (word,)


def test_what_is_too_large_for_a_bot_is_not_read(tmp_path: Path) -> None:
    """2 to the 20th bytes are, one more is not; a pipe is not waited for."""
    path = tmp_path / "large.py"
    path.write_text("#".ljust(1 << 20))
    assert resolve(str(path)).label == "large"
    path.write_text("#".ljust((1 << 20) + 1))
    with pytest.raises(InputError, match=r"large\.py': larger than 1,048,576 bytes"):
        resolve(str(path))
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(InputError, match=r"pipe\.py': not a regular file"):
        resolve(str(tmp_path / "pipe.py"))
    resolve(f"cmd:true {tmp_path / 'pipe.py'}")  # a word, and no file to be hashed


@pytest.mark.slow
def test_a_commands_file_has_a_largest_size(tmp_path: Path) -> None:
    """It has a gigabyte and a byte, of which the disk holds none."""
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate((1 << 30) + 1)
    with pytest.raises(InputError, match=r"huge: larger than 1,073,741,824 bytes"):
        resolve(f"cmd:true {path}")


def test_a_name_of_a_parameter_is_a_text_that_can_be_kept(mine: Path) -> None:
    """A label given separately does not hide it."""
    with pytest.raises(InputError, match="only numbers, texts"):
        resolve(str(mine), "label", {"\ud800": 1})


def test_a_commands_files_are_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are those of its folder; the bot keeps the command as written."""
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "mine.sh").write_text("")
    monkeypatch.chdir(tmp_path)
    entry = resolve("cmd:sh bots/mine.sh none")
    assert entry.home == str(tmp_path / "bots")
    assert entry.at(entry.home).command[1:] == (str(tmp_path / "bots" / "mine.sh"), "none")
    assert entry.target == "cmd:sh bots/mine.sh none"
    assert entry.label == "mine"


def test_an_installed_entry_point_is_a_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package offers bots in the group `arena.bots`."""
    (tmp_path / "their_bots.py").write_text("from bots.greedy import bot\n")
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[arena.bots]\nsmart = their_bots:bot\n")
    monkeypatch.syspath_prepend(tmp_path)
    entry = resolve("smart")
    assert (entry.module, entry.label, entry.lane) == ("their_bots", "smart", "process")
    assert list(find_problems([entry], STANDARD, Limits())) == []


def test_two_bots_with_one_label_are_refused() -> None:
    """The message says which two, and how to give one another label."""
    entries = [resolve("greedy"), resolve("uniform"), resolve("greedy")]
    with pytest.raises(InputError, match=r"bots 1 and 3 .* 'greedy'; .* other=greedy"):
        check_labels(entries)


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
def test_a_bot_that_forgets_to_return_a_strategy_is_told_so(tmp_path: Path, lane: str) -> None:
    """Its games are forfeits with a message that says what is missing."""
    (tmp_path / "none.py").write_text("def bot(setup):\n    pass\n")
    bot = resolve(str(tmp_path / "none.py"), lane=lane)
    tournament = Tournament("none", 0, 1, [bot, resolve("uniform")], STANDARD)
    with closing(Worker(tournament, tmp_path)) as worker:
        (fault, _) = (game.fault for game in worker.play(Chunk(0, 0, 1)).results)
    assert fault is not None
    assert "bot(setup) returned None, and not a strategy" in fault.message
