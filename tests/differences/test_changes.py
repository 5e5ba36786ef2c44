"""What is different from one run to another: which bots are the same, scores, win types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd
import pytest

from arena.differences.changes import Changes, MatchedBot, RunGames, find_changes, match_bots
from arena.entries.resolve import resolve
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules
from tests.runs.test_verify import HERE

PAIRS = 12
BASE = ("greedy", "uniform", "mine=greedy(patience=2.5)")


def tournament(*bots: str, seed: int = 3, pairs: int = PAIRS) -> Tournament:
    return Tournament("cup", seed, pairs, [resolve(bot, lane="inproc") for bot in bots], STANDARD)


def play(what: Tournament) -> RunGames:
    store = Store(None)
    run(what, HERE, None, QUIET, store=store)
    return RunGames(what, store)


@pytest.fixture(scope="module")
def base() -> Iterator[RunGames]:
    """A run of three bots, one of which the other runs change."""
    games = play(tournament(*BASE))
    yield games
    games.store.close()


def changes_to(base: RunGames, what: Tournament) -> Changes:
    other = play(what)
    try:
        return find_changes(base, other)
    finally:
        other.store.close()


def test_a_bot_is_the_same_by_source_and_parameters_whatever_its_label() -> None:
    """With its label and other parameters it has changed; the rest is only in one run."""
    base = tournament("greedy", "uniform", "mine=greedy(patience=2.5)", "denier")
    other = tournament("uniform", "mine=greedy(patience=2)", "g=greedy", "majority")
    assert match_bots(base.entries, other.entries) == [
        MatchedBot("greedy", "g", "same"),
        MatchedBot("uniform", "uniform", "same"),
        MatchedBot("mine", "mine", "changed"),
        MatchedBot("denier", None, "only in the base"),
        MatchedBot(None, "majority", "only in the other run"),
    ]
    assert [one.name for one in match_bots(base.entries, other.entries)][:2] == [
        "greedy / g",
        "uniform",
    ]


@pytest.mark.slow
def test_a_run_and_itself_do_not_differ(base: RunGames) -> None:
    """Every game is the same, every difference is 0, and nothing is tested."""
    changes = find_changes(base, base)
    assert (changes.shared_deals, changes.same_games) == (3 * PAIRS, 6 * PAIRS)
    for table in (changes.ratings, changes.head_to_head, changes.win_types, changes.totals):
        assert len(table)
        assert (table["difference"] == 0).all()
        ends = table[["low", "high"]]
        assert ((ends["low"] < 0) & (ends["high"] > 0) | (ends == 0).all(axis=1)).all()
        assert table["sure"].isna().all()
    assert not changes.warnings


def test_the_order_of_the_bots_changes_nothing(base: RunGames) -> None:
    """The games are the same, seen from the other side."""
    changes = changes_to(base, tournament(*reversed(BASE)))
    assert changes.same_games == 6 * PAIRS
    assert (changes.head_to_head["difference"] == 0).all()
    assert (changes.totals["difference"] == 0).all()


@pytest.mark.slow
def test_scores_and_win_types_are_those_of_the_tables(base: RunGames) -> None:
    """As counted game by game, with both runs' shares."""
    what = tournament("greedy", "uniform", "mine=greedy(patience=1)")
    other = play(what)
    changes = find_changes(base, other)
    for games, side in ((base, "base"), (other, "other")):
        rows = pd.DataFrame(
            list(games.store.named_games(games.tournament.pairings)),
            columns=["bot", "opponent", "pair", "seat", "winner", "win_type", *"pqrs"],
        )
        for row in changes.head_to_head.to_dict("records"):
            of_two = rows[(rows["bot"] == row["bot"]) & (rows["opponent"] == row["opponent"])]
            assert row[side] == pytest.approx((of_two["winner"] == row["bot"]).mean(), abs=1e-4)
        mine = changes.win_types[changes.win_types["bot"] == "mine"].set_index("part")
        own = rows[rows["opponent"] == "mine"]
        won = (own["winner"] == "mine") & (own["win_type"] == "points")
        lost = (own["winner"] != "mine") & (own["win_type"] == "city")
        assert mine.loc["won by points", side] == pytest.approx(won.mean(), abs=1e-4)
        assert mine.loc["lost by City", side] == pytest.approx(lost.mean(), abs=1e-4)
        totals = changes.totals.set_index("part")[side]
        assert totals["won by City"] == pytest.approx((rows["win_type"] == "city").mean(), abs=1e-4)
        first = (rows["seat"] == 0) == (rows["winner"] == rows["bot"])
        assert totals["score of seat 0"] == pytest.approx(first.mean(), abs=1e-4)
    other.store.close()


