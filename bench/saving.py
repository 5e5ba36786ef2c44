"""Saving: sections of figures, printed as they are made and kept in a file beside the others."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from subprocess import CalledProcessError

Part = tuple[str, Callable[[], Iterable[str]]]
"""The title of a section, and what yields its lines, the title's among them."""


def chosen(parts: Mapping[str, object], long: Collection[str] = ()) -> list[str]:
    """Return the names of the sections that the command line asks for.

    If it names none, these are all but the long ones.
    """
    names = [word for word in sys.argv[1:] if word != "--save"]
    if unknown := {*names} - {*parts}:
        sys.exit(f"error: {', '.join(sorted(unknown))}: there are {', '.join(parts)}")
    return names or [name for name in parts if name not in long]


def make(path: Path, head: str, parts: Mapping[str, Part], names: Iterable[str]) -> None:
    """Print these sections; with --save, put them in their places in a file that has others.

    A section is saved as soon as it is complete. One that fails says why, and what was saved of it
    before stays; the rest is made, and the exit status is 1.
    """
    failed = []
    for name in names:
        title, lines = parts[name]
        text = []
        try:
            for line in lines():
                print(line, flush=True)
                text.append(line)
        except Exception as error:
            if not isinstance(error, CalledProcessError):  # which has said so itself
                traceback.print_exc()
            failed.append(name)
            continue
        if "--save" in sys.argv[1:]:
            _save(path, head, parts, title, "\n".join(text))
    if failed:
        sys.exit(f"error: failed: {', '.join(failed)}")


def _save(path: Path, head: str, parts: Mapping[str, Part], title: str, text: str) -> None:
    """Write a section, and all others of the file that there still are."""
    kept = sections(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[title] = text
    saved = [kept[each] for each, _ in parts.values() if each in kept]
    path.write_text("\n".join([head, *saved]) + "\n", encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """Return the sections of a text by their titles.

    >>> sections("# Results\\n\\n## Peers\\n\\n| a |\\n")
    {'Peers': '\\n## Peers\\n\\n| a |'}
    """
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    return {
        title: f"\n## {title}\n\n{body.strip()}"
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }
