"""The page of OpenSpiel is true: its examples, and the table of the small games."""

from __future__ import annotations

import json
import re

from arena.addons.rl.exact import SMALL
from tests import ROOT
from tests.addons.rl.ground_truth import PATH, VARIANTS

PAGE = (ROOT / "docs" / "openspiel.md").read_text()


def test_the_table_has_the_figures_of_the_file() -> None:
    """Every variant, every policy."""
    truth = json.loads(PATH.read_text())
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in re.findall(r"^\| .*\|$", PAGE.split("| policy |")[1], re.M)
    ]
    table = {row[0]: row[1:] for row in rows}
    for column, name in enumerate(VARIANTS):
        kept = truth[name]
        assert table["views"][column] == f"{kept['views']:,}"
        assert table["value"][column] == f"{kept['value']:.4f}"
        for label in ("uniform", "greedy", "ismcts", "search 10", "search 100", "search 1000"):
            row = kept["policies"].get(label)
            said = table[label][column]
            assert said == ("" if row is None else f"{row['exploitability']:.4f}"), (name, label)


def test_the_rules_of_the_variants_are_those_listed() -> None:
    """As arguments of `Rules`."""
    for name, rules in SMALL.items():
        (text,) = re.findall(rf"^- `{name}`: .*?`(Rules\([^`]*\))`", PAGE, re.M | re.S)
        assert eval(" ".join(text.split()), {"Rules": type(rules)}) == rules, name
