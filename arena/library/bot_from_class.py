"""Play a class or function of a program: by its text with its imports, or as it is.

Workers play a self-contained text. What needs more of its program is held: only this process can
play it.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import linecache
import re
import subprocess
import symtable
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeAlias

from arena.entries.bot_files import MOST_SOURCE
from arena.entries.entry import HELD
from arena.entries.loader import find_missing_setup
from arena.entries.resolve import Code
from arena.entries.spec import parse_source
from arena.errors import InputError
from arena.executors.log import RunLog
from arena.executors.worker import Worker
from arena.lanes.evidence import ROOT
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import Setup, Strategy

Thing: TypeAlias = type | FunctionType

_FUTURE = "from __future__ import annotations\n"
_ADDRESS = re.compile(r" at 0x\w+")
_PROGRAM = """
from importlib.util import find_spec
for name in sys.argv[1:]:
    spec = find_spec(name)
    print(spec and (spec.origin or [*spec.submodule_search_locations]))
"""
"""Prints where a process finds packages that begins as a bot's does, without PYTHONPATH."""

_things: dict[str, Callable[..., Strategy]] = {}  # by name and hash


class _NeedsMore(Exception):
    """Raised for a thing whose text is not self-contained; the message is the reason."""


class _Text(NamedTuple):
    """The text of a class or function, its statement, the names it uses, its imports by name."""

    source: str
    node: ast.ClassDef | ast.FunctionDef
    names: frozenset[str]
    imports: Mapping[str, list[str]]


def bundle(thing: Any) -> Code:
    """Return a class or function as the source of a bot's file.

    One that needs more than its text and the imports of its file, or of the notebook, is held, and
    plays in this process. Raises InputError for anything else, such as an object or a lambda.
    """
    kind = thing if isinstance(thing, type) else inspect.unwrap(thing)
    name = getattr(kind, "__name__", type(thing).__name__)
    if not isinstance(kind, type | FunctionType):
        raise InputError(f"bot {name!r}: an object; only a class or a function can be a bot")
    if name == "<lambda>":
        raise InputError(f"bot {name!r}: a lambda has no name; write it with def")
    try:
        source = _write(thing, kind)
    except _NeedsMore as more:
        return _hold(thing, kind, str(more))
    if len(source) > MOST_SOURCE:
        raise InputError(f"bot {name!r}: larger than {MOST_SOURCE:,} bytes")
    return Code(name, source)


def _write(thing: Any, kind: Thing) -> bytes:
    """Return the source of a file with a class or function; raises _NeedsMore."""
    module, name = kind.__module__ or "", kind.__name__
    if getattr(sys.modules.get(module), name, None) is thing and _are_installed(module):
        return f"from {module} import {name} as bot\n".encode()
    text, namespace = _read(kind), _namespace_of(kind)
    if "<locals>" in kind.__qualname__:
        raise _NeedsMore("it is in a function")
    if isinstance(kind, type):
        _check_unchanged(kind, text)
    elif namespace.get(name, thing) is not thing:
        raise _NeedsMore("it is made by a call")
    lines = []
    for used in sorted(text.names):
        if used in namespace and not used.startswith("__"):
            lines += _find_imports(used, namespace[used], text)
        elif not hasattr(builtins, used):
            raise _NeedsMore(f"it uses {used!r}, which its module does not define")
    return "".join([_FUTURE, *dict.fromkeys(lines), text.source, f"bot = {name}\n"]).encode()


def _functions_of(kind: Thing) -> list[FunctionType]:
    """Return a function, or those of a class that were written and not made by a decorator."""
    values = [kind] if isinstance(kind, FunctionType) else [*vars(kind).values()]
    found = (inspect.unwrap(getattr(value, "__func__", value)) for value in values)
    own = (one for one in found if isinstance(one, FunctionType))
    return [one for one in own if linecache.getlines(one.__code__.co_filename, one.__globals__)]


def _namespace_of(kind: Thing) -> dict[str, Any]:
    functions = _functions_of(kind)
    return functions[0].__globals__ if functions else vars(sys.modules[kind.__module__])


def _read(kind: Thing) -> _Text:
    """Return the text of a class or function; raises _NeedsMore if it is not found."""
    functions = _functions_of(kind)
    if not functions:
        raise _NeedsMore("its source cannot be found")
    file, namespace = functions[0].__code__.co_filename, functions[0].__globals__
    lines = linecache.getlines(file, namespace)
    trees = [*_parse(["".join(lines), *namespace.get("In", [])])]  # a notebook's cells
    for node in ast.walk(trees[0]) if trees else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == kind.__name__:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            inside = range(first, (node.end_lineno or 0) + 1)
            if all(one.__code__.co_firstlineno in inside for one in functions):
                source = "".join(lines[first - 1 : node.end_lineno]).rstrip("\n") + "\n"
                source = f"if True:\n{source}" if node.col_offset else source
                table = symtable.symtable(_FUTURE + source, file, "exec")
                return _Text(source, node, frozenset(_find_names(table)), _list_imports(trees))
    raise _NeedsMore("its source cannot be found, or a method was set after its statement")


def _parse(texts: list[str]) -> Iterator[ast.Module]:
    for text in texts:
        with suppress(SyntaxError, ValueError, RecursionError):
            yield parse_source(text)


