"""The review of a person's game: which decisions cost most, and what is said of them."""

from __future__ import annotations

import json
import threading
from random import Random

import pytest

from arena.addons.table import second_look
from arena.addons.table.own_games import find_line
from arena.addons.table.second_look import _interval, find_mistakes, find_person, review_game
from arena.errors import InputError
from arena.runs.judge_games import review_record
from arena.store.mistakes import MISTAKES
from arena.tournament.judged import ILLEGAL, PARTS, Judged
from engine import TAKE, Record, State
from engine.cards import CHARS
from engine.notation import parse_deal
from engine.view import view
from tests.addons.table import Client
from tests.addons.table.test_own_games import FACTS, GREEDY, finished
from tests.addons.table.test_playing import lines, sit_down
from tests.store.games import random_record, twin

POINT = PARTS // 100


@pytest.fixture(autouse=True)
def _few_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge in fewer worlds, which takes less time."""
    monkeypatch.setattr(second_look, "WORLDS", 8)


def decision(ply: int, loss: int, error: int, *, best: int = 1) -> Judged:
    """Return a decision to take that lost so many points of 100, by both judges."""
    chances = [ILLEGAL] * (TAKE + 1)
    chances[TAKE], chances[best] = 40 * POINT, 60 * POINT
    return Judged(ply, TAKE, chances, loss * POINT, error * POINT, first=20 * POINT)


def test_only_what_is_sure_is_called_a_mistake() -> None:
    """Among many decisions one is beyond two errors by chance; and what is small costs little."""
    unsure = [decision(ply, 4, 2) for ply in range(1)]
    many = [decision(ply, 0, 2) for ply in range(2, 20)]
    assert len(find_mistakes([decision(0, 5, 2)])) == 1
    assert find_mistakes([*unsure, decision(1, 5, 2), *many]) == []
    assert [one.ply for one in find_mistakes([*many, decision(1, 12, 2)])] == [1]
    assert find_mistakes([decision(0, 0, 0)._replace(loss=POINT - 1, error=10)]) == []
    assert find_mistakes([decision(0, 30, 2)._replace(first=None)]) == []  # by one judge only
    assert find_mistakes([decision(0, -12, 2)]) == []
    assert find_mistakes([]) == []


def test_where_all_worlds_agree_a_loss_is_sure() -> None:
    """The costliest comes first. But what 200 worlds never show may happen, 1.5 times in 100."""
    found = find_mistakes([decision(40, 30, 0), decision(44, 100, 0), decision(46, 0, 0)])
    assert [one.ply for one in found] == [44, 40]
    assert _interval(found[0])[:3] == pytest.approx((100 * POINT, 98.5 * POINT, 101.5 * POINT))


def test_the_best_action_itself_is_no_mistake() -> None:
    """Each half of the worlds may choose another one."""
    assert find_mistakes([decision(3, 20, 1, best=TAKE)]) == []


@pytest.mark.slow
def test_a_review_shows_positions_as_the_person_saw_them() -> None:
    """At most three, the costliest first, each with the action, the better one and the loss."""
    record = finished(1)
    review = review_game(record.to_json(**FACTS).encode(), 1)
    found = review["mistakes"]
    assert 1 <= len(found) <= 3  # a person who plays at random makes mistakes
    assert [one["loss"][0] for one in found] == sorted(one["loss"][0] for one in found)[::-1]
    assert review["players"] == ["human", "greedy"]
    for one in found:
        state = State(parse_deal(record.deal))
        state.follow(bytes(map(CHARS.index, record.actions[: one["ply"]])))
        assert state.to_act == review["seat"] == 0
        assert one["action"] == record.actions[one["ply"]]
        assert CHARS.index(one["best"]) in view(state, 0).legal
        frame = one["frame"]
        assert (frame["hands"][1], frame["ply"]) == (None, one["ply"])
        assert {thought["action"] for thought in frame["thoughts"]} == {*frame["legal"]}
        (chosen,) = (thought for thought in frame["thoughts"] if thought["chosen"])
        assert chosen["action"] == one["action"] != one["best"]
        value, low, high = one["loss"]
        assert 0 < low <= value <= high <= 1
        assert one["mistake"] in MISTAKES
    text = json.dumps(review)
    assert record.deal not in text
    assert review["summary"].startswith("By this judge ")


@pytest.mark.slow
def test_the_other_hand_changes_no_byte_of_a_review() -> None:
    """Positions, chances and losses follow from what the person knew."""
    record = random_record(Random(3), plies=13)
    one, other = (
        json.dumps(review_game(game.to_json(**FACTS).encode(), 1))
        for game in (record, twin(record, 0, Random(4)))
    )
    assert one == other


def test_a_record_without_a_person_is_refused() -> None:
    """Its names may be anything."""
    record = finished(0)
    assert find_person(record.to_json(**FACTS | {"bots": ["greedy", "human"]}).encode()) == 1
    for facts in ({}, {"bots": ["a", "b"], "opponent": GREEDY}, FACTS | {"opponent": ["greedy"]}):
        with pytest.raises(InputError, match="who the person is"):
            find_person(record.to_json(**facts).encode())


@pytest.mark.slow
def test_the_page_asks_for_the_game_of_a_line(client: Client) -> None:
    """In any number of tabs; a line that is not there has no review."""
    path = sit_down(client, bot="uniform", begins="bot")
    for news in client.news(f"{path}/events"):
        if news["phase"] == "yours":
            frame = news["frames"][-1]
            if frame["ply"] < 8:
                client.ask(f"{path}/act", {"ply": frame["ply"], "action": frame["legal"][0]})
            else:
                client.ask(f"{path}/leave", {})
    line = news["line"]
    answers: list[object] = []
    asking = [
        threading.Thread(target=lambda: answers.append(client.ask("api/review", {"line": line})))
        for _ in range(2)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert answers == [review_game(find_line(client.table.records.path, line), line)] * 2
    assert client.ask("api/review", {"line": len(lines(client)) + 1}, 404)
    assert client.ask("api/review", {"line": "1"}, 400)


@pytest.mark.study
def test_who_plays_the_best_makes_few_mistakes() -> None:
    """Decisions that 400 other worlds call the best: at most 5 of 100 games of 19 have a claim.

    Such an action may be slightly worse than another in truth, so that this is an upper bound.
    """
    wrong = judged = 0
    for number in range(30):
        record = random_record(Random(number))
        for one in review_record(record, worlds=400, seed=9, plies=range(0, 48, 2)):
            played = record.actions[: one.ply] + CHARS[one.best]
            again = review_record(Record(record.deal, played), worlds=200, plies=[one.ply])
            judged += len(again)
            wrong += len(find_mistakes(again))
    assert judged > 500
    assert wrong / judged <= 0.05 / 19
