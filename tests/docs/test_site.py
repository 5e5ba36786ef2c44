"""The site that `make docs` builds: strict, whole, and with no link that leads nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from docs.making.gallery import EXHIBITS
from docs.making.site import build_site
from docs.making.versions import list_versions
from tests import ROOT
from tests.site import follow, is_external, read, site

__all__ = ["site"]

OF_SPHINX = ("genindex.html", "py-modindex.html", "search.html")


def pages(site: Path) -> list[Path]:
    """Return all pages of the site, those of the gallery included."""
    return sorted(path.resolve() for path in site.rglob("*.html") if "_static" not in path.parts)


@pytest.mark.slow
def test_every_link_leads_to_a_file_and_an_anchor_in_it(site: Path) -> None:
    """Also what pages load. Anchors of reports are left out: their scripts make some of them."""
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


@pytest.mark.slow
def test_external_links_have_the_form_of_one(site: Path) -> None:
    """https with a host and no space; nothing else is loaded from elsewhere."""
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
def test_every_exhibit_is_a_click_from_the_gallery(site: Path) -> None:
    """With its commands beside it."""
    page = site / "gallery" / "index.html"
    text = page.read_text()
    linked = {follow(page, link)[0] for link in read(page).links if not is_external(link)}
    for exhibit in EXHIBITS:
        assert site / "gallery" / exhibit.link in linked
        assert all(command.split("'")[0] in text for command in exhibit.commands)


@pytest.mark.slow
def test_only_a_site_is_replaced(tmp_path: Path) -> None:
    """A folder with anything else is refused, and stays."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else than a site"):
        build_site(tmp_path, gallery=False)
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.slow
def test_the_site_lists_its_versions(site: Path) -> None:
    """Without an address it is only its own."""
    (entry,) = json.loads((site / "switcher.json").read_text())
    assert f'"{entry["version"]}"' in (ROOT / "pyproject.toml").read_text()


def test_a_release_adds_its_version_by_its_heading() -> None:
    """Of versions before 1 there is no site; the one that is built is there in any case."""
    text = "# Changelog\n\n## Unreleased\n\n## 1.1.0 (2027-01-02)\n\n## 1.0.0\n\n## 0.9.0\n"
    found = list_versions(text, "1.2.0.dev1", "https://example.org/")
    assert [one["version"] for one in found] == ["1.2.0.dev1", "1.1.0", "1.0.0"]
    assert found[1]["url"] == "https://example.org/1.1.0/"
