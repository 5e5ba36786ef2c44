"""What is said of two bots is never stronger than its interval; parts of a lead add up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from operator import ne
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.differences.common_deals import read_games
from arena.differences.comparison import SprtResult, find_compared, judge_compared
from arena.differences.lead_parts import (
    ALL,
    ENDING,
    ROUND,
    SOURCE,
    LeadParts,
    find_most,
    make_lead_parts,
)
from arena.differences.lead_parts import _divide as divide
from arena.differences.sentences import Claim, make_claim, make_sentence
from arena.lanes.faults import Fault
from arena.statistics.intervals import Estimate, find_significant
from arena.statistics.sequential_test import PAIR_SCORES, bounds
from arena.statistics.verdicts import Word
from arena.store import column_titles
from arena.store.store import Store
from arena.tables.points_and_takes import SOURCES
from arena.tournament.plan import Chunk, Played
from arena.tournament.sprt_rounds import Evidence, Verdict
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament
from bench.studies import effect_headlines
from bench.studies.claims import FIRM, count_claims
from bench.studies.sprt import FAR, Setup
from engine import State, breakdown
from engine.notation import parse_actions
from tests.reports.runs import cup, make_store

STOP = Sprt(0.0, 10.0, 0.05, 0.05, 1000)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ELOS = st.floats(-900, 900)
NUMBERS = st.floats(-1, 1)
PATIENT = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
"""Of a busy machine nothing is asked."""


def sentence(verdict: Verdict, elo: Estimate, word: Word = "open", pairs: int = 100) -> str:
    """Return what is said of two bots that had no faults."""
    return make_sentence(("new", "old"), (), (), (verdict, elo, STOP, pairs), word)


@PATIENT
@given(st.lists(ELOS, min_size=3, max_size=3), st.sampled_from(VERDICTS))
def test_no_sentence_is_stronger_than_the_interval_beside_it(
    ends: list[float], verdict: Verdict
) -> None:
    """As the numbers are printed: 0 is not in them where one bot is called the stronger."""
    low, value, high = sorted(ends)
    said = sentence(verdict, Estimate(value, low, high))
    inside = said[said.index("(") + 1 : said.index(")")]
    first, last = (float(end) for end in inside.split(".."))
    assert first <= last
    if said.startswith(("better", "weaker")):
        assert first > 0
        assert (low > 0) == said.startswith("better")
    else:
        assert first <= 0 <= last
    if said.startswith("not better"):
        assert last < STOP.elo1


NOT = "not better: new does not lead old by 10, and"


@pytest.mark.parametrize(
    ("verdict", "elo", "word", "said"),
    [
        (
            *("not better", (-62.4, -91.1, -34.4), "apart"),
            "weaker: new is weaker than old, by about 62 Elo points (34..91)",
        ),
        (
            *("undecided", (334.2, 250.9, 466.4), "apart"),
            "better: new is stronger than old, by about 334 Elo points (251..466)",
        ),
        (
            *("not better", (-1.2, -9.0, 7.0), "open"),
            f"{NOT} the two are not told apart: new is at -1 Elo points (-9..7)",
        ),
        (
            *("not better", (-8.0, -19.0, 2.0), "leans"),
            f"{NOT} old is probably stronger than new: new is at -8 Elo points (-19..2)",
        ),
        (
            *("better", (9.0, -0.4, 18.0), "leans"),
            "probably better: new is probably stronger than old: new is at +9 Elo points (0..18)",
        ),
    ],
)
def test_a_lead_is_told_as_a_person_would(
    verdict: Verdict, elo: tuple[float, float, float], word: Word, said: str
) -> None:
    """With the estimate, its interval and the word of verdicts.csv, whatever the test says."""
    assert sentence(verdict, Estimate(*elo), word) == said


@pytest.mark.parametrize(
    ("bounds", "verdict", "elo", "claim"),
    [
        ((-10.0, 0.0), "better", (-1.0, -7.0, 5.0), "no worse"),
        ((-10.0, 0.0), "better", (-1.0, -11.0, 5.0), "probably no worse"),
        ((-10.0, 0.0), "not better", (-9.0, -19.0, 1.0), "probably weaker"),
        ((-0.5, 10.0), "better", (3.0, -2.0, 8.0), "probably no worse"),
        ((-10.0, 0.5), "not better", (-3.0, -8.0, 2.0), "probably not better"),
        ((0.0, 10.0), "better", (3.0, -2.0, 8.0), "probably better"),
    ],
)
def test_a_test_for_no_worse_says_no_worse_and_half_a_point_is_not_0(
    bounds: tuple[float, float], verdict: Verdict, elo: tuple[float, float, float], claim: Claim
) -> None:
    assert make_claim(verdict, Estimate(*elo), Sprt(*bounds, 0.05, 0.05, 1000)) == claim


def test_too_few_pairs_say_nothing() -> None:
    said = sentence("undecided", Estimate(300.0, 20.0, 700.0), "leans", 15)
    at = "new is at +300 Elo points (20..700)"
    assert said == f"undecided: too few pairs, and new is probably stronger than old: {at}"


@PATIENT
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.floats(1e-9, 1.0)), max_size=9))
def test_nothing_is_beyond_chance_with_0_in_its_interval(
    rows: list[tuple[float, float, float, float]],
) -> None:
    """Whatever the error is: bounds are cut off and rounded."""
    shown = [Estimate(sorted(ends)[1], min(ends), max(ends), error) for *ends, error in rows]
    for sure, one in zip(find_significant(shown), shown, strict=True):
        assert not (sure and one.low <= 0 <= one.high)


@pytest.mark.slow
def test_claims_are_seldom_wrong_where_each_claim_of_a_lead_is() -> None:
    made, wrong = count_claims(Setup(FAR, 0.0, 60.0), 60)
    assert {*made} <= {*get_args(Claim)}
    assert sum(wrong[claim] for claim in FIRM) <= 0.12 * 60


BY_15 = Sprt(0.0, 15.0, 0.05, 0.05, 1000)


def compared(verdict: Verdict, elo: Estimate, *, finished: bool = True, out: str = "") -> list[str]:
    """Return what is said of 100 pairs of two bots."""
    evidence = Evidence((25, 0, 50, 0, 25), PAIR_SCORES, 1.0, 1.09, bounds(0.05, 0.05), [80, 100])
    outs = (out,) if out else ()
    result = SprtResult("new", "old", (), BY_15, evidence, verdict, elo, 200, outs, "", None)
    return [*find_compared(result, finished=finished).sentences()]


def test_a_comparison_says_who_is_stronger_or_what_would_tell() -> None:
    assert compared("better", Estimate(62.0, 34.0, 91.0)) == [
        "Better: new is stronger than old, by about 62 Elo points (34..91)."
    ]
    assert compared("not better", Estimate(-62.0, -91.0, -34.0)) == [
        "Weaker: new is weaker than old, by about 62 Elo points (34..91)."
    ]
    first, second = compared("undecided", Estimate(10.0, -10.0, 30.0))
    assert first == "Undecided: the two are not told apart: new is at +10 Elo points (-10..30)."
    assert second == (
        "What would tell which of the two is stronger: about 300 further pairs, if the difference "
        "stays what it seems."
    )
    assert compared("not better", Estimate(0.2, -8.0, 8.0))[1] == (
        "What would tell which of the two is stronger: no number of further pairs can be named."
    )
    (said,) = compared("undecided", Estimate(62.0, 34.0, 91.0), finished=False)
    assert said == "Undecided so far: new is at +62 Elo (34..91), and the test has not ended."


def test_the_verdict_of_a_comparison_begins_with_the_one_ahead() -> None:
    """Where that is the old one, the lead and its ends are turned; other verdicts stay."""
    evidence = Evidence((25, 0, 50, 0, 25), PAIR_SCORES, 1.0, 1.09, bounds(0.05, 0.05), [100])
    elo, others = Estimate(-9.0, -20.0, 2.0), ("uniform", "old", 7.0, 1.0, 13.0, 0.99, "apart")
    found = SprtResult(
        *("new", "old", ("uniform",), BY_15, evidence, "undecided", elo, 200, (), "", None), 0.05
    )
    before = [("new", "old", 1.0, -1.0, 2.0, 0.6, "open"), others]
    turned = ("old", "new", 9.0, -2.0, 20.0, 0.95, "leans")
    assert judge_compared(column_titles.VERDICTS.make(before), found).rows() == [turned, others]
    assert judge_compared(column_titles.VERDICTS.make(before[1:]), found).rows() == before[1:]


@pytest.mark.slow
def test_the_clearest_difference_is_seldom_wrong() -> None:
    runs, found = effect_headlines.count(effect_headlines.simulate(effect_headlines.CASES[1], 15))
    assert runs == 15
    assert max(found["interval"], found["sure"]) <= 3


BY_30 = Sprt(0, 30, 0.05, 0.05, 20)
DIRECT = cup(["a", "b"], 12, stop=BY_30)
AGAINST = cup(["a", "b", "c", "d"], 6, panel=2, paired=True, stop=BY_30)
WHOLE = Estimate(0.1, -0.4, 0.6, 0.25)


def parts_of(tournament: Tournament, store: Store) -> LeadParts:
    return make_lead_parts(tournament, store, WHOLE)


def by_name(parts: LeadParts) -> Mapping[tuple[str, str], float]:
    return {(part.split, part.part): part.lead.value for part in parts.parts}


def points_after_rounds(
    tournament: Tournament, place: tuple[int, int, int], actions: str
) -> np.ndarray:
    """Return the points of both seats by round and source, as the engine counts them."""
    state = State(tournament.draw(tournament.fixture(*place)).deal, tournament.rules)
    found = np.zeros((2, tournament.rules.rounds + 1, len(SOURCES)))
    step = tournament.rules.round_plies
    played = [*parse_actions(actions)]
    for number in range(1, tournament.rules.rounds + 1):
        state.follow(played[step * (number - 1) : step * number])
        for seat, part in enumerate(breakdown(state.piles, state.rules)):
            points = [*part.majorities, part.sets, part.alliances, part.betrayals]
            found[seat, number] = [*points, sum(points)]
    return np.diff(found, axis=1)


def count_by_hand(tournament: Tournament, store: Store) -> dict[tuple[str, str], float]:
    """Return the leads game by game: of the first bot, or of the new version."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    new = tournament.new_pairings or {0}
    old = {tournament.old_pairing(number): -1 for number in tournament.new_pairings}
    weights = dict.fromkeys(new, 1) | old
    games = 0
    for number, weight in weights.items():
        for game in store.games_of(number):
            games += number in new
            place = number, game.pair, game.seat
            names = {"city": "City", "tiebreak": "tie-break"}
            if game.winner is not None:
                name = names.get(game.win_type, game.win_type)
                half = 0.5 if tournament.paired else 1
                sums[ENDING, name] += weight * half * (1 if game.winner == 0 else -1)
            points = points_after_rounds(tournament, place, game.actions)
            lead = weight * (points[game.seat] - points[1 - game.seat])
            for at, of_round in enumerate(lead, 1):
                sums[ROUND, str(at)] += of_round[-1]
                for name, value in zip(SOURCES[:-1], of_round, strict=False):
                    sums[SOURCE, name] += value
                    sums[f"{ROUND} {at}", name] += value
    return {key: total / games for key, total in sums.items()}


