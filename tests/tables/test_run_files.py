"""The files of a run: the order of its games changes none of them, and no odd run breaks one."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from itertools import product

import pandas as pd
import pytest

from arena.differences.run_files import RunTables
from arena.entries.resolve import resolve
from arena.lanes.faults import Fault
from arena.store.column_titles import TABLES
from arena.store.counting import add_up
from arena.store.folder import INDEX, MANIFEST
from arena.store.store import Store
from arena.tournament.config_keys import Anchor
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Forfeits, PairRange
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.tables.games import random_results
from tests.tiers import few

BOTS = [resolve(f"{label}=uniform") for label in ("bot", "a", "b", "c", "d")]
FAULT = Fault("illegal", "no")
PAIRS = 12


def files_of(tournament: Tournament, chunks: list[Played]) -> dict[str, str]:
    """Return the content of every file of a run whose chunks arrived in this order."""
    store, texts = Store(None), {}
    for played in chunks:
        store.add(played)
    for name, write in RunTables(tournament, store).writers.items():
        file = io.StringIO()
        write(file)
        texts[name] = file.getvalue()
    store.close()
    return texts


def random_chunks(rng: random.Random, pairings: int) -> list[Played]:
    """Return games with every outcome, in chunks of three pairs."""
    chunks = []
    for number in range(pairings):
        games = random_results(rng, PAIRS)
        for first in range(0, PAIRS, 3):
            own = games[2 * first : 2 * first + 6]
            chunks.append(Played(Chunk(number, first, 3), own, {}, 0.0))
    return chunks


@pytest.mark.slow
def test_the_order_of_chunks_and_of_their_games_changes_no_byte() -> None:
    """Of any file; one of the bots has the label of a column."""
    tournament = Tournament("cup", 7, PAIRS, BOTS, STANDARD, anchor=Anchor("bot", 1239.0))
    rng = random.Random(3)
    chunks = random_chunks(rng, len(tournament.pairings))
    texts = files_of(tournament, chunks)
    for _ in range(3):
        rng.shuffle(chunks)
        shuffled = [
            Played(chunk.chunk, rng.sample(chunk.results, len(chunk.results)), {}, 0.0)
            for chunk in chunks
        ]
        assert files_of(tournament, shuffled) == texts
    assert texts["verdicts.csv"].startswith("bot,opponent,lead,")
    assert len(texts["verdicts.csv"].splitlines()) == 1 + 6  # one had too many faults


PAIR_TOTALS = """
SELECT pairing, count(*), sum(score), sum(score * score), sum(score = 0), sum(score = 0.5),
    sum(score = 1), sum(score = 1.5), sum(score = 2)
