"""Lines: which lines of a module run together with one line, and which when it is imported."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

_BODIES = (ast.stmt, ast.ExceptHandler, ast.match_case)


def together(text: str, line: int) -> set[int]:
    """Return the lines of the statement at a line, which all run if one does.

    Of a statement with a body these are the lines before it. Empty if the line runs when the
    module is imported, as the constants, the classes and the signatures of functions do.

    >>> together("def f(x):\\n    return max(\\n        x, 1)\\nA = 1", 2)
    {2, 3}
    >>> together("def f(x):\\n    return max(\\n        x, 1)\\nA = 1", 4)
    set()
    """
    owners = dict(_owners(ast.parse(text), is_inside=False))
    lines: dict[int, set[int]] = defaultdict(set)
    for number, owner in owners.items():
        lines[owner].add(number)
    return lines[owners[line]] if owners.get(line) else set()


def _owners(tree: ast.AST, is_inside: bool) -> Iterator[tuple[int, int]]:
    """Yield each line with the line of its innermost statement, from outside in; 0 at import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _BODIES):
            start, end = _span(node)
            yield from ((line, start if is_inside else 0) for line in range(start, end + 1))
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _owners(node, is_inside or is_function)


def _span(node: ast.stmt | ast.ExceptHandler | ast.match_case) -> tuple[int, int]:
    """Return the first and last line of a statement, with its decorators."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, node.body[-1].end_lineno or 0
    decorators = getattr(node, "decorator_list", [])
    return min(part.lineno for part in [node, *decorators]), node.end_lineno or node.lineno
