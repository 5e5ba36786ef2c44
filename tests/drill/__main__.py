"""`python -m tests.drill` plants one fault at a time and runs the test that must catch it.

`--sample N` plants only N faults, which the commit chooses: other ones after each commit, and the
same ones until then. `--only WORDS` plants those with these words in their description.

It never changes the working tree. It fails if a fault goes unnoticed. The tests must pass in
a copy without a fault, so they are run once before. Two faults are tried at a time.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from random import Random
from time import monotonic

from tests.drill import Fault, commit, compile_copy, copy_repository, is_caught, run_tests
from tests.drill.faults import FAULTS


def main() -> None:
    """Plant the faults, and print the test that caught each of them."""
    options = _options()
    faults = [fault for fault in FAULTS if options.only in fault.what]
    if options.sample is not None:
        faults = choose(faults, options.sample, commit().rstrip("+"))
    with tempfile.TemporaryDirectory(prefix="drill-") as folder:
        caught = _plant_all(Path(folder), faults)
    print(f"{caught} of {len(faults)} faults caught")
    sys.exit(0 if caught == len(faults) else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.drill")
    parser.add_argument("--sample", type=int, metavar="N", help="so many faults, by the commit")
    parser.add_argument("--only", default="", metavar="WORDS", help="faults with these words")
    return parser.parse_args()


def choose(faults: list[Fault], count: int, commit: str) -> list[Fault]:
    """Return so many of the faults, in their order; the commit alone decides which."""
    chosen = Random(commit).sample(range(len(faults)), min(count, len(faults)))
    return [faults[index] for index in sorted(chosen)]


def _plant_all(folder: Path, faults: list[Fault]) -> int:
    """Return how many of the faults are caught; exits if a test fails without a fault.

    Each of two copies has one fault at a time.
    """
    copy = copy_repository(folder)
    compile_copy(copy)
    if run_tests(copy, *sorted({fault.test for fault in faults}), is_first=True):
        sys.exit("a test of the drill fails without a fault")
    free = SimpleQueue[Path]()
    free.put(copy)
    free.put(Path(shutil.copytree(copy, folder / "second", symlinks=True)))
    total = 0
    with ThreadPoolExecutor(free.qsize()) as pool:
        for fault, (caught, seconds) in zip(
            faults, pool.map(lambda fault: _plant(free, fault), faults), strict=True
        ):
            total += caught
            found = fault.test if caught else f"NOT CAUGHT by {fault.test}"
            print(f"{fault.what}: {found} ({seconds:.0f} s)", flush=True)
    return total


def _plant(free: SimpleQueue[Path], fault: Fault) -> tuple[bool, float]:
    """Plant a fault in a copy that is free, and return whether it is caught, and the seconds."""
    copy, start = free.get(), monotonic()
    try:
        return is_caught(copy, fault), monotonic() - start
    finally:
        free.put(copy)


if __name__ == "__main__":
    main()
