"""Changes: every small change of a module that a test should notice, and a sample of them."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import NamedTuple

TOPS = ("engine", "arena")
"""The folders whose modules are changed."""

_PAIRS = (
    *(("<", "<="), (">", ">="), ("==", "!="), ("is", "is not"), ("in", "not in")),
    *(("and", "or"), ("+", "-"), ("*", "//"), ("&", "|")),
)
_SWAPS = {old: new for pair in _PAIRS for old, new in (pair, pair[::-1])}


class Mutant(NamedTuple):
    """A change of a module: the bytes from `start` to `end` of its source become `new`."""

    module: str
    function: str
    line: int
    start: int
    end: int
    new: str

    @property
    def room(self) -> str:
        """The folder of the room.

        >>> Mutant("arena/entries/template/bot.py", "", 1, 0, 0, "").room
        'arena/entries'
        >>> Mutant("arena/addons/rl/env.py", "", 1, 0, 0, "").room
        'arena/addons/rl'
        """
        folders = self.module.split("/")[:-1]
        return "/".join(folders[: 3 if "addons" in folders else 2])

    def change(self, source: bytes) -> bytes:
        """Return a module's source with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def describe(self, source: bytes) -> str:
        """Return the place and what changes there, as one line of text."""
        old = " ".join(source[self.start : self.end].decode().split())
        return f"{self.module}:{self.line}: {old} -> {self.new}"


class _Finder:
    """Finds the changes of one module."""

    def __init__(self, module: str, source: bytes) -> None:
        self.module, self.source = module, source
        lines = source.splitlines(keepends=True)
        self.starts = [*accumulate(map(len, lines), initial=0)]

    def visit(self, node: ast.AST, name: str = "", inside: bool = False) -> Iterator[Mutant]:
        """Yield the changes of a node and of those below it.

        `name` is the outermost function around it (`inside`), or the class. Left out are types,
        imports, the texts of exceptions and of f-strings, and decorators.
        """
        if isinstance(node, ast.Raise | ast.JoinedStr):
            return
        for start, end, new in self._changes(node):
            assert isinstance(node, ast.expr | ast.stmt)
            yield Mutant(self.module, name, node.lineno, start, end, new)
        if not inside and isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{name}.{node.name}".lstrip(".")
            inside = not isinstance(node, ast.ClassDef)
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns", "decorator_list"):
                for below in value if isinstance(value, list) else [value]:
                    if isinstance(below, ast.AST):
                        yield from self.visit(below, name, inside)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def _changes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare():
                yield from self._swaps([node.left, *node.comparators])
            case ast.BoolOp():
                yield from self._swaps(node.values)
            case ast.BinOp():
                yield from self._swaps([node.left, node.right])
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                pass
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                start, end = self._span(test)
                yield start, end, f"not ({self.source[start:end].decode()})"
            case ast.Constant(value=bool() | int() | float() as value):
                yield *self._span(node), str(not value if isinstance(value, bool) else value + 1)
            case ast.Return(value=ast.expr()) if not _is_none(node.value):
                yield *self._span(node), "return None"
            case ast.Expr(value=ast.Call()):
                yield *self._span(node), "pass"
            case ast.Break() | ast.Continue():
                yield *self._span(node), "continue" if isinstance(node, ast.Break) else "break"

    def _swaps(self, operands: list[ast.expr]) -> Iterator[tuple[int, int, str]]:
        """Yield another operator for each that stands between two operands."""
        for left, right in pairwise(operands):
            start, end = self._span(left)[1], self._span(right)[0]
            found = re.fullmatch(rb"[\s)]*(.*?)[\s(]*", self.source[start:end], re.DOTALL)
            old = found[1].decode() if found else ""
            if found and old in _SWAPS:
                yield start + found.start(1), start + found.end(1), _SWAPS[old]


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def find_mutants(module: str, source: bytes) -> list[Mutant]:
    """Return all changes of a module that leave a module, in the order of its source."""
    return [*_Finder(module, source).visit(ast.parse(source))]


def draw(root: Path, count: int, seed: int, only: str = "") -> list[Mutant]:
    """Return so many changes, of each room as many, each of another line.

    The seed and the line's place decide, so an edit of one module changes no other module's order.
    A larger sample begins with the smaller one. `only` is how the modules' paths begin.
    """
    rooms: dict[str, list[tuple[str, Mutant]]] = defaultdict(list)
    for top in TOPS:
        for path in sorted((root / top).rglob("*.py")):
            module, source = path.relative_to(root).as_posix(), path.read_bytes()
            if module.startswith(only):
                for mutant in find_mutants(module, source):
                    key = sha256(f"{seed} {module} {mutant[2:]}".encode()).hexdigest()
                    rooms[mutant.room].append((key, mutant))
    turns = []
    for found in rooms.values():
        by_line = {(mutant.module, mutant.line): (key, mutant) for key, mutant in sorted(found)}
        turns += [(turn, *one) for turn, one in enumerate(sorted(by_line.values()))]
    drawn = (mutant for *_, mutant in sorted(turns))
    return [*islice((one for one in drawn if _compiles(root, one)), count)]


def _compiles(root: Path, mutant: Mutant) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(mutant.change((root / mutant.module).read_bytes()), "mutant", "exec")
        except SyntaxError:
            return False
    return True
