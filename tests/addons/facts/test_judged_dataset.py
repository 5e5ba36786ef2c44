"""`arena dataset`: games with judged decisions, as files and as loaded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arena import load_dataset
from arena.addons.facts import judged_dataset
from arena.addons.facts.judged_dataset import STRONG, About, make_dataset
from arena.entries.catalogue import ELO
from arena.errors import InputError
from arena.executors.log import QUIET
from arena.runs.judge_games import review_record
from arena.runs.run import Interrupted, Playing
from arena.tournament.keys import Venue
from engine import Record, State
from engine.notation import parse_deal
from tests import ROOT
from tests.cli.test_mistakes import refusal
from tests.conftest import Arena, Once

WANTED = About(["greedy", "uniform"], 8, seed=3, worlds=4)


def make(folder: Path, workers: int = 1) -> About:
    """Make the small set in a folder."""
    how = Playing(Venue(workers=workers), folder, shown=QUIET)
    return make_dataset(WANTED, how)


@pytest.fixture(scope="module")
def made(once: Once) -> Path:
    """A small set."""
    return once("judged", make)


def contents(folder: Path) -> tuple[bytes, bytes, pd.DataFrame]:
    """Return the lines, the settings and the tables of a set."""
    tables = [pd.read_parquet(part) for part in sorted((folder / "decisions").iterdir())]
    names = "games.jsonl", "dataset.json"
    lines, about = ((folder / name).read_bytes() for name in names)
    return lines, about, pd.concat(tables, ignore_index=True)


def test_the_set_is_of_the_strongest_bots() -> None:
    """By the ladder as it is now; the page names them."""
    assert {*STRONG} == {*sorted(ELO, key=ELO.__getitem__)[-5:]}
    text = (ROOT / "docs" / "dataset.md").read_text(encoding="utf-8").split("play a round robin")[0]
    assert re.findall("`([a-z_]+)`", text) == [*STRONG]


@pytest.mark.slow
def test_a_line_is_a_game_with_its_judged_decisions(made: Path) -> None:
    """Those that the judge gives for the record alone; a forced action is none."""
    loaded = load_dataset(made)
    games = [*loaded.games()]
    assert len(games) == 8
    assert loaded.about == About(
        ["greedy", "uniform"], 8, 3, 4, decisions=sum(len(game.decisions) for game in games)
    )
    first = games[0]
    record = Record(first.deal, first.actions)
    assert record.replay().over
    again = review_record(record, name=first.game, worlds=4, seed=3)
    assert [one.ply for one in again] == [one.ply for one in first.decisions]
    state, judged = State(parse_deal(first.deal)), {one.ply: one for one in first.decisions}
    for ply, action in enumerate(first.actions):
        legal = state.legal()
        assert (ply in judged) == (len(legal) > 1)
        if one := judged.get(ply):
            assert one.action == action
            assert len(one.chances) == len(legal)
            twice = again[[*judged].index(ply)]  # the costliest ones, by a second judge, too
            loss = twice.loss if twice.first is None else twice.first
            assert one.loss == loss / 1_000_000
        state.follow(bytes(["5678234xyzCT".index(action)]))


def test_the_lines_and_the_tables_say_the_same(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So without pyarrow the loaded table is the same."""
    by_parquet = load_dataset(made).decisions
    monkeypatch.setattr(judged_dataset, "find_spec", lambda _: None)
    pd.testing.assert_frame_equal(load_dataset(made).decisions, by_parquet)
    pd.testing.assert_frame_equal(contents(made)[2], by_parquet)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_set(made: Path, tmp_path: Path) -> None:
    """On two workers, too."""
    make(tmp_path / "other", workers=2)
    lines, about, table = contents(made)
    other_lines, other_about, other_table = contents(tmp_path / "other")
    assert (lines, about) == (other_lines, other_about)
    pd.testing.assert_frame_equal(table, other_table)


