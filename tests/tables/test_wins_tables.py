"""The tables are what counting the games one by one gives."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing
from itertools import pairwise
from random import Random

import numpy as np
import pandas as pd
import pytest

from arena.statistics.intervals import Moments
from arena.store.counting import Counts
from arena.tables.parts_of_field import make_city_winners
from arena.tables.replayed_games import SOURCES
from arena.tables.run_games import Row
from arena.tables.win_tables import WinTables
from arena.tournament.schedule import Pairing
from engine import CITY, TAKE, Rules, breakdown, counts, points
from engine.cards import CHARS
from tests.tables.games import Played, play, random_rules, rows_of, store_of, tables_of, tournament

CUP = tournament(bots=3, pairs=12)
GAMES = [*play(CUP, forfeits=True)]
TABLES = tables_of(CUP, rows_of(GAMES))
VARIANT = tournament(bots=3, pairs=8, rules=random_rules(Random(8)))


def seats_of(game: Played) -> tuple[str, str]:
    """Return the labels of seat 0 and seat 1."""
    bot, opponent = CUP.pairings[game.row.pairing]
    return (bot, opponent) if game.row.seat == 0 else (opponent, bot)


def winner_of(game: Played) -> int | None:
    """Return the seat that won."""
    return None if game.row.winner is None else game.row.winner ^ game.row.seat


def rows_by(table: pd.DataFrame, *keys: str) -> dict[tuple[object, ...], dict[str, object]]:
    """Return the rows of a table by their keys; an empty cell is None."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return {tuple(row[key] for key in keys): row for row in rows}


def test_seats_count_how_games_ended() -> None:
    """For each bot, opponent and seat, and in total; margins of games that were scored."""
    found = rows_by(TABLES.seats, "bot", "opponent", "seat")
    ends: dict[tuple[object, ...], Counter[str]] = defaultdict(Counter)
    margins = defaultdict(list)
    for game in GAMES:
        seats, winner = seats_of(game), winner_of(game)
        lead = game.row.margin * (1 - 2 * game.row.seat)
        for seat in (0, 1):
            end = "draws" if winner is None else ("losses", "wins")[winner == seat]
            for key in ((seats[seat], seats[1 - seat]), (seats[seat], None), (None, None)):
                ends[*key, seat] += Counter([end, f"{game.row.win_type} {end}"])
                if game.row.win_type in ("points", "tiebreak", "draw"):
                    margins[*key, seat].append(lead * (1 - 2 * seat))
    assert ends.keys() == found.keys()
    for key, row in found.items():
        for end in ("wins", "losses", "draws"):
            assert row[end] == ends[key][end]
        for win_type in ("city", "points", "tiebreak", "forfeit"):
            assert row[f"{win_type}_wins"] == ends[key][f"{win_type} wins"]
        assert row["forfeits"] == ends[key]["forfeit losses"]
        assert row["city_losses"] == ends[key]["city losses"]
        assert row["mean_margin"] == pytest.approx(np.mean(margins[key]), abs=1e-4)
        assert row["margin_low"] < row["mean_margin"] < row["margin_high"]  # type: ignore[operator]
        assert row["score_low"] < row["score"] < row["score_high"]  # type: ignore[operator]


def test_leads_count_who_led_and_won() -> None:
    """After each of three rounds; games that ended before are not counted."""
    found = rows_by(TABLES.leads, "bot", "round", "after")
    scores = defaultdict(list)
    for game in GAMES:
        for number in (1, 2, 3):
            if game.forfeited or len(game.states) <= 12 * number + 1:
                continue
            score, winner = points(game.states[12 * number].piles), winner_of(game)
            for seat in (0, 1):
                won = 0.5 if winner is None else float(winner == seat)
                lead = score[seat] - score[1 - seat]
                after = "led" if lead > 0 else "behind" if lead < 0 else "level"
                scores[seats_of(game)[seat], number, after].append(won)
                if after == "led":
                    scores[None, number, after].append(won)
    assert {key: row["games"] for key, row in found.items()} == {
        key: len(won) for key, won in scores.items()
    }
    for key, row in found.items():
        assert row["score"] == pytest.approx(np.mean(scores[key]), abs=1e-4)


