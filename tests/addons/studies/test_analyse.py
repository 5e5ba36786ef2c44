"""`arena analyse`: decisions that are judged; and the ranges of settings that studies try."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from arena.addons.studies.settings import Ranges, design, read_parameters
from arena.addons.studies.study_commands import _format_worst
from arena.batch.judging import MISTAKES, Cured, name_mistake
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.replays.timeline import DISPUTED
from arena.runs.judge_games import describe_judge
from arena.tables.losses import Analysis, Asked
from arena.tables.standings_text import short_names
from bench.studies.lessons import WEAK, told
from bots.apprentice import own_network
from bots.champion import values_after
from bots.uniform import bot as uniform
from engine import Setup, View, play_game
from tests import ROOT
from tests.conftest import Arena, Once, run_here, start_command
from tests.kit import count_judged, refused
from tests.waiting import until

FILE = "details/analysis.csv"
QUICK = ("--by", "greedy", "--worlds", "4", "--worst", "0", "--workers", "1")
BY = "def bot(setup):\n    return {}\n"
NO_SCORES = "from types import SimpleNamespace as N\n" + BY.format(
    "N(choose=lambda view: view.legal[0])"
)
FAILS = NO_SCORES.replace("])", "], scores=lambda games: 1 / 0)")


def play(folder: Path) -> None:
    """Play a gauntlet, and a run under other rules."""
    words = ("play", "uniform", "timing", "--against", "greedy", "--pairs", "6", "-q")
    assert run_here(folder, *words, "--out", "run").returncode == 0
    words = ("play", "uniform", "greedy", "--pairs", "1", "--rules", '{"set_bonus": 4}', "-q")
    assert run_here(folder, *words, "--out", "other").returncode == 0
    (folder / "no_scores.py").write_text(NO_SCORES)
    (folder / "fails.py").write_text(FAILS)


def forget(run: Path) -> None:
    """Let a run be one of which no game was judged."""
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        database.execute("DROP TABLE judged")


@pytest.fixture
def folder(once: Once, tmp_path: Path) -> Path:
    """Return the folder of the test, with the runs."""
    shutil.copytree(once("analysed", play), tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.slow
def test_the_same_bytes_for_any_number_of_workers_and_after_a_kill(
    arena: Arena, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was judged before the kill is kept, and not judged again."""
    words = ("analyse", "run", *QUICK, "--games", "6", "--worst", "2", "-q")
    assert arena(*words).returncode == 0
    alone = (folder / "run" / FILE).read_bytes()
    assert len(alone.splitlines()) > 150
    assert count_judged(folder / "run") > 6  # and the worst, judged again
    forget(folder / "run")
    (folder / "run" / FILE).unlink()
    command = start_command(folder, *words, "--workers", "3")
    until(lambda: command.poll() is not None or count_judged(folder / "run") > 2)
    command.kill()
    command.communicate()
    kept = count_judged(folder / "run")
    assert kept > 2
    done = arena(*words, "--workers", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "run" / FILE).read_bytes() == alone
    assert {path.name for path in (folder / "run").glob(".*")} <= {".lock"}
    (folder / "run" / FILE).unlink()
    monkeypatch.setattr(LocalExecutor, "play", None)
    assert arena(*words).returncode == 0
    assert (folder / "run" / FILE).read_bytes() == alone


