"""Finding: every small change of a module, as cosmic-ray makes it, and which of them count."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from bench.mutants.mutant import TOPS, Mutant, shuffle_places

_SAME = ("ReplaceComparisonOperator_Is_Eq", "ReplaceComparisonOperator_IsNot_NotEq")
_SPEED = {"cache", "lru_cache"}

Span = tuple[tuple[int, int], tuple[int, int]]
"""Where a piece of source begins and ends, each as line (from 1) and column (from 0)."""


def modules(root: Path) -> Iterator[Path]:
    """Yield every module of the engine, the bots and all rooms of the arena, each file once.

    A folder that is only a link is the same files again: `Path.rglob` does not follow it. The
    test that `arena new` writes is no module.
    """
    for top in TOPS:
        found = sorted((root / top).rglob("*.py"))
        yield from (path for path in found if not path.name.startswith("test_"))


def changed(mutant: Mutant, text: str) -> str:
    """Return the source of the mutant's module with the change."""
    source: str = mutate_code(text, get_operator(mutant.operator)(), mutant.occurrence)
    return source


def change(mutant: Mutant, text: str) -> str:
    """Return what changes, as one line of text.

    The lines before, an arrow, and the lines after; the same for every run of the program.
    """
    lines = list(difflib.ndiff(text.splitlines(), changed(mutant, text).splitlines()))
    before = " ".join(line[2:].strip() for line in lines if line.startswith("- "))
    after = " ".join(line[2:].strip() for line in lines if line.startswith("+ "))
    return f"{before} -> {after}"


def find_mutants(module: str, text: str) -> list[Mutant]:
    """Return the mutants of a module, in the order of operators and places."""
    tree, ignored = get_ast(text), list(_ignored(ast.parse(text)))
    nodes = list(ast_nodes(tree))
    found = []
    known: dict[str, list[tuple[object, Span]]] = {}
    for name in sorted(operator_names()):
        if get_operator(name).arguments() or name.endswith(_SAME):
            continue
        operator = get_operator(name)()
        key = name.rpartition("_")[0] if "ReplaceBinary" in name else name  # by what is replaced
        if key not in known:
            known[key] = [(node, at) for node in nodes for at in operator.mutation_positions(node)]
        found += [
            Mutant(module, name, occurrence, *place[0])
            for occurrence, (node, place) in enumerate(known[key])
            if not _is_signature(node) and not any(a <= place[0] < b for a, b in ignored)
        ]
    return found


def draw(population: list[Mutant], root: Path, count: int, seed: int) -> list[Mutant]:
    """Return so many mutants that compile, each at another place, drawn at random.

    First are some of each room (`shuffle_places`). A larger sample begins with the smaller one.
    """
    drawn: list[Mutant] = []
    for address, mutants in shuffle_places(population, seed):
        if len(drawn) == count:
            break
        text = (root / mutants[0].module).read_text(encoding="utf-8")
        order = Random(address).sample(mutants, len(mutants))
        drawn += islice((one for one in order if _compiles(one, text)), 1)
    return drawn


def _compiles(mutant: Mutant, text: str) -> bool:
    """Return whether there is such a mutant: cosmic-ray cannot replace the name in `except a.B`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(changed(mutant, text), "mutant", "exec", dont_inherit=True)
        except (SyntaxError, AttributeError):
            return False
    return True


def _is_signature(node: object) -> bool:
    """Return whether a `*` or `/` separates parameters: cosmic-ray takes it for arithmetic."""
    return getattr(getattr(node, "parent", None), "type", "") in ("parameters", "lambdef")


def _ignored(tree: ast.Module) -> Iterator[Span]:
    """Yield the places that no test should pin: types, messages of exceptions, caches."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation:
            yield _span(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.returns:
                yield _span(node.returns)
            yield from (_span(line) for line in node.decorator_list if _names(line) & _SPEED)
        elif isinstance(node, ast.AnnAssign):
            yield _span(node if "TypeAlias" in _names(node.annotation) else node.annotation)
        elif isinstance(node, ast.Raise):
            yield from (_span(part) for part in ast.walk(node) if isinstance(part, ast.JoinedStr))
        elif isinstance(node, ast.Call) and _names(node.func) & _SPEED:
            yield from map(_span, node.args)


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _span(node: ast.expr | ast.stmt) -> Span:
    """Return the place of a node, and of an `@` before it."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (node.lineno, node.col_offset - 1), (end_line, end_column)
