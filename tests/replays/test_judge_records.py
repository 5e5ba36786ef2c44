"""`replay` judges records: finished, unfinished, illegal and malformed ones."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from arena.replays.judge_records import judge as judge_lines
from arena.replays.judge_records import read_lines
from bots.uniform import bot
from engine import play_game

GAMES = [play_game(bot, bot, seed=seed) for seed in range(300)]
WHOLE = next(game for game in GAMES if game.win_type == "points")
CITY = next(game for game in GAMES if game.win_type == "city" and len(game.record.actions) < 40)
SORTED = "555556666667777777888888882222334xxxyyyyzzCCC"


def judge(line: str | bytes) -> dict[str, Any]:
    (judgement,) = judge_lines([line if isinstance(line, bytes) else line.encode()])
    document: dict[str, Any] = json.loads(json.dumps(judgement))
    return document


def record(deal: str, actions: str, **more: object) -> dict[str, Any]:
    return judge(json.dumps({"deal": deal, "actions": actions, **more}))


def test_a_finished_game_is_judged_as_the_engine_did() -> None:
    """300 games with city wins, points and tie-breaks; the breakdown adds up to the points."""
    assert {game.win_type for game in GAMES} >= {"city", "points", "tiebreak"}
    for game in GAMES:
        judged = judge(game.record.to_json(id=7, result="ignored"))
        keys = ["line", "over", "winner", "win_type", "points", "breakdown", "piles", "plies"]
        assert list(judged) == keys
        assert judged["over"] is True
        assert (judged["winner"], judged["win_type"]) == (game.winner, game.win_type)
        assert tuple(judged["points"]) == game.points
        assert judged["plies"] == len(game.record.actions)
        for points, part in zip(judged["points"], judged["breakdown"], strict=True):
            assert list(part) == ["majorities", "sets", "alliances", "betrayals"]
            others = part["sets"] + part["alliances"] + part["betrayals"]
            assert points == sum(part["majorities"]) + others


def test_an_unfinished_game_has_points_so_far_and_no_winner() -> None:
    """Seat 0 takes the opening row 6 7 and the played cards 5 and 6."""
    nothing = {"majorities": [0, 0, 0, 0], "sets": 0, "alliances": 0, "betrayals": 0}
    assert record(SORTED, "56T") == {
        **{"line": 1, "over": False, "winner": None, "win_type": None, "plies": 3},
        **{"points": [5 + 6 + 7, 0], "piles": ["5667", ""]},
        "breakdown": [nothing | {"majorities": [5, 6, 7, 0]}, nothing],
    }


@pytest.mark.parametrize(
    ("actions", "ply"),
    [("6", 0), ("55", 1), ("TT", 1), ("T6T", 2), ("56TT", 3)],
    ids=["not in the hand", "the other's card", "empty row", "second take", "row taken whole"],
)
def test_an_illegal_action_is_reported_with_its_ply(actions: str, ply: int) -> None:
    """Plies are counted from 0; seat 0 holds five 5s, seat 1 five 6s, the row is 6 7."""
    judged = record(SORTED, actions)
    assert (judged["error"], judged["ply"]) == ("illegal-action", ply)
    assert judged["message"].startswith("illegal action")


def test_an_action_after_the_end_has_an_error_of_its_own() -> None:
    for game in (WHOLE, CITY):
        for char in "5T":
            judged = record(game.record.deal, game.record.actions + char)
            assert judged["error"] == "after-end"
            assert judged["ply"] == len(game.record.actions)


@pytest.mark.parametrize(
    ("deal", "actions", "error", "ply"),
    [
        *((deal, "", "bad-deal", None) for deal in (SORTED[:-1], SORTED + "C", "")),
        *((deal, "", "bad-deal", None) for deal in ("6" + SORTED[1:], SORTED[:-1] + "5")),
        *((char + SORTED[1:], "", "bad-notation", None) for char in "T9c é\n"),  # T is no card
        *((SORTED, "56" + char, "bad-notation", 2) for char in "9ct é\n"),
    ],
)
def test_a_bad_deal_or_character_is_reported_with_the_ply_of_an_action(
    deal: str, actions: str, error: str, ply: int | None
) -> None:
    judged = record(deal, actions)
    assert (judged["error"], judged["ply"]) == (error, ply)


@pytest.mark.parametrize(
    "line",
    [
        *("{", "[]", "3", "null", '"deal"', "{}", '{"deal": "5"}', '{"actions": "5"}'),
        *('{"deal": 5, "actions": "5"}', '{"deal": "5", "actions": null}'),
        *('{"deal": "5", "actions": ["5"]}', "[" * 100_000, b"\xff\xfe{}"),
    ],
    ids=lambda line: str(line)[:30],
)
def test_a_line_that_is_no_record_is_bad_json(line: str | bytes) -> None:
    judged = judge(line)
    assert (judged["error"], judged["ply"]) == ("bad-json", None)


def test_a_record_is_judged_by_its_own_rules() -> None:
    """With a take size of 1, a take brings one card."""
    judged = record(SORTED, "56T", rules={"take_size": 1})
    assert judged["piles"] == ["6", ""]
    for rules in ({"take_size": 50}, {"colour": 1}, {"take_size": "5"}, [], "x", {"copies": 5}):
        assert "error" in record(SORTED, "", rules=rules)


def test_lines_are_counted_from_1_and_blank_ones_are_skipped() -> None:
    lines = [b"\n", b"{}\n", b"  \r\n", WHOLE.record.to_json().encode() + b"\r\n"]
    judgements = list(judge_lines(lines))
    assert [judgement["line"] for judgement in judgements] == [2, 4]
    assert judgements[0]["error"] == "bad-json"
    assert judgements[1]["over"]


def test_a_line_that_is_too_long_is_bad_and_the_next_one_is_judged() -> None:
    """Of it 2 to the 20th bytes are kept, and the rest is read piece by piece."""
    whole = WHOLE.record.to_json().encode()
    for length in ((1 << 20) + 1, 3 << 20):
        file = BytesIO(whole + b"\n" + b"[" * length + b"\n" + whole)
        kept = list(read_lines(file))
        assert [len(line) for line in kept] == [len(whole) + 1, (1 << 20) + 1, len(whole)]
        before, bad, after = judge_lines(kept)
        assert [before["line"], bad["line"], after["line"]] == [1, 2, 3]
        assert before["over"]
        assert after["over"]
        assert bad["message"] == "a line of more than 1,048,576 bytes"
    assert list(read_lines(BytesIO(b"x" * (1 << 20) + b"\ny"))) == [b"x" * (1 << 20) + b"\n", b"y"]
