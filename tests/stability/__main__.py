"""Write the lists again; with `folders` also what this version makes, where it is not there yet."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from arena.tournament.versions import minor, version_here
from tests.stability import BYTES, FOLDERS, MADE, PUBLIC
from tests.stability.public import public
from tests.stability.sample import hashes, made, make, zip_folders


def write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def main() -> None:
    """Write all lists."""
    write(PUBLIC, public())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed = make(folder)
        write(MADE, made(folder, printed))
        write(BYTES, [minor(version_here()), *hashes(folder)])
        if "folders" in sys.argv:
            zip_folders(folder, FOLDERS / version_here())


if __name__ == "__main__":
    main()
