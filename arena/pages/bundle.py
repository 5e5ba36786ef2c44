"""Bundle: Vega-Lite and its embedding as one script, which pages with charts have in them."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

_PACKAGE = "vl-convert-python"


@cache
def chart_bundle() -> str:
    """Return the script that binds `vegaEmbed`, of 0.9 MB.

    Making it takes 2 s, so it is kept in the user's cache folder.
    """
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
