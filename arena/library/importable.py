"""Find out which modules the process of a bot can import by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType

_ROOT = Path(__file__).resolve().parents[2]

_PROGRAM = """
import json, os, sys
from importlib.util import find_spec

names, root = json.load(sys.stdin)
sys.path.append(root)
places = {}
for name in names:
    try:
        spec = find_spec(name)
    except Exception:
        spec = None
    if spec is not None:
        origin = spec.origin if spec.has_location else os.path.dirname(os.__file__)
        found = [origin, *(spec.submodule_search_locations or ())]
        places[name] = [os.path.realpath(place) for place in found if place]
print()
print(json.dumps(places))
"""
"""Prints where Python finds packages without working folder, PYTHONPATH and import hooks."""

_places: dict[str, tuple[str, ...]] = {}


def is_installed(module: str) -> bool:
    """Return whether a bot's process finds a module in the same file as this program.

    That process does not search the program's folder or use its import hooks. pytest, for example,
    finds every file in the folder of a test.

    >>> is_installed("random"), is_installed("engine.view"), is_installed("__main__")
    (True, True, False)
    """
    places = find_places(module.partition(".")[0])
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or not places:
        return bool(places)
    return any(_is_at(file, place) for place in places)


def find_places(package: str) -> tuple[str, ...]:
    """Return the file and the folders in which a bot's process finds a package, if any.

    A bare Python process searches once for all packages loaded so far, which takes 20 to 80 ms.
    """
    if package not in _places:
        loaded = {name.partition(".")[0] for name in [*sys.modules]}
        names = sorted(name for name in {package, *loaded} - _places.keys() if name.isidentifier())
        done = subprocess.run(
            [sys.executable, "-I", "-c", _PROGRAM],
            input=json.dumps([names, str(_ROOT)]),
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.splitlines()[-1])
        _places.update({name: tuple(found.get(name, ())) for name in {package, *names}})
    return _places[package]


def _is_at(file: str, place: str) -> bool:
    """Return whether a file is `place` or in that folder."""
    return any(path == place or path.startswith(place + os.sep) for path in (file, _real(file)))


@cache
def _real(file: str) -> str:
    return os.path.realpath(file)


def find_import(value: object) -> tuple[str, str] | None:
    """Return a module and a name by which a value can be imported, else None.

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
    """Return the modules that bots can import, the likeliest one for the value first."""
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
