"""`python -m bench.mutants` makes small changes in copies of the source, and runs the tests.

Each change is tried by quick tests that call the changed function, the nearest and quickest first,
then by others of the room, as many as take `--seconds` together. Which test calls which function is
known from one run of the quick tests, which is made again when a file of tests/ has changed. What a
worker or a bot's process calls is not seen. Nothing is written into the working tree but
build/traces.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from py_compile import PycInvalidationMode as Invalidation
from queue import SimpleQueue
from typing import NamedTuple

from bench.mutants.changes import Mutant, draw
from tests import ROOT

TRACES = ROOT / "build" / "traces"
_PYTEST = (sys.executable, "-m", "pytest", "-p", "bench.mutants.tracing", "-q", "--tb=no")
_MEMORY = 8 << 30  # bytes of data for each process: a mutant may ask for much more
_SLOWER = 5  # so many times the seconds of its tests, and a mutant is caught


class Traced(NamedTuple):
    """A test by pytest's name, its seconds, and the functions that it calls."""

    name: str
    seconds: float
    functions: frozenset[str]


def main() -> None:
    """Draw the mutants, try them, and print which survive."""
    options = _options()
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copy = copy_repository(Path(folder))
        if _are_old():
            _trace(copy)
        tests = _read()
        mutants = draw(ROOT, options.sample, options.seed, options.only)
        copies = SimpleQueue[Path]()
        copies.put(copy)
        for number in range(1, options.jobs):
            copies.put(Path(shutil.copytree(copy, Path(folder) / str(number), symlinks=True)))
        with ThreadPoolExecutor(options.jobs) as pool:
            found = pool.map(
                lambda one: _try(copies, one, choose(tests, one, options.seconds)), mutants
            )
            print("\n".join(report(mutants, found)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", default="", help="modules whose paths begin like this")
    parser.add_argument("--seconds", type=float, default=15, help="of tests for each")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at the same time")
    return parser.parse_args()


def copy_repository(folder: Path) -> Path:
    """Return a new copy of the repository in `folder`, compiled, with what `tests` need.

    What is compiled is checked by the hash of its source: by its time alone a mutant of the same
    second could be overlooked. `results` at the top is left out; a room of that name is not.
    """
    at_the_top = shutil.ignore_patterns(
        ".git", ".venv", ".*_cache", ".hypothesis", "build", "results"
    )

    def ignored(parent: str, names: list[str]) -> set[str]:
        top = at_the_top(parent, names) if Path(parent) == ROOT else set()
        return {"__pycache__"} | top

    copy = Path(shutil.copytree(ROOT, folder / "copy", symlinks=True, ignore=ignored))
    compileall.compile_dir(copy, quiet=2, invalidation_mode=Invalidation.CHECKED_HASH)
    return copy


def _are_old() -> bool:
    """Return whether there are no traces, or tests that are newer."""
    made = [path.stat().st_mtime for path in TRACES.glob("*.jsonl")]
    newest = max(path.stat().st_mtime for path in (ROOT / "tests").rglob("*.py"))
    return not made or max(made) < newest


def _trace(copy: Path) -> None:
    """Run the quick tests of a copy, and keep which functions each of them calls."""
    print("tracing the quick tests, some minutes", flush=True)
    new = TRACES.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    words = ("-p", "tests.forkrun", "--forks", "4")
    subprocess.run([*_PYTEST, *words], cwd=copy, env=_environment(copy, "TRACES", new))
    shutil.rmtree(TRACES, ignore_errors=True)
    new.rename(TRACES)


def _read() -> list[Traced]:
    """Return the tests that passed without a mutant."""
    rows = [json.loads(line) for path in sorted(TRACES.glob("*.jsonl")) for line in path.open()]
    return [
        Traced(row["test"], row["seconds"], frozenset(row["functions"]))
        for row in sorted(rows, key=lambda row: str(row["test"]))
        if row["passed"]
    ]


def choose(tests: Iterable[Traced], mutant: Mutant, seconds: float) -> dict[str, float]:
    """Return the tests that try a mutant, with the seconds of each, the nearest first.

    First are those that call its function, then any of its module, then those of its room. A line
    outside functions runs at each import. At least one is chosen, however long it takes.
    """
    room = mutant.room.removeprefix("arena/")
    function = f"{mutant.module}:{mutant.function}"

    def distance(test: Traced) -> tuple[int, float]:
        near = test.name.startswith((f"tests/{room}/", mutant.module))
        calls = function in test.functions
        inside = any(one.startswith(f"{mutant.module}:") for one in test.functions)
        return (0 if calls and near else 1 if calls else 2 if inside else 3 if near else 4), (
            test.seconds
        )

    chosen: dict[str, float] = {}
    for test in sorted(tests, key=distance):
        if distance(test)[0] == 4:
            break
        if not chosen or sum(chosen.values()) + test.seconds <= seconds:
            chosen[test.name] = test.seconds
    return chosen


def _try(copies: SimpleQueue[Path], mutant: Mutant, tests: dict[str, float]) -> bool:
    """Return whether the tests notice a mutant in a copy that is free: they fail, or hang."""
    copy = copies.get()
    path = copy / mutant.module
    source = path.read_bytes()
    chosen = copy.parent / f"{copy.name}.tests"
    chosen.write_text("\n".join(tests), encoding="utf-8")
    files = dict.fromkeys(name.partition("::")[0] for name in tests)
    path.write_bytes(mutant.change(source))
    process = subprocess.Popen(
        [*_PYTEST, "-x", *files],
        cwd=copy,
        env=_environment(copy, "TESTS", chosen),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        caught = bool(files) and process.wait(_SLOWER * (10 + sum(tests.values()))) not in (0, 5)
    except subprocess.TimeoutExpired:
        caught = True
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        path.write_bytes(source)
        copies.put(copy)
    print("." if caught else "S", end="", flush=True)
    return caught


def _environment(copy: Path, name: str, value: Path) -> dict[str, str]:
    """Return the environment of pytest in a copy: what is imported comes from there."""
    own = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    return os.environ | own | {name: str(value)}


def report(mutants: list[Mutant], found: Iterable[bool]) -> Iterable[str]:
    """Yield the survivors, and how many of each room were caught."""
    tried, caught = Counter[str](), Counter[str]()
    survivors = []
    for mutant, is_caught in zip(mutants, found, strict=True):
        for room in (mutant.room, "all"):
            tried[room] += 1
            caught[room] += is_caught
        if not is_caught:
            survivors.append(mutant.describe((ROOT / mutant.module).read_bytes()))
    yield from ("", *sorted(survivors), "", "| room | caught | of |", "|---|---|---|")
    for room in sorted(tried, key=lambda room: (room == "all", room)):
        yield f"| {room} | {caught[room]} | {tried[room]} |"


if __name__ == "__main__":
    main()
