"""Blocks of code in the documents: found by language, and run in the order of a page."""

from __future__ import annotations

import ast
import doctest
import os
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests import ROOT
from tests.conftest import Done, run_here
from tests.kit import run_program

ELSEWHERE = {
    "make ": "continuous integration runs it, or the release check",
    "source ": "it changes the reader's shell",
    "pip install ": "the release check installs the wheel",
    "arena serve-bot": "it serves until it is stopped; tests/addons/remote starts it",
    "arena table": "it serves until it is stopped; tests/table starts it",
    "arena human": "it waits for a person; tests/cli has one that types",
}
"""Commands that no walk runs on any page, by how they begin, each with the reason."""

SHORTER = (
    (r"(--pairs |\bpairs[:=] ?)(\d{3,}|[3-9]\d)", r"\g<1>2"),
    (r"^arena play (?!.*--pairs)", "arena play --pairs 2 "),
    (r"^arena probe (?!.*--(?:pairs|exact))", "arena probe --pairs 2 "),
    (r"^arena compare (?!.*--max-pairs)", "arena compare --max-pairs 4 "),
    (r"(compare .*--max-pairs )\d+", r"\g<1>4"),
    (r"^(arena check .*?)(?: --games \d+)?$", r"\1 --games 4"),
    (r"^arena analyse (?!.*(?:--worst|/\d))", "arena analyse --worst 2 "),
    (r"(analyse .*--games )\d{3,}", r"\g<1>16"),
    (r"bench\.last_round 1 \d+", "bench.last_round 1 4"),
    (r"(--budget |budget=)\d+", r"\g<1>336"),
    (r"--learn \d{4,}", "--learn 200"),
    (r"\bLESSONS = \d+", "LESSONS = 1"),
    (r"train\.py --games \d+", "train.py --games 32 --together 32 --pairs 2"),
    (r"train_rounds\.py --games \d+", "train_rounds.py --games 64 --together 32 --epochs 1"),
    (r"--out bots/(\w+\.npz)", r"--out \1"),
    (r"timeout \d+ ", "timeout --preserve-status -s INT 8 "),
)
"""What a walk changes in commands and programs, so that they play few games."""

PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    if "site" not in path.relative_to(ROOT).parts
}
"""The text of every page, by its place."""

Ran = list[tuple[str, Done]]
"""The commands of a page, each with what it did."""

_PLAIN = re.compile(r"(?:\.venv/bin/)?arena (?!new )([^|<>&;$`*]*)")
_SHELL = re.compile(r"^(cd|export) ", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of code, with the paragraph before it and the reason why it is not run, or ''."""

    language: str
    text: str
    before: str
    not_run: str

    @property
    def file(self) -> str | None:
        """Return the file that the paragraph before it names last, if any."""
        names: list[str] = re.findall(r"`(\w+\.(?:py|yaml))`", self.before)
        return names[-1] if names else None

    @property
    def is_step(self) -> bool:
        """Return whether it has methods for a class of before, and no class."""
        whole = re.search(r"^(class|def) ", self.text, re.MULTILINE)
        return self.language == "python" and "    def " in self.text and not whole

    @property
    def commands(self) -> list[str]:
        """Return what of it is run, by lines; a block that changes its shell is one command."""
        if self.not_run or self.language != "console":
            return []
        text = re.sub(r"\\\n *", "", self.text)
        lines = [text] if _SHELL.search(text) else text.splitlines()
        return [line for line in lines if not line.startswith(tuple(ELSEWHERE))]


def languages(text: str) -> set[str]:
    """Return the languages of a page's blocks, without parsing it: pytest asks for all pages."""
    return {*re.findall(r"^ *`{3,}(\w+)$", text, re.MULTILINE)}


@cache
def fences(text: str) -> tuple[Block, ...]:
    """Return the blocks of code of a page in order.

    A comment right before a block, `<!-- not run: REASON -->`, says that no test runs it.
    """
    return tuple(_find_fences(text))


def _find_fences(text: str) -> Iterator[Block]:
    from markdown_it import MarkdownIt

    before = not_run = ""
    for token in MarkdownIt().parse(text):
        if token.type == "inline":
            before, not_run = token.content, ""
        elif token.type == "html_block":
            not_run = "".join(re.findall(r"<!-- not run: (.+?) -->", token.content))
        elif token.type == "fence":
            yield Block(token.info, token.content, before, not_run)
            not_run = ""


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks of a language in order."""
    return [block.text for block in fences(text) if block.language == language]


def named(text: str, language: str) -> list[tuple[str, str]]:
    """Return the blocks of a language that are files, each with its name."""
    return [(b.file, b.text) for b in fences(text) if b.file and b.language == language]


def commands(text: str) -> list[str]:
    """Return the commands of the console blocks that are run."""
    return [command for block in fences(text) for command in block.commands]


def walk(text: str, folder: Path, *, shorter: bool) -> Iterator[tuple[str, Done]]:
    """Follow a page in a folder as a reader does, and yield each command with what it did.

    Files and steps of a bot are written to the folder; other programs are run.
    """
    short = _shorter if shorter else str
    for block in fences(text):
        for command in block.commands:
            yield command, run(short(command), folder)
        if block.is_step:
            bot = folder / "my_bot.py"
            bot.write_text(with_step(bot.read_text(), block.text))
        elif block.language in ("python", "yaml") and block.file:
            (folder / block.file).write_text(short(block.text))
        elif block.language == "python" and not block.not_run:
            yield block.text, _shell("python -", folder, typed=short(block.text))


def _shorter(command: str) -> str:
    for pattern, instead in SHORTER:
        command = re.sub(pattern, instead, command)
    return command


def run(command: str, folder: Path) -> Done:
    """Run a command as a reader does, with this Python and its arena.

    Plain `arena` commands run in this process, which saves their imports. Others run in a shell,
    and so does `arena new`, because it refuses the names of modules that tests have imported.
    """
    plain = [_PLAIN.fullmatch(part.strip()) for part in command.split("&&")]
    if not all(plain):
        return _shell(command, folder)
    for part in plain:
        assert part is not None
        done = run_here(folder, *shlex.split(part[1]))
        if done.returncode:
            break
    return done


def _shell(command: str, folder: Path, typed: str = "") -> Done:
    """Run a command in a shell whose home is the folder, with this Python's programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ("bash", "-e", "-c", command)
    return run_program(*words, folder=folder, text=typed, PATH=path, HOME=str(folder))


def with_step(source: str, step: str) -> str:
    """Return a bot's source after one step: its methods replaced or added, its imports added."""
    start = step.index("    def ")
    imports, methods = step[:start], step[start:]
    for method in re.split(r"\n+(?=    def )", methods.rstrip()):
        lines, name = source.splitlines(), method.split()[1].partition("(")[0]
        (kind,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
        same = [node for node in kind.body if getattr(node, "name", "") == name]
        begin = same[0].lineno - 1 if same else kind.end_lineno or 0
        end = same[0].end_lineno if same else begin
        new = method.splitlines() if same else ["", *method.splitlines()]
        source = "\n".join([*lines[:begin], *new, *lines[end:], ""])
    return source.replace("\n\n\nclass ", f"\n{imports.rstrip()}\n\n\nclass ", 1)


def failures(name: str, sessions: list[str]) -> int:
    """Return how many examples of the `pycon` blocks fail, run as one session."""
    parser = doctest.DocTestParser()
    test = parser.get_doctest("\n".join(sessions), {}, name, None, None)
    return doctest.DocTestRunner().run(test).failed