@pytest.mark.slow
def test_only_what_a_changed_bot_plays_is_tested(base: RunGames) -> None:
    """The others' games are the same on the same deals, and count as luck."""
    what = tournament("greedy", "uniform", "mine=greedy(patience=1)", "denier", pairs=PAIRS + 4)
    changes = changes_to(base, what)
    table = changes.head_to_head.set_index(["bot", "opponent"])
    same = table.loc[("greedy", "uniform")]
    assert (same["bots"], same["same_games"], same["sure"]) == ("same", 2 * PAIRS, None)
    assert (same["base_pairs"], same["other_pairs"], same["shared_deals"]) == (
        PAIRS,
        PAIRS + 4,
        PAIRS,
    )
    changed = table.loc[("greedy", "mine")]
    assert changed["bots"] == "mine changed"
    assert changed["same_games"] < 2 * PAIRS
    assert changed["sure"] in (True, False)
    assert changes.totals["sure"].isin([True, False]).all()
    ratings = changes.ratings.set_index("bot")
    assert ratings["sure"].notna().to_dict() == {
        "greedy": False,
        "uniform": False,
        "mine": True,
        "denier": False,
    }
    assert changes.totals["sure"].notna().all()  # one of their pairings has a changed bot
    assert changes.win_types["sure"].notna().all()  # all have met that bot
    assert pd.isna(ratings.loc["denier", "difference"])
    assert [one.name for one in changes.scale] == ["greedy", "uniform"]
    same = ratings.loc[["greedy", "uniform"]]
    assert same["base"].mean() == pytest.approx(same["other"].mean(), abs=0.1)
    assert not changes.warnings


def test_another_seed_shares_no_deal(base: RunGames) -> None:
    """The runs are then independent."""
    changes = changes_to(base, tournament(*BASE, seed=4))
    assert (changes.shared_deals, changes.same_games) == (0, 0)
    assert len(changes.head_to_head) == 3


@pytest.mark.slow
def test_other_rules_are_said_and_everything_is_tested(base: RunGames) -> None:
    """With the same deals where the rules allow it."""
    what = tournament(*BASE)
    changes = changes_to(base, replace(what, rules=Rules.from_changes({"set_bonus": 0})))
    assert "set_bonus=0" in changes.warnings[0]
    assert "the published ones" in changes.warnings[0]
    assert changes.shared_deals == 3 * PAIRS
    assert changes.head_to_head["sure"].notna().all()
    assert changes.totals["sure"].notna().all()
    fewer = Rules.from_changes({"rounds": 2, "removed": 23})
    assert changes_to(base, replace(what, rules=fewer)).shared_deals == 0


def test_runs_without_a_common_bot_have_nothing_to_compare(base: RunGames) -> None:
    """This is said; so is that no bot is the same where all have changed."""
    changes = changes_to(base, tournament("denier", "majority", pairs=2))
    assert len(changes.warnings) == 2
    assert changes.ratings.empty
    assert changes.head_to_head.empty
    assert changes.win_types.empty
    assert changes.totals.empty
    other = changes_to(base, tournament("greedy=denier", "uniform=majority", pairs=2))
    assert [one.status for one in other.bots[:2]] == ["changed", "changed"]
    assert other.warnings == [
        "No bot is the same in both runs, so their ratings cannot be compared."
    ]
    assert len(other.head_to_head) == 1


def test_a_bot_that_is_alone_the_same_has_no_change_of_its_own(base: RunGames) -> None:
    """It is the zero of the scale."""
    changes = changes_to(base, tournament("greedy", "uniform=denier", pairs=4))
    ratings = changes.ratings.set_index("bot")
    assert pd.isna(ratings.loc["greedy", "difference"])
    assert ratings.loc["greedy", "base"] == ratings.loc["greedy", "other"]
    assert ratings.loc["uniform", "sure"] in (True, False)


@pytest.mark.slow
def test_a_run_under_way_counts_its_finished_pairs(base: RunGames) -> None:
    """A pair with one game is left out."""
    other = play(tournament(*BASE))
    connection = other.store._connection
    connection.execute("DELETE FROM games WHERE pairing = 0 AND pair >= 5")
    connection.execute("DELETE FROM games WHERE pairing = 0 AND pair = 2 AND seat = 1")
    connection.execute("DELETE FROM games WHERE pairing = 2")
    changes = find_changes(base, other)
    table = changes.head_to_head
    assert [*zip(table["bot"], table["opponent"], strict=True)] == [
        ("greedy", "uniform"),
        ("greedy", "mine"),
    ]
    assert table["other_pairs"].tolist() == [4, PAIRS]
    assert table["same_games"].tolist() == [8, 2 * PAIRS]
    other.store.close()
