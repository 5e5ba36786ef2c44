"""docs/rules.md has every number of the rules, with the published value."""

from __future__ import annotations

import re

from arena.tournament.rule_changes import list_published
from tests import ROOT

ROW = re.compile(r"\| `(\w+)` \| `(\S+)` \| \w")


def test_the_table_has_the_rules_of_the_engine() -> None:
    """In its order, and each says what it does."""
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert [*ROW.findall(page)] == [*list_published().items()]
