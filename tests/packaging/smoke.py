"""Smoke: what the command does in an empty folder, where only a wheel is installed."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

from arena.cli.bots import EXTRAS
from arena.store.table_columns import TABLES
from tests import ROOT
from tests.packaging.wheel import run

_OTHERS = (
    "click",
    "engine",
    "msgspec",
    "multiprocessing_logging",
    "numpy",
    "pandas",
    "psutil",
    "yaml",
)
_MARK = "imported-"
_EXAMPLES = ("./rollouts.py", "./greedy_plus/", "./linear/")
_IN_OTHER_LANGUAGES = (
    ("node", "", "js=cmd:node greedy.js"),
    ("cc", "cc -O2 -o plain_c careful/careful.c", "cmd:./plain_c"),
)
_SWISS = """\
name: swiss
bots: [uniform, greedy, majority, city_hunter]
format: swiss
pairs: 2
"""
_USES = (
    "import gymnasium; gymnasium.make('arena.addons.rl.env:DistrictNoir-v0').reset(seed=7)",
    "import arena.addons.rl.aec; arena.addons.rl.aec.env().reset(seed=7)",
    "import pyspiel, arena.addons.rl.spiel; pyspiel.load_game('python_district_noir')",
    "import distributed, mpi4py, starlette, uvicorn",
)
TESTS_OF_SDIST = ("tests/engine", "tests/rulebook")
"""Tests that need little time; `make test` runs in an unpacked sdist, too."""

_WHERE = "import arena, bots, engine; print(arena.__file__, bots.__file__, engine.__file__)"


def try_commands(bin_folder: Path, folder: Path, *how_to_check: str) -> None:
    """Use the `arena` of an environment in an empty folder; fails where it does not work.

    `how_to_check` are further options of `arena check`.
    """
    arena, python = bin_folder / "arena", bin_folder / "python"
    files = run([python, "-c", _WHERE], folder).split()
    assert all(file.startswith(str(bin_folder.parent)) for file in files), files
    assert "serve-bot" in run([arena, "--help"], folder)
    assert "results in results/quickstart/" in run(
        [arena, "run", "quickstart", "--pairs", "5"], folder
    )
    assert "60 games played again" in run([arena, "verify", "results/quickstart"], folder)
    assert "uniform" in run([arena, "bots"], folder)
    assert "wrote first_bot.py" in run([arena, "new", "first_bot"], folder)
    assert "greedy" in run([arena, "play", "./first_bot.py", "greedy", "--pairs", "2"], folder)
    assert "refused" not in run(
        [arena, "check", "./first_bot.py", "--games", "4", *how_to_check], folder
    )
    assert "Round 1" in run([arena, "human", "greedy"], folder, text="quit\n")


def try_docs(bin_folder: Path, folder: Path) -> None:
    """Ask for the first page of the documentation, and for another one: each lies in the wheel."""
    for words in ([], ["probe"]):
        place = Path(run([bin_folder / "arena", "docs", "--path", *words], folder).strip())
        assert place.is_relative_to(bin_folder.parent)
        assert place.is_file()
        assert (place.parent / "docs" / "examples" / "plain.py").is_file()


def try_run(bin_folder: Path, folder: Path) -> None:
    """Play a run without extras: it has every table and its page."""
    run([bin_folder / "arena", "run", "quickstart", "--pairs", "5"], folder)
    names = {path.name for path in (folder / "results" / "quickstart").rglob("*.*")}
    assert {"manifest.json", "report.md", "report.html", "games.csv", "faults.csv"} <= names
    assert {table.file for table in TABLES.values()} <= names
    assert "vega" not in (folder / "results" / "quickstart" / "report.html").read_text()


def try_examples(bin_folder: Path, folder: Path, examples: Path) -> None:
    """Play the bots of docs/examples, in Python and other languages that are here."""
    shutil.copytree(examples, folder, dirs_exist_ok=True)
    bots = [*_EXAMPLES, f"cmd:{shlex.quote(str(bin_folder / 'python'))} plain.py"]
    for program, build, spec in _IN_OTHER_LANGUAGES:
        if shutil.which(program):
            run(["sh", "-c", build], folder)
            bots.append(spec)
    out = run([bin_folder / "arena", "play", *bots, "greedy", "--pairs", "1"], folder)
    assert not re.search(r"\d forfeit", out), out


def try_extras(bin_folder: Path, folder: Path) -> None:
    """Use the extras: none is missing to the doctor, and each gives what it is for."""
    arena = bin_folder / "arena"
    found = " ".join(run([arena, "doctor"], folder).split())
    assert f"extras {', '.join(EXTRAS)} " in found, found
    (folder / "swiss.yaml").write_text(_SWISS)
    run([arena, "run", "swiss.yaml"], folder)
    names = {path.name for path in (folder / "results" / "swiss").rglob("*.*")}
    assert "report.html" in names
    for program in _USES:
        run([bin_folder / "python", "-c", program], folder)


def try_in_another_project(bin_folder: Path, folder: Path, *how_to_check: str) -> None:
    """Use both forms of the command in a folder whose files have the names of modules."""
    _write_modules(bin_folder / "python", folder)
    bots = ["./random.py", "bots/mine.py", "uniform"]
    for command in ([bin_folder / "arena"], [bin_folder / "python", "-m", "arena"]):
        out = run([*command, "play", *bots, "--pairs", "2"], folder)
        assert "12 games" in out
        assert "forfeits" not in out
    run([*command, "run", "quickstart", "--pairs", "1"], folder)
    run([*command, "verify", "results/quickstart"], folder)
    assert "refused" not in run(
        [*command, "check", "./random.py", "--games", "4", *how_to_check], folder
    )
    assert not [*folder.glob(f"{_MARK}*")]


def _write_modules(python: Path, folder: Path) -> None:
    """Write a package bots, an engine.py, and a file for each module of the standard library.

    Each ends the process that imports it, and leaves a mark. Left out is what Python has
    imported before a module that it is to run with `-m`.
    """
    (folder / "probe.py").write_text("import sys\nprint(*sys.modules)")
    loaded = run([python, "-m", "probe"], folder).split()
    names = {*sys.stdlib_module_names, *_OTHERS} - {*loaded}
    (folder / "bots").mkdir()
    for path in [*(folder / f"{name}.py" for name in names), folder / "bots" / "__init__.py"]:
        mark = folder / f"{_MARK}{path.stem}"
        path.write_text(f"import os\nos.mkdir({str(mark)!r})\nos._exit(99)\n")
    for bot in (folder / "random.py", folder / "bots" / "mine.py"):
        shutil.copy(ROOT / "bots" / "uniform.py", bot)
