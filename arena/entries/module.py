"""Module: where an installed module is, found without running it."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Location(NamedTuple):
    """Where a module is: its name and file, and the folder from which it is imported."""

    module: str
    origin: Path
    folder: Path

    @property
    def package(self) -> Path | None:
        """The folder of all that ships with the module, None for a module of no package.

        It is that of the outermost package with an `__init__.py`. Where no package has one, it
        is the folder of the module: around it others may have put theirs.
        """
        around = self.origin.relative_to(self.folder).parents  # the innermost first
        folders = [self.folder / folder for folder in around][:-1]
        regular = [folder for folder in folders if (folder / "__init__.py").is_file()]
        return regular[-1] if regular else folders[0] if folders else None


def find_module(module: str, folders: Sequence[str]) -> Location | None:
    """Return where a module is, None where there is none; no package around it is run."""
    first, *rest = module.split(".")
    if not all((first, *rest)):
        return None
    spec = importlib.machinery.PathFinder.find_spec(first, folders)
    for finder in sys.meta_path:  # finds a package that is installed for editing
        spec = spec or finder.find_spec(first, None)
    for name in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        below = list(spec.submodule_search_locations)
        # without the names before it, which a namespace would look for among imported ones
        spec = importlib.machinery.PathFinder.find_spec(name, below)
    if spec is None or not spec.origin or not spec.has_location:
        return None
    origin = Path(spec.origin).absolute()
    return Location(module, origin, origin.parents[len(rest) + (origin.name == "__init__.py")])
