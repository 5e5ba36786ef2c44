"""One line says what to write instead, whatever words and files are; none controls a terminal."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import click
import pytest

from arena.cli import find_commands, main
from arena.cli.options import print_json
from arena.entries.identity import COPY
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError
from tests.conftest import Arena, Done, run_here
from tests.kit import refused
from tests.rogues import write
from tests.tiers import few

CHOOSE = "    def choose(self, view):\n        return view.legal[0]\n\n\nbot = Bot\n"
BOTS = {
    "bare.py": f"class Bot:\n{CHOOSE}",
    "empty.py": f"class Bot:\n    def __init__(self):\n        pass\n\n{CHOOSE}",
    "function.py": "def bot():\n    return None\n",
    "good.py": "from bots.uniform import bot\n",
    "hasty.js": "console.log(1)\n",
    "hasty.sh": "#!/bin/sh\nexit 3\n",
    "notes.txt": "from bots.uniform import bot\n",
}
PLAY = ("greedy", "--pairs", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a newcomer's folder: bots that are wrong in one way each, and one that is right."""
    for name, text in BOTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


BAD_CUP = "name: cup\nseed: 0\npairs: 40\nbots: [uniform, greedy, majority]\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("run none.yaml", "none.yaml: No such file"),
        ("run cup.yaml --pairs 0", "'--pairs': 0 is not in the range"),
        ("run cup.yaml --pairs 99999999999999999999", "is not in the range 1<=x<=1000000000"),
        ("run cup.yaml --bot nobody", "cup.yaml: bot 'nobody': no bot"),
        ("run cup.yaml --bot greedy", "cup.yaml: bots 2 and 4 have the same label"),
        ("run cup.yaml --bot greedy(x=1)", "unexpected keyword argument 'x'"),
        ("run cup.yaml --out cup.yaml", "cup.yaml: cannot be written"),
        ("run cup.yaml --out .", ".: holds other files and no run"),
        ("run cup.yaml --lane train", "'--lane': 'train' is not one of"),
        ("run cup.yaml --until soon", "nor a number of Elo points from 1 to 1,000"),
        ("run cup.yaml --quiet --verbose", "--verbose and --quiet: choose one of them"),
        ("play greedy cmd:none", "bot 'cmd:none': none: no such program"),
        ("play greedy cmd:true --lane inproc", "lane 'inproc' is not one of its lanes"),
        ("game greedy uniform --rules x", "--rules: JSON is malformed"),
        ("game greedy uniform --label one", "--label: give it twice"),
        ("game greedy greedy", "bots 1 and 2 have the same label"),
        ("run cup.yaml --colour", "No such option"),
        ("run", "Missing argument 'CONFIG'"),
        ("play greedy", "bots: a tournament needs two, there is 1"),
        ("replay none", "No such file"),
        ("dance", "No such command 'dance'"),
        ("run /dev/zero", "/dev/zero: not a regular file"),
        ("show cup.yaml --line 9999999999999999999", "'--line': 9999999999999999999 is not in"),
        ("check /dev/zero", "bot '/dev/zero': not a regular file"),
        ("check nobody", "bot 'nobody': no bot"),
        ("check greedy --lane inproc", "'--lane': 'inproc' is not one of"),
        ("check greedy --limits x", "--limits: JSON is malformed"),
        ("check", "Missing argument 'BOT'"),
        ("run a\x1b[31m\x7f.yaml", r"a\x1b[31m\x7f.yaml: No such file"),
        ("run \udcff.yaml", r"\udcff.yaml: No such file"),
        ("bots \x1b", r"(\x1b)"),
        ("play uniform cmd:true\0", "a spec has no NUL"),
        ("play uniform cmd:\udcff", r"'\udcff' cannot be written as UTF-8"),
        ("game greedy uniform --rules \udcff", "--rules: "),
        (f"play uniform {'x' * 100_000}", "longer than 4,000 characters"),
        (f"new {'a' * 100_000}", "longer than 40 characters"),
        ("human greedy --me a\tb", "must be 1 to 60 printable characters"),
        ("human greedy --me greedy", "has the person's label 'greedy'"),
        ("play greedy uniform --games 2", "arena play --games has left with version 2.0"),
        ("play greedy ./mine.py(depth=3", "a bracket is not closed"),
        ("show none", "none: no such file, and no such run"),
        ("new nofolder/x", "--dir names another folder"),
        ("compare greedy denier --against uniform,nobody", "nobody"),
        ("compare greedy denier --against greedy", "have the same label 'greedy'"),
        ("compare greedy denier --against ladder --max-pairs 3", "max_pairs: 3 are too few for 9"),
        ("play greedy uniform --deals none", "deals: none: No such file"),
        ("plan 4", "Missing option '--gap'"),
        ("plan 4 --gap 0", "gap: 0.0 is not a number from 1 to 1,000"),
        ("plan 4 --gap 9 --power 1", "power: 1.0 is not a number from 0.5 to 0.99"),
        ("plan 1 --gap 9", "bots: 1 is not a number from 2 to 60"),
        ("plan nobody greedy --gap 9", "nobody"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arena: Arena, tmp_path: Path, words: str, reason: str
) -> None:
    """Nothing is played, nothing is written, and no traceback is shown."""
    (tmp_path / "cup.yaml").write_text(BAD_CUP)
    assert reason in refused(arena(*words.split(" ")))
    assert [path.name for path in tmp_path.iterdir()] == ["cup.yaml"]


