"""Another action is played, and bots go on by what their seats know."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.runs.judge_games import draw_players, what_if
from arena.store.finished import Branch, branch_timeline
from engine import Record, Setup, State
from engine.cards import CHARS
from engine.notation import parse_actions, parse_deal
from engine.view import view
from tests.store.games import random_record

RECORD = random_record(Random(5))
GREEDY = draw_players(resolve("greedy"))
COUNTS = '''
"""Fails unless it is asked at each decision of its seat in turn."""
class Counts:
    def __init__(self, setup):
        self.asked = 0
    def choose(self, view, /):
        own = [ply for ply in range(len(view.history)) if view.rules.seat_at(ply) == view.seat]
        if self.asked != len(own):
            raise ValueError(f"asked {self.asked} times, at decision {len(own)}")
        self.asked += 1
        return view.legal[-1]
bot = Counts
'''


def other_action(record: Record, ply: int) -> str:
    """Return a legal action that was not played at a ply."""
    state = State(parse_deal(record.deal, record.rules), record.rules)
    state.follow(parse_actions(record.actions[:ply]))
    return next(CHARS[one] for one in state.legal() if CHARS[one] != record.actions[ply])


ILLEGAL = next(
    char
    for char in CHARS[:11]
    if char not in [CHARS[one] for one in Record(RECORD.deal, RECORD.actions[:7]).replay().legal()]
)


@pytest.mark.parametrize("ply", [0, 13, 30])
def test_it_is_the_game_until_the_ply_and_then_what_the_bots_choose(ply: int) -> None:
    """By their views, with the cards of the game, to the end; equal seeds give equal games."""
    action = other_action(RECORD, ply)
    other = what_if(RECORD, ply, action, GREEDY)
    assert other.deal == RECORD.deal
    assert other.actions[: ply + 1] == RECORD.actions[:ply] + action
    assert other == what_if(RECORD, ply, action, GREEDY)
    state = State(parse_deal(RECORD.deal))
    bots = [resolve("greedy").create(Setup(Random(0), seat, RECORD.rules)) for seat in (0, 1)]
    for number, played in enumerate(parse_actions(other.actions)):
        if number > ply:
            assert bots[state.to_act].choose(view(state, state.to_act)) == played
        state.apply(played)
    assert state.over


def test_a_bot_that_remembers_is_asked_at_every_decision_of_its_seat(tmp_path: Path) -> None:
    """Also at those before the change, and at the change itself."""
    (tmp_path / "counts.py").write_text(COUNTS)
    players = draw_players(resolve(str(tmp_path / "counts.py")))
    ply = 3
    other = what_if(RECORD, ply, other_action(RECORD, ply), players)
    assert other.replay().over
    assert other.actions[:ply] == RECORD.actions[:ply]


def test_a_seed_draws_the_luck_of_both_seats() -> None:
    """Seat by seat another one."""
    (one, first), (two, second) = draw_players(resolve("uniform"), 3)
    assert one == two
    assert first != second
    assert draw_players(resolve("uniform"), 4)[0][1] != first


def test_its_timeline_says_where_it_leaves_the_game() -> None:
    """In the title and as data, with who goes on."""
    action = other_action(RECORD, 7)
    other = what_if(RECORD, 7, action, GREEDY)
    branch = Branch(RECORD, 7, "greedy")
    timeline = branch_timeline(other, ("ann", "bob"), branch, title="line 1")
    assert timeline["title"] == f"line 1; what if: {action} at ply 7, then greedy"
    assert timeline["branch"] == {"ply": 7, "action": RECORD.actions[7], "by": "greedy"}
    assert [frame["action"]["char"] for frame in timeline["frames"][1:]] == [*other.actions]
    assert timeline["over"]


@pytest.mark.parametrize(
    ("ply", "action", "message"),
    [
        (48, "T", "ply 48: the game has 48 plies, the first one is ply 0"),
        (-1, "T", "ply -1: the game has"),
        (7, RECORD.actions[7], f"ply 7: {RECORD.actions[7]} is what was played there"),
        (7, "Q", "ply 7: 'Q' at index 7 is not an action"),
        (7, "TT", "ply 7: 'TT' is not an action"),
        (7, "", "ply 7: '' is not an action"),
        (7, ILLEGAL, f"ply 7: illegal action .* .{ILLEGAL}.; legal:"),
    ],
)
def test_what_cannot_be_is_refused(ply: int, action: str, message: str) -> None:
    """In one line."""
    with pytest.raises(InputError, match=message):
        what_if(RECORD, ply, action, GREEDY)


def test_a_record_or_a_bot_that_fails_is_refused(tmp_path: Path) -> None:
    """And named."""
    with pytest.raises(InputError, match="a record that cannot be played"):
        what_if(Record(RECORD.deal, "TTTT"), 0, "T", GREEDY)
    (tmp_path / "fails.py").write_text(COUNTS.replace("self.asked += 1", ""))
    players = draw_players(resolve(str(tmp_path / "fails.py")))
    with pytest.raises(InputError, match=r"bot '.*fails.py': ValueError: asked 0 times"):
        what_if(RECORD, 7, other_action(RECORD, 7), players)
