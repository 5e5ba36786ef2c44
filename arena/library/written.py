"""Find the source of a class or function and the names that it needs, or play it as it is."""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import linecache
import symtable
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeAlias

from arena.entries.entry import HELD
from arena.entries.resolve import Code
from arena.entries.syntax import parse_source
from arena.executors.log import RunLog
from arena.executors.worker import Worker
from arena.lanes.scratch import scratch_folder
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import Setup, Strategy


class Unshippable(Exception):
    """Raised for a thing that cannot be sent to a worker; the message is the reason."""


class NoSource(Unshippable):
    """Raised for a thing without source, typed at a prompt or read from standard input."""


def closure(names: object) -> Unshippable:
    """Return the error for a closure, which uses variables of the function around it."""
    return Unshippable(
        f"it uses {names} of the function around it, and a closure has no source of its own; "
        f"make it a parameter"
    )


Thing: TypeAlias = type | FunctionType

_TYPED = ("<ipython", "<stdin", "<python-input", "<doctest")


class Definition(NamedTuple):
    """The source of a class or function, and the names of its module that it uses.

    `eager` are the names that the statement itself needs, `lazy` those that it needs when it is
    called, `optional` those in annotations that are not evaluated. `attributes` are names after a
    dot. `future` says whether its annotations stay unevaluated. `binds` are the names that a class
    statement binds, and `values` those that it binds to plain values.
    """

    text: str
    eager: frozenset[str]
    lazy: frozenset[str]
    optional: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    future: bool = False
    binds: frozenset[str] = frozenset()
    values: Mapping[str, object] = {}
    decorated: bool = False


def own_functions(thing: Thing) -> list[FunctionType]:
    """Return the function, or the functions of a class that its module has defined."""
    if isinstance(thing, FunctionType):
        return [thing]
    functions = []
    for value in vars(thing).values():
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        for part in (value.fget, value.fset) if isinstance(value, property) else (value,):
            function = inspect.unwrap(part) if callable(part) else part
            own = (thing.__module__, None)  # None: a namespace that is a plain dict
            if isinstance(function, FunctionType) and function.__module__ in own:
                functions.append(function)
    return functions


def namespace_of(thing: Thing) -> dict[str, Any]:
    """Return the names of the module in which a class or function was defined."""
    for function in own_functions(thing):
        if not is_generated(function):
            return function.__globals__
    return vars(sys.modules.get(thing.__module__, builtins))


def is_generated(function: FunctionType) -> bool:
    """Return whether a decorator generated a function from text, as `dataclass` does."""
    name = function.__code__.co_filename
    return name.startswith("<") and not name.startswith(_TYPED)


def check_kind(thing: object) -> Thing:
    """Return a class or function itself, without its decorators.

    Raises Unshippable for anything else.
    """
    function = thing if isinstance(thing, type) else inspect.unwrap(thing)  # type: ignore[arg-type]
    if not isinstance(function, type | FunctionType):
        raise Unshippable(
            f"it is an object of the type {type(thing).__name__}; only a class or a function can "
            f"be sent, with `params` for its parameters"
        )
    if function.__name__ == "<lambda>":
        raise Unshippable("a lambda has no name; write it with def")
    return function


_Node: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_NODES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FUTURE = 1 << 24  # in a code's flags: `from __future__ import annotations`
_AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr", "lambda")


class _Place(NamedTuple):
    """The place of a definition: a file, its lines, its syntax tree, and the statement."""

    filename: str
    lines: list[str]
    tree: ast.Module
    node: _Node

    @property
    def first(self) -> int:
        """The number of its first line, which may be that of a decorator."""
        return min([self.node.lineno, *(word.lineno for word in self.node.decorator_list)])

    @property
    def source(self) -> str:
        """Its lines, with their indentation."""
        text = "".join(self.lines[self.first - 1 : self.node.end_lineno]).rstrip("\n") + "\n"
        return f"if True:\n{text}" if self.node.col_offset else text