def _find_names(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names of the module that a text uses."""
    is_top = table.get_type() == "module"
    for one in table.get_symbols():
        if one.is_referenced() and (not one.is_assigned() if is_top else one.is_global()):
            yield one.get_name()
    for inner in table.get_children():
        yield from _find_names(inner)


def _list_imports(trees: list[ast.Module]) -> dict[str, list[str]]:
    """Return the imports of modules, one statement for each name, by the name that it binds."""
    found: dict[str, list[str]] = {}
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level):
            where = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
            for one in node.names:
                bound = one.asname or (one.name if where else one.name.partition(".")[0])
                line = f"{where}import {one.name}{f' as {one.asname}' if one.asname else ''}\n"
                found.setdefault(bound, []).append(line)
    return found


def _find_imports(name: str, value: object, text: _Text) -> list[str]:
    """Return the statements that bind a name to its value elsewhere, too; raises _NeedsMore."""
    lines = text.imports.get(name, [])
    bound: dict[str, object] = {}
    with suppress(ImportError):
        exec("".join(lines), bound)
    if bound.get(name, bound) is not value:
        raise _NeedsMore(f"it uses {name!r} of its module")
    if not _are_installed(*(line.split()[1] for line in lines)):
        raise _NeedsMore(f"it uses {name!r} of a module that is not installed")
    return lines


@cache
def _are_installed(*modules: str) -> bool:
    """Return whether a bot's process finds the packages of modules where this one has them."""
    from arena.lanes.jail import BEGIN  # takes 10 ms, and only a class or function needs it

    packages = sorted({module.partition(".")[0] for module in modules})
    program = BEGIN.format(path=[str(Path(ROOT))], statement=_PROGRAM)
    words = [sys.executable, "-I", "-c", program, *packages]
    there = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    specs = [getattr(sys.modules.get(package), "__spec__", None) for package in packages]
    here = [spec and str(spec.origin or [*spec.submodule_search_locations]) for spec in specs]
    return there[-len(here) :] == here


def _check_unchanged(kind: type, text: _Text) -> None:
    """Raise _NeedsMore for a class with values that its statement has not."""
    body = text.node.body
    bound = {n.id for one in body for n in ast.walk(one) if isinstance(n, ast.Name)}
    bound |= {one.name for one in body if isinstance(one, ast.ClassDef | ast.FunctionDef)}
    values: dict[str, object] = {}
    for one in body:
        if isinstance(one, ast.Assign | ast.AnnAssign) and one.value:
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            with suppress(ValueError, TypeError):
                plain = ast.literal_eval(one.value)
                values |= {target.id: plain for target in targets if isinstance(target, ast.Name)}
    for name, value in vars(kind).items():
        is_own = name.isidentifier() and not name.startswith("_") and not text.node.decorator_list
        is_new = name not in bound and not inspect.ismemberdescriptor(value)
        if is_own and (is_new or repr(values.get(name, value)) != repr(value)):
            raise _NeedsMore(f"its {name!r} was set after its statement")


def _hold(thing: Any, kind: Thing, reason: str) -> Code:
    """Return code that can play a class or function only in this process, with the reason.

    It has a hash of the instructions and values that it uses of its module, so that another class
    of the same name is another bot. Raises InputError for one that takes no setup.
    """
    if advice := find_missing_setup(thing):
        raise InputError(f"bot {kind.__name__!r}: {advice}")
    text = "\n".join(_list_parts(kind, kind.__module__, set()))
    key = f"{kind.__name__} {hashlib.sha256(text.encode(errors='replace')).hexdigest()}"
    _things[key] = thing
    made = f"from {__name__} import make\n\n\ndef bot(setup, **params):\n    return make"
    source = HELD + f"# {reason}\n{made}({key!r}, setup, params)\n".encode()
    return Code(kind.__name__, source)


def _list_parts(value: Any, home: str, seen: set[int]) -> Iterator[str]:
    """Yield the instructions and values of a thing and of all that it uses of its module."""
    value = inspect.unwrap(getattr(value, "__func__", value))
    is_own = isinstance(value, type | FunctionType) and value.__module__ == home
    if isinstance(value, set | frozenset):
        yield repr(sorted(map(repr, value)))
    elif not is_own:
        yield _ADDRESS.sub("", repr(value))
    elif id(value) not in seen:
        seen.add(id(value))
        used = [*value.__bases__, *vars(value).values()] if isinstance(value, type) else []
        for code in [] if used else _list_codes(value.__code__):
            yield repr((code.co_code, code.co_names))
            used += [one for one in code.co_consts if not isinstance(one, CodeType)]
            used += [value.__globals__[name] for name in code.co_names if name in value.__globals__]
            used += [cell.cell_contents for cell in value.__closure__ or () if code.co_freevars]
        for one in used:
            yield from _list_parts(one, home, seen)


def _list_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_codes(constant)


def make(key: str, setup: Setup, params: dict[str, Any]) -> Strategy:
    """Return a strategy of the bot that is held under a key."""
    return _things[key](setup, **params)


def keep_here(tournament: Tournament) -> Tournament:
    """Return a tournament whose held bots play in the process that plays the games."""
    entries = [replace(one, lane="inproc") if one.is_held else one for one in tournament.entries]
    return replace(tournament, entries=entries) if entries != tournament.entries else tournament


def has_held(tournament: Tournament) -> bool:
    """Return whether a bot is held by this process."""
    return any(entry.is_held for entry in tournament.entries)


def explain_held(tournament: Tournament) -> list[str]:
    """Return a line if bots are held by this process."""
    why = "so all games are played in this process, without workers"
    held = [(one.label, one.source or b"") for one in tournament.entries if one.is_held]
    reasons = [f"bot {label!r}: {text.splitlines()[1][2:].decode()}" for label, text in held]
    return [f"{'; '.join(reasons)}, {why}"] if reasons else []


class Here:
    """An executor without workers: it plays in this process."""

    def __str__(self) -> str:
        return "this process"

    def play(
        self, plan: Plan, tournament: Tournament, _log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            while chunk := plan.next():
                yield worker.play(chunk)
