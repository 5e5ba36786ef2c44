"""The page about stability, the changelog and the code have the same formats and versions."""

from __future__ import annotations

import re
import tomllib

import yaml

from arena.addons.league import ledger
from arena.store import database, judge
from arena.tournament.versions import minor, version_here
from engine import encoding, record
from tests import ROOT

PAGE = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_page_has_the_number_of_each_format() -> None:
    """Of what is opened by this minor version."""
    assert f"| {minor(version_here())} opens |" in PAGE
    row = r"^\| ([^|]+?) \|[^|]+\| ([\d.]+(?: to [\d.]+)?) \|$"
    rows = dict(re.findall(row, PAGE, re.MULTILINE))
    assert rows["the folder of a run, `run.sqlite`"] == str(database.FORMAT)
    assert rows["`analysis.sqlite`, games that were judged"] == str(judge.FORMAT)
    assert rows["a league, `league.sqlite`"] == f"2 to {ledger.FORMAT}"
    assert rows["`manifest.json`"] == f"1.0 to {minor(version_here())}"
    assert rows["a record"] == str(record.FORMAT)
    assert rows["weights of a network"] == str(encoding.VERSION)


def test_the_changelog_begins_with_what_is_not_released_and_this_version() -> None:
    """With the date of the citation; older ones follow in order, and a later one is unreleased."""
    titles = re.findall(r"^## (\S+)(?: \((.*)\))?$", CHANGELOG, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert titles[0] == ("Unreleased", "")
    assert titles[1] == (citation["version"], str(citation["date-released"]))
    assert ".dev" in project["version"] or project["version"] == citation["version"]
    numbers = [tuple(map(int, version.split("."))) for version, _ in titles[1:]]
    assert numbers == sorted(numbers, reverse=True)
    assert len(CHANGELOG.splitlines()) < 400


def test_the_version_that_is_installed_is_that_of_the_project() -> None:
    """An editable installation keeps the number that it had: install it again."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version_here() == project["version"], "run: pip install -e . --no-deps"