def read_definition(thing: Thing) -> Definition | None:
    """Return the definition of a class or function, None if its source cannot be found.

    Raises Unshippable for a closure, and for a class that differs from its source.
    """
    place = _find(thing)
    if place is None:
        return None
    _check_functions(thing, place)
    around, table = _find_table(place)
    if names := [symbol.get_name() for symbol in table.get_symbols() if symbol.is_free()]:
        raise closure(" and ".join(repr(name) for name in sorted(names)))
    future = _has_future(thing, place.tree)
    eager = _names(_outside(place.node, future))
    if local := sorted(eager & _locals(around)):
        raise closure(repr(local[0]))
    at_once, later = _globals(table)
    annotations = [part for part in map(_annotation, ast.walk(place.node)) if part is not None]
    return Definition(
        place.source,
        frozenset(eager | at_once),
        frozenset(later),
        frozenset(_names(annotations)),
        frozenset(n.attr for n in ast.walk(place.node) if isinstance(n, ast.Attribute)),
        future,
        frozenset(table.get_identifiers()),
        dict(_values(place.node)),
        bool(place.node.decorator_list),
    )


def _find(thing: Thing) -> _Place | None:
    functions = [function for function in own_functions(thing) if not is_generated(function)]
    changed: _Place | None = None
    for filename in dict.fromkeys(_files(thing, functions)):
        lines = linecache.getlines(filename, namespace_of(thing))
        try:
            tree = parse_source("".join(lines))
        except (SyntaxError, ValueError, RecursionError):
            continue
        for name, node in _definitions(tree, ""):
            place = _Place(filename, lines, tree, node)
            if name == thing.__qualname__ and _fits(thing, place, functions):
                return place
            if name == thing.__qualname__ and isinstance(thing, type):
                changed = place
    if changed is not None:
        _check_functions(thing, changed)
    return None


def _files(thing: Thing, functions: list[FunctionType]) -> Iterator[str]:
    """Yield the names of the files in which a definition may be, the likeliest first."""
    yield from (function.__code__.co_filename for function in functions)
    if not functions:
        file = getattr(sys.modules.get(thing.__module__), "__file__", None)
        if file:
            yield file
        else:  # a notebook's cells, the latest first; their entries have no modification time
            cells = [name for name, entry in linecache.cache.items() if entry[1:2] == (None,)]
            yield from reversed(cells)


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Node]]:
    """Yield every class and function below a node with its qualified name, the last one first."""
    for child in reversed([*ast.iter_child_nodes(node)]):
        if isinstance(child, _NODES):
            name = f"{prefix}{child.name}"
            local = "" if isinstance(child, ast.ClassDef) else "<locals>."
            yield name, child
            yield from _definitions(child, f"{name}.{local}")
        else:
            yield from _definitions(child, prefix)


def _fits(thing: Thing, place: _Place, functions: list[FunctionType]) -> bool:
    """Return whether a statement may be the definition of a class or function."""
    if isinstance(thing, FunctionType):
        return thing.__code__.co_firstlineno == place.first
    is_class = isinstance(place.node, ast.ClassDef)
    return is_class and (not functions or any(_is_inside(place, f) for f in functions))


def _is_inside(place: _Place, function: FunctionType) -> bool:
    code = function.__code__
    lines = range(place.first, (place.node.end_lineno or 0) + 1)
    return code.co_filename == place.filename and code.co_firstlineno in lines


def _check_functions(thing: Thing, place: _Place) -> None:
    """Raise Unshippable unless the functions of a class are those of its source."""
    for function in own_functions(thing):
        if not is_generated(function) and not _is_inside(place, function):
            name = f"{thing.__name__}.{function.__code__.co_name}"
            raise Unshippable(f"{name} is not in the class statement, but was set after it")


def _find_table(place: _Place) -> tuple[list[symtable.SymbolTable], symtable.SymbolTable]:
    """Return the symbol tables around a definition, the module's first, and its own."""
    whole = symtable.symtable("".join(place.lines), "<bot>", "exec")
    around: list[symtable.SymbolTable] = []

    def search(table: symtable.SymbolTable) -> symtable.SymbolTable | None:
        if table.get_name() == place.node.name and table.get_lineno() == place.node.lineno:
            return table
        around.append(table)
        for child in table.get_children():
            if (match := search(child)) is not None:
                return match
        around.pop()
        return None

    table = search(whole)
    assert table is not None
    return around, table


