"""Cells of CSV files: no formula, each read back, and what strangers' lists have wrong."""

from __future__ import annotations

import csv
import io
import re
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.differences.run_files import RunTables
from arena.errors import InputError
from arena.lanes.faults import Fault
from arena.statistics.counts import BY_RULE
from arena.store.column_titles import FAULTS, GAMES
from arena.store.columns import EMPTY, Columns, Frames, is_first, is_known, match_rows, place_in
from arena.store.csv_files import (
    csv_writer,
    fault_rows,
    guard,
    make_timings,
    parse_timings,
    read_back,
    write_games,
)
from arena.store.folder import RunFolder
from arena.store.listed_games import UNKNOWN, list_games, read_games
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.timing import Timing
from arena.tournament.tournament import replay_commands
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
    writers = dict(RunTables(TOURNAMENT, store).writers)
    writers["timings.csv"] = csv_writer(make_timings(dict.fromkeys(LABELS, timing), LABELS))
    RunFolder(path).write(writers)
    rows = fault_rows(store.all_forfeits(TOURNAMENT.pairings), replay_commands(TOURNAMENT))
    pd.DataFrame(rows, columns=FAULTS.names).to_pickle(path / "faults.pickle")
    store.close()
    return path


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_no_cell_of_any_file_is_a_formula(folder: Path) -> None:
    """Neither a label nor a message or an output."""
    paths = sorted(folder.rglob("*.csv"))
    assert len(paths) == 10
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
    wins = names["read"](folder / "details" / "wins.csv")
    assert {*LABELS} <= {*wins["bot"]}
    assert wins["in_losses"].dtype == float
    assert wins["in_losses"].min() < 0


def test_our_own_readers_read_the_texts_back(folder: Path) -> None:
    content = (folder / "timings.csv").read_bytes()
    assert [*parse_timings(content)["bot"]] == LABELS
    with pytest.raises(InputError, match=r"^timings\.csv: line \d+: 8 cells are needed$"):
        parse_timings(content + b"a,3\n")
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
    table = pd.DataFrame({"a": [-1, 2], "b": [-0.5, None], "c": [-3, None], "d": ["-4", None]})
    table["c"] = table["c"].astype("Int64")
    table["e"] = pd.Series([-5, None], dtype=object)
    file = io.StringIO()
    csv_writer(table)(file)
    assert file.getvalue() == "a,b,c,d,e\n-1,-0.5,-3,'-4,-5\n2,,,,\n"


AB = Pairing("a", "b")


@pytest.mark.slow
def test_the_lines_of_games_are_those_that_csv_writes() -> None:
    """For labels and kinds of faults that it quotes, and across the ends of texts."""
    store = Store(None)
    pairings = [Pairing("a, b", 'the "new" one'), Pairing("a, b", "Äpfel"), Pairing("=x", "y'")]
    rng = Random(1)
    for number, pairs in enumerate((2000, 1, 2500)):
        kinds, games = ["", "", "illegal", 'a "b"', "a,b", "a\nb", "NA", "=1+1"], []
        for pair, seat in product(range(pairs), (0, 1)):
            kind, winner = rng.choice(kinds), rng.choice((0, 1, None))
            fault = Fault(kind, "no") if kind else None
            numbers = rng.randrange(-9, 99), rng.randrange(99), rng.randrange(49)
            games.append(GameResult(pair, seat, winner, "points", *numbers, fault, ""))
        store.add(Played(Chunk(number, 0, pairs), games, {}, 0.0))
    wanted, found = io.StringIO(), io.StringIO()
    writer = csv.writer(wanted, lineterminator="\n")
    writer.writerow(GAMES.names)
    writer.writerows(map(guard, row) for row in store.named_games(pairings))
    write_games(found, store, pairings)
    assert found.getvalue() == wanted.getvalue()
    store.close()