def test_cities_count_who_held_so_many_and_won() -> None:
    """After each of three rounds, in any way and by City; games that ended before are left out."""
    found = rows_by(TABLES.cities, "bot", "round", "cities")
    results = defaultdict(list)
    for game in GAMES:
        for number in (1, 2, 3):
            if game.forfeited or len(game.states) <= 12 * number + 1:
                continue
            for seat in (0, 1):
                held = counts(game.states[12 * number].piles[seat])[CITY]
                won = winner_of(game) == seat
                result = won, won and game.row.win_type == "city"
                for bot in (seats_of(game)[seat], None):
                    results[bot, number, held].append(result)
    assert {key: row["games"] for key, row in found.items()} == {
        key: len(each) for key, each in results.items()
    }
    assert any(by_city for each in results.values() for _, by_city in each)
    for key, row in found.items():
        shares = np.mean(results[key], axis=0)
        for name, share in zip(("won", "by_city"), shares, strict=True):
            assert row[name] == pytest.approx(share, abs=1e-4)
            assert 0 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= 1  # type: ignore[operator]


def test_city_winners_are_counted_by_bot_and_by_third_of_the_field() -> None:
    """Of seven bots two are the strongest and two the weakest; a forfeit is no win."""
    cup = tournament(bots=7, pairs=3)
    games = [*play(cup, forfeits=True)]
    with closing(store_of(rows_of(games))) as store:
        table = make_city_winners(cup.pairings, [*"gfedcba"], store.count()).frame
    wins: dict[tuple[object, ...], list[bool]] = defaultdict(list)
    for game in games:
        if game.row.winner is not None and not game.forfeited:
            bot = cup.pairings[game.row.pairing][game.row.winner]
            part = {"g": "strongest", "f": "strongest", "a": "weakest", "b": "weakest"}
            for key in ((part.get(bot, "middle"), bot), (part.get(bot, "middle"), None)):
                wins[key].append(game.row.win_type == "city")
            wins["all", None].append(game.row.win_type == "city")
    found = rows_by(table, "part", "bot")
    gap = found.pop(("difference", None))
    assert found.keys() == wins.keys()
    assert sum(wins["all", None]) > 0
    for key, row in found.items():
        assert (row["wins"], row["city_wins"]) == (len(wins[key]), sum(wins[key]))
        assert row["share"] == pytest.approx(np.mean(wins[key]), abs=1e-4)
    two = [np.mean(wins[part, None]) for part in ("strongest", "weakest")]
    assert gap["share"] == pytest.approx(two[0] - two[1], abs=1e-4)
    assert gap["wins"] is None


def test_the_games_of_a_pair_within_a_third_are_one_unit() -> None:
    """Both games of each pair end alike, so an interval is that of half as many games."""
    games = [[0, 1], [3, 4]] * 3  # City and points, each won once by either bot
    pairings = [Pairing("a", "b"), Pairing("c", "d"), Pairing("e", "f")]
    counts = Counts.of(pairing=[0, 0, 1, 1, 2, 2], games=games, pairs=[20] * 6)
    found = rows_by(make_city_winners(pairings, [*"abcdef"], counts).frame, "part", "bot")
    third, bot = found["strongest", None], found["strongest", "a"]
    assert (third["wins"], bot["wins"], third["share"], bot["share"]) == (80, 40, 0.5, 0.5)
    assert third["share_low"] == bot["share_low"]


def test_sources_add_up_the_points_of_winners_and_losers() -> None:
    """With the lead over the other seat; forfeits are left out."""
    found = rows_by(TABLES.wins_by_source, "bot", "result", "win_type", "source")
    own, leads = defaultdict(list), defaultdict(list)
    for game in GAMES:
        if game.forfeited:
            continue
        parts = [
            (*part.majorities, part.sets, part.alliances, part.betrayals, part.points)
            for part in breakdown(game.states[-1].piles)
        ]
        winner, by = winner_of(game), "city" if game.row.win_type == "city" else "points"
        for seat in (0, 1):
            result = ("drawn", "draw")
            if winner is not None:
                result = ("won" if winner == seat else "lost", by)
            for bot in (seats_of(game)[seat], None):
                for place, source in enumerate(SOURCES):
                    own[bot, *result, source].append(parts[seat][place])
                    leads[bot, *result, source].append(parts[seat][place] - parts[1 - seat][place])
    assert found.keys() == own.keys()
    for key, row in found.items():
        both = key[:2] == (None, "drawn")
        assert row["games"] == len(own[key]) // (1 + both)
        assert row["points"] == pytest.approx(np.mean(own[key]), abs=1e-4)
        assert row["lead"] == pytest.approx(np.mean(leads[key]), abs=1e-4)