def test_text_json_and_csv_have_the_losses_against_one_opponent(arena: Arena, folder: Path) -> None:
    """The smallest first, with the parts and Student's interval of the sums of pairs."""
    words = ("analyse", "run", *QUICK, "--games", "12")
    document = json.loads(arena(*words, "--json").stdout)
    read = pd.read_csv(folder / "run" / FILE)
    assert (document["decisions"], document["games"]) == (len(read), 12)
    assert (document["judged_again"], document["disputed"]) == (0, 0)
    assert (read["worlds"] == 4).all()
    by_part = {(row["bot"], row["part"]): row for row in document["losses"]}
    row, own = by_part["uniform", "all"], read[read["bot"] == "uniform"]
    assert (row["decisions"], row["games"], row["worlds"]) == (len(own), 6, 4)
    assert row["loss"] == pytest.approx(own["loss"].mean(), abs=1e-4)
    assert row["game_loss"] == pytest.approx(own["loss"].sum() / 6, abs=1e-4)
    pairs = own.groupby("pair")["loss"].agg(["sum", "count"])
    spread = pairs["sum"] - pairs["count"] * own["loss"].mean()
    half = 4.302653 * (3 / 2 * (spread**2).sum()) ** 0.5 / len(own)  # Student, 2 degrees
    assert row["loss_high"] - row["loss"] == pytest.approx(half, abs=2e-4)
    for opponent, bots in (("greedy", {"uniform", "timing"}), ("timing", {"greedy"})):
        asked = (*words, "--opponent", opponent)
        document = json.loads(arena(*asked, "--json").stdout)
        rows = [row for row in document["losses"] if row["opponent"] == opponent]
        each = {row["bot"]: row["loss"] for row in rows if row["part"] == "all"}
        assert each.keys() == bots
        title, _, *lines = arena(*asked, "-q").stdout.splitlines()
        assert title.startswith(f"points of 100 given away against {opponent} (4 worlds)")
        cells = [line.split() for line in lines]
        assert [row[0] for row in cells] == sorted(each, key=lambda bot: each[bot])
        assert [float(row[1]) for row in cells] == [
            pytest.approx(100 * each[row[0]], abs=0.005) for row in cells
        ]
        whole = arena(*asked).stdout.splitlines()
        assert whole[0].startswith(f"{document['games']} games, ")
        assert {title, *lines} <= {*whole}
        assert max(map(len, whole)) <= 80
        assert whole[-1] == f"decisions in run/{FILE}"
        takes = {row["bot"]: row["loss"] for row in rows if row["part"] == "take"}
        assert [float(row[-2]) for row in cells] == [
            pytest.approx(100 * takes[row[0]], abs=0.05) for row in cells
        ]


@pytest.mark.slow
def test_a_listed_mistake_is_one_by_two_judges(arena: Arena, folder: Path) -> None:
    """With the numbers of the second one, and in words; where they disagree, that is said."""
    done = arena("analyse", "run", *QUICK, "--games", "6", "--worst", "2", "--json")
    document = json.loads(done.stdout)
    read = pd.read_csv(folder / "run" / FILE).set_index(["game", "ply"])
    assert document["worst"]
    for row in document["worst"]:
        is_sure = row["loss"] > 2 * row["error"] and row["best"] != row["action"]
        assert row["mistake"] in (MISTAKES if is_sure else [DISPUTED])
        kept = read.loc[(row["game"], row["ply"])]
        assert [row["best"], row["mistake"]] == [kept["better"], kept["mistake"]]
        assert [row["loss"], row["error"]] == pytest.approx([kept["again"], kept["again_error"]])
        assert row["first_loss"] == pytest.approx(kept["loss"])
    again = read["mistake"].dropna()
    assert document["judged_again"] == len(again) == read["again"].notna().sum() <= 12
    assert document["disputed"] == (again == DISPUTED).sum()
    assert sum(row["decisions"] for row in document["mistakes"]) == (again != DISPUTED).sum()
    text = arena("analyse", "run", *QUICK, "--games", "6", "--worst", "2").stdout
    assert f"of {len(again)} that grandmaster judged again," in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_worst_decisions_are_told_with_what_the_first_judge_said_of_a_disputed_one() -> None:
    """The worst of each bot, or all of the one that is named; how many are disputed."""
    columns = ("bot", "game", "ply", "action", "best", "loss", "error", "mistake", "first_loss")
    rows = [
        ("a", "a/b/0/0", 3, "T", "5", 0.2, 0.04, "took too early", 0.3),
        ("a", "a/b/0/1", 5, "5", "T", 0.1, 0.02, "took too late", 0.2),
        ("b", "a/b/0/1", 6, "C", "T", 0.01, 0.02, DISPUTED, 0.25),
    ]
    worst = pd.DataFrame(rows, columns=columns)
    again = pd.DataFrame({"bot": ["a", "a", "b", "b"], "mistake": [*worst["mistake"], None]})
    judged = Analysis(Asked("greedy", 8, 0, 1), again, worst, None)
    names = short_names(["a", "b"], None)
    head = [
        "",
        "the worst decisions, by two judges; arena view run GAME shows one",
        "of 3 that grandmaster judged again, it disputes 1",
    ]
    first, second, other = (
        [f"{'a':<14} a/b/0/0 ply 3: T, and 5 is 20.0 +- 4.0 better", "  took too early"],
        [f"{'a':<14} a/b/0/1 ply 5: 5, and T is 10.0 +- 2.0 better", "  took too late"],
        [f"{'b':<14} a/b/0/1 ply 6: C, and T is 1.0 +- 2.0 better"],
    )
    other.append(f"  {DISPUTED} (greedy said 25.0)")
    run = Path("run")
    assert [*_format_worst(run, [], judged, names)] == [*head, *first, *other]
    assert [*_format_worst(run, ["a"], judged, names)] == [*head, *first, *second]
    assert not [*_format_worst(run, [], Analysis(judged.asked, again, worst[:0], None), names)]


