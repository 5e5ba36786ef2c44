"""RunFolder: where a run's files go, whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from arena.errors import InputError

LOG = "run.log"
MANIFEST = "manifest.json"
TABLES = ("games.csv", "standings.csv", "head_to_head.csv", "win_types.csv")


class RunFolder:
    """A folder for the files of one run; an earlier run's files stay until `write`."""

    def __init__(self, path: Path) -> None:
        """Make the folder, and see that files can be written there.

        Raises InputError, which names it, if they cannot, or if it holds anything but a run.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in path.iterdir()}
            if names and not names & {LOG, MANIFEST}:
                raise InputError(f"{path}: holds other files and no run; choose a new folder")
            for name in (*TABLES, MANIFEST):
                if (path / name).is_dir():
                    raise InputError(f"{path / name}: is a folder, where a file is to be")
            with tempfile.TemporaryFile(dir=path), self.log.open("a"):
                pass
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None

    @property
    def log(self) -> Path:
        """The log of every run that wrote here."""
        return self.path / LOG

    def write(self, manifest: dict[str, Any], tables: dict[str, str]) -> None:
        """Write the tables (CSV text by file name) and the manifest over an earlier run's.

        Every file is written beside its place first and then put there in one step.
        """
        texts = tables | {MANIFEST: json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"}
        staged = []
        try:
            for name, text in texts.items():
                temporary = self.path / f".{name}.part"
                staged.append((temporary, self.path / name))
                temporary.write_text(text, encoding="utf-8", newline="")
            for temporary, final in staged:
                os.replace(temporary, final)
        finally:
            for temporary, _ in staged:
                temporary.unlink(missing_ok=True)