NEWCOMERS = [
    ("./bare.py", "'./bare.py': class Bot has no __init__; write `__init__(self, setup)`"),
    ("./empty.py", "the __init__ of class Bot takes no setup; write `__init__(self, setup)`"),
    ("./function.py", "'./function.py': bot takes no setup; write `def bot(setup)`"),
    ("hasty.js", "no module 'hasty.js'; did you mean ./hasty.js?"),
    ("cmd:./hasty.js", "not a program by itself; write 'cmd:node ./hasty.js'"),
    ("cmd:hasty.js 3", "not a program by itself; write 'cmd:node hasty.js 3'"),
    ("good", "no bot 'good' in bots/; did you mean ./good.py?"),
    ("notes.txt", "no module 'notes.txt'; did you mean ./notes.txt?"),
    (".", "no module '.'; did you mean ./?"),
    ("cmd:python3 none.py", "[Errno 2] No such file or directory; there is no file 'none.py' here"),
    ("cmd:sh -c 'echo one >&2; echo two >&2; exit 3'", "ended with exit status 3: two;"),
    ("cmd:sh hasty.sh", "ended with exit status 3;"),
]
"""Bots as a newcomer writes or names them, and the end of the advice."""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("bot", "advice"), NEWCOMERS)
def test_a_newcomer_is_told_what_to_write(arena: Arena, bot: str, advice: str) -> None:
    """A command that ends at once is quoted, for its own words say more than its status."""
    said = refused(arena("play", bot, *PLAY, "--strict"))
    assert advice in said
    assert said.endswith(advice) or bot.startswith("cmd:")
    assert ("there is no file" in said) == ("none" in bot)


@pytest.mark.slow
def test_a_program_is_known_by_its_first_bytes(arena: Arena, folder: Path) -> None:
    """A script without an ending, and a compiled program; a Python script stays a bot's file."""
    shutil.copy("/bin/true", folder / "compiled")
    for name, first in (("runs", "/bin/sh"), ("mine", "/usr/bin/env python3")):
        (folder / name).write_text(f"#!{first}\nfrom bots.uniform import bot\n")
        (folder / name).chmod(0o755)
    for name in ("runs", "compiled"):
        assert resolve(str(folder / name)).command == (f"{COPY}bot",)
    assert refused(arena("play", "cmd:runs", *PLAY)).endswith("write 'cmd:./runs'")
    (folder / "runs").chmod(0o644)
    assert "`chmod +x ./runs` makes it so" in refused(arena("play", "cmd:./runs", *PLAY))
    assert not resolve(str(folder / "mine")).command
    assert arena("play", "./mine", *PLAY).stderr == ""


