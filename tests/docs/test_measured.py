"""The scripts of bench/ that made the figures of docs/facts.md and docs/dataset.md still work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT


def measure(folder: Path, *words: str) -> str:
    """Return what a script of the repository prints, whose files are in a folder."""
    return subprocess.run(
        [sys.executable, "-m", *words, "--workers", "1", "--out", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.slow
def test_facts_has_the_rows_of_the_page(tmp_path: Path) -> None:
    """A bot without luck has what the deal fixes from games against another one."""
    page = (ROOT / "docs" / "facts.md").read_text(encoding="utf-8")
    table = measure(tmp_path, "bench.facts", "greedy", "timing", "--percent", "0").splitlines()
    texts = [line.split(" | ")[0] for line in table[2:]]
    assert len(texts) > 12
    assert {text for text in texts if "drawn," not in text and "4 " not in text} <= {
        line.split(" | ")[0] for line in page.splitlines()
    }


@pytest.mark.slow
def test_a_data_set_has_the_loss_of_each_decision(tmp_path: Path) -> None:
    """With the chance after the action that was played."""
    words = ("greedy", "uniform", "--games", "2", "--worlds", "4")
    assert measure(tmp_path, "bench.dataset", *words).endswith(" decisions: out/games.jsonl\n")
    for line in (tmp_path / "out" / "games.jsonl").read_text().splitlines():
        game = json.loads(line)
        assert {*game["bots"]} == {"greedy", "uniform"}
        for one in game["decisions"]:
            assert 0 <= one["chances"][one["action"]] <= 1
            assert one["ply"] < len(game["actions"])