def test_takes_are_those_of_all_games() -> None:
    """By round and action, and in total; takes of forfeited games too."""
    found = rows_by(TABLES.takes, "bot", "round", "action")
    takes = defaultdict(list)
    for game in GAMES:
        for ply, (before, after) in enumerate(pairwise(game.states)):
            if after.history[-1] != TAKE:
                continue
            seat, was, is_now = before.to_act, points(before.piles), points(after.piles)
            gain = is_now[seat] - was[seat]
            lead = gain - (is_now[1 - seat] - was[1 - seat])
            cards, forced = min(5, len(before.row)), not before.hands[seat]
            action = sum(state.to_act == seat for state in game.states[ply // 12 * 12 : ply + 1])
            for bot in (seats_of(game)[seat], None):
                for key in ((before.round, action), (before.round, None), (None, None)):
                    takes[bot, *key].append((cards, gain, lead, cards < 5, forced))
    assert found.keys() == takes.keys()
    for key, row in found.items():
        bot, number, action = key
        out_of = (bot, None, None) if action is None else (bot, number, None)
        assert row["takes"] == len(takes[key])
        assert row["share"] == pytest.approx(len(takes[key]) / len(takes[out_of]), abs=1e-4)
        means = [row[name] for name in ("cards", "gain", "lead", "early", "forced")]
        assert means == pytest.approx(np.mean(takes[key], axis=0), abs=1e-4)


def test_cards_are_counted_by_game() -> None:
    """How many of each kind a bot plays and takes in a game that has begun."""
    found = rows_by(TABLES.cards, "bot", "card")
    played, taken = defaultdict(list), defaultdict(list)
    for game in GAMES:
        moves = [(before.to_act, after.history[-1]) for before, after in pairwise(game.states)]
        for seat in (0, 1) if moves else ():
            for kind, held in enumerate(counts(game.states[-1].piles[seat])):
                for bot in (seats_of(game)[seat], None):
                    played[bot, CHARS[kind]].append(moves.count((seat, kind)))
                    taken[bot, CHARS[kind]].append(held)
    assert found.keys() == played.keys()
    for key, row in found.items():
        assert row["games"] == len(played[key])
        assert row["played"] == pytest.approx(np.mean(played[key]), abs=1e-4)
        assert row["taken"] == pytest.approx(np.mean(taken[key]), abs=1e-4)


def test_who_took_a_card_won_so_often() -> None:
    """Counted by cards: who took two of a kind and won counts twice."""
    found = rows_by(TABLES.cards, "bot", "card")
    won = defaultdict(list)
    for game in GAMES:
        winner = winner_of(game)
        for seat in () if game.forfeited else (0, 1):
            result = 0.5 if winner is None else float(winner == seat)
            for kind, held in enumerate(counts(game.states[-1].piles[seat])):
                won[seats_of(game)[seat], CHARS[kind]] += [result] * held
    for key, results in won.items():
        assert found[key]["won"] == pytest.approx(np.mean(results), abs=1e-4)


def test_a_game_that_a_city_ends_with_the_round_has_no_leader_after_it() -> None:
    """It did not go on."""
    row = Row(0, 0, 0, 0, "city", 0, "5" * 11 + "T")
    assert tables_of(CUP, [row]).leads.empty
    assert not tables_of(CUP, [row._replace(actions=row.actions + "5")]).leads.empty


def as_text(tables: WinTables) -> list[str]:
    """Return the tables as their files have them."""
    return [table.to_csv(index=False) for table in vars(tables).values()]


@pytest.mark.slow
@pytest.mark.parametrize("cup", [CUP, VARIANT], ids=["published", "variant"])
def test_the_size_of_a_batch_changes_no_byte(cup: object) -> None:
    """Nor does it under other rules."""
    assert isinstance(cup, type(CUP))
    rows = rows_of([*play(cup, forfeits=True)])
    whole = as_text(tables_of(cup, rows))
    for most in (1, 7):
        assert as_text(tables_of(cup, rows, games=most)) == whole


@pytest.mark.parametrize(
    "odd", ["none", "one game", "one pair", "forfeits", "unplayed", "one side"]
)
def test_odd_runs_have_finite_tables(odd: str) -> None:
    """A cell that cannot be said is empty; no warning is given."""
    games = {
        "none": [],
        "one game": GAMES[:1],
        "one pair": [*play(tournament(bots=2, pairs=1))],
        "forfeits": [game for game in GAMES if game.forfeited],
        "unplayed": [game for game in GAMES if not game.row.actions],
        "one side": [game for game in GAMES if game.row.winner == 0],
    }[odd]
    with np.errstate(all="raise", under="ignore"):
        tables = tables_of(CUP, rows_of(games))
    made = [table for table in vars(tables).values() if isinstance(table, pd.DataFrame)]
    assert len(made) == 6
    for table in made:
        numbers = table.select_dtypes("number").astype(float).to_numpy()
        assert not np.isinf(numbers).any()
        text = table.to_csv(index=False)
        assert "nan" not in text
        assert "inf" not in text
    assert tables.seats.empty == (odd == "none")
    assert list(tables.takes.columns) == list(TABLES.takes.columns)


def test_a_game_without_a_second_round_has_no_leads() -> None:
    """With one round there is none after which the game goes on."""
    copies = (3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 3)
    rules = Rules(copies=copies, rounds=1, hand_size=5, opening_row=2, removed=3)
    cup = tournament(bots=2, pairs=3, rules=rules)
    tables = tables_of(cup, rows_of([*play(cup)]))
    assert tables.leads.empty
    assert set(tables.takes["round"].dropna()) == {1}


@pytest.mark.slow
def test_a_large_run_is_replayed_in_part() -> None:
    """With six pairs for three pairings, two of each; `seats` counts all games as before."""
    rows = rows_of([*play(CUP)])
    few = tables_of(CUP, [row for row in rows if row.pair < 2])
    whole = tables_of(CUP, rows)
    for games in (None, 5):
        part = tables_of(CUP, rows, games=games, replayed=6)
        assert part.seats.equals(whole.seats)
        for name in ("leads", "wins_by_source", "takes", "cards"):
            assert getattr(part, name).equals(getattr(few, name)), name


def first(pairs: dict[int, int]) -> list[Row]:
    """Return the rows of the first pairs of these pairings, so many of each."""
    return [row for row in rows_of([*play(CUP)]) if row.pair < pairs.get(row.pairing, 0)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("played", "limit", "read"),
    [
        ({0: 2, 1: 12, 2: 7}, 10, {0: 2, 1: 4, 2: 4}),
        ({0: 2, 1: 12, 2: 7}, 11, {0: 2, 1: 4, 2: 4}),
        ({1: 12}, 9, {1: 9}),
        ({1: 12}, 12, {1: 12}),
        ({0: 3, 1: 2, 2: 5}, 2, {0: 1, 1: 1}),
    ],
    ids=["unequal", "a rest", "unplayed", "all", "more pairings"],
)
def test_the_limits_are_shared_out_to_the_pairs_that_were_played(
    played: dict[int, int], limit: int, read: dict[int, int]
) -> None:
    """So many are replayed."""
    rows, few = first(played), tables_of(CUP, first(read))
    replayed = tables_of(CUP, rows, replayed=limit)
    everyone = replayed.seats[replayed.seats["bot"].isna()]
    assert everyone["games"].tolist() == [2 * sum(played.values())] * 2
    assert replayed.takes.equals(few.takes)
    assert replayed.cards.equals(few.cards)


@pytest.mark.slow
def test_the_first_pairs_are_those_that_there_are() -> None:
    """Where a run that goes on lacks pairs 0 to 3 of a pairing, it begins with pair 4."""
    rows = [row for row in first({0: 12, 1: 12}) if row.pairing or row.pair > 3]
    few = [row for row in rows if row.pair < (2 if row.pairing else 6)]
    assert tables_of(CUP, rows, replayed=4).takes.equals(tables_of(CUP, few).takes)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_of_all_bots_has_both_games_of_a_pair(seat: int) -> None:
    """So its intervals are those of pairs, not of games: the two share a deal."""
    pairs: dict[tuple[int, int], list[tuple[int, int, int | None]]] = defaultdict(list)
    for game in GAMES:
        winner, lead = winner_of(game), game.row.margin * (1 - 2 * game.row.seat) * (1 - 2 * seat)
        scored = game.row.win_type in ("points", "tiebreak", "draw")
        points = 1 if winner is None else 2 * (winner == seat)
        by_city = winner == seat and game.row.win_type == "city"
        pairs[game.row.pairing, game.row.pair].append((points, by_city, lead if scored else None))
    row = rows_by(TABLES.seats, "bot", "opponent", "seat")[None, None, seat]
    for column, (mean, name, scale) in enumerate(
        (("score", "score", 2), ("city_share", "city", 1), ("mean_margin", "margin", 1))
    ):
        values = [
            [of[column] for of in games if of[column] is not None] for games in pairs.values()
        ]
        moments = Moments(1, 1, scale)
        places = np.zeros(len(values), int)
        moments.add(places, *(np.array([[*map(f, values)]]) for f in (len, sum)))
        wanted = moments.means() if name == "margin" else moments.shares()
        found = [row[mean], row[f"{name}_low"], row[f"{name}_high"]]
        assert found == pytest.approx([float(part.item()) for part in wanted], abs=6e-4), name
