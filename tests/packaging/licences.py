"""Licences: what each library that the package brings says of itself, and whether that is allowed.

A library is a package of its own, used as it is. So weak copyleft is allowed, and strong is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    """A library, and its licence (empty if that is unknown)."""

    name: str
    version: str
    licence: str

    @property
    def is_allowed(self) -> bool:
        """Return whether all names of the licence are.

        >>> Licensed("a", "1", "(MIT OR GPL-3.0-only) AND Zlib").is_allowed
        False
        """
        names = re.findall(r"[\w.+-]+", re.sub(r"\b(AND|OR)\b", " ", self.licence))
        return bool(names) and {*names} <= ALLOWED


def survey(needs: Iterable[str]) -> list[Licensed]:
    """Return every library that requirements bring.

    The libraries are installed here; raises importlib.metadata.PackageNotFoundError otherwise.
    """
    found = sorted(libraries(needs), key=lambda library: library.name.lower())
    return [Licensed(one.name, one.version, read(one.metadata)) for one in found]


def read(about: metadata.PackageMetadata) -> str:
    """Return the licence of a library by its metadata, as an expression; empty if it is unknown."""
    texts = about.get_all("License-Expression") or about.get_all("License") or []
    for text in texts:
        if "License-Expression" in about or Licensed("", "", text).is_allowed:
            return str(text)
    names = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or []]
    return " AND ".join(_CLASSIFIED[name] for name in names if name in _CLASSIFIED)
