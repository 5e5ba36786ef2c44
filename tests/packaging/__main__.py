"""`make release-check`: the wheel in a fresh environment of each Python that is named.

The libraries come from the package index, in the versions of constraints.txt: first those that
every user needs, which are small, and then those of the extra `report`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.packaging import smoke, wheel

MOST = 180
"""Megabytes that the wheel and what it needs take, beside what a new environment has."""


def main(pythons: list[str]) -> None:
    """Build an sdist and a wheel, and try the wheel with each Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = wheel.build(folder / "built")
        for number, python in enumerate(pythons):
            here = folder / str(number)
            environment = here / "environment"
            before = wheel.make(environment, python)
            wheel.add(environment, str(built))
            after = wheel.megabytes(environment)
            assert after - before <= MOST, f"{after} MB, and {before} MB of them before"
            bin_folder = environment / "bin"
            for job in (smoke.try_commands, smoke.try_in_another_project, smoke.try_without_pages):
                empty = here / job.__name__
                empty.mkdir()
                job(bin_folder, empty)
            wheel.add(environment, f"{built}[report]")
            smoke.try_pages(bin_folder, here / smoke.try_without_pages.__name__)
            version = wheel.run([bin_folder / "python", "--version"], here).strip()
            print(f"{built.name} works with {version}: {after} MB, {before} MB of them before")


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
