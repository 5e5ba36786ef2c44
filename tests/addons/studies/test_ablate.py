"""The same bots on the same deals under several rules: runs of their own, and what they say."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.addons.studies.ablation import (
    FILE,
    MEASURES,
    Ablation,
    VariantResult,
    ablate,
    make_ablation_report,
)
from arena.entries.resolve import resolve
from arena.executors.local import Executor
from arena.executors.log import QUIET, RunLog
from arena.runs.run import Interrupted, run
from arena.runs.verify import verify
from arena.statistics.intervals import Estimate
from arena.store.folder import MANIFEST, REPORTS, TABLES, RunFolder, locate
from arena.store.reader import read_run
from arena.tables.table_columns import ABLATION
from arena.tournament.plan import Plan, Played
from arena.tournament.rule_changes import Variant, make_variants
from arena.tournament.tournament import Tournament
from bench.studies import effect_headlines
from engine import STANDARD
from tests.conftest import Arena, Once
from tests.kit import HERE, csv_rows, playing

OPTIONS = ["set_bonus=0,5", "cities_needed=2", "rounds=2+removed=23"]
NAMES = ["base", "set_bonus=0", "cities_needed=2", "removed=23,rounds=2"]
CUP = "seed: 3\npairs: 4\nbots: [uniform, greedy, majority]\n"


def tournament(*bots: str, pairs: int = 4) -> Tournament:
    return Tournament(
        "cup", 3, pairs, [resolve(bot, lane="inproc") for bot in bots], STANDARD, max_faults=3
    )


def play(folder: Path, what: Tournament, executor: Executor = HERE) -> Ablation:
    variants = make_variants(STANDARD, OPTIONS)
    return ablate(what, variants, folder, playing(executor))


CUP_BOTS = tournament("uniform", "greedy", "majority")


@pytest.fixture(scope="module")
def out(once: Once) -> Path:
    """Return the folder of an ablation that has ended."""
    return once("ablation", lambda folder: play(folder / "out", CUP_BOTS)) / "out"


def games(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the deal of every game of a run."""
    what, store = read_run(folder)
    with closing(store):
        for number, result in store.results():
            fixture = what.fixture(number, result.pair, result.seat)
            yield fixture.name, fixture.draw(what.seed, what.rules).deal.hex()


@pytest.mark.slow
def test_every_variant_is_an_ordinary_run(out: Path, tmp_path: Path) -> None:
    """The base has the bytes of a run without changes, and each of them can be verified."""
    assert sorted(path.name for path in out.iterdir()) == sorted([FILE, *REPORTS, *NAMES])
    run(CUP_BOTS, HERE, RunFolder(tmp_path / "plain"), QUIET)
    for name in (MANIFEST, *TABLES):
        base, plain = (locate(folder, name) for folder in (out / "base", tmp_path / "plain"))
        assert base.read_bytes() == plain.read_bytes()
    for name in NAMES:
        assert next(iter(verify(out / name, 1, HERE))) == "games: 24 replayed"
    assert json.loads((out / NAMES[1] / MANIFEST).read_text())["rules"] == {"set_bonus": 0}


def test_the_file_has_a_row_for_each_variant_and_measure(out: Path) -> None:
    """With the same two bots for the spread; the base has no difference from itself."""
    table = csv_rows(out / FILE)
    assert [*table[0]] == ABLATION.names
    measures = [*(measure.name for measure in MEASURES), "spread"]
    places = [(name, measure) for name in NAMES for measure in measures]
    assert [(row["variant"], row["measure"]) for row in table] == places
    assert {row["difference"] for row in table[:7]} == {""}
    assert all(row["difference_low"] for row in table[7:] if row["measure"] == "city")
    pairs_of_bots = {(row["bot"], row["opponent"]) for row in table if row["measure"] == "spread"}
    assert pairs_of_bots == {("greedy", "uniform")}  # who scored most in the four pairs
    assert {(row["pairs"], row["games"], row["forfeits"]) for row in table} == {("4", "24", "0")}


def test_the_numbers_are_those_of_the_games(out: Path) -> None:
    """Counted a second time, from games.csv."""
    for name in NAMES:
        played = csv_rows(out / name / "games.csv")
        own = {
            row["measure"]: row["value"] for row in csv_rows(out / FILE) if row["variant"] == name
        }
        types = [game["win_type"] for game in played]
        assert float(own["city"]) == pytest.approx(types.count("city") / 24, abs=1e-4)
        assert float(own["tiebreaks"]) == pytest.approx(types.count("tiebreak") / 24, abs=1e-4)
        assert float(own["plies"]) == pytest.approx(
            sum(int(game["plies"]) for game in played) / 24, abs=1e-3
        )
        scored = [game for game in played if game["win_type"] != "city"]
        leads = [abs(int(g["points"]) - int(g["opponent_points"])) for g in scored]
        assert float(own["margin"]) == pytest.approx(sum(leads) / len(leads), abs=1e-3)
        seats = [(g["bot"], g["opponent"])[int(g["seat"])] == g["winner"] for g in played]
        draws = types.count("draw") / 2
        assert float(own["seat_0"]) == pytest.approx((sum(seats) + draws) / 24, abs=1e-4)
        two = [g for g in played if {g["bot"], g["opponent"]} == {"uniform", "greedy"}]
        score = sum({"greedy": 1.0, "": 0.5}.get(g["winner"], 0.0) for g in two) / len(two)
        assert float(own["spread"]) == pytest.approx(score, abs=1e-4)


class Stops:
    """Plays this many chunks, and is then interrupted."""

    def __init__(self, chunks: int) -> None:
        self.left = chunks

    def play(self, plan: Plan, what: Tournament, log: RunLog) -> Generator[Played, None, None]:
        for played in HERE.play(plan, what, log):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield played


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


