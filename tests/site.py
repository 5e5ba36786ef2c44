"""The site, built once for all tests and all processes of them, and what its pages link to."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from tests import ROOT
from tests.conftest import Once


def build(folder: Path, *options: str) -> str:
    """Build the site into a folder; return the exit status, and what was said on a line of it."""
    words = [sys.executable, "-m", "docs.making", str(folder), *options]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"{done.returncode} {done.stdout}{done.stderr}"


@pytest.fixture(scope="session")
def site(once: Once) -> Path:
    """Return the folder of the whole site."""

    def build_whole(folder: Path) -> None:
        assert build(folder / "site") == f"0 wrote {folder}/site/index.html\n"

    return once("site", build_whole) / "site"


@dataclass
class Page(HTMLParser):
    """What a page of HTML links to and loads, and the anchors that it has."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and the anchors of an element."""
        found = dict(attrs)
        self.anchors |= {found[name] or "" for name in ("id", "name") if name in found}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        elif tag in ("link", "script", "img"):
            self.loaded += [found[name] or "" for name in ("href", "src") if name in found]


@cache
def read(path: Path) -> Page:
    """Return a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def is_external(address: str) -> bool:
    """Return whether an address is none of a file."""
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def follow(page: Path, address: str) -> tuple[Path, str]:
    """Return the file that a link of a page leads to, and the anchor in it."""
    target, anchor = urldefrag(address)
    path = unquote(urlsplit(target).path)
    return (page.parent / path).resolve() if path else page, unquote(anchor)
