"""The pages for those who change the arena are short, and name only what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.test_imports import ADDONS, ROOMS

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST_BYTES = 8_000
PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")]
    if path.name != "CHANGELOG.md" and "site" not in path.relative_to(ROOT).parts
]
FILE = re.compile(r"`((?:arena|bench|bots|docs|engine|tests)/[a-z0-9_/.-]*[a-z0-9])/?`")
MODULE = re.compile(r"\b(arena(?:\.addons)?)\.([a-z_]+)\.([a-z_]+)")


def is_there(name: str) -> bool:
    """Return whether the repository has a file; those of the site are made."""
    return (ROOT / name).exists() or name.startswith("docs/site/")


def first_cells(heading: str) -> list[str]:
    """Return the first cells of the table below a line of the architecture."""
    table = ARCHITECTURE.split(heading)[1].strip().split("\n\n")[0]
    return re.findall(r"^\| `(\w+)/?` \|", table, re.MULTILINE)


def test_contributing_is_short_and_begins_with_what_to_run() -> None:
    """One table, before anything else."""
    assert len(CONTRIBUTING.encode()) <= MOST_BYTES
    begin = (
        "# Changing the arena\n\n## I changed X: run Y, update Z\n\n| I changed | run | update |\n"
    )
    assert CONTRIBUTING.startswith(begin)


def test_the_map_has_every_room_and_every_addon() -> None:
    """The rooms in the order in which they may import one another."""
    flat = ("__main__", "addons", "errors", "removed", "threads", "tokens")
    rooms = [room for room in ROOMS if room not in flat]
    assert first_cells("rooms below it in this table:") == rooms
    assert {*first_cells("are beside the core:")} == ADDONS


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_names_files_that_exist(page: Path) -> None:
    """By their place in the repository, or as modules of the arena."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^```diff\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not [name for name in FILE.findall(text) if not is_there(name)]
    for folder, *names in MODULE.findall(text):
        place = ROOT.joinpath(*folder.split("."), names[0])
        known = place.with_suffix(".py").exists() or place.is_dir()
        assert known, (folder, names)


def test_the_way_of_a_number_names_its_modules() -> None:
    """One or two for each arrow."""
    part = ARCHITECTURE.split("## From a game to a sentence")[1].split("\n## ")[0]
    assert len(FILE.findall(part)) >= len(re.findall(r"^\| [a-z]", part, re.MULTILINE)) > 10


@pytest.mark.parametrize("addon", sorted(ADDONS))
def test_an_addon_has_a_page_that_says_so(addon: str) -> None:
    """The first one of its row, before its first heading; it also says which extra is needed."""
    (row,) = re.findall(rf"^\| `{addon}` \| .+$", ARCHITECTURE, re.MULTILINE)
    page = re.findall(r"\]\((.+?)\)", row)[0]
    head = (ROOT / "docs" / page).read_text(encoding="utf-8").split("\n## ")[0]
    assert f"add-on `{addon}`" in head
    assert "extra" in head
