"""`import arena` offers a few names, with types and examples, and loads them late."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import metadata

import pytest

import arena
from tests import ROOT
from tests.test_imports import HEAVY, loaded_by


@pytest.mark.slow
def test_importing_the_arena_imports_nothing() -> None:
    """Not even msgspec; so the command starts as quickly as before."""
    extra = loaded_by("import arena") - loaded_by("pass")
    assert not extra & (HEAVY | {"msgspec", "yaml", "tqdm", "click", "engine"})
    assert not loaded_by("import arena; arena.run, arena.Results, arena.open") & HEAVY


@pytest.mark.parametrize("name", arena.__all__)
def test_every_public_name_has_an_example(name: str) -> None:
    """Its docstring has one that the tests run, or it is an exception of `arena.errors`."""
    thing = getattr(arena, name)
    assert name in dir(arena)
    if thing.__module__ != "arena.errors":
        assert ">>> " in (inspect.getdoc(thing) or "")
    assert inspect.getdoc(thing)


def test_the_version_is_that_of_the_distribution() -> None:
    """It is looked up when it is asked for, as pip does."""
    assert arena.__version__ == metadata.version("district-noir-arena")
    assert "__version__" in dir(arena)
    code = "import arena, sys; assert 'importlib.metadata' not in sys.modules"
    subprocess.run([sys.executable, "-S", "-c", code], check=True, cwd=ROOT)


def test_an_unknown_name_is_an_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="module 'arena' has no attribute 'rum'"):
        _ = arena.rum  # type: ignore[attr-defined]
