"""What docs/trust.md and docs/table.md promise is held by tests.

`promises.txt` has the main promises of each section, and below each the names of tests that fail
when it is broken. Which file a test is in does not matter.
"""

from __future__ import annotations

import re

import pytest

from tests import ROOT, rogues

PARTS = re.split(r"^# ", (ROOT / "tests" / "docs" / "promises.txt").read_text(), flags=re.MULTILINE)
SECTIONS = dict(part.split("\n", 1) for part in PARTS[1:])
PROMISES = [
    (line, re.findall(r"^    (\w+)$", rest, re.MULTILINE))
    for text in SECTIONS.values()
    for line, rest in re.findall(r"^(\S.*)\n((?:    .*\n)*)", text, re.MULTILINE)
]


@pytest.mark.parametrize("page", ["trust", "table"])
def test_every_section_of_a_page_has_a_promise(page: str) -> None:
    """In the order of the page."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [name for name in SECTIONS if name.startswith(page)] == [
        f"{page}: {heading}" for heading in headings
    ]


def test_a_promise_is_held_by_tests_that_exist() -> None:
    """Each by one or more."""
    every = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    there = {*re.findall(r"^def (test_\w+)\(", every, re.MULTILINE)}
    assert 40 <= len(PROMISES) <= 60
    assert all(held for _, held in PROMISES)
    assert {name for _, held in PROMISES for name in held} <= there


def test_there_are_about_a_hundred_rogues() -> None:
    """With their variants, as docs/trust.md says."""
    kinds = (rogues.ROGUES, rogues.ESCAPING, rogues.UNTRUE, rogues.COMMANDS)
    assert 90 <= sum(map(len, kinds)) <= 120