def rows(*forfeits: tuple[int, int | None, Fault]) -> list[dict[str, str]]:
    """Return the rows of pair 3 for these forfeits: seat of a, winner and fault."""
    file = io.StringIO()
    games = [
        (Fixture(AB, 3, seat), GameResult(3, seat, winner, "forfeit", 0, 0, 7, fault, "5555555"))
        for seat, winner, fault in forfeits
    ]
    csv_writer(FAULTS.make([*fault_rows(games, lambda fixture: f"play {fixture.name}")]))(file)
    return list(csv.DictReader(io.StringIO(file.getvalue())))


def test_a_fault_is_a_row_with_the_loser_kind_place_and_command() -> None:
    """The loser is guilty in either seat; a forfeit by rule has no command."""
    (row,) = rows((1, 1, Fault("illegal", "illegal action 9 (z)", "", "hello\n")))
    assert row == {
        **{"game": "a/b/3/1", "bot": "a", "kind": "illegal", "ply": "7", "traceback": ""},
        **{"message": "illegal action 9 (z)", "output": "hello", "command": "play a/b/3/1"},
    }
    faults = rows(*((*place, Fault("illegal", "")) for place in product((0, 1), (0, 1))))
    assert [row["bot"] for row in faults] == ["b", "a", "b", "a"]
    (row,) = rows((0, 0, Fault(BY_RULE, "not played")))
    assert (row["kind"], row["command"]) == ("max_faults", "")


CELLS: dict[str, list[Any]] = {
    "bot": ["a,b", None, 'say "x"', "", "two\nlines"],
    "games": [3, None, 0, -2, 10**15],
    "score": [0.5, None, -0.0, 1e-7, 1e22],
}
TABLE = Columns(CELLS)


def test_an_empty_cell_is_none_in_a_row() -> None:
    """It is nan among floats and EMPTY among whole numbers, of which others may be below 0."""
    assert TABLE.rows() == [*zip(*CELLS.values(), strict=True)]
    assert [TABLE[name].dtype.kind for name in CELLS] == ["O", "i", "f"]
    assert TABLE["games"][1] == EMPTY
    for name in CELLS:
        assert is_known(TABLE[name]).tolist() == [True, False, True, True, True]


@pytest.mark.parametrize("rows", [slice(0), slice(1, 2), slice(None)])
def test_a_file_is_that_of_the_module_csv(rows: slice) -> None:
    """Also a zero with a sign, which equals the one without."""
    some, made, plain = TABLE.where(rows), io.StringIO(), io.StringIO()
    csv_writer(some)(made)
    csv.writer(plain, lineterminator="\n").writerows([some.names, *some.rows()])
    assert made.getvalue() == plain.getvalue()


def test_rows_are_ordered_found_and_matched() -> None:
    """By keys, of which the first one counts most; equal rows stay in their order."""
    table = Columns({"bot": [*"baab"], "seat": [1, 1, 0, 0]})
    assert table.ordered(table["bot"], table["seat"]).rows() == [
        ("a", 0), ("a", 1), ("b", 0), ("b", 1)
    ]  # fmt: skip
    assert is_first(table["bot"]).tolist() == [True, True, False, False]
    assert place_in(table["bot"], ["b"]).tolist() == [0, 1, 1, 0]
    both = table["bot"], table["seat"]
    assert match_rows([np.array(["a", "c"], object), np.array([0, 0])], both).tolist() == [2, -1]


def test_a_table_by_name_is_made_once_when_it_is_read() -> None:
    """A notebook completes its name."""
    makers: Any = {"games": lambda: pd.DataFrame({"bot": ["a"]}), "faults": None}
    frames = Frames(makers)
    assert frames["games"] is frames["games"]
    assert [*frames] == frames._ipython_key_completions_() == ["games", "faults"]
    assert (len(frames), repr(frames)) == (2, "<tables: games, faults>")


