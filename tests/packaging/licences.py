"""Licences: what each library that the package brings says of itself, and whether that is allowed.

A library is a package of its own, used as it is. So weak copyleft is allowed, and strong is not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from typing import NamedTuple

from tests.packaging.wheel import libraries

ALLOWED = frozenset(
    (
        *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT"),
        *("PSF-2.0", "Zlib"),
        *("LGPL-2.0-or-later", "LGPL-3.0-or-later", "MPL-2.0"),
    )
)
"""Names of SPDX, and BSD where a library does not say which."""

_CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


class Licensed(NamedTuple):
    """A library, its licence (empty if that is unknown), and the extras that bring it.

    What every user has is brought by the extra "".
    """

    name: str
    version: str
    licence: str
    extras: tuple[str, ...]

    @property
    def is_allowed(self) -> bool:
        """Return whether all names of the licence are.

        >>> Licensed("a", "1", "(MIT OR GPL-3.0-only) AND Zlib", ("",)).is_allowed
        False
        """
        names = re.findall(r"[\w.+-]+", re.sub(r"\b(AND|OR)\b", " ", self.licence))
        return bool(names) and {*names} <= ALLOWED


def survey(needs: Mapping[str, Iterable[str]]) -> list[Licensed]:
    """Return every library that requirements bring, by the extras that have them.

    The libraries are installed here; raises importlib.metadata.PackageNotFoundError otherwise.
    """
    found: dict[str, metadata.Distribution] = {}
    extras: dict[str, list[str]] = defaultdict(list)
    for extra, requirements in needs.items():
        for library in libraries(requirements):
            found[library.name] = library
            extras[library.name].append(extra)
    return [
        Licensed(name, found[name].version, read(found[name].metadata), tuple(extras[name]))
        for name in sorted(found, key=str.lower)
    ]


def read(about: metadata.PackageMetadata) -> str:
    """Return the licence of a library by its metadata, as an expression; empty if it is unknown."""
    texts = about.get_all("License-Expression") or about.get_all("License") or []
    for text in texts:
        if "License-Expression" in about or Licensed("", "", text, ()).is_allowed:
            return str(text)
    names = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or []]
    return " AND ".join(_CLASSIFIED[name] for name in names if name in _CLASSIFIED)


def table(rows: Sequence[Licensed]) -> Iterator[str]:
    """Yield a line for each library: its name, version and licence, and which extras bring it.

    >>> print(*table([Licensed("jinja2", "3.1", "BSD", ("",))]), sep="")
    jinja2  3.1  BSD  every install
    """
    cells = [
        (row.name, row.version, row.licence or "unknown", ", ".join(filter(None, row.extras)))
        if "" not in row.extras
        else (row.name, row.version, row.licence or "unknown", "every install")
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()
