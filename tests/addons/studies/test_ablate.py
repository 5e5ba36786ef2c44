"""`arena ablate`: the numbers of its table, the runs of its variants, and what it refuses."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from arena.addons.studies.ablation import (
    ABLATION,
    FILE,
    MEASURES,
    Ablation,
    VariantResult,
    ablate,
    count_pairs,
    difference,
    estimate,
    find_others,
)
from arena.entries.resolve import resolve
from arena.executors.local import Executor
from arena.executors.log import QUIET
from arena.runs.run import Interrupted, run
from arena.runs.verify import verify
from arena.statistics.intervals import Estimate, Ints
from arena.store.folder import MANIFEST, RunFolder, locate
from arena.store.store import Store
from arena.store.table_columns import TABLES
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.rules_and_deals import Variant, make_variants
from arena.tournament.tournament import Tournament
from bench.studies import effect_headlines
from engine import STANDARD
from tests.conftest import Arena, Once
from tests.kit import HERE, Stops, csv_rows, playing, refused

Z = 1.959963984540054
BY_NAME = {measure.name: measure for measure in MEASURES}
CITY, MARGIN, PLIES = (BY_NAME[name] for name in ("city", "margin", "plies"))

Pair: TypeAlias = list[tuple[int, GameResult]]


def pair(
    number: int,
    pairing: int = 0,
    *,
    games: int = 2,
    city: int = 0,
    first: int = 2,
    margin: int = 0,
    plies: int = 96,
) -> Pair:
    """Return the games of a pair; those won by City come first, and the last one has the margin.

    `first` are half points of the first bot, and the first game has all plies.
    """
    rows = []
    for seat in range(games):
        half = min(2, first) if seat == 0 else max(0, first - 2)
        winner = None if half == 1 else 1 - half // 2
        how = "city" if seat < city else "draw" if winner is None else "points"
        points = margin if seat == games - 1 else 0
        row = (number, seat, winner, how, points, 0, 0 if seat else plies, None, "")
        rows.append((pairing, GameResult(*row)))
    return rows


def count_games(pairings: int, pairs: int, games: Pair) -> Ints:
    """Return the counts of a run with these games, as its store has them."""
    with closing(Store(None)) as store:
        for number in range(pairings):
            own = [game for one, game in games if one == number]
            store.add(Played(Chunk(number, 0, pairs), own, {}, 1.0))
        return count_pairs(pairs, map(store.read_pairs, range(pairings)))


def counted(*pairings: Sequence[Pair]) -> Ints:
    """Return the counts of a run with these pairs, by pairing."""
    games = [game for rows in pairings for row in rows for game in row]
    return count_games(len(pairings), len(pairings[0]), games)


def of(*city: int, pairing: int = 0) -> list[Pair]:
    """Return pairs of which so many games are won by City."""
    return [pair(number, pairing, city=games) for number, games in enumerate(city)]


@pytest.mark.parametrize(
    ("game", "sums"),
    [
        ((7, 0, 0, "city", 3, 9, 20), (1, 1, 0, 0, 2, 0, 0, 20)),
        ((7, 1, 0, "points", 12, 9, 48), (1, 0, 0, 0, 0, 1, 3, 48)),
        ((7, 0, 1, "points", -4, 9, 48), (1, 0, 0, 0, 0, 1, 13, 48)),
        ((7, 1, 1, "tiebreak", 9, 9, 48), (1, 0, 1, 0, 2, 1, 0, 48)),
        ((7, 0, None, "draw", 9, 9, 48), (1, 0, 0, 1, 1, 1, 0, 48)),
        ((7, 0, 1, "forfeit", 0, 0, 5), (0,) * 8),
    ],
)
def test_a_game_adds_to_its_pair(game: tuple[Any, ...], sums: tuple[int, ...]) -> None:
    """Games, City, tie-break, draw, half points of seat 0, and the rest."""
    counts = count_games(4, 8, [(3, GameResult(*game, None, ""))])
    found = {measure.name: measure.sums(counts)[3, 7].tolist() for measure in MEASURES}
    counted = [found[one][0] for one in ("city", "tiebreaks", "draws", "seat_0")]
    margin, scored = found["margin"]
    assert (found["city"][1], *counted, scored, margin, found["plies"][0]) == sums
    assert counts.sum() == 1 + margin + found["plies"][0]


def test_the_difference_of_two_shares_is_worked_out_by_pair() -> None:
    """By pair the share grows by 1/2, 0, 1/2, 1/2, 0: the mean is .3, its variance .3 / 4 / 5.

    Z times its root is 0.24, and the least is 3 / 5. The same five pairs a hundred times have
    squares less the mean's of 30, of 500 pairs.
    """
    base, changed = counted(of(0, 0, 1, 1, 0)), counted(of(1, 0, 2, 2, 0))
    assert difference(base, changed, CITY).cells == (0.3, -0.3, 0.9)
    assert difference(changed, base, CITY).cells == (-0.3, -0.9, 0.3)
    assert estimate(base, CITY).cells == (0.2, 0.0, 0.8)
    base = counted(of(*[0, 0, 1, 1, 0] * 100))
    changed = counted(of(*[1, 0, 2, 2, 0] * 100))
    half = Z * math.sqrt(30 / 499 / 500)
    expected = tuple(round(number, 4) for number in (0.3, 0.3 - half, 0.3 + half))
    assert difference(base, changed, CITY).cells == expected
    assert half > 3 / 500


def test_pairings_are_strata_whose_own_differences_cost_nothing() -> None:
    """One pairing always wins by City and one never does: nothing varies but 3 of 400 pairs."""
    base = counted(of(*[0] * 200), of(*[2] * 200, pairing=1))
    value = estimate(base, CITY)
    assert value.cells == (0.5, 0.5 - 0.0075, 0.5 + 0.0075)


def test_a_ratio_of_two_counts_has_its_error_by_linearisation() -> None:
    """12 points a game; 10 - 24, 20 - 12 and 30 - 24 are left by pair, of squares 296, twice."""
    pairs = [(2, 10), (1, 20), (2, 30)] * 2
    rows = [pair(n, city=2 - scored, margin=margin) for n, (scored, margin) in enumerate(pairs)]
    half = Z * math.sqrt(6 / 5 * 592 / 100)
    expected = tuple(round(number, 3) for number in (12, 12 - half, 12 + half))
    assert estimate(counted(rows), MARGIN).cells == expected


def test_a_mean_of_few_games_and_what_cannot_be_said_are_empty() -> None:
    """Fewer than ten games have no interval, one pair has none, and no game has no number."""
    few = counted([pair(n, city=1, margin=n) for n in range(5)])
    enough = counted([pair(n, margin=3 * n % 7) for n in range(5)])
    assert estimate(few, MARGIN).cells == (2.0, None, None)
    assert None not in estimate(enough, MARGIN).cells
    assert difference(few, enough, MARGIN).cells[1:] == (None, None)
    one = counted([pair(0, city=1)])
    none, three = count_games(1, 3, []), counted([pair(n) for n in range(3)])
    for measure in MEASURES:
        assert estimate(one, measure).cells[1:] == (None, None)
        assert difference(one, one, measure).cells == (0.0, None, None)
        assert estimate(none, measure).cells == (None, None, None)
        assert difference(none, three, measure).cells == (None, None, None)
    # forfeited games count in nothing: of four pairs one has a single game left, and one has none
    rows = [pair(0), pair(1, games=1, city=1, plies=20), pair(3)]
    run = count_games(1, 4, [game for row in rows for game in row])
    assert estimate(run, CITY).cells == (0.2, 0.0, 1.0)
    assert estimate(run, PLIES).value == pytest.approx((96 + 20 + 96) / 5)


def test_no_bit_depends_on_the_order_of_the_pairs() -> None:
    """The pairs of both runs in any one order, and as the store happens to give them."""
    rng = random.Random(5)

    def draw(number: int) -> Pair:
        counts = {"first": rng.choice([0, 2, 4]), "city": rng.choice([0, 0, 1])}
        counts |= {"margin": rng.randrange(40), "plies": rng.randrange(20, 97)}
        return pair(number, number % 3, **counts)

    def numbered(rows: Sequence[Pair]) -> Pair:
        return [(p, game._replace(pair=n)) for n, row in enumerate(rows) for p, game in row]

    both = [[[draw(3 * n + p) for n in range(40)] for p in range(3)] for _ in "bc"]
    seen = set()
    for _ in range(5):
        order = rng.sample(range(40), 40)
        runs = []
        for side in both:
            rows = [row for own in side for row in numbered([own[n] for n in order])]
            runs.append(count_games(3, 40, rng.sample(rows, len(rows))))
        for one in MEASURES:
            seen.add(repr((one.name, difference(*runs, one), estimate(runs[0], one))))
    assert len(seen) == len(MEASURES)


OPTIONS = ["set_bonus=0,5", "cities_needed=2", "rounds=2+removed=23"]
NAMES = ["base", "set_bonus=0", "cities_needed=2", "removed=23,rounds=2"]
CUP = "seed: 3\npairs: 4\nbots: [uniform, greedy, majority]\n"


def tournament(*bots: str, pairs: int = 4) -> Tournament:
    entries = [resolve(bot, lane="inproc") for bot in bots]
    return Tournament("cup", 3, pairs, entries, STANDARD, max_faults=3)


def play(folder: Path, what: Tournament, executor: Executor = HERE) -> Ablation:
    return ablate(what, make_variants(STANDARD, OPTIONS), folder, playing(executor))


CUP_BOTS = tournament("uniform", "greedy", "majority")


@pytest.fixture(scope="module")
def out(once: Once) -> Path:
    return once("ablation", lambda folder: play(folder / "out", CUP_BOTS)) / "out"


@pytest.mark.slow
def test_every_variant_is_an_ordinary_run(out: Path, tmp_path: Path) -> None:
    """The base has the bytes of a run without changes, and each of them can be verified."""
    assert sorted(path.name for path in out.iterdir()) == sorted([FILE, *NAMES])
    run(CUP_BOTS, HERE, RunFolder(tmp_path / "plain"), QUIET)
    for name in [MANIFEST, "games.csv", "faults.csv", *(one.file for one in TABLES.values())]:
        base, plain = (locate(folder, name) for folder in (out / "base", tmp_path / "plain"))
        assert base.read_bytes() == plain.read_bytes()
    for name in NAMES:
        assert next(iter(verify(out / name, 1, HERE))) == "games: 24 replayed"
    assert json.loads((out / NAMES[1] / MANIFEST).read_text())["rules"] == {"set_bonus": 0}


def test_the_file_has_a_row_for_each_variant_and_measure_with_the_numbers_of_the_games(
    out: Path,
) -> None:
    """The base has no difference from itself; the numbers are counted again, from games.csv."""
    table = csv_rows(out / FILE)
    assert [*table[0]] == ABLATION.names
    places = [(name, measure.name) for name in NAMES for measure in MEASURES]
    assert [(row["variant"], row["measure"]) for row in table] == places
    assert {row["difference"] for row in table[:6]} == {""}
    assert all(row["difference_low"] for row in table[6:] if row["measure"] == "city")
    assert {(row["pairs"], row["games"], row["forfeits"]) for row in table} == {("4", "24", "0")}
    for name in NAMES:
        played = csv_rows(out / name / "games.csv")
        rows = (row for row in table if row["variant"] == name)
        own = {row["measure"]: float(row["value"]) for row in rows}
        scored = [game for game in played if game["win_type"] != "city"]
        assert own["city"] == pytest.approx(1 - len(scored) / 24, abs=1e-4)
        plies = sum(int(game["plies"]) for game in played)
        assert own["plies"] == pytest.approx(plies / 24, abs=1e-3)
        leads = sum(abs(int(g["points"]) - int(g["opponent_points"])) for g in scored)
        assert own["margin"] == pytest.approx(leads / len(scored), abs=1e-3)


@pytest.mark.slow
def test_an_ablation_that_was_interrupted_goes_on(out: Path, tmp_path: Path) -> None:
    """It says how many games of all variants are kept, and ends with the same bytes."""
    folder = tmp_path / "out"
    kept = [0]
    for chunks in (2, 4, 6):
        with pytest.raises(Interrupted) as caught:
            play(folder, CUP_BOTS, Stops(chunks))
        assert caught.value.games == 4 * 24
        kept.append(caught.value.kept)
        assert not (folder / FILE).exists()
    assert kept == sorted({*kept})
    play(folder, CUP_BOTS)
    assert (folder / FILE).read_bytes() == (out / FILE).read_bytes()
    again = play(folder, CUP_BOTS, Stops(0))
    assert [variant.games for variant in again.variants] == [24] * 4


def test_a_fresh_ablation_plays_all_again(tmp_path: Path) -> None:
    """Else nothing is played twice."""
    what, variants = tournament("uniform", "greedy", pairs=1), make_variants(STANDARD, OPTIONS[:1])
    ablate(what, variants, tmp_path, playing())
    ablate(what, variants, tmp_path, playing(Stops(0)))
    with pytest.raises(Interrupted) as caught:
        ablate(what, variants, tmp_path, replace(playing(Stops(0)), fresh=True))
    assert (caught.value.kept, caught.value.games) == (0, 4)


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_with_any_number_of_workers(
    arena: Arena, out: Path, tmp_path: Path
) -> None:
    """Into results/NAME-ablate; its table has at most 80 columns, and its document no NaN."""
    (tmp_path / "cup.yaml").write_text(CUP)
    words = ["ablate", "cup.yaml", *(word for option in OPTIONS for word in ("--rule", option))]
    done = arena(*words, "--workers", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "24 games of cup under each; base: the published rules."
    assert max(map(len, lines)) <= 80
    assert "removed=23,rounds=2: other deals than the base, so less is common to both" in lines
    assert lines[-1] == "results in results/cup-ablate/"
    assert done.stderr.splitlines() == [f"{n} of 4: {name}" for n, name in enumerate(NAMES, 1)]
    folder = tmp_path / "results" / "cup-ablate"
    assert (folder / FILE).read_bytes() == (out / FILE).read_bytes()
    document = json.loads(arena(*words, "--json").stdout)
    assert [row["variant"] for row in document["rows"][::6]] == NAMES


def test_a_rule_that_can_have_no_effect_is_named(arena: Arena, tmp_path: Path) -> None:
    """The same games, and cities that are too few; a quiet command says nothing."""
    (tmp_path / "cup.yaml").write_text(CUP)
    rules = ("--rule", "tiebreak=supports", "--rule", "cities_needed=4")
    words = ("ablate", "cup.yaml", "--pairs", "1", *rules)
    lines = arena(*words).stdout.splitlines()
    assert lines[0] == "6 games of cup under each; base: the published rules."
    assert lines[-1] == "results in results/cup-ablate/"
    assert arena(*words, "-q").stdout == ""
    notes = [
        "tiebreak=supports: no effect, every game ended as under the base",
        "cities_needed=4: nobody can win by City, the deck has fewer cities",
    ]
    assert [line for line in lines if "nobody" in line or "no effect" in line] == notes


def made(changes: dict[str, dict[str, Estimate]]) -> Ablation:
    """Return an ablation with these changes by variant and measure; all others are nothing."""
    nothing = Estimate(0.0, -0.1, 0.1, 0.05)
    city = [Estimate(0.15, 0.1, 0.2, 0.02), *[Estimate(0.0)] * 5]
    base = VariantResult(Variant("base", STANDARD), True, 4, 0, {}, city, [Estimate()] * 6)
    variants = [base]
    for name, own in changes.items():
        known = [own.get(measure.name, nothing) for measure in MEASURES]
        variants.append(base._replace(variant=Variant(name, STANDARD), changes=known))
    return Ablation(variants, 2)


def test_the_clearest_effect_is_named_and_what_is_not_sure_is_not_said_to_be() -> None:
    """What is 0 under all rules has no lines; nothing is said of no estimate."""
    found = made({"a": {"city": Estimate(0.3, 0.2, 0.4, 0.05)}})
    said = "The clearest effect: under a City's share rises by 30.0 percentage points."
    assert found.sentence == said
    assert [line for line in found.lines() if not line.startswith(" ")] == [MEASURES[0].title]
    found = made({"a": {"plies": Estimate(-2.0, -4.5, 0.5, 1.3)}})
    assert found.sentence == (
        "No effect is surely more than luck; the clearest seen: under a a game's length falls by "
        "2.00 plies."
    )
    none = dict.fromkeys([measure.name for measure in MEASURES], Estimate())
    assert made({"a": none}).sentence == "No effect can be estimated from these games."


def test_a_bot_that_plays_as_another_one_says_whose_its_figures_are() -> None:
    """Under other rules than the published ones."""
    usual = tournament("apprentice", "greedy")
    changed = replace(usual, rules=STANDARD.from_changes({"set_bonus": 0}))
    assert find_others(usual) == []
    assert find_others(changed) == ["apprentice plays as timing"]
    base = made({}).variants[0]._replace(others=find_others(changed))
    failed = base._replace(forfeits=3, out={"b": "2 faults"}, others=())
    assert [*Ablation([base, failed], 2).notes()] == [
        "base: apprentice plays as timing, whose figures these are",
        "base: 3 forfeits, not counted: see its faults.csv",
        "base: b was out after 2 faults",
    ]
    assert {row[4] for row in Ablation([failed], 2).rows()} == {3}


def test_an_interval_allows_for_the_choice_of_the_clearest() -> None:
    """Of twelve effects the level is 1 - .05 / 25, which is 2.878 errors where one has 1.96."""
    found = made({"a": {"city": Estimate(-0.1, -0.12, -0.08, 0.0102)}, "b": {}})
    best = found.clearest
    assert best
    assert (best.change.low, best.change.high) == pytest.approx((-12.94, -7.06), abs=0.01)
    assert len(found.effects) == 12
    truths = {(one.measure.name, one.place): 0.0 for one in found.effects}
    for truth, wrong in ((-10.0, (False, False)), (0.0, (True, True)), (10.0, (True, True))):
        assert effect_headlines.judge(found, truths | {("city", 1): truth}) == wrong
    tiny = made({"a": {"city": Estimate(0.0003, 0.0002, 0.0004, 0.00005)}})
    assert not any(one.is_sure for one in tiny.effects)  # it is shown as 0
    both = {"city": Estimate(0.047, -0.9, 1.0, 0.49), "plies": Estimate(2, -90, 94, 47)}
    wide = made({"a": both})
    ends = {one.measure.name: (one.change.low, one.change.high) for one in wide.effects}
    assert ends["city"] == (-100.0, 100.0)  # a share has bounds
    assert ends["plies"][1] > 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--rule set_bonus=0..8", "there are no ranges; write all values, with commas"),
        ("--rule majority_values=1,1,1,1", "a list stands in brackets: majority_values=[1,1,1,1]"),
        ("--rule set_bonus=x", "--rule set_bonus=x: set_bonus must be a whole number"),
        ("", "Missing option '--rule'"),
        ("--rule set_bonus=0 --out .", ".: holds other files and no ablation"),
        ("--rule set_bonus=0 --out run", "run: holds a run; choose another folder"),
        ("--rule set_bonus=0 --out cup.yaml", "cup.yaml: cannot be read"),
        ("--rule set_bonus=0 --out other", "other/ablation.csv: a folder in the place of a file"),
        ("--rule set_bonus=0 --bot nobody", "nobody"),
    ],
)
def test_what_cannot_be_played_is_one_line(
    arena: Arena, tmp_path: Path, words: str, message: str
) -> None:
    """With exit status 2, and nothing is written or removed."""
    (tmp_path / "cup.yaml").write_text(CUP)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.sqlite").touch()
    (tmp_path / "other" / FILE).mkdir(parents=True)
    for more in ([], ["--fresh"]):
        assert message in refused(arena("ablate", "cup.yaml", *words.split(), *more))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cup.yaml", "other", "run"]
