"""Write a class or function of a program as a file that needs no other."""

from __future__ import annotations

import builtins
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from inspect import ismemberdescriptor
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from arena.entries.file import MOST_SOURCE
from arena.entries.resolve import Code
from arena.errors import InputError
from arena.library.written import (
    Definition,
    NoSource,
    Unshippable,
    check_kind,
    hold,
    namespace_of,
    read_definition,
)

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


_ATOMS = (type(None), type(...), bool, int, str, bytes)
_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}
_Items: TypeAlias = list[object] | tuple[object, ...] | set[object] | frozenset[object]


def write_literal(value: object) -> str:
    """Return an expression for an equal value, the same text in every process.

    Raises Unshippable for values other than numbers, strings, bytes, booleans, None, and lists,
    tuples, sets and dicts of these.

    >>> write_literal({"deep": [1, (2.5,)], "names": {"b", "a"}, "most": float("inf")})
    "{'deep': [1, (2.5,)], 'names': {'a', 'b'}, 'most': float('inf')}"
    """
    try:
        return _write(value)
    except (RecursionError, ValueError):  # a list in itself, an int of too many digits
        raise Unshippable("a value nested too deep or too long") from None


def _write(value: object) -> str:
    kind = type(value)
    if kind in _ATOMS:
        return repr(value)
    if isinstance(value, float) and kind is float:
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(value, dict) and kind is dict:
        items = [f"{_write(key)}: {_write(value[key])}" for key in value]
        return ", ".join(items).join("{}")
    if isinstance(value, list | tuple | set | frozenset) and kind in _BRACKETS:
        return _write_items(value)
    raise Unshippable(f"a value of the type {kind.__name__}")


def _write_items(values: _Items) -> str:
    kind = type(values)
    items = [_write(value) for value in values]
    if isinstance(values, set | frozenset):
        items.sort()
        text = ", ".join(items).join("{}") if items else "set()"
        return text if kind is set else f"frozenset({text})"
    if kind is tuple and len(items) == 1:
        return f"({items[0]},)"
    return ", ".join(items).join(_BRACKETS[kind])


_OF_A_MODULE = {*vars(ModuleType("")), "__file__", "__builtins__"}


def bundle(thing: Any) -> Code:
    """Return a class or function as the source of a file, with what it uses of its module.

    These are imports, plain values, and other classes and functions. A thing without source, as at
    a prompt, plays in this process, with a warning. Raises InputError, with the reason, if it
    cannot be sent to a worker.
    """
    name = getattr(thing, "__name__", None) or type(thing).__name__
    try:
        code = _Bundle().of(thing)
    except NoSource:
        return hold(thing)
    except Unshippable as refusal:
        raise InputError(f"bot {name!r}: it cannot be sent to a worker: {refusal}") from None
    if len(code.source) > MOST_SOURCE:
        raise InputError(f"bot {name!r}: larger than {MOST_SOURCE:,} bytes, with all that it uses")
    return code


def _parts(module: str, attributes: frozenset[str]) -> Iterator[str]:
    """Yield the submodules of a module that are used, and last the module itself."""
    for attribute in sorted(attributes):
        if isinstance(sys.modules.get(f"{module}.{attribute}"), ModuleType):
            yield from _parts(f"{module}.{attribute}", attributes)
    yield module