LATE = """from bots.greedy import bot as own
from engine import TAKE

class bot:
    def __init__(self, setup):
        self.own = own(setup)

    def choose(self, view):
        plays = tuple(one for one in view.legal if one != TAKE)
        return self.own.choose(view._replace(legal=plays or (TAKE,)))
"""


@pytest.mark.slow
def test_a_lesson_names_the_mistake_shows_it_and_says_what_its_cure_is_worth(
    arena: Arena, tmp_path: Path
) -> None:
    """In the bot's own lane; where it cannot be wrapped or is another one by now, that is said."""
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "plain.py").write_bytes((ROOT / "docs" / "examples" / "plain.py").read_bytes())
    bots = "late=./late.py", "plain=cmd:python3 plain.py"
    arena("play", *bots, "--against", "greedy", "--pairs", "5", "--out", "run", "-q")
    words = ("analyse", "run", "late", *QUICK)
    found = json.loads(arena(*words, "--json").stdout)["lesson"]
    assert (found["mistake"], found["games"], found["why"]) == ("took too late", 10, "")
    assert found["loss"] > found["theirs"]
    assert found["elo_high"] > found["elo"] > found["elo_low"]
    assert found["cured"] > found["score"]
    assert len(found["examples"]) == 3
    assert all("T is" in one and "late plays" in one for one in found["examples"])
    text = arena(*words).stdout
    assert f"cured of it: {100 * found['cured']:.1f} % in place of" in text
    assert max(map(len, text.splitlines())) <= 80
    text = " ".join(arena("analyse", "run", "plain", *QUICK).stdout.split())
    assert "is not known: it is a program, and only a Python bot can be wrapped" in text
    (tmp_path / "late.py").write_text(LATE + "# another one")
    assert "worth is not known: its source has changed" in " ".join(arena(*words).stdout.split())


