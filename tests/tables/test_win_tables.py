"""What games tell when they are replayed: counts of one after another, and the chances of a bot."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise, product
from random import Random
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from arena.statistics.intervals import Moments
from arena.store.counting import Counts
from arena.tables.findings import CityShare, share_of_city
from arena.tables.game_arrays import Row, read_batches
from arena.tables.points_and_takes import NAMES, Sides, chances_of
from arena.tables.win_tables import WinTables, share_out
from arena.tournament.schedule import Pairing
from arena.tournament.tournament import Tournament
from bots.champion import Champion
from engine import CITY, STANDARD, TAKE, Rules, Setup, State, Valuer, breakdown, counts, points
from engine.cards import CHARS
from engine.view import view
from tests.positions import at, dealt
from tests.tables.games import Played, play, random_rules, rows_of, tables_of, tournament

CUP = tournament(bots=3, pairs=12)
GAMES = [*play(CUP, forfeits=True)]
VARIANT = tournament(bots=3, pairs=8, rules=random_rules(Random(8)))


@pytest.fixture(scope="module")
def tables() -> SimpleNamespace:
    """Return the tables of these games."""
    return tables_of(CUP, rows_of(GAMES))


def seats_of(game: Played) -> tuple[str, str]:
    bot, opponent = CUP.pairings[game.row.pairing]
    return (bot, opponent) if game.row.seat == 0 else (opponent, bot)


def winner_of(game: Played) -> int | None:
    return None if game.row.winner is None else game.row.winner ^ game.row.seat


def rows_by(table: pd.DataFrame, *keys: str) -> dict[tuple[object, ...], dict[str, object]]:
    """Return the rows of a table by their keys; an empty cell is None."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return {tuple(row[key] for key in keys): row for row in rows}


def states_after(game: Played) -> Iterator[tuple[int, State]]:
    """Yield the states after the rounds after which a game went on, and its last one."""
    if not game.forfeited:
        yield from ((n, game.states[12 * n]) for n in (1, 2, 3) if len(game.states) > 12 * n + 1)
        yield 4, game.states[-1]


def held_by(state: State) -> list[tuple[int, ...]]:
    """Return what both seats have of each of NAMES."""
    return [
        (*one.majorities, one.sets, one.alliances, one.betrayals, one.points, counts(pile)[CITY])
        for one, pile in zip(breakdown(state.piles), state.piles, strict=True)
    ]


def test_wins_count_who_was_ahead_and_won(tables: SimpleNamespace) -> None:
    """After three rounds if the game went on, and at its end, by source; cities are one, too."""
    found = rows_by(tables.wins, "bot", "round", "source")
    games: Counter[tuple[object, ...]] = Counter()
    ahead, own = defaultdict(list), defaultdict(list)
    for game in GAMES:
        winner, is_city = winner_of(game), game.row.win_type == "city"
        for (number, state), seat in product(states_after(game), (0, 1)):
            mine, theirs = held_by(state)[seat], held_by(state)[1 - seat]
            result = 0.5 if winner is None else float(winner == seat)
            for who, (place, name) in product((seats_of(game)[seat], None), enumerate(NAMES)):
                key = who, number, name
                games[key] += 1
                own[*key, result].append(mine[place])
                if mine[place] > theirs[place]:
                    ahead[key].append((result, result == 1 and is_city))
    assert {key: row["games"] for key, row in found.items()} == games
    assert any(by_city for each in ahead.values() for _, by_city in each)
    for key, row in found.items():
        assert row["ahead"] == pytest.approx(len(ahead[key]) / games[key], abs=1e-4)
        if ahead[key]:
            shares = np.mean(ahead[key], axis=0)
            assert [row["won"], row["by_city"]] == pytest.approx(shares, abs=1e-4)
            assert row["won_low"] <= row["won"] <= row["won_high"]
        for name, result in (("in_wins", 1.0), ("in_losses", 0.0)):
            if own[*key, result]:
                assert row[name] == pytest.approx(np.mean(own[*key, result]), abs=1e-4)


