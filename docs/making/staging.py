"""Copy the pages to where Sphinx reads them: docs/ at the top, and beside it what they link to.

On a code host a page links to `../bench/STUDIES.md`; on the site there is no folder docs/ between.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

WAYS_IN: Final = ("index", "first-hour", "how-to", "reference", "explanation")
"""The first page, and the four that it leads to; each lists its pages by linking to them."""

BESIDE: Final = (
    *("CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"),
    "bench/*.md",
)
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
LISTED = re.compile(r"^[-|] ?.*?\]\(([^)\s#:]+\.(?:md|rst|ipynb))\)", re.MULTILINE)


def stage_pages(root: Path, source: Path, more: Mapping[str, str]) -> None:
    """Copy docs/ and the pages beside it into a folder, with links that hold there.

    `more` is what follows at the end of some pages.
    """
    ignored = shutil.ignore_patterns("site", "making", "__pycache__")
    shutil.copytree(root / "docs", source, ignore=ignored)
    pages = ["docs" / path.relative_to(source) for path in sorted(source.rglob("*.md"))]
    pages += [path.relative_to(root) for name in BESIDE for path in sorted(root.glob(name))]
    for page in pages:
        text = (root / page).read_text(encoding="utf-8")
        staged = source / place(page.as_posix())
        staged.parent.mkdir(parents=True, exist_ok=True)
        text = move_links(text + more.get(page.as_posix(), ""), page.as_posix())
        if page.parent == Path("docs") and page.stem in WAYS_IN:
            text += list_pages(text)
        staged.write_text(text, encoding="utf-8")


def place(path: str) -> str:
    """Return where a file of the repository lies on the site, whose first page is no README.

    >>> place("docs/course/README.md"), place("bench/STUDIES.md"), place("README.md")
    ('course/README.md', 'bench/STUDIES.md', 'index.md')
    """
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def move_links(text: str, page: str) -> str:
    """Return a page's text with its links to files as they are on the site.

    >>> move_links("[a](../bench/STUDIES.md#b), [c](d.md)", "docs/e.md")
    '[a](bench/STUDIES.md#b), [c](d.md)'
    """
    folder = str(PurePosixPath(page).parent)
    there = str(PurePosixPath(place(page)).parent)

    def move(link: re.Match[str]) -> str:
        target = place(posixpath.normpath(posixpath.join(folder, link[1])))
        return posixpath.relpath(target, there)

    return LINK.sub(move, text)


def list_pages(text: str) -> str:
    """Return the hidden table of contents of a page: what its lists and tables link to first.

    >>> print(list_pages("# Title\\n\\n- [one](one.md): a page\\n"))
    <BLANKLINE>
    ```{toctree}
    :hidden:
    <BLANKLINE>
    one
    ```
    <BLANKLINE>
    """
    names = [link.rpartition(".")[0] for link in LISTED.findall(text)]
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
