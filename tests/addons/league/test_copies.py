"""A copy is seen by what it chooses and by its syntax tree, and only the organiser is told."""

from __future__ import annotations

import ast
import csv
import json
import math
import stat
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from arena.addons.league import submission
from arena.addons.league.copies import (
    GAMES,
    USUAL_MOVES,
    USUAL_TREE,
    ask_moves,
    describe_copies,
    draw_views,
    share_of_moves,
    share_of_trees,
)
from arena.addons.league.copies_page import format_copies, pairs
from arena.addons.league.league import League
from arena.addons.league.league_settings import PANEL
from arena.addons.league.league_site import write_site
from arena.addons.league.shown import format_history, history
from arena.entries.resolve import resolve
from arena.entries.syntax import find_tree
from arena.lanes.limits import Limits
from engine import STANDARD
from tests import ROOT
from tests.addons.league.small import a_league, accept


def source_of(name: str) -> str:
    """Return the source of a bot of the arena."""
    return (ROOT / "bots" / f"{name}.py").read_text(encoding="utf-8")


def rename(text: str) -> str:
    """Return a program with other names of its functions and variables, and another docstring."""
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    names = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    names |= {
        one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    names -= {one.arg for one in nodes if isinstance(one, ast.arg | ast.keyword)}
    names -= {one.attr for one in nodes if isinstance(one, ast.Attribute)} | {"bot"}
    for one in nodes:
        if isinstance(one, ast.Name) and one.id in names:
            one.id = f"my_{one.id}"
        if isinstance(one, ast.FunctionDef) and one in tree.body:
            one.name = f"my_{one.name}"
    return f'"""My own work."""\n{ast.unparse(tree)}\n'


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league whose check finds nothing, and which asks all bots, however long it takes."""
    monkeypatch.setattr(submission, "run_check", accept)
    monkeypatch.setattr(submission, "_CATCH_UP", math.inf)
    monkeypatch.setattr(submission, "SECONDS", math.inf)
    with a_league(tmp_path / "club") as made:
        yield made


def hand_in(league: League, name: str, text: str) -> None:
    """Submit a program under a name, whose owner has the same name."""
    path = league.folder.parent / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    league.desk.submit(str(path), name, name)


@pytest.mark.slow
def test_renamed_functions_hide_no_copy(league: League) -> None:
    """All choices and the whole tree agree; history, table and page have the numbers."""
    hand_in(league, "ann", source_of("timing"))
    hand_in(league, "bob", rename(source_of("timing")))
    hand_in(league, "cid", source_of("uniform") + "CID = 1\n")
    (found, *others) = pairs(league.ledger, 10)
    assert (found.bot, found.other, found.same_program) == ("bob", "ann", "no")
    assert (found.moves, found.tree) == (1.0, 1.0)
    assert found.positions > 300
    assert all((one.moves or 0) < 0.9 for one in others if one.other != "uniform")
    told = history(league, "bob")["versions"][0]["copies"]
    assert (told[-1]["bot"], told[-1]["moves"], told[-1]["tree"]) == ("ann", 1.0, 1.0)
    assert "  like ann 1 of ann: 100 % of" in "\n".join(format_history(history(league, "bob")))
    (bob,) = league.find("bob")
    notes = [*describe_copies(league.ledger, bob)]
    assert any(note.startswith("note: bob 1 and ann 1 of ann: 100 % of ") for note in notes)
    write_site(league)
    folder = league.folder / "copies"
    with (folder / "copies.csv").open() as file:
        assert next(csv.DictReader(file))["other"] == "ann"
    assert "ann" in (folder / "index.html").read_text()
    assert "no verdict" in "\n".join(format_copies([found]))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.study
def test_a_class_of_the_same_bots_is_few_lines(league: League) -> None:
    """Three of them are named, and the others are counted."""
    for number in range(6):
        hand_in(league, f"s{number}", f"{source_of('timing')}# {number}\n")
    (last,) = league.find("s5")
    *named, more = describe_copies(league.ledger, last)
    starts = [f"warning: but for comments s5 1 is the same as s{number} 1" for number in range(5)]
    assert named == starts[:3]
    assert more == "note: s5 1 is as near to 2 more; `arena league copies` has them"


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["moves", "tree"])
def test_a_renamed_bot_of_the_panel_is_found(league: League, asked: str) -> None:
    """As a file, and by its choices alone; the panel is asked before the first bot is checked."""
    hand_in(league, "bob", rename(source_of("greedy")))
    (found, *others) = pairs(league.ledger, 10)
    assert (found.other, found.other_owner, getattr(found, asked)) == ("greedy", "arena", 1.0)
    assert found.positions > 300
    assert all((one.moves or 0) < USUAL_MOVES for one in others)
    (bob,) = league.find("bob")
    notes = [*describe_copies(league.ledger, bob)]
    assert notes[0].startswith("note: bob 1 and greedy 1 of arena: 100 % of ")


@pytest.mark.slow
def test_a_bot_of_an_older_league_is_asked_later(league: League) -> None:
    """One accepted before the league kept traces; one whose file is gone has an empty trace."""
    hand_in(league, "ann", source_of("timing"))
    hand_in(league, "old", source_of("denier"))
    for version in league.find("old"):
        (league.folder / version.spec).unlink()
    with league.ledger.changing():
        league.ledger.connection.execute("DELETE FROM traces")
    hand_in(league, "bob", rename(source_of("timing")))
    (found, *_) = pairs(league.ledger, 10)
    assert (found.bot, found.other, found.moves, found.tree) == ("bob", "ann", 1.0, 1.0)
    traces = {id: (bool(moves), bool(tree)) for id, moves, tree in league.ledger.traces("")}
    assert len(traces) == len(league.ledger.versions())
    assert [*traces.values()].count((False, False)) == 1


@pytest.mark.slow
def test_a_submission_does_not_wait_for_the_traces_of_all_others(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some seconds it begins with no further one; the next submission does."""
    monkeypatch.setattr(submission, "_CATCH_UP", -1.0)
    hand_in(league, "ann", source_of("timing"))
    assert len(league.ledger.traces("")) == 1
    monkeypatch.setattr(submission, "_CATCH_UP", math.inf)
    hand_in(league, "bob", rename(source_of("timing")))
    assert len(league.ledger.traces("")) == len(league.ledger.versions())


@pytest.mark.slow
def test_a_folder_hides_no_copy(league: League, tmp_path: Path) -> None:
    """Its sources have one syntax tree together."""
    hand_in(league, "ann", source_of("timing"))
    folder = tmp_path / "bob"
    folder.mkdir()
    (folder / "bot.py").write_text("from mine import bot\n")
    (folder / "mine.py").write_text(rename(source_of("timing")))
    league.desk.submit(str(folder), "bob", "bob")
    (found, *_) = pairs(league.ledger, 10)
    assert (found.other, found.moves) == ("ann", 1.0)
    assert (found.tree or 0) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", PANEL)
def test_a_bot_of_the_panel_chooses_in_this_process_as_in_its_own(name: str) -> None:
    """It is asked here, in a tenth of the time."""
    there = ask_moves(resolve(name, lane="process"), 7, STANDARD, Limits())
    assert ask_moves(resolve(name), 7, STANDARD, Limits()) == there
    assert "-" not in there


@pytest.mark.slow
def test_no_public_page_names_a_copy(league: League) -> None:
    """Neither the page of a bot nor the news: only the organiser knows."""
    hand_in(league, "ann", source_of("timing"))
    hand_in(league, "bob", source_of("timing") + "# mine\n")
    with pytest.raises(submission.Refused):
        hand_in(league, "cid", source_of("timing"))
    write_site(league)
    site = league.folder / "site"
    for path in site.rglob("*.*"):
        about = path.read_text().replace("ann 1, by ann, joins", "")
        assert "ann 1" not in about
        assert "same as" not in about
    titles = [item["title"] for item in json.loads((site / "feed.json").read_text())["items"]]
    assert titles[0] == "a submission for cid was refused: its program is in the league already"
    assert [one.same_program for one in pairs(league.ledger, 2)] == ["yes", "no"]


@pytest.mark.slow
def test_equal_seeds_make_a_random_bot_choose_alike() -> None:
    """The positions are those of the seed, and the generator of a bot is that of the position."""
    entry = resolve("uniform", lane="process")
    moves = ask_moves(entry, 7, STANDARD, Limits())
    assert moves == ask_moves(entry, 7, STANDARD, Limits())
    assert moves != ask_moves(entry, 8, STANDARD, Limits())
    seen = [one for game in range(GAMES) for one in draw_views(7, STANDARD, game)]
    assert len(moves) == len(seen) > 300
    assert {one.seat for one in seen} == {0, 1}


@pytest.mark.parametrize(
    ("program", "answers"),
    [
        ("def choose(self, view): return 99", 0),
        ("def choose(self, view): raise ValueError", 0),
        ("def choose(self, view):\n        import os; os._exit(1)", 0),
        ("def choose(self, view): return view.legal[0]", 300),
    ],
)
def test_a_bot_that_fails_at_the_positions_has_no_answers_there(
    program: str, answers: int, tmp_path: Path
) -> None:
    """A position without an answer does not count, and a bot that always fails is left."""
    path = tmp_path / "bot.py"
    path.write_text(f"class Bot:\n    def __init__(self, setup): pass\n    {program}\nbot = Bot\n")
    moves = ask_moves(resolve(str(path), lane="process"), 7, STANDARD, Limits())
    assert len(moves.replace("-", "")) >= answers
    assert answers or not moves.replace("-", "")
    assert share_of_moves(moves, moves)[0] == (1.0 if answers else None)


def test_a_slow_bot_is_asked_at_fewer_positions() -> None:
    """They are the first ones, so they are in common with those of the others."""
    moves = ask_moves(resolve("majority", lane="process"), 7, STANDARD, Limits(), 0.0)
    assert moves == ""
    assert share_of_moves("5" * 60 + "T", "5" * 60) == (1.0, 60)


@pytest.mark.slow
def test_independent_bots_are_below_what_is_called_usual() -> None:
    """Bots of bots/ that are not built on one another; the figures are those of docs/league.md."""
    names = ("greedy", "majority", "uniform")
    moves = {
        name: ask_moves(resolve(name, lane="process"), 7, STANDARD, Limits()) for name in names
    }
    trees = {name: find_tree(source_of(name).encode()) for name in names}
    for one, other in combinations(names, 2):
        share, positions = share_of_moves(moves[one], moves[other])
        assert share is not None
        assert (share < USUAL_MOVES, positions > 300) == (True, True)
    assert (share_of_trees(trees["greedy"], trees["majority"]) or 0) < USUAL_TREE + 0.1


@pytest.mark.slow
def test_a_source_with_other_names_constants_and_annotations_has_one_tree() -> None:
    """But for another order of statements, and another operator."""
    base = find_tree(b"def f(a, b):\n    c = a + b * 2\n    return [x for x in c if x > 1]\n")
    same = b'def g(one: int, two: str = 3) -> int:\n    "Text."\n    z = one + two * 5\n'
    assert find_tree(same + b"    return [y for y in z if y > 9]\n") != b""
    moved = b"def g(one, two):\n    z = one + two * 5\n    return [y for y in z if y > 9]\n"
    assert find_tree(moved) == base
    assert find_tree(moved.replace(b"*", b"-")) != base
