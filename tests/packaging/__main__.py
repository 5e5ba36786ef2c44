"""`make release-check`: the wheel in a fresh environment of each Python that is named.

The libraries come from the package index, in the versions of constraints.txt.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.packaging import smoke, wheel


def main(pythons: list[str]) -> None:
    """Build an sdist and a wheel, and try the wheel with each Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = wheel.build(folder / "built")
        for number, python in enumerate(pythons):
            here = folder / str(number)
            bin_folder = wheel.install(built, here / "environment", python)
            for job in (smoke.try_commands, smoke.try_in_another_project):
                empty = here / job.__name__
                empty.mkdir()
                job(bin_folder, empty)
            version = wheel.run([bin_folder / "python", "--version"], here).strip()
            print(f"{built.name} works with {version}")


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
