"""What a name, a message or a traceback holds controls no terminal and forges no line of a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from arena.cli.options import print_json
from tests.conftest import Arena

RAISES = """
class Raises:
    def __init__(self, setup):
        pass
    def choose(self, view, /):
        print("\\x1b[2J\\x9bJ")
        raise ValueError("\\x1b[2J\\nforged")

bot = Raises
"""
NAMES = ["a\x1b[2Jb.py", "c\nd.py"]


def is_shown_as_text(text: str) -> bool:
    """Return whether nothing in a text controls a terminal."""
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.slow
def test_names_and_messages_are_text_wherever_they_are_shown(arena: Arena, tmp_path: Path) -> None:
    """On the terminal, with the log of the workers, in run.log and in faults.csv."""
    for name in NAMES:
        (tmp_path / name).write_text(RAISES)
    bots = [f"{label}=./{name}" for label, name in zip("mn", NAMES, strict=True)]
    out = "o\x1b[1mt"
    words = ["--pairs", "1", "--workers", "1", "--lane", "inproc", "-v"]
    done = arena("play", *bots, *words, "--out", out)
    assert done.returncode == 0
    assert "forged" in done.stderr
    log = (tmp_path / out / "run.log").read_text()
    for text in (done.stdout, done.stderr, log, (tmp_path / out / "faults.csv").read_text()):
        assert is_shown_as_text(text)
    assert all(re.match(r"\d{4}-\d\d-\d\d ", line) for line in log.splitlines())
    shown = arena("show", out, "m/n/0/0")
    assert shown.returncode == 0
    assert is_shown_as_text(shown.stdout)
    assert not is_shown_as_text(out)  # as a check of the check


def test_json_is_printable_and_means_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON itself escapes only the first of the control characters."""
    document = {"folder": "o\x1b\x9b\u202eé\n"}
    print_json(document)
    shown = capsys.readouterr().out
    assert is_shown_as_text(shown)
    assert json.loads(shown) == document
