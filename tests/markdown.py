"""Blocks of code in the documents: found by language, named by file, and run."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.conftest import run_here
from tests.waiting import PATIENCE

_PLAIN = re.compile(r"(?:\.venv/bin/)?arena (?!new )([^|<>&;$`*]*)")


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks of a language in order."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def named(text: str, language: str) -> list[tuple[str, str]]:
    """Return the blocks of a language, each with the last `file.name` in the text before it."""
    files = []
    for match in re.finditer(rf"```{language}\n(.*?)```", text, re.DOTALL):
        names = re.findall(r"`(\w+\.(?:py|yaml))`", text[: match.start()])
        files.append((names[-1], match[1]))
    return files


def commands(text: str) -> list[str]:
    """Return every line of the console blocks."""
    return [line for block in blocks(text, "console") for line in block.splitlines()]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader does, with this Python and its arena.

    Plain `arena` commands run in this process, which saves their imports. Others run in a shell,
    and so does `arena new`, because it refuses the names of modules that tests have imported.
    """
    plain = [_PLAIN.fullmatch(part.strip()) for part in command.split("&&")]
    if all(plain):
        for part in plain:
            assert part is not None
            done = run_here(folder, *shlex.split(part[1]))
            if done.returncode:
                break
        return done
    words = re.sub(r"(?:\.venv/bin/)?\barena (?=[a-z])", f"{sys.executable} -m arena ", command)
    words = re.sub(r"^(python|pytest) ", rf"{sys.executable} -m \1 ", words)
    words = words.replace(" -m python ", " ")
    return subprocess.run(
        words, shell=True, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def failures(name: str, sessions: list[str]) -> int:
    """Return how many examples of the `pycon` blocks fail, run as one session."""
    parser = doctest.DocTestParser()
    test = parser.get_doctest("\n".join(sessions), {}, name, None, None)
    return doctest.DocTestRunner().run(test).failed