HEAD = "bot,opponent,winner"
WRONG: dict[str | bytes, str] = {
    "": "column bot is missing; the table is empty",
    "\ufeff": "column bot is missing; the table is empty",
    "bot;opponent;winner\na;b;a\n": "column bot is missing; there are bot;opponent;winner",
    "bot,opponent\na,b\n": "column winner is missing; there are bot, opponent",
    "bot,opponent,winner,bot\na,b,a,a\n": "column bot is there twice",
    f"{HEAD}\na,b\n": "row 2: 2 cells, and 3 columns",
    f"{HEAD}\na,b,a\n\na,b,a,a\n": "row 4: 4 cells, and 3 columns",
    f'{HEAD}\na,"b,a\n': "line 2: unexpected end of data",
    f"{HEAD}\na,{'b' * 200_000},a\n": "line 2: field larger than field limit (131072)",
    f"{HEAD}\na,b,c\n": "row 2: winner 'c' is neither of the two bots, nor draw, nor empty",
    f"{HEAD}\na,b,a\nc,d,a\n": "row 3: winner 'a' is neither",
    f"{HEAD}\na,a,a\n": "row 2: opponent 'a' plays against itself",
    f"{HEAD}\n,b,b\n": "row 2: bot '' is no label",
    f"{HEAD}\na, b,a\n": "row 2: opponent ' b' is no label",
    f'{HEAD}\na,"b\x1b[2J",a\n': r"row 2: opponent 'b\x1b[2J' is no label",
    f"{HEAD}\na,{'b' * 61},a\n": "row 2: opponent 'bbb",
    f"{HEAD},seat\na,b,a,0\na,b,a,2\n": "row 3: seat '2' is none of 0, 1",
    f"{HEAD},win_type\na,b,a,magic\n": "row 2: win_type 'magic' is none of city, points,",
    f"{HEAD},win_type\na,b,a,draw\n": "row 2: win_type 'draw' is not how this game can end",
    f"{HEAD},win_type\na,b,,city\n": "row 2: win_type 'city' is not how this game can end",
    f"{HEAD},points,opponent_points\na,b,a,x,1\n": "row 2: points 'x' is no number",
    f"{HEAD},points,opponent_points\na,b,a,1,99999\n": "row 2: opponent_points '99999' is no",
    f"{HEAD},fault\na,b,a,sloth\n": "row 2: fault 'sloth' is none of max_faults, illegal,",
    '{"deal": 3}\n': "line 1: a record needs a string 'deal'",
    "{\n": "line 1: not JSON",
    f"{HEAD}\na,b,a\n".encode() + b"a,\xff,a\n": "line 3: not UTF-8",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_bad_cell_is_named_with_its_row_and_column(tmp_path: Path, text: str | bytes) -> None:
    """Rows are counted as a spreadsheet does, blank ones too."""
    path = tmp_path / "games.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        read_games(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert WRONG[text] in str(caught.value)


def test_labels_and_draws_are_read_as_they_were_written(tmp_path: Path) -> None:
    """The apostrophe before a formula goes; a bot may be called draw."""
    path = tmp_path / "mine.csv"
    path.write_text(f"\ufeff{HEAD},more\n'=a,draw,'=a,x\ndraw,b,draw,y\nb,'=a,draw,\nb,'=a,,\n")
    games = read_games(path)
    assert games.games["bot"].tolist() == ["=a", "draw", "b", "b"]
    assert games.games["result"].tolist() == [0, 0, 2, 2]
    assert games.games["row"].tolist() == [2, 3, 4, 5]


def test_a_table_may_have_missing_cells_and_numbers() -> None:
    """A column of whole numbers with a gap has points in its numbers."""
    frame = pd.DataFrame({"bot": ["a"] * 3, "opponent": "b", "winner": ["a", None, "b"]})
    games = list_games(frame.assign(pair=[3.0, 3.0, None], seat=[0.0, 1.0, None]), "table 1")
    assert games.games["seat"].tolist() == [0, 1, UNKNOWN]
    assert games.games["pair"].tolist() == ["3", "3", ""]
    with pytest.raises(InputError, match=r"table 1: column bot: unhashable type: 'list'"):
        list_games(frame.assign(bot=[["a"], "a", "a"]), "table 1")
    with pytest.raises(InputError, match=r"table 1: row 2: seat '7' is none of 0, 1"):
        list_games(frame.assign(seat=[0, 1, 7]), "table 1")
