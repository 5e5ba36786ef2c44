"""The help: everything is listed, whole, and true; shared options do the same everywhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from arena.cli import SECTIONS, cli
from arena.entries import catalogue
from tests.conftest import Arena
from tests.console import COMMANDS
from tests.kit import refused
from tests.tiers import few

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


def test_every_command_is_in_one_group_with_its_whole_summary(arena: Arena) -> None:
    """On one line of at most 80 columns; the bare command shows it, as --help does."""
    bare = arena()
    assert (bare.returncode, bare.stderr) == (0, "")
    assert bare.stdout == arena("--help").stdout
    assert "Usage: arena [OPTIONS] COMMAND" in bare.stdout.replace("[COMMAND]", "COMMAND")
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
def test_no_help_shows_a_range_and_each_says_the_defaults(arena: Arena, name: str) -> None:
    """Bounds stand in the error; options for a person are those of `human`."""
    text = arena(name, "--help").stdout
    assert not re.search(r"x<=|<=x|x>=", text)
    assert ("--games" in text) == (name in ("analyse", "human", "check"))
    assert ("--json" in text) == (name in WITH_JSON)
    assert max(len(line) for line in text.splitlines() if "{" not in line) <= 80
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


CUP = "name: cup\npairs: 1\nbots: [uniform, {bot: greedy, label: g}]\n"
CUP += "rules: {set_bonus: 4}\nlimits: {decision: 3.0}\n"
START = {
    "run": ("run", "cup.yaml"),
    "play": ("play", "greedy", "g=greedy", "--pairs", "1"),
    "compare": ("compare", "greedy", "g=greedy", "--max-pairs", "8"),
    "ablate": ("ablate", "cup.yaml", "--rule", "set_bonus=5"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cup.yaml").write_text(CUP)
    return tmp_path


def manifest(folder: Path) -> dict[str, object]:
    """Return the manifest of the run in out/, of the base where it is an ablation."""
    (path, *_) = sorted((folder / "out").rglob("manifest.json"))
    data: dict[str, object] = json.loads(path.read_text())
    return data


def played(arena: Arena, folder: Path, command: str, *words: str) -> dict[str, object]:
    done = arena(*START[command], *words, "--out", "out", "-q")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert ("\n" in done.stdout) == (command == "compare")
    return manifest(folder)


@pytest.mark.parametrize("command", few(START))
def test_rules_and_limits_change_those_of_the_config(
    arena: Arena, folder: Path, command: str
) -> None:
    """Only what is named is changed; where there is no config, the published rules are."""
    words = ("--rules", '{"take_size": 4}', "--limits", '{"memory": 512}')
    found = played(arena, folder, command, *words)
    has_config = command in ("run", "ablate")
    base = {"set_bonus": 4} if has_config else {}
    assert found["rules"] == {**base, "take_size": 4}
    limits = found["limits"]
    assert isinstance(limits, dict)
    assert (limits["memory"], limits["decision"]) == (512, 3.0 if has_config else 10.0)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["play", "run"])
def test_changed_rules_are_said_below_the_standings(arena: Arena, command: str) -> None:
    """Where the published ones are played nothing is said of them."""
    said = "Played under changed rules: set_bonus=3 (published: 5)."
    lines = arena(*START[command], "--rules", '{"set_bonus": 3}').stdout.splitlines()
    assert lines.count(said) == 1
    plain = arena(*START[command], "--rules", '{"set_bonus": 5}', "--fresh").stdout
    assert "rules" not in plain


@pytest.mark.parametrize("command", START)
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--rules", '{"colour": 1}'), "--rules: unknown rule 'colour'; "),
        (("--rules", "{"), "--rules: Input data was truncated"),
        (
            ("--limits", '{"decison": 1}'),
            "--limits: unknown key 'decison'; did you mean",
        ),
        (("--limits", '{"memory": 1}'), "--limits: Expected `int` >= 64"),
        (("--limits", "3"), "--limits: Expected `object`, got `int`"),
        (("--against", "denier,,timing"), "--against: 'denier,,timing' has an empty place"),
    ],
)
def test_they_are_refused_alike(
    arena: Arena, folder: Path, command: str, words: tuple[str, str], line: str
) -> None:
    """One line, status 2, and nothing is played."""
    assert refused(arena(*START[command], *words)).startswith(line)
    assert not (folder / "results").exists()


LADDER = ("uniform", "greedy", "denier")


@pytest.fixture
def short_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the bots that search."""
    monkeypatch.setattr(catalogue, "ELO", {name: catalogue.ELO[name] for name in LADDER})


@pytest.mark.usefixtures("short_ladder")
@pytest.mark.parametrize("command", few(START, 0, 2))
def test_against_takes_several_bots_and_the_ladder(
    arena: Arena, folder: Path, command: str
) -> None:
    """Those that are compared or play anyway are left out of the ladder."""
    words = ("--against", "ladder,again=uniform", "--lane", "inproc")
    words += ("--max-pairs", "9") if command == "compare" else ()
    bots = played(arena, folder, command, *words)["bots"]
    assert isinstance(bots, list)
    met = [bot["label"] for bot in bots[2:]]
    own = {bot["label"] for bot in bots[:2]}
    assert met == [*(name for name in LADDER if name not in own), "again"]
