"""No text of a CSV file is a formula for a spreadsheet, and each is read back as it was."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.differences.run_files import make_files, timings_writer
from arena.lanes.faults import Fault
from arena.store.csv_files import (
    FAULT_COLUMNS,
    csv_writer,
    fault_rows,
    guard,
    parse_timings,
    read_back,
)
from arena.store.folder import RunFolder
from arena.tournament.replay_command import replay_commands
from arena.tournament.timing import Timing
from tests import ROOT, markdown
from tests.reports.runs import cup, make_store

LABELS = ['=HYPERLINK("http://x";"y")', "-12", "+1", "@SUM(1)", "'=1+1", "'plain", "uniform"]
FAULT = Fault("exception", "=1+1", "Traceback:\n  -x\n  +y", "@print\n=z\n")
TOURNAMENT = cup(LABELS, 2)
FORMULA = re.compile("[ \t\r\n=+@\uff1d-]")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run whose bots have such labels, and print such texts."""
    path = tmp_path_factory.mktemp("cells")
    faults = {(number, 0, 0): FAULT for number in range(len(TOURNAMENT.pairings))}
    store = make_store(TOURNAMENT, faults=faults)
    timing = Timing()
    timing.wall.add(0.5)
    timing.cpu.add(0.25)
    writers = dict(make_files(TOURNAMENT, store).writers)
    writers["timings.csv"] = timings_writer(dict.fromkeys(LABELS, timing), LABELS)
    RunFolder(path).write(writers)
    rows = fault_rows(store.all_forfeits(TOURNAMENT.pairings), replay_commands(TOURNAMENT))
    pd.DataFrame(rows, columns=FAULT_COLUMNS).to_pickle(path / "faults.pickle")
    store.close()
    return path


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_no_cell_of_any_file_is_a_formula(folder: Path) -> None:
    """Neither a label nor a message or an output."""
    paths = sorted(folder.rglob("*.csv"))
    assert len(paths) == 15
    risky = 0
    for path in paths:
        for cell in {cell for row in read(path) for cell in row}:
            assert not FORMULA.match(cell) or NUMBER.fullmatch(cell), (path.name, cell)
            risky += cell.startswith("'")
    assert risky > 3 * len(LABELS)


def test_pandas_reads_the_texts_back(folder: Path) -> None:
    """As docs/results.md says; numbers below 0 are numbers."""
    (recipe,) = markdown.blocks((ROOT / "docs" / "results.md").read_text(), "python")
    names: dict[str, Any] = {}
    exec(recipe, names)
    table = names["read"](folder / "faults.csv")
    wanted = pd.read_pickle(folder / "faults.pickle").replace("", None)
    pd.testing.assert_frame_equal(table, wanted, check_dtype=False)
    assert {"=1+1"} == {*table["message"]}
    seats = names["read"](folder / "details" / "seats.csv")
    assert {*LABELS} <= {*seats["bot"]}
    assert seats["mean_margin"].dtype == float
    assert seats["mean_margin"].min() < 0


def test_our_own_readers_read_the_texts_back(folder: Path) -> None:
    """Of the timings and of games."""
    timings = parse_timings((folder / "timings.csv").read_bytes())
    assert [*timings["bot"]] == LABELS
    games = read_back(pd.read_csv(folder / "games.csv", keep_default_na=False, na_values=[""]))
    assert {*games["bot"]} | {*games["opponent"]} == {*LABELS}
    assert {*games["winner"].dropna()} <= {*LABELS}


texts = st.text(st.sampled_from("'=+-@ \t\r\nab1\uff1d"), max_size=5) | st.text(max_size=5)


@pytest.mark.slow
@given(st.lists(texts, min_size=1, max_size=5))
def test_every_text_is_read_back(cells: list[str]) -> None:
    """With any number of apostrophes before it."""
    guarded = pd.DataFrame({"text": [guard(cell) for cell in cells]}, dtype=object)
    assert [*read_back(guarded)["text"]] == cells
    assert not any(FORMULA.match(cell) for cell in guarded["text"])


def test_numbers_and_gaps_stay_what_they_are() -> None:
    """Whole numbers in a column with gaps, too."""
    table = pd.DataFrame({"a": [-1, 2], "b": [-0.5, None], "c": [-3, None], "d": ["-4", None]})
    table["c"] = table["c"].astype("Int64")
    table["e"] = pd.Series([-5, None], dtype=object)
    file = io.StringIO()
    csv_writer(table)(file)
    assert file.getvalue() == "a,b,c,d,e\n-1,-0.5,-3,'-4,-5\n2,,,,\n"


def test_all_csv_files_are_written_in_one_place() -> None:
    """No other module of the arena writes CSV."""
    sources = [path for path in (ROOT / "arena").rglob("*.py") if "static" not in path.parts]
    writing = {
        path.name for path in sources if re.search(r"to_csv\(|csv\.writer\(", path.read_text())
    }
    assert writing == {"csv_files.py"}


@pytest.mark.slow
def test_openpyxl_takes_no_cell_for_a_formula(folder: Path) -> None:
    """As it takes a text that begins with =."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    sheet = openpyxl.Workbook().active
    sheet.append(["=1+1"])
    for path in folder.rglob("*.csv"):
        for row in read(path):
            sheet.append(row)
    kinds = [cell.data_type for row in sheet.iter_rows() for cell in row if cell.value]
    assert kinds.count("f") == 1
