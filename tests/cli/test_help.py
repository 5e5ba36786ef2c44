"""The help: everything is listed, whole, and true."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

import click
import pytest
from click.shell_completion import ShellComplete

from arena.cli import SECTIONS, cli
from arena.cli.options import RARE
from arena.tournament.rule_changes import list_published
from engine.rules import RULE_NAMES
from tests import house
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


def commands_of(commands: Iterable[click.Command]) -> Iterator[click.Command]:
    """Yield commands, and all below them."""
    for command in commands:
        yield command
        if isinstance(command, click.Group):
            yield from commands_of(command.commands.values())


def test_a_shell_takes_every_example() -> None:
    """As a whole, however many lines it has."""
    examples = [
        (command.help or "").partition("Example:\n")[2].strip()
        for command in commands_of(COMMANDS.values())
    ]
    assert sum(map(bool, examples)) > 20
    for example in examples:
        done = subprocess.run(["bash", "-n", "-c", example], capture_output=True, check=False)
        assert done.returncode == 0, example


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


def test_the_help_of_an_ablation_names_the_published_rules(arena: Arena) -> None:
    """Each with its value, from the engine."""
    text = " ".join(arena("ablate", "--help").stdout.split())
    changed = dict(re.findall(r"(\w+)=(\[[\d,]+\]|\w+)[,\]]", text))
    assert {name: changed.get(name) for name in RULE_NAMES} == list_published()


def test_options_that_few_need_stand_last_under_their_own_heading() -> None:
    """A command that has one of them says so, and no other one does."""
    title = "Options that few need:"
    for command in house.find_commands():
        shown = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
        rare = {one.opts[0] for one in shown if one.name in RARE}
        before, _, after = command.get_help(click.Context(command)).partition(title)
        named = {*re.findall(r"^  (?:-\w, )?(--[\w-]+)", after, re.MULTILINE)}
        assert (named, title in before + after) == (rare, False), command.name
