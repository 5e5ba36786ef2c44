"""Make the reference of the packages for programs from the names in their `__all__`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import arena
import arena.addons.rl
import engine

PACKAGES: Final = (engine, arena, arena.addons.rl)


def pages() -> dict[str, str]:
    """Return the page of each package by its file name."""
    return {f"{package.__name__}.rst": package_page(package) for package in PACKAGES}


def listing(folder: str) -> str:
    """Return the part of the page `reference` for programs, with links into a folder."""
    lines = ["## In Python", ""]
    for package in PACKAGES:
        name, text = package.__name__, (package.__doc__ or "").partition("\n")[0]
        lines.append(f"- [import {name}]({folder}{name}.rst): {text}")
    return "\n".join([*lines, ""])


def package_page(package: ModuleType) -> str:
    """Return a page with the docstring of a package, and then every public name with its own."""
    title = f"import {package.__name__}"
    lines = [title, "=" * len(title), "", f".. automodule:: {package.__name__}", "   :no-members:"]
    for heading, names in sorted_names(package).items():
        if names:
            lines += ["", heading, "-" * len(heading)]
        for name in names:
            lines += ["", *directive(package, name)]
    return "\n".join([*lines, ""])


def sorted_names(package: ModuleType) -> dict[str, list[str]]:
    """Return the public names of a package by what they are."""
    found: dict[str, list[str]] = {"Functions": [], "Classes": [], "Exceptions": [], "Values": []}
    for name in sorted(getattr(package, "__all__", ())):
        found[_heading(getattr(package, name))].append(name)
    return found


def _heading(value: Any) -> str:
    if inspect.isclass(value) and value.__name__ != "int":
        return "Exceptions" if issubclass(value, BaseException) else "Classes"
    return "Functions" if inspect.isroutine(value) else "Values"


def directive(package: ModuleType, name: str) -> Iterator[str]:
    """Yield the lines that document a public name."""
    value, full = getattr(package, name), f"{package.__name__}.{name}"
    heading = _heading(value)
    if heading == "Values":
        yield from (f".. py:data:: {full}", f"   :value: {_short(value)}")
    elif heading == "Functions":
        yield f".. autofunction:: {full}"
    else:
        yield from (f".. autoclass:: {full}", "   :members:", "   :member-order: bysource")


def _short(value: Any) -> str:
    return value.__name__ if inspect.isclass(value) else repr(value)