def test_games_of_both_versions_on_a_deal_are_read_side_by_side() -> None:
    """With the first ply at which they differ; an opponent that is out has none."""
    store = make_store(AGAINST)
    found = read_games(AGAINST, store, ["d"])
    (number,) = (n for n in AGAINST.new_pairings if AGAINST.pairings[n].opponent == "c")
    both = map(store.games_of, (number, AGAINST.old_pairing(number)))
    assert [*found.itertuples(index=False, name=None)] == [
        (
            *("c", new.pair, new.seat, new.score, old.score, new.win_type, old.win_type),
            *([*map(ne, new.actions, old.actions)].index(True), True),
        )
        for new, old in zip(*both, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("tournament", [DIRECT, AGAINST], ids=["direct", "against"])
def test_the_parts_are_those_of_the_games_played_again(tournament: Tournament) -> None:
    """By ending, round, source, and source in each round; and each split adds up to its whole."""
    store = make_store(tournament)
    parts = parts_of(tournament, store)
    found = by_name(parts)
    for key, value in count_by_hand(tournament, store).items():
        assert found.get(key, 0.0) == pytest.approx(value, abs=1e-9), key
    splits = {part.split for part in parts.parts}
    assert splits == {ENDING, ROUND, SOURCE, *(f"{ROUND} {n}" for n in range(1, 5))}
    for split in splits:
        *some, whole = parts.split(split)
        assert whole.part == ALL
        assert sum(part.lead.value for part in some) == pytest.approx(whole.lead.value)
        assert sum(part.new for part in some) == pytest.approx(whole.new)
        for part in (*some, whole):
            assert part.new - part.old == pytest.approx(part.lead.value)
            assert part.lead.low <= part.lead.value <= part.lead.high
    assert found[ROUND, ALL] == pytest.approx(found[SOURCE, ALL])
    unsure = [part for part in parts.parts if part.split[-1].isdigit() or part.part == ALL]
    assert {part.sure for part in unsure} == {None}


def test_a_forfeit_counts_by_ending_and_no_whole_pair_has_no_parts() -> None:
    plain = by_name(parts_of(DIRECT, make_store(DIRECT)))
    store = make_store(DIRECT, None, {(0, 0, 0): Fault("timeout", "late")})
    parts = parts_of(DIRECT, store)
    assert parts.ended["forfeit"] in [(0, 1, 1, 0), (1, 0, 0, 1)]
    assert "forfeit" in [part.part for part in parts.split(ENDING)]
    assert by_name(parts)[ROUND, ALL] != plain[ROUND, ALL]
    assert all(shown.place[1] != 0 for shown in parts.games)
    whole, one = make_store(DIRECT), Store(None)
    one.add(Played(Chunk(0, 0, 1), [next(whole.games_of(0))], {}, 0.0))
    assert parts_of(DIRECT, one) == LeadParts()
    assert len(parts_of(DIRECT, one).table()) == 0


def test_games_that_show_a_part_are_those_of_its_sort() -> None:
    """The largest of a round come first; a typical game ended as is said."""
    store = make_store(DIRECT)
    parts = parts_of(DIRECT, store)
    games = {(0, game.pair, game.seat): game for game in store.games_of(0)}
    shown = [one for one in parts.games if one.split == ROUND]
    assert len(shown) == 3
    (name,) = {one.part for one in shown}
    leads = []
    for place, game in games.items():
        points = points_after_rounds(DIRECT, place, game.actions)
        leads.append((points[game.seat] - points[1 - game.seat])[int(name) - 1, -1])
    sign = 1 if by_name(parts)[ROUND, name] > 0 else -1
    assert [sign * one.brought for one in shown] == sorted(
        (sign * one for one in leads), reverse=True
    )[:3]
    for one in parts.games:
        if one.split == ENDING:
            game = games[one.place]
            how = {"city": "City", "tiebreak": "tie-break"}.get(game.win_type, game.win_type)
            assert one.part == f"{'won' if game.winner == 0 else 'lost'} by {how}"


@pytest.mark.slow
def test_that_a_part_is_most_of_the_whole_is_seldom_said_wrongly() -> None:
    """Where a part is exactly half of the whole, and heavy tails, in 5 % of comparisons at most."""
    rng = np.random.default_rng(48)
    wrong, runs = 0, 600
    for _ in range(runs):
        means = np.array([2.0, 1.0, 1.0, 0.0])
        new = means + 3 * rng.standard_t(4, (60, 4))
        parts = [*divide(ROUND, ["1", "2", "3", "4"], [new], [np.zeros_like(new)])]
        wrong += find_most(parts) is not None
    assert 0 < wrong <= 0.05 * runs