@pytest.mark.parametrize("place", ["mine.py", "mine/bot.py"])
def test_a_bot_that_opens_its_own_file_is_told_how_to_read_it(
    arena: Arena, tmp_path: Path, place: str
) -> None:
    """By its path, and in a folder where the bot is one file; another file is no such case."""
    bot = tmp_path / place
    bot.parent.mkdir(exist_ok=True)
    bot.write_text('from bots.uniform import bot\nopen("weights.txt")\n')
    spec = "./mine.py" if place == "mine.py" else "./mine/"
    words = ("play", spec, *PLAY, "--strict")
    assert "__file__" not in arena(*words).stderr
    (bot.parent / "weights.txt").write_text("0.5")
    told = arena(*words).stderr
    assert 'read it with Path(__file__).parent / "weights.txt"' in told
    assert ("give a folder of both" in told) == (place == "mine.py")


def test_a_file_that_imports_one_beside_it_is_told_what_to_do(arena: Arena, folder: Path) -> None:
    """A module or a package: a bot's file stands alone."""
    (folder / "package").mkdir()
    for source, beside in (("import good", "good.py"), ("from package.a import b", "package/a.py")):
        (folder / beside).touch()
        (folder / "mine.py").write_text(f"{source}\nfrom bots.uniform import bot\n")
        said = refused(arena("play", "./mine.py", *PLAY, "--strict"))
        assert "stands alone: give a folder of both" in said


CUP = "name: cup\npairs: 1\nbots: [uniform, greedy]\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, duel: Path) -> Path:
    """Return a folder with a run in friday/, bots and a config."""
    folder = tmp_path_factory.mktemp("run")
    shutil.copytree(duel, folder / "friday")
    (folder / "my_bot.py").write_text("from bots.uniform import bot\n")
    (folder / "mine").mkdir()
    (folder / "mine" / "bot.py").write_text("from bots.uniform import bot\n")
    (folder / "cup.yaml").write_text(CUP)
    (folder / "männer.yaml").write_text("pairs: 1\nbots: [uniform, greedy]\n")
    (folder / "empty").mkdir()
    (folder / "games.jsonl").write_text("{}\n")
    return folder


AGAIN = "to play its run again: arena run friday/manifest.json --out FOLDER"
A_BOT = "a bot, not a config; to play it: arena play"
A_FILE = "a file of a run; name its folder: friday"
OF_ANOTHER_KIND = {
    "run my_bot.py": f"my_bot.py: {A_BOT} ./my_bot.py greedy",
    "run mine": f"mine: {A_BOT} ./mine/ greedy",
    "run greedy": f"greedy: {A_BOT} greedy OPPONENT",
    "ablate ./my_bot.py --rule set_bonus=1": f"my_bot.py: {A_BOT} ./my_bot.py greedy",
    "run friday": f"friday: a folder; {AGAIN}",
    "run friday/report.html": "friday/report.html: a file of a run, not a config; "
    "to play the run again: arena run friday/manifest.json --out FOLDER",
    "ablate friday/manifest.json --rule set_bonus=1": "friday/manifest.json: the manifest of a "
    "run, which only `arena run` takes",
    "run empty": "empty: is a directory; a config is a YAML file",
    "run cup": "cup: no such file, and no config has this name; did you mean cup.yaml?",
    "run games.jsonl": "games.jsonl: game records, not a config; to judge them: "
    "arena replay games.jsonl",
    "report friday/report.html": f"friday/report.html: {A_FILE}",
    "verify friday/games.csv": f"friday/games.csv: {A_FILE}",
    "show friday/report.html": f"friday/report.html: {A_FILE}",
    "replay friday/run.sqlite": f"friday/run.sqlite: {A_FILE}",
    "report my_bot.py": "my_bot.py: a file, and a run is a folder",
    "export friday -o none/a.jsonl": "none/a.jsonl: cannot be written: No such file or directory",
    "check ./empty/": "bot './empty/': a bot's folder has a bot.py or a __init__.py, and this one "
    "has neither",
    "play greedy uniform --rules set_bonus=3": "--rules: JSON is malformed: invalid character "
    """(byte 0); write --rules '{"set_bonus": 3}'""",
    "run männer.yaml": "männer.yaml: name: 'männer' cannot name a folder; "
    "use A-Z a-z 0-9 . _ -, or write name: NAME",
    "verify empty": "empty: no run: there is no run.sqlite",
    "export friday -o friday.csv": "--out friday.csv: games are written as JSON lines, as to "
    "friday.jsonl; the rows of games.csv are in friday/games.csv",
}