class _Bundle:
    """Statements in an order in which they can be executed, and the names they bind."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.bound: dict[str, object] = {}
        self.future = False

    def of(self, thing: Any) -> Code:
        """Return the source of a file with this bot."""
        name = self._define(thing, getattr(thing, "__name__", ""))
        head = ["from __future__ import annotations\n"] if self.future else []
        text = "\n".join([*head, *self.statements, f"bot = {name}\n"])
        return Code(name, text.encode())

    def _define(self, thing: Any, name: str) -> str:
        """Add the statement of a class or function, and return the name that it binds."""
        if (place := find_import(thing)) is not None:
            self.statements.append(f"from {place[0]} import {place[1]} as {name}")
            return name
        kind = check_kind(thing)
        own = kind.__name__
        namespace = namespace_of(kind)
        if kind is not thing and namespace.get(own, thing) is not thing:
            raise Unshippable(f"{name!r} is made by a call, and not by a decorator")
        if self._bind(own, thing):
            definition = read_definition(kind)
            if definition is None:
                raise NoSource(f"the source of {own} cannot be found")
            self._add(definition, namespace, own)
            if isinstance(kind, type):
                self._set_attributes(kind, definition)
        return own

    def _set_attributes(self, kind: type, definition: Definition) -> None:
        """Add the plain values that were set on a class after its statement."""
        for name, value in vars(kind).items():
            is_hidden = name.startswith("__") or name == "_abc_impl" or ismemberdescriptor(value)
            is_hidden |= not name.isidentifier()  # pytest's, of an assertion in a class statement
            if is_hidden or (name not in definition.values and name in definition.binds):
                continue
            place = f"{kind.__name__}.{name}"
            try:
                text = write_literal(value)
                if text != write_literal(definition.values.get(name, ...)):
                    self.statements.append(f"{place} = {text}")
            except Unshippable as refusal:
                if not definition.decorated:
                    raise Unshippable(f"{place} was set to {refusal}") from None

    def _add(self, definition: Definition, namespace: Mapping[str, Any], user: str) -> None:
        self.future |= definition.future
        for name in sorted(definition.eager):
            self._need(name, namespace, user, definition)
        self.statements.append(definition.text)
        for name in sorted(definition.lazy):
            self._need(name, namespace, user, definition)
        for name in sorted(definition.optional):
            before = [*self.statements], {**self.bound}
            try:
                self._need(name, namespace, user, definition)
            except Unshippable:  # an annotation that is not evaluated
                self.statements, self.bound = before

    def _need(
        self, name: str, namespace: Mapping[str, Any], user: str, definition: Definition
    ) -> None:
        """Bind a name that a definition uses."""
        if name in _OF_A_MODULE or (name not in namespace and hasattr(builtins, name)):
            return
        if name not in namespace:
            raise Unshippable(f"{user} uses {name!r}, which its module does not define")
        value = namespace[name]
        if isinstance(value, ModuleType):
            self._import(name, value, user, definition.attributes)
        elif self._bind(name, value):
            self._make(name, value, user)

    def _bind(self, name: str, value: object) -> bool:
        """Return whether a name is still unbound; raises Unshippable if its value differs."""
        if name in self.bound and self.bound[name] is not value:
            raise Unshippable(f"it uses two different things that are called {name!r}")
        is_new = name not in self.bound
        self.bound[name] = value
        return is_new

    def _make(self, name: str, value: object, user: str) -> None:
        """Bind a name to its value in its module."""
        try:
            self.statements.append(f"{name} = {write_literal(value)}")
            return
        except Unshippable:
            pass
        if (place := find_import(value)) is not None:
            self.statements.append(f"from {place[0]} import {place[1]} as {name}")
        elif isinstance(value, type) or hasattr(value, "__code__") or hasattr(value, "__wrapped__"):
            del self.bound[name]
            own = self._define(value, name)
            if own != name and self._bind(name, value):
                self.statements.append(f"{name} = {own}")
        else:
            raise Unshippable(
                f"{user} uses {name!r}, a value of the type {type(value).__name__}; only imports, "
                f"plain values, classes and functions can go with it"
            )

    def _import(self, name: str, module: ModuleType, user: str, attributes: frozenset[str]) -> None:
        """Bind a name to a module, with those of its submodules that are used."""
        own = module.__name__
        if not is_installed(own):
            raise Unshippable(
                f"{user} uses the module {own!r}, which is not installed; a bot stands alone: use "
                f"its functions by name, from {own} import ..."
            )
        if self._bind(name, module):
            self.statements += [f"import {inner} as {name}" for inner in _parts(own, attributes)]