FROM (
    SELECT pairing, sum(CASE winner WHEN 0 THEN 1.0 WHEN 1 THEN 0.0 ELSE 0.5 END) AS score
    FROM games GROUP BY pairing, pair
) GROUP BY pairing
"""
FAULTS = """
SELECT pairing, 1 - winner, fault, count(*) FROM games WHERE fault <> ''
GROUP BY pairing, winner, fault ORDER BY 1, 2, 3
"""


def rows_of(store: Store, query: str) -> list[tuple[object, ...]]:
    return list(store.connection.execute(query))


def test_pairs_with_a_game_that_was_not_played_do_not_count_as_played() -> None:
    """Neither a pair of which one game is a forfeit by rule, nor those after it."""
    store, fewer = Store(None), Store(None)
    chunks = random_chunks(random.Random(6), 1)
    for played in chunks:
        store.add(played)
    store.forfeit(Forfeits(0, 9, 2 * PAIRS, loser=1))
    fewer.add(chunks[0])
    fewer.add(chunks[1]._replace(results=[g for g in chunks[1].results if g.pair < 4]))
    assert store.count().pair_totals[0].pairs == PAIRS
    assert store.count().played.pair_totals == fewer.count().pair_totals
    games = [game for played in chunks for game in played.results]
    finished = sum(2 * game.pair + game.seat < 9 and game.fault is None for game in games)
    assert store.count().finished == fewer.count().finished | Counter({0: finished})


def test_one_reading_counts_what_several_or_ranges_count() -> None:
    """Pairs and faults, in the same order; a game without a second one counts."""
    store = Store(None)
    for played in random_chunks(random.Random(4), 10):
        store.add(played)
    single = GameResult(PAIRS, 1, 1, "points", 3, 4, 40, None, "")
    store.add(Played(Chunk(2, PAIRS, PAIRS + 1), [single], {}, 0.0))
    counts = store.count()
    assert counts.pair_totals == [(*row[:4], row[4:]) for row in rows_of(store, PAIR_TOTALS)]
    assert counts.played.pair_totals == counts.pair_totals
    assert counts.faults == rows_of(store, FAULTS)
    assert sum(of_pairing.pairs for of_pairing in counts.pair_totals) == 10 * PAIRS + 1
    store, rng = Store(None), random.Random(5)
    for number in range(4):  # odd ones lack a game
        games = random_results(rng, PAIRS)[number:]
        store.add(Played(Chunk(number, 0, PAIRS), games, {}, 0.0))
    whole = store.count()
    leads = Counter(
        (number, game.points - game.opponent_points)
        for number, game in store.results()
        if game.win_type not in ("city", "forfeit")
    )
    assert [*store.count_margins()] == [(*key, games) for key, games in sorted(leads.items())]
    assert whole.pairs.sum() == len({(number, game.pair) for number, game in store.results()})
    ranges = [
        store.count_ranges([PairRange(number, *pairs)]) for number in range(4) for pairs in RANGES
    ]
    assert (add_up(ranges).rows == add_up([whole]).rows).all()


RANGES = ((0, PAIRS // 2), (PAIRS // 2, PAIRS))


def one_way(winner: int | None, win_type: str, number: int, pairs: int = 1) -> Played:
    """Return a chunk of games that all ended alike."""
    fault = FAULT if win_type == "forfeit" else None
    games = [
        GameResult(pair, seat, winner, win_type, 0, 0, 40, fault, "")
        for pair, seat in product(range(pairs), (0, 1))
    ]
    return Played(Chunk(number, 0, pairs), games, {}, 0.0)


ODD = {
    "one pair": [one_way(0, "points", 0)],
    "all won": [one_way(0, "city", number, 3) for number in range(6)],
    "all drawn": [one_way(None, "draw", number) for number in range(6)],
    "all forfeited": [one_way(1, "forfeit", number) for number in range(6)],
    "two groups": [one_way(0, "points", 0), one_way(1, "points", 5)],
    "a bot that met nobody": [one_way(0, "points", number) for number in (0, 1, 3)],
}


@pytest.mark.parametrize("chunks", few(ODD.values(), 3), ids=ODD)
def test_a_cell_is_a_finite_number_or_empty_in_odd_runs(chunks: list[Played]) -> None:
    tournament = Tournament("cup", 7, 3, BOTS[1:], STANDARD)
    met = {label for played in chunks for label in tournament.pairings[played.chunk.pairing]}
    texts = files_of(tournament, chunks)
    standings = pd.read_csv(io.StringIO(texts["standings.csv"]))
    assert {*standings["bot"]} == met
    finished = any(game.win_type != "forfeit" for played in chunks for game in played.results)
    assert standings["elo"].notna().all() == finished
    for name, text in texts.items():
        assert not {"inf", "-inf", "nan", "-0.0"} & {*text.replace("\n", ",").split(",")}, name


def test_every_file_has_a_writer_of_its_own() -> None:
    """Each has its own first line and number of rows; one game is lost by a fault."""
    tournament = Tournament("cup", 7, 1, [*map(resolve, ("uniform", "greedy"))], STANDARD)
    games = [
        GameResult(0, 0, 0, "city", 3, 8, 20, None, ""),
        GameResult(0, 1, 1, "forfeit", 0, 0, 7, FAULT, ""),
    ]
    texts = files_of(tournament, [Played(Chunk(0, 0, 1), games, {}, 1.0)])
    assert texts.keys() == {
        MANIFEST,
        INDEX,
        "games.csv",
        "faults.csv",
        *(one.file for one in TABLES.values()),
    }
    assert json.loads(texts.pop(MANIFEST)) == tournament.manifest()
    assert texts.pop(INDEX).startswith("# What each file is for\n")
    for name in ("wins", "takes", "cards"):
        assert texts.pop(f"{name}.csv").startswith("bot,")
    lines = {name: text.splitlines() for name, text in texts.items()}
    assert {name: (of[0].split(",")[:3], len(of) - 1) for name, of in lines.items()} == {
        "games.csv": (["bot", "opponent", "pair"], 2),
        "standings.csv": (["rank", "bot", "elo"], 2),
        "head_to_head.csv": (["bot", "opponent", "games"], 2),
        "win_types.csv": (["bot", "seat", "games"], 4),
        "verdicts.csv": (["bot", "opponent", "lead"], 1),
        "faults.csv": (["game", "bot", "kind"], 1),
    }