@pytest.mark.slow
def test_with_forfeits_alone_every_number_is_empty(tmp_path: Path) -> None:
    """The file is written, and says how many there were; nobody is the strongest."""
    (tmp_path / "a.py").write_text("raise OSError\n")
    (tmp_path / "b.py").write_text("raise OSError\n")
    bots = [str(tmp_path / "a.py"), str(tmp_path / "b.py")]
    done = play(tmp_path / "out", tournament(*bots, pairs=1))
    assert done.two is None
    for row in csv_rows(tmp_path / "out" / FILE):
        assert (row["forfeits"], row["value"], row["difference"]) == ("2", "", "")


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
    assert [row["variant"] for row in document["rows"][::7]] == NAMES
    assert (document["rows"][6]["bot"], document["rows"][6]["opponent"]) == ("greedy", "uniform")


@pytest.mark.slow
def test_a_rule_that_can_have_no_effect_is_named(arena: Arena, tmp_path: Path) -> None:
    """In the terminal and in the report: the same games, and cities that are too few."""
    (tmp_path / "cup.yaml").write_text(CUP)
    rules = ("--rule", "tiebreak=supports", "--rule", "cities_needed=4")
    lines = arena("ablate", "cup.yaml", "--pairs", "1", *rules).stdout.splitlines()
    page = (tmp_path / "results" / "cup-ablate" / "report.md").read_text()
    notes = [
        "tiebreak=supports: no effect, every game ended as under the base",
        "cities_needed=4: nobody can win by City, the deck has fewer cities",
    ]
    assert [line for line in lines if "nobody" in line or "no effect" in line] == notes
    assert all(f"{note}." in page.replace("\\", "") for note in notes)


def made(changes: dict[str, dict[str, Estimate]]) -> Ablation:
    """Return an ablation with these changes by variant and measure; all others are nothing."""
    nothing = Estimate(0.0, -0.1, 0.1, 0.05)
    city = [Estimate(0.15, 0.1, 0.2, 0.02), *[Estimate(0.0)] * 5]
    base = VariantResult(Variant("base", STANDARD), True, 4, 0, {}, city, [Estimate()] * 6)
    return Ablation(
        [base]
        + [
            base._replace(
                variant=Variant(name, STANDARD),
                changes=[own.get(measure.name, nothing) for measure in MEASURES],
            )
            for name, own in changes.items()
        ],
        2,
    )


def test_the_report_has_a_sentence_and_one_table_without_what_is_0_everywhere() -> None:
    """A row leads to its run, and says whether its change is sure when all are looked at."""
    found = made(
        {
            "a": {"city": Estimate(0.3, 0.2, 0.4, 0.05)},
            "b/<c>": {"city": Estimate(-0.1, -0.3, 0.1, 0.1)},
        }
    )
    report = make_ablation_report(found, CUP_BOTS)
    table = next(iter(report.tables()))
    title = MEASURES[0].title
    assert table.rows == [
        ["a", title, 15.0, 15.0, 30.0, 20.0, 40.0, "yes"],
        ["b/<c>", title, 15.0, 15.0, -10.0, -30.0, 10.0, ""],
    ]
    assert [*table.links] == ["./a/report.html", "./b/%3Cc%3E/report.html"]
    said = "The clearest effect: under a City's share rises by 30.0 percentage points."
    assert report.summary == [found.sentence] == [said]
    assert [line for line in found.lines() if not line.startswith(" ")] == [title]


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
    wide = made(
        {"a": {"city": Estimate(0.047, -0.9, 1.0, 0.49), "plies": Estimate(2, -90, 94, 47)}}
    )
    ends = {one.measure.name: (one.change.low, one.change.high) for one in wide.effects}
    assert ends["city"] == (-100.0, 100.0)  # a share has bounds
    assert ends["plies"][1] > 100


def test_what_is_not_sure_is_not_said_to_be() -> None:
    """The clearest one is named all the same; nothing is said of no estimate."""
    found = made({"a": {"plies": Estimate(-2.0, -4.5, 0.5, 1.3)}})
    assert found.sentence == (
        "No effect is surely more than luck; the clearest seen: under a a game's length falls by "
        "2.00 plies."
    )
    none = dict.fromkeys([measure.name for measure in MEASURES], Estimate())
    assert made({"a": none}).sentence == "No effect can be estimated from these games."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rule", "set_bonus=0..8"], "there are no ranges; write all values, with commas"),
        (
            ["--rule", "majority_values=1,1,1,1"],
            "a list stands in brackets: majority_values=[1,1,1,1]",
        ),
        (["--rule", "set_bonus=x"], "--rule set_bonus=x: set_bonus must be a whole number"),
        ([], "Missing option '--rule'"),
        (["--rule", "set_bonus=0", "--out", "."], ".: holds other files and no ablation"),
        (["--rule", "set_bonus=0", "--out", "run"], "run: holds a run; choose another folder"),
        (["--rule", "set_bonus=0", "--out", "cup.yaml"], "cup.yaml: not a folder"),
        (["--rule", "set_bonus=0", "--bot", "nobody"], "nobody"),
    ],
)
def test_what_cannot_be_played_is_one_line(
    arena: Arena, tmp_path: Path, words: list[str], message: str
) -> None:
    """With exit status 2, and nothing is written or removed."""
    (tmp_path / "cup.yaml").write_text(CUP)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.sqlite").touch()
    for more in ([], ["--fresh"]):
        done = arena("ablate", "cup.yaml", *words, *more)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cup.yaml", "run"]
