"""Importable: what the process of a bot can import by name."""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import FunctionType, ModuleType

_OURS = ("engine", "bots")


def is_installed(module: str) -> bool:
    """Return whether a bot's process finds a module, which knows no folder of a program.

    >>> is_installed("random"), is_installed("engine.view"), is_installed("__main__")
    (True, True, False)
    """
    package = module.partition(".")[0]
    if package == "__main__":
        return False
    return package in _OURS or package in sys.stdlib_module_names or _is_found(package)


@cache
def _is_found(package: str) -> bool:
    if PathFinder.find_spec(package, [*_folders()]) is not None:
        return True
    finders = [finder for finder in sys.meta_path if finder is not PathFinder]
    return any(finder.find_spec(package, None) for finder in finders)  # installed for editing


def _folders() -> Iterator[str]:
    """Yield the folders of installed packages, and those that their .pth files name."""
    folders = {*site.getsitepackages(), *map(sysconfig.get_path, ("purelib", "platlib"))}
    for folder in sorted(folders):
        yield folder
        for file in sorted(Path(folder).glob("*.pth")):
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from (line for line in lines if not line.startswith(("import ", "#")))


def find_import(value: object) -> tuple[str, str] | None:
    """Return a module and a name by which it can be imported, None if there are none.

    >>> import engine
    >>> find_import(engine.View), find_import(engine.STANDARD)
    (('engine.view', 'View'), ('engine', 'STANDARD'))
    """
    own, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(own, str) and isinstance(name, str) and is_installed(own):  # noqa: SIM102
        if getattr(sys.modules.get(own), name, None) is value:
            return own, name
    if isinstance(value, type | FunctionType):
        return None
    for module in _modules(type(value).__module__):
        for name, other in [*vars(module).items()]:
            if other is value:
                return module.__name__, name
    return None


def _modules(home: str) -> Iterable[ModuleType]:
    """Return the modules that bots can import, the likeliest home of a value first."""
    package = home.partition(".")[0]
    modules = {
        name: module
        for name, module in [*sys.modules.items()]
        if type(module) is ModuleType and module.__name__ == name and is_installed(name)
    }

    def rank(name: str) -> tuple[bool, bool, int, str]:
        top = name.partition(".")[0]
        return top != "engine", top != package, name.count("."), name

    return [modules[name] for name in sorted(modules, key=rank)]