def _locals(around: list[symtable.SymbolTable]) -> set[str]:
    """Return the local names of the functions around a definition."""
    functions = [table for table in around if isinstance(table, symtable.Function)]
    return {name for table in functions for name in table.get_locals()}


def _globals(table: symtable.SymbolTable) -> tuple[set[str], set[str]]:
    """Return the names of the module that a definition needs at once, and on a call."""
    own = {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    at_once, later = (own, set()) if isinstance(table, symtable.Class) else (set(), own)
    for child in table.get_children():
        names, names_later = _globals(child)
        if isinstance(table, symtable.Class) and child.get_name() in _AT_ONCE:
            names, names_later = names | names_later, set()
        if isinstance(table, symtable.Class):
            at_once |= names
            later |= names_later
        else:
            later |= names | names_later
    return at_once, later


def _outside(node: _Node, future: bool) -> Iterator[ast.AST]:
    """Yield what is evaluated outside a statement's own scope: decorators, bases, defaults."""
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from node.keywords
        return
    yield from node.args.defaults
    yield from filter(None, node.args.kw_defaults)
    if not future:
        yield from filter(None, map(_annotation, [node, *ast.walk(node.args)]))


def _annotation(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.returns
    annotation: Any = getattr(node, "annotation", None)
    return annotation if isinstance(annotation, ast.AST) else None


def _values(node: _Node) -> Iterator[tuple[str, object]]:
    """Yield the plain values of a class statement, with their names."""
    for part in node.body:
        targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
        value: ast.AST | None = getattr(part, "value", None)
        if isinstance(part, ast.Assign | ast.AnnAssign) and value is not None:
            with suppress(ValueError, TypeError, RecursionError, MemoryError):
                plain = ast.literal_eval(value)
                yield from ((t.id, plain) for t in targets if isinstance(t, ast.Name))


def _names(nodes: Iterator[ast.AST] | list[ast.AST]) -> set[str]:
    """Return the names that expressions read and do not bind themselves."""
    inside = [part for node in nodes for part in ast.walk(node)]
    names = {part.id for part in inside if isinstance(part, ast.Name)}
    bound = {p.id for p in inside if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    return names - bound - {part.arg for part in inside if isinstance(part, ast.arg)}


def _has_future(thing: Thing, tree: ast.Module) -> bool:
    """Return whether annotations are strings there; a notebook's cells inherit that."""
    functions = [function for function in own_functions(thing) if not is_generated(function)]
    if functions:
        return bool(functions[0].__code__.co_flags & _FUTURE)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return any(node.module == "__future__" for node in imports)


_things: dict[str, Callable[..., Strategy]] = {}  # by name and hash


def hold(thing: Any) -> Code:
    """Return code that can play a class or function only in this process.

    The code contains a hash of the instructions, so that a different class of the same name is a
    different bot.
    """
    parts = [part for function in own_functions(thing) for part in _parts(function.__code__)]
    name: str = thing.__name__
    key = f"{name} {hashlib.sha256(repr(parts).encode()).hexdigest()}"
    _things[key] = thing
    made = "from arena.library.written import make\n\n\ndef bot(setup, **params):\n    return make"
    return Code(name, HELD + f"{made}({key!r}, setup, params)\n".encode())


def _parts(code: CodeType) -> Iterator[object]:
    """Yield the instructions, names and constants of a function and of those inside it."""
    yield code.co_code, code.co_names, code.co_varnames
    for constant in code.co_consts:
        yield from _parts(constant) if isinstance(constant, CodeType) else [constant]


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
    labels = ", ".join(repr(entry.label) for entry in tournament.entries if entry.is_held)
    why = "all games are played in this process, without workers"
    return [f"bot {labels}: its source cannot be found, so {why}"] if labels else []


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
