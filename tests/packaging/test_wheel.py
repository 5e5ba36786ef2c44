"""A wheel has all that the clone has, with and without extras; each step of a release fails."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from packaging.requirements import Requirement

from arena.cli.bots import EXTRAS
from arena.tournament import versions
from arena.tournament.versions import version_here
from arena.tournament.yaml_text import shipped
from tests import ROOT
from tests.conftest import Arena
from tests.console import COMMANDS
from tests.kit import run_program, run_python
from tests.packaging import __main__ as release
from tests.packaging import licences, smoke, wheel
from tests.packaging.__main__ import MOST, NAMED
from tests.packaging.licences import Licensed
from tests.packaging.wheel import PROJECT

OUTSIDE_JAIL = ("--lane", "process")  # the libraries are borrowed from a folder it does not show


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from the sdist that lies beside it."""
    return wheel.build(tmp_path_factory.mktemp("built") / "here", "--no-isolation")


@pytest.fixture(scope="module")
def bin_folder(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the commands of an environment with the wheel and what it needs.

    The libraries of the extras are not in it.
    """
    needed = wheel.libraries(PROJECT["dependencies"])
    return wheel.install_beside(built, tmp_path_factory.mktemp("environment") / "here", needed)


@pytest.mark.study
def test_its_commands_work_in_an_empty_folder(bin_folder: Path, tmp_path: Path) -> None:
    """A run of a config by its name, and `verify`, `bots`, `new`, `play` and `check`."""
    smoke.try_commands(bin_folder, tmp_path, *OUTSIDE_JAIL)


@pytest.mark.slow
def test_it_works_beside_modules_of_the_same_names_and_without_extras(
    bin_folder: Path, tmp_path: Path
) -> None:
    """bots/, engine.py, random.py and others are imported by no process; a run has its page."""
    (tmp_path / "alone").mkdir()
    smoke.try_run(bin_folder, tmp_path / "alone")
    smoke.try_in_another_project(bin_folder, tmp_path, *OUTSIDE_JAIL)


@pytest.mark.slow
def test_it_is_small_and_has_what_is_no_python(built: Path) -> None:
    """Most is pandas and numpy; every config, template and file of a page, and no tests."""
    files = {
        Path(str(file.locate())).resolve()
        for library in wheel.libraries(PROJECT["dependencies"])
        for file in library.files or []
    }
    sizes = [path.stat().st_blocks * 512 for path in files if path.is_file()]
    unpacked = sum(info.file_size for info in zipfile.ZipFile(built).infolist())
    assert sum(sizes) + 2 * unpacked < MOST * 2**20  # what pip compiles is about as large
    names = set(zipfile.ZipFile(built).namelist())
    assert {f"arena/configs/{name}.yaml" for name in shipped()} <= names
    for package in ("arena", "bots", "engine"):
        files = [path for path in (ROOT / package).rglob("*") if path.is_file()]
        wanted = {str(path.relative_to(ROOT)) for path in files if path.suffix != ".pyc"}
        assert wanted <= names
        assert f"{package}/py.typed" in wanted
    ends = {name.rpartition("/")[2] for name in names}
    assert {"LICENSE", "NOTICE"} <= ends
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"arena", "bots", "engine"}
    (sdist,) = built.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/configs/quickstart.yaml") for name in archive.getnames())


MIT = "License :: OSI Approved :: MIT License"


@pytest.mark.parametrize(
    ("about", "licence"),
    [
        ({"License_Expression": "GPL-3.0-only", "Classifier": MIT}, "GPL-3.0-only"),
        ({"License": "MPL-2.0 AND MIT"}, "MPL-2.0 AND MIT"),
        ({"License": "Permission is hereby granted ...", "Classifier": MIT}, "MIT"),
        ({"License": "as you like"}, ""),
        ({"Classifier": "License :: Other/Proprietary License"}, ""),
        ({}, ""),
    ],
)
def test_a_licence_is_what_the_metadata_say(about: dict[str, str], licence: str) -> None:
    """An expression first, then a text that is a known name, then the classifier."""
    message = Message()
    for name, value in about.items():
        message[name.replace("_", "-")] = value
    assert licences.read(message) == licence  # type: ignore[arg-type]


@pytest.mark.parametrize("licence", ["", "GPL-3.0-only", "MIT AND GPL-3.0-only"])
def test_a_licence_that_is_unknown_or_not_allowed_fails(
    monkeypatch: pytest.MonkeyPatch, licence: str
) -> None:
    rows = [Licensed("good", "1", "MIT"), Licensed("bad", "2", licence)]
    monkeypatch.setattr(licences, "survey", lambda _: rows)
    finding = release._try("licences", release._check_licences)
    assert finding[:3] == ("licences", False, f"not allowed: bad ({licence or 'unknown'})")


@pytest.mark.slow
def test_every_library_that_users_get_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of every install and of each extra, and what these need; all are allowed.

    The one that is here only for a release, since tests hide the jail's program, is left out.
    """
    extras = PROJECT["optional-dependencies"]
    monkeypatch.setitem(extras, "jail", [])
    rows = {normal(row.name) for row in licences.survey(extras["rl"])}
    assert {"gymnasium", "cloudpickle"} <= rows  # which gymnasium needs
    assert release._check_licences().endswith(" libraries, all allowed")


@pytest.mark.study
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this folder is no clone")
def test_two_clones_of_the_commit_give_the_same_bytes(tmp_path: Path) -> None:
    """And its sdist has what Git has, `configs` as files in both places, and the site."""
    built, sdist = wheel.build_twice(tmp_path, wheel.read_commit(), "--no-isolation")
    assert built.suffix == ".whl"
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run_program("git", "ls-tree", "-r", "--name-only", "HEAD").stdout.split("\n")
    configs = {f"arena/configs/{path.name}" for path in (ROOT / "configs").iterdir()}
    site = {name for name in names if name.startswith("arena/site/")}
    assert {"arena/site/index.html", "arena/site/reference/arena-run.html"} < site
    assert names - {"PKG-INFO"} - site == {*tracked} - {"", "arena/configs"} | configs
    with zipfile.ZipFile(built) as packed:
        assert site < {*packed.namelist()}
    assert built.stat().st_size < 4_000_000  # without the site it has 1.2 million bytes


def normal(name: str) -> str:
    """Return the name of a distribution as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_package_says_the_same_everywhere_and_pins_what_make_installs() -> None:
    """The same licence and authors; constraints.txt has one version of each requirement."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert PROJECT["authors"][0]["name"] in (ROOT / "LICENSE").read_text()
    notice = " ".join((ROOT / "NOTICE").read_text().split())
    assert "unofficial implementation" in notice
    assert "no art and no text" in notice
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines[0].startswith("#")
    pin = re.compile(r"([\w.-]+)==[\w.]+(; python_version (<|>=) \"3\.\d+\")?")
    pins = [pin.fullmatch(line) for line in lines[1:]]
    assert all(pins)
    pinned = {normal(one[1]) for one in pins if one}
    extras = PROJECT["optional-dependencies"]
    assert {"test", "docs"} <= extras.keys()
    wanted = [*PROJECT["dependencies"], *(need for extra in extras.values() for need in extra)]
    names = {normal(re.split(r"[<>=;]", need)[0]) for need in wanted}
    assert names <= pinned


@pytest.mark.slow
def test_the_command_works_where_the_working_folder_was_removed(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'rmdir "{gone}"; exec "{sys.executable}" -m arena --version'
    done = run_program("sh", "-c", line, folder=gone)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_checkout_without_an_installation_says_how_to_install_it(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, by whatever writes a version to a file; help and the doctor's report need none."""
    monkeypatch.setattr(versions, "DISTRIBUTION", "nowhere")
    version_here.cache_clear()  # which an earlier test of this process has filled
    said = f"error: the arena is not installed: run `pip install -e .` in {str(ROOT)!a}\n"
    for words in (("--version",), ("play", "greedy", "uniform", "--pairs", "1", "--out", "run")):
        done = arena(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert arena("--help").returncode == 0
    assert "with arena that is not installed" in arena("doctor").stdout


def test_a_python_without_its_libraries_says_so(tmp_path: Path) -> None:
    """As a new clone with the system's Python; `-S` leaves out what is installed."""
    done = run_python("-S", "-m", "arena", "--help", folder=tmp_path)
    said = f"error: no library click: run `pip install -e .` in {str(ROOT)!a}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


GITHUB = ROOT / ".github"
FOLDER = GITHUB / "workflows"
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yml"))
}
STEPS = [
    (f"{name}.{job}", step)
    for name, workflow in WORKFLOWS.items()
    for job, body in workflow["jobs"].items()
    for step in body["steps"]
]
WRITES = {
    "docs.publish": {"pages": "write", "id-token": "write"},
    "release.publish": {"id-token": "write"},
    "release.attach": {"contents": "write"},
}
"""The jobs with more than the right to read, and what they may write."""


def test_the_workflows_run_only_targets_and_few_jobs_may_write() -> None:
    """Each script is one target of the Makefile; who publishes writes what it needs."""
    for name, workflow in WORKFLOWS.items():
        for job, body in workflow["jobs"].items():
            assert body.get("permissions") == WRITES.get(f"{name}.{job}"), (name, job)
            assert body["timeout-minutes"] <= 120
            assert "needs" in body or f"{name}.{job}" not in WRITES
    scripts = [(job, step["run"]) for job, step in STEPS if "run" in step]
    run = {script for _, script in scripts}
    assert {"make test", "make test-all", "make docs", "make release-check", "make attach"} <= run
    for job, script in scripts:
        match = re.fullmatch(r"make ([a-z-]+)( SUDO=sudo)?", script)
        assert match, (job, script)
        assert match[1] in TARGETS, (job, script)
        assert run_program("make", "-n", match[1]).returncode == 0, (job, script)
    used = [(job, step) for job, step in STEPS if "uses" in step]
    assert len(used) > 8
    for job, step in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"]), (job, step)
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, job
    (test,) = (body for job, body in WORKFLOWS["tests"]["jobs"].items() if job == "test")
    assert test["strategy"]["matrix"]["python"] == NAMED
    (setup,) = (
        step["with"]["python-version"]
        for job, step in STEPS
        if job == "release.check" and step.get("uses", "").startswith("actions/setup-python@")
    )
    assert sorted(setup.split()) == NAMED


PROGRAM = """\
from arena.errors import InputError
from bots.greedy import bot
from engine import Action, Setup, View

def first(view: View) -> Action:
    return view.legall[0]

reveal_type(bot)
reveal_type(InputError)
"""


@pytest.mark.study
def test_mypy_finds_the_types_in_another_folder(tmp_path: Path) -> None:
    """It reports the misspelt attribute, and no module whose types are missing."""
    (tmp_path / "mine.py").write_text(PROGRAM)
    words = ("-m", "mypy", "--cache-dir", tmp_path / "cache", "mine.py")
    done = run_program(sys.executable, *words, folder=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, done.stdout
    assert '"View" has no attribute "legall"' in errors[0]
    assert "bots.greedy.Greedy" in done.stdout


FILES = {
    "broken.py": "1 / 0\n",
    "duel.yaml": "bots: [greedy, uniform]\npairs: 1\nworkers: 1\n",
    "swiss.yaml": "bots: [greedy, uniform]\nformat: swiss\npairs: 1\n",
}
READING = (
    *("bots", "new mine", "docs --path", "view run -o view.html"),
    *("export run -o games.jsonl", "replay games.jsonl", "report run"),
)
"""What commands do that only read and write: their status is 0."""

PLAYING = (
    *("run duel.yaml", "play greedy uniform --pairs 1 --workers 1", "game greedy uniform"),
    *("compare greedy uniform --max-pairs 1 --workers 1", "verify run --workers 1"),
    *("ablate duel.yaml --rule set_bonus=0", "human greedy", "league new club"),
    *("plan 2 --gap 400", "rate run", "show run", "doctor"),
)
"""What commands do that start processes or compute: their status is 0.

That of `doctor` is 1 on a machine that lacks something.
"""

REFUSING = (
    *("check broken.py", "probe ./broken.py", "analyse run --by ./broken.py"),
    "tune ./broken.py --param enough=0,1 --against uniform",
)
"""What commands that take long do at once: they start a bot, and say why that fails."""

LONG = (
    *("check greedy --games 4 --lane process", "probe greedy --pairs 1 --workers 1"),
    "tune greedy --param patience=0,1 --against uniform --budget 112 --proof 1 --workers 1",
    "analyse run --games 2 --worlds 4 --worst 0 --workers 1 --by greedy",
)
"""The same commands at work."""

NEEDING = {
    "run swiss.yaml": "swiss",
    "table": "table",
    "serve-bot greedy": "remote",
    "play http://127.0.0.1:9 greedy": "remote",
    "play greedy uniform --executor dask": "dask",
    "play greedy uniform --executor mpi": "mpi",
}
"""What cannot be done without an extra, and which: one line says so, with status 2."""

NAMES = """
import arena, arena.rl
from arena import addons
for name in arena.__all__:
    getattr(arena, name)
for name in addons.HOOKS:
    try:
        addons.hook(name)
    except arena.InputError as error:
        assert "is not installed; pip install 'district-noir-arena[" in str(error), error
"""
"""Imports all names of the library, and all that the core asks of add-ons."""


def helps() -> list[str]:
    """Return what shows the help of the program, of each command, and of those of a group."""
    groups = {name: one for name, one in COMMANDS.items() if isinstance(one, click.Group)}
    below = [f"{name} {word}" for name, group in groups.items() for word in group.commands]
    return ["", *(f"{words} --help" for words in ("", *COMMANDS, *below))]


def use(
    environment: Path, duel: Path, folder: Path, commands: Sequence[str], names: str = NAMES
) -> None:
    """Use commands in an environment: each does what it is for, or says in one line what it lacks.

    The line names the extra that installs it.
    """
    shutil.copytree(duel, folder / "run")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    words = [one.split() for one in commands]
    code = f"from tests.answering import answer\nanswer({words}, 'quit\\n')\n{names}"
    out = wheel.run([environment / "bin" / "python", "-c", code], folder, PYTHONPATH=str(ROOT))
    for command, line in zip(commands, out.splitlines(), strict=True):
        status, text = json.loads(line)
        if command in NEEDING:
            assert (status, text.count("\n")) == (2, 1), (command, status, text)
            assert f"pip install 'district-noir-arena[{NEEDING[command]}]'" in text
        elif command in REFUSING:
            assert status in (1, 2), (command, status, text)
            assert "ZeroDivisionError" in text, (command, text)
        else:
            allowed = (0, 1) if command.startswith("doctor") else (0,)
            assert status in allowed, (command, status, text)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment that has nothing of any extra."""
    folder = tmp_path_factory.mktemp("bare") / "here"
    wheel.borrow(folder, wheel.find_paths(wheel.libraries([PROJECT["name"]])))
    return folder


def lacking(extra: str, folder: Path) -> Path:
    """Return an environment that has all but the libraries of an extra."""
    names = {Requirement(one).name for one in PROJECT["optional-dependencies"][extra]}
    gone = [one for name in names for one in metadata.distributions(name=name)]
    here = wheel.packages(Path(sys.prefix))
    wheel.borrow(folder, {*here.iterdir()} - wheel.find_paths(gone))
    return folder


def test_every_command_is_used() -> None:
    """And every extra is one of users or one of those who change the arena."""
    used = {one.split()[0] for one in (*READING, *PLAYING, *REFUSING, *NEEDING)}
    assert used == COMMANDS.keys()
    assert {one.split()[0] for one in LONG} == {one.split()[0] for one in REFUSING}
    others = {"test", "docs", "bench", "release"}
    asked = {name for name, asked in PROJECT["optional-dependencies"].items() if asked}
    assert asked == {*EXTRAS, *others}


def test_every_command_works_without_extras(bare: Path, duel: Path, tmp_path: Path) -> None:
    """Its help and what it is for; so does every name of the library."""
    commands = [*helps(), *READING, *PLAYING, *REFUSING, *NEEDING]
    use(bare, duel, tmp_path, commands)


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_command_answers_without_one_extra(extra: str, duel: Path, tmp_path: Path) -> None:
    """Its help, what it reads, and for what the extra is needed."""
    environment = lacking(extra, tmp_path / "environment")
    needing = [one for one, needed in NEEDING.items() if needed == extra]
    use(environment, duel, tmp_path, [*helps(), *READING, *needing], "")


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_every_command_plays_without_one_extra(extra: str, duel: Path, tmp_path: Path) -> None:
    """Also in its worker processes, and where it refuses a bot."""
    environment = lacking(extra, tmp_path / "environment")
    use(environment, duel, tmp_path, [*PLAYING, *REFUSING])


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG)
def test_what_takes_long_works_without_extras(
    command: str, bare: Path, duel: Path, tmp_path: Path
) -> None:
    use(bare, duel, tmp_path, [command])
