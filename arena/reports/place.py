"""Place: where a report is written to: a new file, or an earlier report's."""

from __future__ import annotations

import os
from pathlib import Path

from arena.errors import InputError
from arena.records.html_page import GENERATOR

_BEGINNING = 4096  # bytes, in which a report says whose it is


def check_place(path: Path) -> None:
    """Raise InputError where there is something else than a report."""
    try:
        if not path.exists():
            return
        if not path.is_file():
            raise InputError(f"{path}: not a regular file")
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path}: not the name of a file: {error}") from None
    if beginning and GENERATOR.encode() not in beginning:
        raise InputError(f"{path}: holds something else than a report; it is kept")


def write_text(path: Path, text: str) -> None:
    """Write a file in one step, and its folder; raises InputError, which names the file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8", newline="")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
