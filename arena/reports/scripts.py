"""Bundle: Vega-Lite and its embedding as one script, which pages with charts have in them."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from arena.errors import InputError, not_installed

_PACKAGE = "vl-convert-python"


def find_lack() -> str:
    """Return what is missing for charts and the command that brings it, nothing if nothing is."""
    return "" if find_spec("vl_convert") else not_installed(_PACKAGE, "report")


@cache
def chart_bundle() -> str:
    """Return the script that binds `vegaEmbed`, of 0.9 MB.

    Making it takes 2 s, so it is kept in the user's cache folder. Raises InputError where
    vl-convert is not installed.
    """
    if lack := find_lack():
        raise InputError(f"a page with charts: {lack}")
    kept = _cache_folder() / f"charts-{version(_PACKAGE)}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed")
    with suppress(OSError):  # then it is made again next time
        _keep(kept, bundle)
    return bundle


def _cache_folder() -> Path:
    """Return where this user's caches are (the XDG base directory specification)."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path("~/.cache").expanduser()
    return base / "district-noir-arena"


def _keep(path: Path, text: str) -> None:
    """Write a file in one step, so that nobody reads a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
