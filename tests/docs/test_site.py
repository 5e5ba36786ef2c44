"""The site that `make docs` builds is whole, and its pages made from the code have every name."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import click
import pytest

from arena.cli import cli
from arena.store.table_columns import TableColumns
from docs.making import api, commands, config_keys, csv_columns, staging
from docs.making.site import build_site
from docs.making.versions import list_versions
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


OF_SPHINX = ("genindex.html", "py-modindex.html", "search.html")


def pages(site: Path) -> list[Path]:
    """Return all pages of the site, those of the gallery included."""
    return sorted(path.resolve() for path in site.rglob("*.html") if "_static" not in path.parts)


@pytest.mark.slow
def test_links_lead_to_files_or_have_the_form_of_one(site: Path) -> None:
    """To an anchor in a file, also of what pages load; nothing is loaded from elsewhere."""
    missing = []
    for page in pages(site):
        for address in [*read(page).links, *read(page).loaded]:
            if is_external(address):
                continue
            target, anchor = follow(page, address)
            target = target / "index.html" if target.is_dir() else target
            known = "gallery" in target.parts or target.suffix != ".html"
            if not target.is_file() or (
                anchor and not known and anchor not in read(target).anchors
            ):
                missing.append(f"{page.relative_to(site)}: {address}")
    assert not missing
    for page in pages(site):
        found = read(page)
        links = [link for link in found.links if is_external(link) and "//" in link]
        assert all(link.startswith(("https://", "http://")) and " " not in link for link in links)
        assert not [one for one in found.loaded if is_external(one) and "data:" not in one[:5]]


@pytest.mark.slow
def test_every_page_is_two_clicks_from_the_first(site: Path) -> None:
    """Those of Sphinx are left out, and those behind the gallery, which has its own pages."""
    first = (site / "index.html").resolve()
    reached = {first}
    for _ in range(2):
        reached |= {
            follow(page, link)[0]
            for page in reached
            if page.suffix == ".html" and page.is_file()
            for link in read(page).links
            if not is_external(link)
        }
    live = {page for page in pages(site) if page.is_relative_to(site / "gallery")}
    live.remove(site / "gallery" / "index.html")
    wanted = {page for page in pages(site) if page.name not in OF_SPHINX} - live
    assert len(wanted) > 60
    assert not wanted - reached


@pytest.mark.slow
def test_only_a_site_is_replaced(tmp_path: Path) -> None:
    """A folder with anything else is refused, and stays."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else than a site"):
        build_site(tmp_path, gallery=False)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_release_adds_its_version_by_its_heading() -> None:
    """Of versions before 1 there is no site; the one that is built is there in any case."""
    text = "# Changelog\n\n## Unreleased\n\n## 1.1.0 (2027-01-02)\n\n## 1.0.0\n\n## 0.9.0\n"
    found = list_versions(text, "1.2.0.dev1", "https://example.org/")
    assert [one["version"] for one in found] == ["1.2.0.dev1", "1.1.0", "1.0.0"]
    assert found[1]["url"] == "https://example.org/1.1.0/"


DOCS = ROOT / "docs"
PUBLIC = [(package, name) for package in api.PACKAGES for name in getattr(package, "__all__", ())]
ALIASES = ("Action", "Bot", "Kind", "Pack", "Seat")
"""Names of types that are not classes of ours: `Kind` is int."""
KEYS = [(heading, key) for heading, of, _ in config_keys.FILES for key in of.__struct_fields__]


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
    assert package.__name__ != "arena" or name in dir(package)
    if name not in ALIASES and (inspect.isclass(value) or inspect.isroutine(value)):
        assert ">>> " in documented(value)
        assert inspect.getdoc(value)


def test_the_pages_have_every_public_name() -> None:
    """Each has its place on the page of its package."""
    made = api.pages()
    for package, name in PUBLIC:
        assert re.search(rf":: {package.__name__}\.{name}$", made[f"{package.__name__}.rst"], re.M)


