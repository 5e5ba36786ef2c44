"""Mutant: one small change of one module, as cosmic-ray makes it, and which of them count."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

_SAME = ("ReplaceComparisonOperator_Is_Eq", "ReplaceComparisonOperator_IsNot_NotEq")
_SPEED = {"cache", "lru_cache"}

Span = tuple[tuple[int, int], tuple[int, int]]
"""Where a piece of source begins and ends, each as line (from 1) and column (from 0)."""


class Mutant(NamedTuple):
    """The change that an operator of cosmic-ray makes at one of its places in a module."""

    module: str
    operator: str
    occurrence: int
    line: int

    def source(self, text: str) -> str:
        """Return the source of the module with the change."""
        mutated: str = mutate_code(text, get_operator(self.operator)(), self.occurrence)
        return mutated

    def change(self, text: str) -> str:
        """Return what changes, as one line of text.

        The lines before, an arrow, and the lines after; the same for every run of the program.
        """
        lines = list(difflib.ndiff(text.splitlines(), self.source(text).splitlines()))
        before = " ".join(line[2:].strip() for line in lines if line.startswith("- "))
        after = " ".join(line[2:].strip() for line in lines if line.startswith("+ "))
        return f"{before} -> {after}"


def find_mutants(module: str, text: str) -> list[Mutant]:
    """Return the mutants of a module, in the order of operators and places."""
    tree, ignored = get_ast(text), list(_ignored(ast.parse(text)))
    nodes = list(ast_nodes(tree))
    found = []
    for name in sorted(operator_names()):
        if get_operator(name).arguments() or name.endswith(_SAME):
            continue
        operator = get_operator(name)()
        places = [(node, place) for node in nodes for place in operator.mutation_positions(node)]
        found += [
            Mutant(module, name, occurrence, place[0][0])
            for occurrence, (node, place) in enumerate(places)
            if not _is_signature(node) and not any(a <= place[0] < b for a, b in ignored)
        ]
    return found


def draw(mutants: list[Mutant], text: str, count: int, seed: int) -> list[Mutant]:
    """Return so many mutants of one module, drawn at random from those that compile."""
    order = Random(f"{seed} {mutants[0].module}").sample(mutants, len(mutants))
    drawn: list[Mutant] = []
    for mutant in order:
        if len(drawn) == count:
            break
        if _compiles(mutant.source(text)):
            drawn.append(mutant)
    return sorted(drawn, key=lambda mutant: (mutant.line, mutant.operator, mutant.occurrence))


def _compiles(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(source, "mutant", "exec", dont_inherit=True)
        except SyntaxError:
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
        elif isinstance(node, ast.FunctionDef):
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
