"""The reference has every public name, each with an example that runs."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import arena
import engine
from tests import ROOT

PUBLIC = [
    (package, name) for package in (engine, arena) for name in getattr(package, "__all__", ())
]
ALIASES = ("Action", "Bot", "Kind", "Pack", "Seat")
"""Names of types that are not classes of ours: `Kind` is int."""


def documented(value: Any) -> str:
    """Return the docstring of a function, or those of a class and of its methods."""
    texts = [inspect.getdoc(value)]
    if inspect.isclass(value):
        texts += [inspect.getdoc(member) for member in vars(value).values()]
    return "\n".join(text or "" for text in texts)


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=lambda value: str(value))
def test_a_public_function_or_class_has_an_example(package: Any, name: str) -> None:
    """A `>>>` in its docstring, or in that of a method; all of them run with the tests."""
    value = getattr(package, name)
    if name not in ALIASES and (inspect.isclass(value) or inspect.isroutine(value)):
        assert ">>> " in documented(value)


@pytest.mark.slow
def test_the_pages_have_every_public_name(tmp_path: Path) -> None:
    """`make docs` writes a page for each package, in which each name has its place."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "reference.py"), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for package, name in PUBLIC:
        page = (tmp_path / f"{package.__name__}.html").read_text()
        assert f'id="{name}"' in page
    assert "&gt;&gt;&gt;" in page