def test_a_cured_bot_differs_only_in_the_kind_of_mistake() -> None:
    """A judge that is never sure changes no action, nor what the bot draws."""
    judge = own_network().scores_in, values_after
    asked, played = [], []

    class Watched(Cured):
        """Keeps what it saw and did; its own strategy keeps what it would do."""

        def choose(self, view: View, /) -> int:
            played.append((view, action := super().choose(view)))
            return action

    def own(setup: Setup) -> Any:
        strategy = uniform(setup)
        return SimpleNamespace(choose=lambda view: asked.append(strategy.choose(view)) or asked[-1])

    def never(setup: Setup) -> Cured:
        return Cured(setup, uniform(setup), "took too early", *judge, 4 * (9.0,))

    def always(setup: Setup) -> Cured:
        return Watched(setup, own(setup), "took too early", *judge, 4 * (0.0,))

    plain = play_game(uniform, uniform, seed=3).record
    assert play_game(never, uniform, seed=3).record == plain
    assert play_game(always, uniform, seed=3).record != plain
    both = [(seen, one, other) for one, (seen, other) in zip(asked, played, strict=True)]
    assert {name_mistake(*one) for one in both if one[1] != one[2]} == {"took too early"}


@pytest.mark.slow
def test_a_planted_weakness_is_told_first() -> None:
    """The larger one, in one run; the study has the shares of both."""
    (_, weakness) = WEAK
    assert told(weakness, seed=1) == WEAK[weakness][0]


@pytest.mark.slow
def test_one_game_is_shown_and_the_report_has_what_was_judged(arena: Arena, folder: Path) -> None:
    """`verify` agrees; a file that is no analysis is left out, and the report says so."""
    done = arena("analyse", "run", "uniform/greedy/0/0", *QUICK)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].startswith("1 game, ")
    assert lines[2].split()[:2] == ["0", "uniform"]
    assert not (folder / "run" / FILE).exists()
    words = ("analyse", "run", *QUICK, "--games", "4", "-q")
    arena(*words)
    for _ in "12":  # as the run has written it, and again
        done = arena("verify", "run", "--sample", "1")
        assert (done.returncode, done.stderr) == (0, "")
        assert arena("report", "run").returncode == 0
    text = (folder / "run" / "report.md").read_text()
    assert "| Loss against greedy |" in text
    (folder / "run" / FILE).write_text("<script>\n")
    done = arena("report", "run")
    assert (done.returncode, done.stderr) == (0, "")
    written = (folder / "run" / "report.md").read_text()
    assert "Left out: analysis.csv: not the columns of analysis." in written


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("other",), "other: other rules than the published ones, which no judge knows"),
        (("run", "--by", "./no_scores.py"), "no method scores(games)"),
        (("run", "--by", "./fails.py"), "ZeroDivisionError: division by zero"),
        (("run", "--by", "cmd:true"), "only a Python bot can judge"),
        (("run", "--by", "nobody"), "nobody"),
        (("run", "--games", "0"), "'--games': 0 is not in the range"),
        (("run", "--worlds", "0"), "'--worlds': 0 is not in the range"),
        (("run", "--worlds", "7"), "worlds: 7 is odd; "),
        (("run", "nobody"), "no bot 'nobody' in this run"),
        (("run", "--opponent", "nobody", "--games", "2", *QUICK), "--opponent: no game against"),
        (("nowhere",), "nowhere: "),
        (("no_scores.py",), "no_scores.py: "),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(
    arena: Arena, folder: Path, words: tuple[str, ...], message: str
) -> None:
    """And nothing is left of it."""
    assert message in refused(arena("analyse", *words))
    assert not (folder / "other" / FILE).exists()