def test_takes_are_those_of_all_games(tables: SimpleNamespace) -> None:
    found = rows_by(tables.takes, "bot", "round", "action")
    takes = defaultdict(list)
    for game in GAMES:
        for ply, (before, after) in enumerate(pairwise(game.states)):
            if after.history[-1] != TAKE:
                continue
            seat, was, is_now = before.to_act, points(before.piles), points(after.piles)
            gain = is_now[seat] - was[seat]
            cards = min(5, len(before.row))
            action = sum(state.to_act == seat for state in game.states[ply // 12 * 12 : ply + 1])
            for bot in (seats_of(game)[seat], None):
                for key in ((before.round, action), (before.round, None), (None, None)):
                    takes[bot, *key].append((cards, gain))
    assert found.keys() == takes.keys()
    for key, row in found.items():
        bot, number, action = key
        out_of = (bot, None, None) if action is None else (bot, number, None)
        assert row["takes"] == len(takes[key])
        assert row["share"] == pytest.approx(len(takes[key]) / len(takes[out_of]), abs=1e-4)
        means = [row[name] for name in ("cards", "gain")]
        assert means == pytest.approx(np.mean(takes[key], axis=0), abs=1e-4)


def test_cards_are_counted_by_game_and_their_wins_by_card(tables: SimpleNamespace) -> None:
    """How many of each kind a bot plays and takes; who took two of a kind and won counts twice."""
    found = rows_by(tables.cards, "bot", "card")
    played, taken, won = defaultdict(list), defaultdict(list), defaultdict(list)
    for game in GAMES:
        moves = [(before.to_act, after.history[-1]) for before, after in pairwise(game.states)]
        winner = winner_of(game)
        for seat in (0, 1) if moves else ():
            result = 0.5 if winner is None else float(winner == seat)
            for kind, held in enumerate(counts(game.states[-1].piles[seat])):
                for bot in (seats_of(game)[seat], None):
                    played[bot, CHARS[kind]].append(moves.count((seat, kind)))
                    taken[bot, CHARS[kind]].append(held)
                if not game.forfeited:
                    won[seats_of(game)[seat], CHARS[kind]] += [result] * held
    assert found.keys() == played.keys()
    for key, row in found.items():
        means = [np.mean(played[key]), np.mean(taken[key])]
        assert row["games"] == len(played[key])
        assert [row["played"], row["taken"]] == pytest.approx(means, abs=1e-4)
    for key, results in won.items():
        assert found[key]["won"] == pytest.approx(np.mean(results), abs=1e-4)


def test_a_round_with_which_the_game_ends_has_no_leader_after_it() -> None:
    """It did not go on; at the end it counts."""
    row = Row(0, 0, 0, 0, "city", "5" * 11 + "T")
    assert {*tables_of(CUP, [row]).wins["round"]} == {4}
    longer = row._replace(actions=row.actions + "5")
    assert {*tables_of(CUP, [longer]).wins["round"]} == {1, 4}
    copies = (3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 3)
    cup = tournament(2, 3, Rules(copies=copies, rounds=1, hand_size=5, opening_row=2, removed=3))
    tables = tables_of(cup, rows_of([*play(cup)]))
    assert {*tables.wins["round"]} == {*tables.takes["round"].dropna()} == {1}


def test_points_of_32_bits_have_squares_of_64() -> None:
    """A variant may give a bot 50,000 points in a game."""
    pair = SimpleNamespace(
        pair=np.zeros(2, int), first=np.arange(2), pairs=1, bots=np.eye(2, dtype=int)[:1]
    )
    sides = Sides(pair, 2)  # type: ignore[arg-type]
    total = sides.add_up_all(np.full((2, 1, 2), 50_000, np.int32))
    sides.add(np.full_like(total, 2), (found := Moments(3, 1), total))
    assert found.sums[5].ravel().tolist() == [100_000**2, 100_000**2, 200_000**2]


def share_of(games: list[list[int]], order: str = "abcdef") -> CityShare:
    """Return City's share where three pairings have ended so 20 times each."""
    pairings = [Pairing("a", "b"), Pairing("c", "d"), Pairing("e", "f")]
    rows = {"pairing": [0, 1, 2] * (len(games) // 3), "games": games, "pairs": [20] * len(games)}
    return share_of_city(pairings, [*order], Counts.of(**rows))


def test_citys_share_is_that_of_the_wins_of_a_third() -> None:
    """Of six bots two are the strongest, two the weakest; a forfeit is no win."""
    city, points, forfeit = [0, 1], [3, 4], [12, 13]  # won once by either bot
    found = share_of([city, points, points, points, points, forfeit])
    assert (found.wins, found.by_city, found.top.value) == (200, 40, 0.5)
    assert (found.gap.value, found.gap.low > 0) == (0.5, True)
    assert share_of([forfeit] * 3).top.cells == (None, None, None)
    alike = share_of([city, *[points] * 5]).top  # both games of each pair: half as many units
    assert (alike.high - alike.low) / 2 == pytest.approx(1.96 * 0.5 / 40**0.5, rel=0.02)


def as_text(tables: WinTables) -> list[str]:
    return [table.to_csv(index=False) for table in vars(tables).values()]


@pytest.mark.slow
@pytest.mark.parametrize("cup", [CUP, VARIANT], ids=["published", "variant"])
def test_the_size_of_a_batch_changes_no_byte(cup: Tournament) -> None:
    rows = rows_of([*play(cup, forfeits=True)])
    whole = as_text(tables_of(cup, rows))
    for most in (1, 7):
        assert as_text(tables_of(cup, rows, games=most)) == whole


ODD = {
    "none": [],
    "one game": GAMES[:1],
    "one pair": [*play(tournament(bots=2, pairs=1))],
    "forfeits": [game for game in GAMES if game.forfeited],
    "unplayed": [game for game in GAMES if not game.row.actions],
    "one side": [game for game in GAMES if game.row.winner == 0],
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_runs_have_finite_tables_and_give_no_warning(tables: SimpleNamespace, odd: str) -> None:
    with np.errstate(all="raise", under="ignore"):
        found = tables_of(CUP, rows_of(ODD[odd]))
    for table in vars(found).values():
        numbers = table.select_dtypes("number").astype(float).to_numpy()
        assert not np.isinf(numbers).any()
        text = table.to_csv(index=False)
        assert "nan" not in text
        assert "inf" not in text
    assert found.wins.empty == (odd in ("none", "forfeits", "unplayed"))
    assert list(found.takes.columns) == list(tables.takes.columns)


def first(pairs: dict[int, int]) -> list[Row]:
    """Return the rows of the first pairs of these pairings, so many of each."""
    return [row for row in rows_of([*play(CUP)]) if row.pair < pairs.get(row.pairing, 0)]


@pytest.mark.slow
def test_a_large_run_is_replayed_in_part() -> None:
    """Where one that goes on lacks pairs 0 to 3 of a pairing, it begins with pair 4."""
    rows = rows_of([*play(CUP)])
    few = tables_of(CUP, [row for row in rows if row.pair < 2])
    for games in (None, 5):
        part = tables_of(CUP, rows, games=games, replayed=6)
        for name in ("wins", "takes", "cards"):
            assert getattr(part, name).equals(getattr(few, name)), name
    rows = [row for row in first({0: 12, 1: 12}) if row.pairing or row.pair > 3]
    few = [row for row in rows if row.pair < (2 if row.pairing else 6)]
    assert tables_of(CUP, rows, replayed=4).takes.equals(tables_of(CUP, few).takes)


def test_pairs_are_shared_out_to_the_highest_level_that_the_limit_allows() -> None:
    """Of more pairings than the limit, some at equal distances have a pair."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        pairs = rng.integers(0, 12, rng.integers(1, 9))
        limit = int(rng.integers(len(pairs), 70))
        level = max(most for most in range(12) if np.minimum(pairs, most).sum() <= limit)
        assert share_out(pairs, limit).tolist() == np.minimum(pairs, level).tolist()
    for few, limit, wanted in (
        ([0, 0, 1_000_000_000], 7, [0, 0, 7]),
        ([5, 5, 5, 5, 5, 5], 3, [1, 0, 1, 0, 1, 0]),
        ([5, 0, 5, 5, 0, 5, 5], 4, [1, 0, 1, 1, 0, 1, 0]),
        ([5, 5, 5, 5], 1, [1, 0, 0, 0]),
        *((nothing, 9, nothing) for nothing in ([0, 0, 0], [])),
    ):
        assert share_out(np.array(few, np.int64), limit).tolist() == wanted


DEAL = dealt("5678C", "824xz", "CC", removed="y23")


def champion(rules: Rules = STANDARD) -> Champion:
    return Champion(Setup(Random(0), 0, rules))


@pytest.mark.slow
def test_the_chances_of_a_run_are_those_of_the_bot() -> None:
    cup = tournament(bots=3, pairs=16)
    games = [*play(cup, forfeits=True)]
    (batch,) = read_batches(cup, rows_of(games))
    found, bot = chances_of(batch), champion()
    positions = 0
    for number, game in enumerate(games):
        for ply, state in enumerate(game.states):
            if ply < len(game.row.actions) or (state.over and not game.forfeited):
                for seat in (0, 1):
                    chance = bot.chance(view(state, seat))
                    own = found[number, ply] if seat == 0 else 1 - found[number, ply]
                    assert chance == pytest.approx(own, abs=1e-9)
                positions += 1
    assert positions > 3_000


def test_a_take_that_must_come_is_no_surprise() -> None:
    """At the last ply it is settled who wins, and before it unless a hidden card comes first."""
    cup = tournament(bots=3, pairs=16)
    games = [*play(cup)]
    (batch,) = read_batches(cup, rows_of(games))
    found, hidden = chances_of(batch), 0
    for game, chances in zip(games, found, strict=True):
        if len(game.states) <= STANDARD.game_plies:
            continue
        before = game.states[STANDARD.game_plies - 2]
        assert chances[-2] == chances[-1]
        if before.taken[before.to_act] and not before.taken[1 - before.to_act]:
            hidden += 1
            assert 0 < chances[-3] < 1
        else:
            assert chances[-3] == chances[-1]
    assert hidden > 3


def chance(actions: str = "", seat: int = 0, deal: str = DEAL) -> float:
    return champion().chance(view(at(deal, actions), seat))


def test_the_bot_knows_the_chances_of_the_published_game_only() -> None:
    assert isinstance(champion(), Valuer)
    rules = Rules(set_bonus=3)
    assert champion(rules).chance(view(State.from_text(DEAL, rules), 0)) is None
    assert chance() == pytest.approx(0.5, abs=0.1)
    # seat 0 takes betrayals: worse for it than the cards that it left
    assert 0 < chance("5x6z7T", 1) < chance("5x6z7", 1) < 1
    # seat 1 is still to take: with all three cities in the row it is ahead
    deal = dealt("CC567", "C8876", "55")
    assert chance("TCC8C", 1, deal) > max(0.85, chance("TCC8", 1, deal))