@pytest.mark.parametrize("words", OF_ANOTHER_KIND)
def test_a_path_of_another_kind_leads_to_the_command_that_was_meant(run: Path, words: str) -> None:
    before = sorted(run.rglob("*"))
    assert refused(run_here(run, *words.split())) == OF_ANOTHER_KIND[words]
    assert sorted(run.rglob("*")) == before


NUMBERS = [("1e3", "write 1000"), ("1,000", "write 1000"), ("2.0", "write 2")]
NUMBERS += [("many", "write a whole number, such as 1000"), ("1.5", "write a whole number, such")]


TAKING_ONE = ("play greedy uniform --pairs", "run quickstart --max-pairs", "check greedy --games")
TAKING_ONE += ("compare greedy uniform --max-pairs", "game greedy uniform --seed", "run cup.yaml")


@pytest.mark.parametrize(("text", "advice"), NUMBERS)
@pytest.mark.parametrize("words", TAKING_ONE)
def test_a_number_that_is_not_whole_is_refused_alike(
    arena: Arena, tmp_path: Path, words: str, text: str, advice: str
) -> None:
    """In every command and in a config, with the number that was meant."""
    if words == "run cup.yaml":
        shown = f'"{text}"' if "," in text else text
        (tmp_path / "cup.yaml").write_text(f"bots: [greedy, uniform]\npairs: {shown}\n")
        line = refused(arena(*words.split()))
        assert line.startswith("cup.yaml: line 2: pairs: expected `int`, got ")
    else:
        line = refused(arena(*words.split(), text))
        assert f"{text!r} is not a whole number; " in line
    assert advice in line


def test_a_bot_beside_a_config_is_found_for_whoever_looks_elsewhere(
    arena: Arena, tmp_path: Path
) -> None:
    """The error names the folder that was looked in, and where the bot is."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").touch()
    (tmp_path / "sub" / "cup.yaml").write_text("pairs: 1\nbots: [uniform, {bot: ./mine.py}]\n")
    for words in (["run"], ["ablate", "--rule", "set_bonus=0"]):
        assert refused(arena(*words, "sub/cup.yaml")) == (
            "sub/cup.yaml: bots[1]: bot './mine.py': No such file or directory; "
            f"./mine.py is looked for in {tmp_path}, and is beside the config: sub/mine.py"
        )


def is_shown_as_text(text: str) -> bool:
    """Return whether nothing in a text controls a terminal."""
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.slow
def test_names_and_messages_are_text_wherever_they_are_shown(arena: Arena, tmp_path: Path) -> None:
    """On the terminal, with the log of the workers, in run.log and in faults.csv."""
    bots = []
    for label, name in zip("mn", ("a\x1b[2Jb", "c\nd"), strict=True):
        write(tmp_path, name, 'print("\\x1b[2J\\x9bJ")\nraise ValueError("\\x1b[2J\\nforged")')
        bots.append(f"{label}=./{name}.py")
    out = "o\x1b[1mt"
    words = ["--pairs", "1", "--workers", "1", "--lane", "inproc", "-v"]
    done = arena("play", *bots, *words, "--out", out)
    assert "forged" in done.stderr
    log = (tmp_path / out / "run.log").read_text()
    for text in (done.stdout, done.stderr, log, (tmp_path / out / "faults.csv").read_text()):
        assert is_shown_as_text(text)
    assert all(re.match(r"\d{4}-\d\d-\d\d ", line) for line in log.splitlines())
    shown = arena("show", out, "m/n/0/0")
    assert (done.returncode, shown.returncode) == (0, 0)
    assert is_shown_as_text(shown.stdout)
    assert not is_shown_as_text(out)  # as a check of the check


def test_json_is_printable_and_means_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON itself escapes only the first of the control characters."""
    document = {"folder": "o\x1b\x9b\u202eé\n"}
    print_json(document)
    shown = capsys.readouterr().out
    assert is_shown_as_text(shown)
    assert json.loads(shown) == document