@pytest.mark.slow
def test_what_was_judged_is_part_of_the_run_and_changes_no_game_of_it(
    arena: Arena, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of its store has all of it, also for the viewer; the games are exported as before."""
    words = ("analyse", "run", "--games", "2", "--worst", "0", "--workers", "1", "-q")
    export = arena("export", "run").stdout
    assert arena(*words).returncode == 0
    assert count_judged(folder / "run") == 2
    assert arena("export", "run").stdout == export
    assert arena("verify", "run").returncode == 0
    shutil.copytree(folder / "run", folder / "copy")
    monkeypatch.setattr(LocalExecutor, "play", None)
    assert arena(words[0], "copy", *words[2:]).returncode == 0
    assert arena("view", "copy", "uniform/greedy/0/0", "-o", "page.html").returncode == 0
    assert describe_judge() in (folder / "page.html").read_text()


def test_a_store_that_is_a_link_is_not_written_through(arena: Arena, folder: Path) -> None:
    store = folder / "run" / "run.sqlite"
    store.rename(folder / "mine.sqlite")
    store.symlink_to(folder / "mine.sqlite")
    before = (folder / "mine.sqlite").read_bytes()
    assert "a link, which is not followed" in refused(arena("analyse", "run", *QUICK))
    assert (folder / "mine.sqlite").read_bytes() == before


def test_a_list_has_its_values_and_a_range_both_ends_and_different_ones_in_order() -> None:
    """Of their own types; of a range at most 201 with few digits, and its ends are known."""
    for ranges, values in (
        (["a=-1..2"], (-1, 0, 1, 2)),
        (["a = deep, 1, 2.5, true, null, '1', -3"], ("deep", 1, 2.5, True, None, "'1'", -3)),
        ({"a": [1, 1.0, True, "1"]}, (1, 1.0, True, "1")),
    ):
        (found,) = read_parameters(ranges)
        assert [*map(repr, found.values)] == [*map(repr, values)]
    for text in ("0.0..1.0", "0..1000000", "0.001..1000:log", "-0.3..0.31", "0..1e12"):
        (found,) = read_parameters({"a": text})
        values = [*found.values]
        assert 2 <= len(values) <= 201
        assert values == sorted({*values})
        ends = [*map(float, text.removesuffix(":log").split(".."))]
        assert [values[0], values[-1]] == [*filter(found.is_edge, values)] == ends
        assert all(len(repr(value)) <= 22 for value in values)


NO_RANGES: list[tuple[Ranges, str]] = [
    *(([f"a{one}"], "write NAME=LOW..HIGH") for one in ("", "=", "=x..5", "=0..NaN", "=1,,2")),
    (["1=0..5"], "write NAME=LOW..HIGH"),
    *(([f"a={one}"], "from 2 to 32 different values") for one in ("1", "1,2,1")),
    (["a=5..5"], "a range goes up"),
    (["a=0..5:log"], "the scale is :log, of a range above 0"),
    (["a=1..5:lin"], "the scale is :log"),
    (["a=0..1", "a=0..2"], "a has a range already"),
    ([f"{name}=0..1" for name in "abcd"], "from 1 to 3 of them, not 4"),
    ([], "from 1 to 3 of them, not 0"),
    ({"a": [object(), 1]}, "a value is a number, a text, true, false or null"),
    ("a=0..5", "expected ranges by name"),
]


@pytest.mark.parametrize(("ranges", "message"), NO_RANGES)
def test_a_mistake_is_one_line(ranges: Ranges, message: str) -> None:
    """It says what is expected."""
    with pytest.raises(InputError, match=message) as caught:
        read_parameters(ranges)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wanted", [2, 7, 24])
def test_a_design_has_each_part_of_every_range_once(wanted: int) -> None:
    """The same for the same seed; all settings where these are not more."""
    parameters = read_parameters({"a": "0..199", "b": "0.0..1.0", "mode": ["x", "y"]})
    found = design(parameters, wanted, 5)
    assert found == design(parameters, wanted, 5)
    assert len(found) == wanted
    assert sorted(int(one["a"] * wanted / 200) for one in found) == [*range(wanted)]
    assert sorted(int(one["b"] * wanted * 0.9999) for one in found) == [*range(wanted)]
    inner = [one["b"] for one in found]  # a goes up, and b is in no such order
    assert wanted == 2 or inner not in (sorted(inner), sorted(inner, reverse=True))
    few = read_parameters({"a": "0..3", "mode": ["x", "y"]})
    assert len(design(few, 8, 5)) == len({*map(str, design(few, 8, 5))}) == 8
