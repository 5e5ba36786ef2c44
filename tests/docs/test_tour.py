"""The notebook docs/tour.ipynb runs, and the scripts of bench/ that made figures of pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.waiting import PATIENCE

TOUR = ROOT / "docs" / "tour.ipynb"


def read_tour() -> Any:
    """Return the notebook; its libraries are loaded only here."""
    import nbformat

    return nbformat.read(TOUR, 4)


def run_notebook(notebook: Any, folder: Path) -> list[Any]:
    """Run a notebook in a folder, and return its cells of code with their outputs."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook, timeout=PATIENCE, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)})
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The tour's cells of code, after they have run."""
    return run_notebook(read_tour(), tmp_path_factory.mktemp("tour"))


def outputs_of(cell: Any) -> str:
    return str([output.get("data", output.get("text")) for output in cell.outputs])


@pytest.mark.slow
def test_the_tour_goes_from_the_first_game_to_a_plot(cells: list[Any]) -> None:
    """Its first cells show a game, its last ones are charts."""
    assert "greedy wins on points" in outputs_of(cells[1])
    assert all("class=&quot;chart" in outputs_of(cell) for cell in cells[-2:])


@pytest.mark.slow
def test_a_class_in_a_cell_plays_in_the_tour(cells: list[Any]) -> None:
    """It is in the table of the cell below it, and has forfeited no game."""
    (table,) = [cell for cell in cells if "patient" in cell.source and "arena.run" in cell.source]
    html = next(
        out["data"]["text/html"] for out in table.outputs if "text/html" in out.get("data", "")
    )
    assert html.count("patient") == 3
    assert html.count("<td>0</td>") == 5


@pytest.mark.slow
def test_the_tour_is_kept_without_outputs() -> None:
    """So a change of it is a change of its text."""
    assert not any(cell.get("outputs") for cell in read_tour().cells)


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
