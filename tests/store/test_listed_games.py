"""Lists of games that strangers wrote: each bad cell is one line that names its place."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from arena.errors import InputError
from arena.store.listed_games import UNKNOWN, list_games, read_games

HEAD = "bot,opponent,winner"
WRONG = {
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
}


@pytest.mark.parametrize("text", WRONG)
def test_a_bad_cell_is_named_with_its_row_and_column(tmp_path: Path, text: str) -> None:
    """Rows are counted as a spreadsheet does, blank ones too."""
    path = tmp_path / "games.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_games(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert WRONG[text] in str(caught.value)


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    """Latin-1, say."""
    path = tmp_path / "games.csv"
    path.write_bytes(f"{HEAD}\na,b,a\n".encode() + b"a,\xff,a\n")
    with pytest.raises(InputError, match="line 3: not UTF-8"):
        read_games(path)


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
