"""Any first argument of any command, and any file that a person writes, is used or refused.

A refusal is one line and exit status 2; nothing is a fault of the arena, and nothing is waited for.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from arena.cli import find_commands
from tests.conftest import Done, run_here
from tests.tiers import few

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
ARGUMENTS = (
    *QUICK,
    *("", "x==greedy", "greedy(x=", "../"),
    *("=", "a=b=c", " =", "=human", "x=(a=1)", "()", "(", "greedy(1)", "greedy(x=)", "human("),
    *(
        "greedy(x={1:2})",
        "greedy(x=1e999)",
        f"greedy(x={3000 * '9'})",
        "greedy,uniform",
        "-",
        "--x",
    ),
    *("/", ".", "..", "a..b", ".a", "a.", "~", "~nobody/x.py", "none.py", "./none.py"),
    *("http://", "http://[", "https://a b/", "cmd:", "cmd: ", "cmd:'", 'cmd:""', "python:X"),
    *(
        "é",
        "\ufeffgreedy",
        "gre\udceeedy",
        "a\tb",
        "a\nb",
        "\x1b[2J",
        "%s",
        "{}",
        "${X}",
        "'",
        "\\",
    ),
    *("folder", "./folder/", "empty", "binary", "dangling", "./dangling", "./loop/x.py"),
    *("0", "-1", "1e3", "nan", "a/b/0/1", "folder/a/0"),
)


def commands() -> Iterator[str]:
    """Yield the names of all commands with an argument, those of groups too."""
    for name, command in find_commands().items():
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        for last, one in inner.items():
            if any(isinstance(param, click.Argument) for param in one.params):
                yield f"{name} {last}".strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    folder: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty variable in "$X=greedy", a pipe without a writer, a name of 5,000 characters."""
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    names = [*commands()]
    assert len(names) > 30
    for name in names:
        makes = name.endswith(("new", "host"))  # what these make is not used
        place = folder / "apart" if makes else folder
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

PAGE = (
    b"<!doctype html><html><body>404 not found, what you have asked for is not here</body></html>"
)


def forms(good: str) -> Iterator[bytes]:
    """Yield contents of a file that are not as its reader wants them."""
    plain = good.encode()
    yield from (
        b"",
        b" \n\n",
        b"\xef\xbb\xbf",
        good.encode("utf-16"),
        plain + "é".encode("latin-1"),
    )
    yield from (plain[: len(plain) // 2], plain[:-3], plain + plain, b"\0" + plain, plain + b"\0")
    yield from (b"5", b'"x"', b"null", b"[]", b"[1, 2]", b"{}", b'{"a": 1}', b"NaN", PAGE)
    yield from (100_000 * b"[", 50_000 * b'{"a":', 100_000 * b"9", b'"\\ud800"', bytes(range(256)))
    yield from (good.encode("utf-16-le"), good.encode("utf-32"), b"PK\x03\x04" + bytes(99))
    yield from (b"\xed\xa0\x80" + plain, b"\x1b[2J" + plain, b"\t" + plain, 2_000_000 * b"x")


@pytest.mark.parametrize(("name", "good", "command"), few(FILES, 3, unpack=True))
def test_any_file_that_a_person_writes_is_used_or_refused(
    folder: Path, name: str, good: str, command: str
) -> None:
    """Text of a wrong kind, in a wrong encoding, cut, or nested 100,000 deep."""

    def read(content: bytes) -> Done:
        (folder / name).write_bytes(content)
        return run_here(folder, *command.split())

    for content in forms(good):
        check(read(content))
    first = read(good.encode())
    assert first.returncode == 0, first.stderr
    marked = read(good.encode("utf-8-sig"))
    assert (marked.returncode, marked.stderr) == (0, first.stderr)  # a byte order mark is skipped
    assert read(good.replace("\n", "\r\n").encode()).returncode == 0
