"""Writes the reference of `engine` and `arena`, one page each, from their docstrings."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pdoc
import pdoc.render

import arena
import engine

FOLDER = Path(__file__).parent / "reference"
PATTERNS = ("engine", "arena", r"!(engine|arena)\.")  # what `__all__` has, not where it lives


def write_reference(folder: Path) -> None:
    """Write index.html and a page for each of the two packages into a folder."""
    for package in (engine, arena):
        for name in getattr(package, "__all__", ()):  # pdoc finds what is imported already
            vars(package)[name] = getattr(package, name)
    warnings.filterwarnings("ignore", "Error parsing type annotation")  # a NamedTuple's own types
    pdoc.render.configure(docformat="markdown", show_source=False)
    pdoc.pdoc(*PATTERNS, output_directory=folder)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
    write_reference(folder)
    print(f"wrote {folder}/index.html")
