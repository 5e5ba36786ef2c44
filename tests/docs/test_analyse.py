"""What docs/analyse.md says is true: its commands, and the columns of the file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from arena.tables.losses import DECISIONS
from arena.tables.table_columns import TableColumns
from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "analyse.md").read_text()


@pytest.mark.parametrize(("heading", "columns"), [("The file", DECISIONS)])
def test_the_page_names_the_columns_of_a_file(heading: str, columns: TableColumns) -> None:
    """All of them, in their order."""
    table = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == columns.names


def the_run_has_its_files(ran: markdown.Ran, folder: Path) -> None:
    """The first of the runs; one command prints a document."""
    (document,) = (json.loads(done.stdout) for command, done in ran if "--json" in command)
    table = pd.read_csv(folder / "results" / "losses" / "details" / "analysis.csv")
    assert [*table.columns] == DECISIONS.names
    assert document["decisions"] == len(table)