FULL = OSError(errno.ENOSPC, "No space left on device")
ENDS: list[tuple[Exception, str, int]] = [
    (InputError("cup.yaml: empty"), "cup.yaml: empty", 2),
    (ArenaError("a worker died"), "a worker died", 1),
    (MemoryError("1 GB"), "too little memory", 1),
    (FULL, "standard output: No space left on device", 2),
    (OSError(errno.EACCES, "Permission denied", "x\n.csv"), "x\\n.csv: Permission denied", 2),
    (OSError(errno.EIO, "Input/output error"), "[Errno 5] Input/output error", 1),
]


@pytest.mark.parametrize(("error", "line", "status"), ENDS, ids=lambda one: type(one).__name__)
def test_every_error_is_a_line_and_a_status(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str, status: int
) -> None:
    """That of input is 2, and so is a file's; another one of the arena is 1."""
    monkeypatch.setattr(click.Group, "main", Mock(side_effect=error))
    done = arena("bots")
    assert (done.stdout, done.stderr, done.returncode) == ("", f"error: {line}\n", status)


def test_a_fault_of_the_arena_says_what_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click.Group, "main", Mock(side_effect=KeyError("x")))
    with pytest.raises(KeyError) as caught:
        main()
    assert "the output of `arena doctor`" in caught.value.__notes__[0]


BEHIND = {
    "ablate": "--rule set_bonus=1",
    "compare": "uniform --max-pairs 1",
    "docs": "--path",
    "game": "uniform",
    "league invite": "ann",
    "league host": "--once",
    "league submit": "b.py",
    "league withdraw": "ann",
    "plan": "greedy --gap 20",
    "play": "uniform --pairs 1",
    "tune": "--param x=0..1",
}
"""What stands behind the first argument, where one is not enough."""

QUICK = ("=greedy", "x=", "/dev/null", 5000 * "x", "fifo", "loop")
PLAIN = """
x==greedy greedy(x= ../ = a=b=c =human x=(a=1) () ( greedy(1) greedy(x=) human( greedy(x={1:2})
greedy(x=1e999) greedy,uniform - --x / . .. a..b .a a. ~ ~nobody/x.py none.py ./none.py http://
http://[ cmd: cmd:' cmd:"" python:X é gre\udceeedy %s {} ${X} ' \\ folder ./folder/ empty binary
dangling ./dangling ./loop/x.py 0 -1 1e3 nan a/b/0/1 folder/a/0"""
SPACED = ("", " =", f"greedy(x={3000 * '9'})", "https://a b/", "cmd: ", "\ufeffgreedy", "a\tb")
ARGUMENTS = (*QUICK, *PLAIN.split(), *SPACED, "a\nb", "\x1b[2J")


def commands() -> Iterator[str]:
    """Yield the names of all commands with an argument, those of groups too."""
    for name, command in find_commands().items():
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        for last, one in inner.items():
            if any(isinstance(param, click.Argument) for param in one.params):
                yield f"{name} {last}".strip()


