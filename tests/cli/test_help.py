"""The help: everything is listed, whole, and true."""

from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from arena.cli import SECTIONS, cli
from tests.conftest import Arena
from tests.console import COMMANDS

WITH_JSON = (
    "run",
    "compare",
    "plan",
    "probe",
    "play",
    "ablate",
    "bots",
    "doctor",
    "verify",
    "check",
    "replay",
    "tune",
    "analyse",
)


def test_the_bare_command_shows_its_help(arena: Arena) -> None:
    """On standard output, with status 0, as --help does."""
    bare = arena()
    assert (bare.returncode, bare.stderr) == (0, "")
    assert bare.stdout == arena("--help").stdout
    assert "Usage: arena [OPTIONS] COMMAND" in bare.stdout.replace("[COMMAND]", "COMMAND")


def test_every_command_is_in_one_group_with_its_whole_summary(arena: Arena) -> None:
    """On one line of at most 80 columns, which is a sentence that is not cut."""
    lines = arena("--help").stdout.splitlines()
    listed = [name for names in SECTIONS.values() for name in names]
    assert len(listed) == len({*listed})
    assert {*COMMANDS} <= {*listed}
    for title in SECTIONS:
        assert f"{title}:" in lines
    for name, command in COMMANDS.items():
        (line,) = (line for line in lines if re.match(rf"  {name} ", line))
        assert len(line) <= 80
        assert command.help is not None
        assert line.split(maxsplit=1)[1] == command.help.splitlines()[0].removesuffix(".")


def test_the_help_imports_no_command() -> None:
    """It costs what click costs: nobody waits for libraries that he does not use."""
    print_modules = "import sys; from arena.cli import cli; cli(['--help'], standalone_mode=False);"
    print_modules += "print(*sorted(sys.modules))"
    words = [sys.executable, "-c", print_modules]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    *_, modules = done.stdout.splitlines()
    ours = {name for name in modules.split() if name.startswith(("arena.", "engine", "bots"))}
    light = {"arena.addons", "arena.cli", "arena.errors", "arena.removed", "arena.tokens"}
    assert ours == light
    assert not {"msgspec", "psutil", "yaml", "sqlite3"} & {*modules.split()}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_help_shows_a_range_or_an_option_of_another_command(arena: Arena, name: str) -> None:
    """Bounds stand in the error; options for a person are those of `human`."""
    text = arena(name, "--help").stdout
    assert not re.search(r"x<=|<=x|x>=", text)
    assert ("--games" in text) == (name in ("analyse", "human", "check"))
    assert ("--json" in text) == (name in WITH_JSON)
    assert max(len(line) for line in text.splitlines() if "{" not in line) <= 80


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_says_the_defaults_of_numbers(name: str) -> None:
    """An option that takes a value says what it is without it, or is repeatable or a filter."""
    command = COMMANDS[name]
    context = click.Context(command)
    for option in command.params:
        if not isinstance(option, click.Option) or option.is_flag or option.hidden:
            continue
        help_text = option.get_help_record(context)
        assert help_text is not None
        optional = option.multiple or option.required or name == "show"
        assert optional or "[default:" in help_text[1], option.name


SHARED = ("quiet", "against", "rules", "limits", "verbose", "replace", "strict", "fresh")


@pytest.mark.parametrize("name", SHARED)
def test_an_option_means_the_same_in_every_command(name: str) -> None:
    """One name, one help text, one type, one short form."""
    found = {
        (option.help, option.type.name, tuple(option.opts), option.metavar)
        for command in COMMANDS.values()
        for option in command.params
        if isinstance(option, click.Option) and option.name == name and not option.hidden
    }
    assert len(found) == 1


def test_what_plays_takes_the_same_options() -> None:
    """`run`, `play`, `compare` and `ablate`; wherever there is --out it is -o, too."""
    for name in ("run", "play", "compare", "ablate"):
        options = {option.name for option in COMMANDS[name].params}
        assert options > {"against", "rules", "limits", "quiet", "lane", "seed", "out"}, name
    for command in COMMANDS.values():
        for option in command.params:
            if option.name == "out":
                assert {*option.opts} == {"--out", "-o"}, command.name


def test_a_shell_completes_commands_options_and_paths() -> None:
    """As docs/command-line.md says how to switch it on; the shell itself lists the files."""
    shell = ShellComplete(cli, {}, "arena", "_ARENA_COMPLETE")
    assert {item.value for item in shell.get_completions([], "pl")} == {"plan", "play"}
    assert "--pairs" in {item.value for item in shell.get_completions(["play"], "--")}
    assert [item.type for item in shell.get_completions(["run"], "cup")] == ["file"]