@pytest.mark.study
def test_a_set_that_was_stopped_goes_on(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was judged is kept, and the files are those of a set that was not stopped."""
    monkeypatch.setattr(judged_dataset, "_AT_ONCE", 4)
    whole, asked = judged_dataset.judge_games, []

    def stop(judge: Any, games: Any, kept: Any, *rest: Any, **more: Any) -> Any:
        asked.append([*kept.find(judge.keys(games))])
        if len(asked) == 2:
            raise Interrupted(4, 8)
        return whole(judge, games, kept, *rest, **more)

    monkeypatch.setattr(judged_dataset, "judge_games", stop)
    with pytest.raises(Interrupted):
        make(tmp_path)
    assert not (tmp_path / "games.jsonl").exists()
    with pytest.raises(InputError, match=r"dataset\.json"):
        load_dataset(tmp_path)
    make(tmp_path)
    assert [len(one) for one in asked] == [0, 0, 4, 0]
    assert contents(tmp_path)[:2] == contents(made)[:2]
    assert len([*(tmp_path / "decisions").iterdir()]) == 2
    pd.testing.assert_frame_equal(contents(tmp_path)[2], contents(made)[2])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["greedy", "uniform", "--games", "21"], "games: 21 is no multiple of 2: every two of 2"),
        (["greedy", "--games", "20"], "bots: a tournament needs two, there is 1"),
        (["greedy", "gredy", "--games", "20"], "did you mean greedy?"),
        (["greedy", "uniform", "--games", "20", "--worlds", "5"], "worlds: 5 is odd"),
        (["--games", "0"], "Invalid value for '--games'"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    arena: Arena, tmp_path: Path, words: list[str], message: str
) -> None:
    """Before a game is played."""
    assert message in refusal(arena, "dataset", *words)
    assert not [*tmp_path.rglob("*.sqlite")]


@pytest.mark.parametrize(
    "line",
    [b"{}", b"no JSON", b'{"deal": 5}', b"\xff", b"[" * 5000, b'{"deal": "5", "actions": ""}'],
)
def test_a_line_that_is_no_game_is_named(made: Path, tmp_path: Path, line: bytes) -> None:
    """With its number and the file."""
    lines, about, _ = contents(made)
    (tmp_path / "dataset.json").write_bytes(about)
    (tmp_path / "games.jsonl").write_bytes(lines.splitlines()[0] + b"\n" + line)
    games = load_dataset(tmp_path).games()
    assert next(games).bots == ("greedy", "uniform")
    with pytest.raises(InputError, match=r"games\.jsonl: line 2: "):
        next(games)


@pytest.mark.parametrize(
    ("pattern", "changed"),
    [
        (r'"ply":[0-9]+', '"ply":-1'),
        (r'"ply":[0-9]+', '"ply":48'),
        (r'"action":"."', '"action":"q"'),
        (r'"chances":{', '"chances":{"q":0.5,'),
        (r'"loss":[^,]+', '"loss":9'),
        (r'"winner": "[^"]+', '"winner": "z'),
        (r'"game": "[^"]+', '"game": "z'),
    ],
)
def test_a_value_that_is_impossible_is_named(
    made: Path, tmp_path: Path, pattern: str, changed: str
) -> None:
    """In a line that is a game otherwise."""
    lines, about, _ = contents(made)
    (tmp_path / "dataset.json").write_bytes(about)
    line, count = re.subn(pattern, changed, lines.decode().splitlines()[0], count=1)
    assert count == 1
    (tmp_path / "games.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=r"games\.jsonl: line 1: "):
        next(load_dataset(tmp_path).games())


def test_a_set_of_which_a_part_is_missing_is_refused(made: Path, tmp_path: Path) -> None:
    """A line of the games, or a row of the tables, or a damaged table."""
    lines, about, table = contents(made)
    (tmp_path / "dataset.json").write_bytes(about)
    (tmp_path / "games.jsonl").write_bytes(b"".join(lines.splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match=r"games\.jsonl: [0-9]+ decisions; by dataset\.json"):
        [*load_dataset(tmp_path).games()]
    (tmp_path / "decisions").mkdir()
    part = tmp_path / "decisions" / "part-0000.parquet"
    table.iloc[1:].to_parquet(part)
    with pytest.raises(InputError, match=r"decisions: [0-9]+ decisions; by dataset\.json"):
        assert load_dataset(tmp_path).decisions is None
    part.write_bytes(b"no table")
    with pytest.raises(InputError, match="decisions: "):
        assert load_dataset(tmp_path).decisions is None


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    """Also one with a file of that name that is something else."""
    with pytest.raises(InputError, match=r"dataset\.json: No such file"):
        load_dataset(tmp_path)
    (tmp_path / "dataset.json").write_text(json.dumps({"games": "many"}))
    with pytest.raises(InputError, match=r"dataset\.json: "):
        load_dataset(tmp_path)
