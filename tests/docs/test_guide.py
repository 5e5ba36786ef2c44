"""What docs/writing-a-bot.md says is true: its commands, bots, sessions and figures."""

from __future__ import annotations

import ast
import csv
import re
import textwrap
from pathlib import Path

import pytest

from engine import View
from tests import ROOT, markdown
from tests.conftest import Arena

GUIDE = (ROOT / "docs" / "first-bot.md").read_text()
CODE = markdown.named(GUIDE, "python")
FILES = {name: code for name, code in CODE if re.search(r"^(class|def) ", code, re.MULTILINE)}
STEPS = [code for _, code in CODE if code not in FILES.values()]
TEMPLATE = (ROOT / "arena" / "entries" / "template" / "my_bot.py").read_text()
FIGURE = re.compile(r"^\| (.+?) \| ([\d.]+) % \((.+?)\) \| ([\d.]+) % \((.+?)\) \|$", re.MULTILINE)


def with_step(source: str, step: str) -> str:
    """Return a bot's source after one step: its methods replaced or added, its imports added."""
    start = step.index("    def ")
    imports, methods = step[:start], step[start:]
    for method in ast.parse(textwrap.dedent(methods)).body:
        assert isinstance(method, ast.FunctionDef)
        lines = methods.splitlines()[method.lineno - 1 : method.end_lineno]
        source = with_method(source, method.name, "\n".join(lines) + "\n")
    return source.replace("\n\n\nclass ", f"\n{imports.rstrip()}\n\n\nclass ", 1)


def with_method(source: str, name: str, method: str) -> str:
    """Return the source with the method of this name replaced, or added at the class's end."""
    lines = source.splitlines(keepends=True)
    (kind,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    for old in kind.body:
        if isinstance(old, ast.FunctionDef) and old.name == name:
            return "".join([*lines[: old.lineno - 1], method, *lines[old.end_lineno :]])
    return "".join([*lines[: kind.end_lineno], "\n", method, *lines[kind.end_lineno :]])


def versions() -> list[str]:
    """Return the source of `my_bot.py` from the template, and after every step."""
    sources = [TEMPLATE]
    for step in STEPS:
        sources.append(with_step(sources[-1], step))
    return sources


def played(arena: Arena, folder: Path, version: int, pairs: int, seed: int) -> str:
    """Return a row of the table of steps, as the arena measures it."""
    (folder / "step.py").write_text(versions()[version])
    words = ("my_bot=./step.py", "greedy", "majority", "--lane", "inproc", "--fresh")
    done = arena("play", *words, "--pairs", str(pairs), "--seed", str(seed), "--out", "out")
    assert done.returncode == 0, done.stderr
    with (folder / "out" / "head_to_head.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["bot"] == "my_bot"]
    assert all(row["forfeit_wins"] == "0" for row in rows)
    return " | ".join(share(row) for row in sorted(rows, key=lambda row: row["opponent"]))


def share(row: dict[str, str]) -> str:
    """Return a score with its interval as the guide prints it, in per cent."""
    score, low, high = (100 * float(row[name]) for name in ("score", "score_low", "score_high"))
    return f"{score:.1f} % ({low:.1f}..{high:.1f})"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a reader's folder: a bot after all steps, and every file of the guide."""
    folder = tmp_path_factory.mktemp("guide")
    first, *_ = markdown.commands(GUIDE)
    assert first == "arena new my_bot"
    assert markdown.run(first, folder).returncode == 0
    assert (folder / "my_bot.py").read_text() == TEMPLATE
    (folder / "my_bot.py").write_text(versions()[-1])
    for name, code in FILES.items():
        (folder / name).write_text(code)
    for name, text in markdown.named(GUIDE, "yaml"):
        (folder / name).write_text(re.sub(r"pairs: \d+", "pairs: 2", text))
    return folder


LONG = re.compile(
    r"arena (check|compare|pack|tune) |sampler|pytest |learn\.py|linear\.py|closer\.py|enough="
    r"|500 --seed 1$"
)
"""Commands that take long; learn.py's bot is packed and plays in test_examples.py."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "commands",
    [
        [command for command in markdown.commands(GUIDE)[1:] if not LONG.search(command)],
        pytest.param(markdown.commands(GUIDE)[1:], marks=pytest.mark.slow),
    ],
    ids=["short", "all"],
)
def test_the_commands_run(folder: Path, commands: list[str]) -> None:
    """Every console line except the first runs, with two pairs or four games instead of more."""
    assert len(commands) > 10
    for command in commands:
        short = re.sub(r"--games \d+", "--games 4", re.sub(r"--pairs \d+", "--pairs 2", command))
        short = re.sub(r"--budget \d+", "--budget 224", short)
        done = markdown.run(short, folder)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert done.stdout or ">" in command
        assert ("forfeits" in done.stdout) == ("play ./broken.py" in command), command


def test_every_step_plays(arena: Arena, tmp_path: Path) -> None:
    """The bots after all steps play each other without a fault."""
    names = [f"step{number}.py" for number in range(len(versions()))]
    for name, source in zip(names, versions(), strict=True):
        (tmp_path / name).write_text(source)
    assert len(names) == 5
    done = arena("play", *(f"./{name}" for name in names), "--pairs", "2", "--lane", "inproc")
    assert (done.returncode, "forfeits" in done.stdout) == (0, False)


@pytest.mark.study
@pytest.mark.parametrize("version", [0, 4])
def test_the_steps_score_what_the_table_says(arena: Arena, tmp_path: Path, version: int) -> None:
    """In 500 pairs with seed 1, to the digit: a game is the same on every machine."""
    rows = [match[0] for match in FIGURE.finditer(GUIDE)]
    assert rows[version].endswith(f"| {played(arena, tmp_path, version, 500, 1)} |")


def test_the_sessions_are_what_python_prints() -> None:
    """Every >>> of the guide, as one session."""
    assert markdown.failures("guide", markdown.blocks(GUIDE, "pycon")) == 0


def test_the_table_of_the_view_is_complete_and_true() -> None:
    """It has a row for every public name of a View, with its value in the example's view."""
    import engine
    from engine.cards import pack_of

    seen = View.from_text("0 782yC 58 6T4yxCy5C7T87")
    part = GUIDE.split("## What a view offers")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)(?:\(\))?` \| .+ \| `(.+)` \|$", part, re.MULTILINE))
    ours = {name for name in dir(View) if not name.startswith("_")} - set(dir(tuple))
    assert set(rows) == ours - {"from_text"}
    for name, value in rows.items():
        member = getattr(seen, name)
        expected = eval(value, {"engine": engine, "pack_of": pack_of})
        assert (member() if callable(member) else member) == expected, name


def test_the_lines_are_short() -> None:
    """Except the rows of tables."""
    lines = [line for line in GUIDE.splitlines() if not line.startswith("|")]
    assert max(map(len, lines)) <= 95
