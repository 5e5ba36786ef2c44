"""Saving: sections of figures, printed as they are made and kept in a file beside the others."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

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
    """Print these sections; with --save, put them in their places in a file that has others."""
    made = {}
    for name in names:
        title, lines = parts[name]
        text = []
        for line in lines():
            print(line, flush=True)
            text.append(line)
        made[title] = "\n".join(text)
    if "--save" in sys.argv[1:]:
        kept = sections(path.read_text(encoding="utf-8")) if path.exists() else {}
        kept |= made
        saved = [kept[title] for title, _ in parts.values() if title in kept]
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
