"""A person's record against each strength, and what it says of the person's Elo."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.addons.table.own_games import (
    OwnGame,
    Tally,
    count_games,
    describe_rating,
    find_strength,
    list_own,
    read_games,
    suggest,
)
from arena.entries.catalogue import STRENGTHS
from engine import Record, Rules, outcome
from tests.store.games import random_record

GREEDY = {"label": "greedy", "bot": "greedy", "params": {}, "lane": "process", "sha256": "0"}
FACTS = {"bots": ["human", "greedy"], "opponent": GREEDY}


def finished(seat: int | None) -> Record:
    """Return a whole game that a seat wins."""
    rng = Random(5)
    while True:
        record = random_record(rng)
        if outcome(record.replay().piles).winner == seat:
            return record


def read(folder: Path, *lines: str) -> list[OwnGame]:
    file = folder / "games.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return read_games(file)


def tally_of(folder: Path, *lines: str) -> tuple[int, int, int, int]:
    """Return what some games count against greedy; nobody else has been met."""
    tallies = count_games(read(folder, *lines))
    (of_greedy,) = (one for one in tallies if one.strength.bot == "greedy")
    assert all(one[1:] == (0, 0, 0, 0) for one in tallies if one is not of_greedy)
    return of_greedy[1:]


def test_games_are_counted_as_the_rules_decide_them(tmp_path: Path) -> None:
    """Won in seat 0, and the other one lost; the person may sit in either seat."""
    won, lost = finished(0).to_json(**FACTS), finished(1).to_json(**FACTS)
    assert tally_of(tmp_path, won) == (1, 0, 0, 0)
    assert tally_of(tmp_path, won, lost) == (1, 0, 1, 0)
    swapped = finished(1).to_json(**FACTS | {"bots": ["greedy", "human"]})
    assert tally_of(tmp_path, swapped) == (1, 0, 0, 0)
    games = read(tmp_path, won, lost)
    assert [(game.line, game.winner) for game in games] == [(1, "human"), (2, "greedy")]
    assert [row["line"] for row in list_own(games)] == [2, 1]


def test_what_says_nothing_of_strength_is_not_counted(tmp_path: Path) -> None:
    """A take back, the same deal again, other rules, a game that was left: each is told apart."""
    record = finished(0)
    back = record.to_json(**FACTS, taken_back=[{"ply": 2, "actions": "5T"}])
    assert tally_of(tmp_path, back) == (0, 0, 0, 1)
    assert read(tmp_path, back)[0].row["taken_back"] == 1
    again = record.to_json(**FACTS)
    assert tally_of(tmp_path, again, again) == (1, 0, 0, 1)
    assert tally_of(tmp_path, back, again) == (0, 0, 0, 2)
    other = record._replace(rules=Rules(set_bonus=4)).to_json(**FACTS)
    assert tally_of(tmp_path, other) == (0, 0, 0, 1)
    left = record._replace(actions=record.actions[:9]).to_json(**FACTS)
    assert tally_of(tmp_path, left) == (0, 0, 0, 1)
    assert tally_of(tmp_path, left, again) == (0, 0, 0, 2)


def test_a_forfeit_is_a_result(tmp_path: Path) -> None:
    """As in every run; only one of the two can have won it."""
    part = finished(1)._replace(actions=finished(1).actions[:9])
    assert tally_of(tmp_path, part.to_json(**FACTS, win_type="forfeit", winner="human"))[0] == 1
    assert tally_of(tmp_path, part.to_json(**FACTS, win_type="forfeit", winner="Ann"))[3] == 1


@pytest.mark.parametrize(
    "opponent",
    [
        GREEDY | {"bot": "./greedy.py"},
        GREEDY | {"params": {"depth": 2}},
        GREEDY | {"bot": ["greedy"]},
        ["greedy"],
        None,
    ],
)
def test_only_the_bot_of_a_strength_counts(tmp_path: Path, opponent: Any) -> None:
    """No file of the same name, no other parameters; and a record may say anything."""
    line = finished(0).to_json(bots=["human", "greedy"], opponent=opponent)
    assert tally_of(tmp_path, line) == (0, 0, 0, 0)


def test_only_games_of_the_person_of_the_table_count(tmp_path: Path) -> None:
    """A run's games and those of `--me Ann` may be in the file, and noise."""
    record = finished(0)
    lines = [
        record.to_json(**FACTS | {"bots": ["Ann", "greedy"]}),
        record.to_json(bots=["greedy", "uniform"]),
        "noise",
        json.dumps({"deal": "", "actions": ""}),
        record.to_json(**FACTS, taken_back={"ply": 3}),
    ]
    assert tally_of(tmp_path, *lines) == (0, 0, 0, 1)  # the last one: the deal is known


def test_every_strength_is_found_by_its_bot() -> None:
    """As an entry describes it."""
    for strength in STRENGTHS:
        assert find_strength(GREEDY | {"bot": strength.bot}) == strength


def tallies(*results: tuple[int, int, int]) -> list[Tally]:
    """Return the tallies of the first strengths with these results, and of the others without."""
    rest = [(0, 0, 0)] * (len(STRENGTHS) - len(results))
    return [Tally(one, *of, 0) for one, of in zip(STRENGTHS, [*results, *rest], strict=True)]


def test_the_weakest_that_is_not_beaten_is_suggested() -> None:
    """Also where a stronger one was; the strongest when all have been beaten."""
    assert suggest(tallies()).number == 1
    assert suggest(tallies((1, 0, 3), (0, 0, 2), (1, 0, 0))).number == 2
    assert suggest(tallies(*[(1, 0, 0)] * 8)).number == 8


def test_a_sentence_says_no_more_than_the_games() -> None:
    """An interval, or the one end that there is, or nothing; numbers by hand.

    One win and one loss against 1392: with the share s of the lower end nothing is won in two
    games in 97.5 % of cases. So (1 - s) ** 2 = 0.975, s = 0.01258, and 400 log10(s / (1 - s)) is
    -757.9; the upper end is as far above.
    """
    assert "No game counts yet" in describe_rating(tallies())
    even = describe_rating(tallies((0, 0, 0), (1, 0, 1)))
    assert even == "By 2 games your Elo is 1392 (95 %: 634..2150)."
    assert "at least" in describe_rating(tallies((4, 0, 0)))
    assert "at most" in describe_rating(tallies((0, 0, 4)))
    assert describe_rating(tallies((0, 1, 0))) == "By 1 game your Elo is not known yet."