@pytest.fixture(scope="module")
def anything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a bot, and with files of all kinds that a name may lead to."""
    path = tmp_path_factory.mktemp("any")
    (path / "b.py").write_text("from bots.uniform import bot\n")
    (path / "prog").mkdir()
    (path / "prog" / "b.sh").write_text("cat\n")
    (path / "folder").mkdir()
    (path / "empty").touch()
    (path / "binary").write_bytes(bytes(range(256)))
    (path / "dangling").symlink_to("nowhere")
    (path / "loop").symlink_to("loop")
    os.mkfifo(path / "fifo")
    return path


def check(done: Done) -> None:
    """Assert that a command has done its work, or has refused it in one line."""
    if done.returncode == 0 or (done.args[0], done.returncode, done.stderr) == ("replay", 1, ""):
        return  # `replay` prints what is wrong with each line
    statuses = (1, 2) if done.args[0] == "verify" else (2,)  # 1 if records are wrong
    assert done.returncode in statuses, (done.args, done.stderr)
    assert done.stderr.count("\n") == 1, (done.args, done.stderr)
    assert done.stderr.startswith("error: "), done.args
    assert done.stderr.rstrip("\n").isprintable(), done.args
    assert len(done.stderr) < 1000, done.args


@pytest.mark.parametrize("arguments", [QUICK, pytest.param(ARGUMENTS, marks=pytest.mark.slow)])
def test_any_first_argument_is_used_or_refused(
    anything: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty variable in "$X=greedy", a pipe without a writer, a name of 5,000 characters."""
    monkeypatch.setenv("HOME", str(anything))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    names = [*commands()]
    assert len(names) >= 30
    for name in names:
        makes = name.endswith(("new", "host"))  # what these make is not used
        place = anything / "apart" if makes else anything
        place.mkdir(exist_ok=True)
        for argument in arguments:
            check(run_here(place, *name.split(), argument, *BEHIND.get(name, "").split()))


DEAL = "3C4287zxy76yx7y768658668x257385567yC78822Cz58"
RECORD = (
    f'{{"deal": "{DEAL}", "actions": "8y2x3z4TC7T7T657676x8y8T57658T23x5T8T687C72y2C8T", '
    '"bots": ["b", "uniform"], "winner": "uniform", "win_type": "points", "points": [12, 33]}\n'
)
FILES = [
    ("g.jsonl", RECORD, "rate g.jsonl"),
    ("g.csv", "bot,opponent,winner,pair,seat\na,b,a,0,0\na,b,b,0,1\n", "rate g.csv"),
    ("deals.txt", f"# one\n{DEAL}\n", "play greedy uniform --pairs 1 --deals deals.txt"),
    ("cup.yaml", "pairs: 1\nbots:\n  - greedy\n  - {bot: uniform, label: u}\n", "run cup.yaml"),
    ("g.jsonl", RECORD, "show g.jsonl"),
    ("g.jsonl", RECORD, "view g.jsonl"),
]
"""Files that a person writes: a name, a good content, and a command that reads it."""

PAGE = b"<!doctype html><html><body>404 not found, what you have asked for is not here</html>"


def forms(good: str) -> Iterator[bytes]:
    """Yield contents of a file that are not as its reader wants them."""
    plain = good.encode()
    yield from (b"", b" \n\n", b"\xef\xbb\xbf", good.encode("utf-16"), plain + b"\xe9")
    yield from (plain[: len(plain) // 2], plain[:-3], plain + plain, b"\0" + plain, plain + b"\0")
    yield from (b"5", b'"x"', b"null", b"[]", b"[1, 2]", b"{}", b'{"a": 1}', b"NaN", PAGE)
    yield from (100_000 * b"[", 50_000 * b'{"a":', 100_000 * b"9", b'"\\ud800"', bytes(range(256)))
    yield from (good.encode("utf-16-le"), good.encode("utf-32"), b"PK\x03\x04" + bytes(99))
    yield from (b"\xed\xa0\x80" + plain, b"\x1b[2J" + plain, b"\t" + plain, 2_000_000 * b"x")


@pytest.mark.parametrize(("name", "good", "command"), few(FILES, 3, unpack=True))
def test_any_file_that_a_person_writes_is_used_or_refused(
    anything: Path, name: str, good: str, command: str
) -> None:
    """Text of a wrong kind, in a wrong encoding, cut, or nested 100,000 deep."""

    def read(content: bytes) -> Done:
        (anything / name).write_bytes(content)
        return run_here(anything, *command.split())

    for content in forms(good):
        check(read(content))
    first = read(good.encode())
    assert first.returncode == 0, first.stderr
    marked = read(good.encode("utf-8-sig"))
    assert (marked.returncode, marked.stderr) == (0, first.stderr)  # a byte order mark is skipped
    assert read(good.replace("\n", "\r\n").encode()).returncode == 0
