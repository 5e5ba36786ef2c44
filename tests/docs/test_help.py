"""What docs/help.md says of reporting and citing is true."""

from __future__ import annotations

import re

import yaml

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "help.md").read_text()


def test_the_bibtex_is_the_citation_file() -> None:
    """The same title, authors, version, year and licence."""
    (entry,) = markdown.blocks(PAGE, "bibtex")
    fields = dict(re.findall(r"^  (\w+) += \{(.*)\},?$", entry, re.MULTILINE))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    authors = " and ".join(f"{{{author['name']}}}" for author in citation["authors"])
    assert entry.startswith(f"@{citation['type']}{{")
    assert fields == {
        "title": citation["title"],
        "author": authors,
        "version": str(citation["version"]),
        "year": citation["date-released"][:4],
        "license": citation["license"],
    }


def test_files_that_it_names_exist() -> None:
    """From the folder of the page."""
    for name in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / name).exists(), name


def test_the_forms_that_it_names_exist() -> None:
    """By the names that the hosting service shows."""
    forms = (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
    names = {yaml.safe_load(path.read_text()).get("name") for path in forms}
    assert {*re.findall(r"the form \*(.+?)\*", " ".join(PAGE.split()))} <= names