def test_every_command_has_a_page_that_finds_it() -> None:
    """It is in the list of the page `reference`; no page is that of a command that is gone."""
    listed = re.findall(r"\(made/(arena-[\w-]+\.rst)\)", commands.listing("made/"))
    assert (
        sorted(listed)
        == sorted(commands.pages())
        == sorted(f"arena-{name}.rst" for name in cli.commands)
    )
    assert commands.run is cli.commands["run"]
    assert not hasattr(commands, "walk")
    lines = ["Play.", "", "| Example:", "|   arena run quickstart &&", "|     arena show", ""]
    commands.show_example(None, click.Context(cli), lines)  # type: ignore[arg-type]
    block = ["", ".. code-block:: console", "", "   arena run quickstart &&", "   arena show", ""]
    assert lines == ["Play.", "", "Example:", *block]


@pytest.mark.parametrize(("heading", "key"), KEYS)
def test_every_config_key_has_a_row(heading: str, key: str) -> None:
    """With a meaning, and a type."""
    part = config_keys.pages()[config_keys.NAME].split(f"## {heading}\n")[1].split("\n## ")[0]
    (row,) = re.findall(rf"^\| `{key}` \| (.+?) \| (.+?) \|", part, re.MULTILINE)
    assert row[0].endswith(".")


def test_a_row_has_the_bounds_and_the_default_of_its_type() -> None:
    """As they are written in YAML."""
    page = config_keys.pages()[config_keys.NAME]
    assert "| whole number, 1 to 256 |  |" in page
    assert "| number, more than 0 and at most 86,400 | `10.0` |" in page
    assert "| `gauntlet` or `round_robin` or `swiss` | `round_robin` |" in page
    assert "| `set_bonus` | `5` |" in page


@pytest.mark.parametrize("of", csv_columns.files(), ids=lambda of: of.file)
def test_every_column_of_a_file_has_a_meaning(of: TableColumns) -> None:
    """A sentence."""
    assert all(meaning.endswith((".", ")")) for _, meaning in csv_columns.meanings(of))


def test_every_page_is_listed_by_one_way_in() -> None:
    """By one only: so it has one place in the navigation."""
    listed: list[str] = []
    for name in staging.WAYS_IN[1:]:
        listed += staging.LISTED.findall((DOCS / f"{name}.md").read_text())
    here = {
        path.relative_to(DOCS).as_posix()
        for path in [*DOCS.glob("*.md"), *DOCS.glob("course/*.md")]
    }
    here -= {f"{name}.md" for name in staging.WAYS_IN}
    beside = {f"../{path.relative_to(ROOT)}" for name in staging.BESIDE for path in ROOT.glob(name)}
    assert sorted(listed) == sorted(here | beside | {"tour.ipynb"})


def links() -> list[tuple[str, str]]:
    """Return each page with the files that it links to."""
    paths = [
        *DOCS.rglob("*.md"),
        *(path for name in (*staging.BESIDE, "README.md") for path in ROOT.glob(name)),
    ]
    found = []
    for path in paths:
        if "site" not in path.relative_to(ROOT).parts:
            text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
            found += [(str(path.relative_to(ROOT)), link) for link in staging.LINK.findall(text)]
    return found


def test_every_link_of_a_page_leads_to_a_file_of_the_repository() -> None:
    """So that the pages can be read on a code host, too; staged ones lead to where they lie."""
    assert len(links()) > 100
    assert not [
        (page, link)
        for page, link in links()
        if not (ROOT / page).parent.joinpath(link).exists() and not link.startswith("gallery/")
    ]
    moved = staging.move_links(
        "[a](../league.md) [b](../../bench/STUDIES.md#x)", "docs/course/a.md"
    )
    assert moved == "[a](../league.md) [b](../bench/STUDIES.md#x)"
    assert staging.move_links("[a](docs/trust.md)", "CONTRIBUTING.md") == "[a](trust.md)"
    assert staging.move_links("[a](https://example.org/x.md)", "docs/a.md").endswith("org/x.md)")
