"""A search of parameters: common deals, honest scores, and the same bytes however it was played."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from arena.addons.studies.search import make_space
from arena.addons.studies.tune_parameters import PROOF, ROUNDS, read_scores, search_parameters
from arena.addons.studies.tuned import FAILED, TABLES, Tuned, TuningPlan, make_tuning
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError
from arena.executors.contract import Executor
from arena.executors.local import LocalExecutor
from arena.runs.run import Interrupted
from arena.store.folder import REPORTS, TUNING
from arena.store.reader import read_run
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.addons.studies.test_ablate import Stops
from tests.rogues import FOLDER
from tests.runs.test_verify import HERE, playing
from tests.tiers import few

BUDGET = 224
PATIENCE = ("patience=0..20",)
WEAK = "greedy(patience=3)"
"""A bot that a search makes better; the default was found by one."""


def tuning(
    bot: str = WEAK, parameters: tuple[str, ...] = PATIENCE, *panel: str, budget: int = BUDGET
) -> TuningPlan:
    """Return a small tuning of a bot against some others."""
    entries = [resolve(one, lane="inproc") for one in (bot, *(panel or ("majority", "denier")))]
    base = Tournament("tune", 3, 1, entries, STANDARD, max_faults=1, panel=len(entries) - 1)
    return make_tuning(base, make_space(parameters), budget, 32)


def play(folder: Path, what: TuningPlan, executor: Executor = HERE) -> Tuned:
    return search_parameters(what, folder, playing(executor))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a search that has ended."""
    folder = tmp_path_factory.mktemp("tune") / "out"
    play(folder, tuning())
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a search that are the same for the same search."""
    names = [TUNING, *TABLES, *REPORTS, *(f"{PROOF}/{name}" for name in ("games.csv", "report.md"))]
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.slow
def test_the_report_begins_with_the_proof(out: Path) -> None:
    """And then says what was found, and of each parameter whether it matters."""
    _, _, _, proof, _, _, _, found, *rest = (out / "report.md").read_text().splitlines()
    assert proof.startswith("On fresh deals ")
    assert not any(line.startswith("On fresh deals ") for line in rest)
    assert found.startswith("Best of ")


def test_all_candidates_of_a_round_meet_the_same_deals(out: Path) -> None:
    """With the same luck; rounds and the proof have deals of their own."""
    seen: set[object] = set()
    for place in [*sorted((out / ROUNDS).iterdir()), out / PROOF]:
        tournament, store = read_run(place)
        with closing(store):
            panel, pairs = tournament.panel, tournament.pairs
            draws = [
                [tournament.draw(tournament.fixture(n, pair, 0)) for pair in range(min(pairs, 4))]
                for n in range(len(tournament.pairings))
            ]
        for opponent in range(panel):
            of_each = draws[opponent::panel]
            assert of_each == of_each[:1] * len(of_each)
            deals = {draw.deal for draw in of_each[0]}
            assert not seen & deals
            seen |= deals


def test_scores_are_those_of_the_games(out: Path) -> None:
    """Counted a second time; every pair of every candidate counts once."""
    tournament, store = read_run(out / ROUNDS / "001")
    with closing(store):
        scores = read_scores(store, tournament)
        panel = tournament.panel
        assert scores.shape == (len(tournament.pairings) // panel, panel, tournament.pairs)
        for number in range(len(tournament.pairings)):
            games = [*store.games_of(number)]
            for pair in range(tournament.pairs):
                both = [game.score for game in games if game.pair == pair]
                assert scores[(*divmod(number, panel), pair)] == sum(both) / 2


def test_the_best_setting_has_its_own_label_if_that_is_new_and_fits() -> None:
    """Of at most 60 characters; else the label is that of the present bot, as the tuned one."""
    fits, long = "x" * 46, "x" * 47
    modes = tuning(str(FOLDER / "tuned.py"), (f"mode=plain,{fits},{long}",))
    for what, setting, label in (
        (tuning(), {"patience": 12}, "greedy(patience=12)"),
        (tuning(), {"patience": 3}, f"tuned {WEAK}"),
        (modes, {"mode": fits}, f"tuned(mode='{fits}')"),
        (modes, {"mode": long}, "tuned tuned"),
    ):
        proof = what.comparison(what.space.point(setting))
        assert proof.labels[:2] == [label, what.bot.label]
        assert proof.entries[0].params == setting


@pytest.mark.slow
def test_the_best_is_better_and_no_more_was_played_than_allowed(out: Path) -> None:
    """greedy with more patience; the numbers of the search are not those of the proof."""
    found = play(out, tuning())
    assert 6 <= found.best["patience"] <= 20
    assert (found.played, found.pairs <= BUDGET) == (0, True)
    assert found.is_better
    assert found.proof.elo.low > 0
    assert found.proof.evidence.pairs <= 32
    assert found.spec == f"greedy(patience={found.best['patience']})"


@pytest.mark.parametrize("stops", few([(2,), (5, 0, 9, 40, 90)], 0, 1))
def test_a_search_that_was_interrupted_ends_as_if_it_had_not_been(
    out: Path, tmp_path: Path, stops: tuple[int, ...]
) -> None:
    """It keeps all games, and says how many."""
    folder, kept = tmp_path / "out", [0]
    for chunks in stops:
        with pytest.raises(Interrupted) as caught:
            play(folder, tuning(), Stops(chunks))
        assert caught.value.games == 2 * (BUDGET + 2 * 32)
        kept.append(caught.value.kept)
        assert not (folder / TABLES[0]).exists()
    assert kept == sorted(kept)
    assert kept[1] > 0
    play(folder, tuning())
    assert content(folder) == content(out)


@pytest.mark.study
def test_any_number_of_workers_gives_the_same_bytes(out: Path, tmp_path: Path) -> None:
    """Processes of their own on three workers, too."""
    play(tmp_path / "out", tuning(), LocalExecutor(3))
    assert content(tmp_path / "out") == content(out)


@pytest.mark.parametrize("mode", few(["broken", "late"], 0, 1))
def test_a_setting_that_fails_is_dropped_and_told(tmp_path: Path, mode: str) -> None:
    """With its fault; the search goes on among the others."""
    parameters = ("patience=0..8", f"mode=plain,{mode}")
    found = play(
        tmp_path / "out", tuning(str(FOLDER / "tuned.py"), parameters, "uniform", budget=240)
    )
    failed = [row for row in found.rows if row.status == FAILED]
    assert failed
    assert all(f"mode='{mode}'" in row.setting for row in failed)
    assert all(f"mode='{mode}'" not in row.setting for row in found.rows if row not in failed)
    assert found.best["mode"] == "plain"
    warnings = [*found.warnings()]
    assert any(failed[0].label in line and "arena show" in line for line in warnings)


@pytest.mark.study
def test_settings_that_all_fail_end_the_search_with_one_line(tmp_path: Path) -> None:
    """It names the fault, and the command that shows the game."""
    parameters = ("patience=0..8", "mode=late,broken")
    what = tuning(str(FOLDER / "tuned.py"), parameters, "uniform", budget=240)
    with pytest.raises(ArenaError, match=r"every setting fails: .*arena show .*candidate-"):
        play(tmp_path / "out", what)


@pytest.mark.slow
def test_an_opponent_that_fails_ends_the_search_with_one_line(tmp_path: Path) -> None:
    """What a setting scores against it says nothing."""
    rogue = str(FOLDER / "raises.py")
    with pytest.raises(ArenaError, match=r"an opponent, fails: .*; see `arena show"):
        play(tmp_path / "out", tuning(WEAK, PATIENCE, rogue))


@pytest.mark.slow
def test_a_value_at_the_end_of_its_range_is_warned_of(tmp_path: Path) -> None:
    """A wider range may hold a better one."""
    found = play(tmp_path / "out", tuning(WEAK, ("patience=0..6",)))
    assert found.best == {"patience": 6}
    assert [*found.warnings()] == [
        "patience=6 is at an end of its range, patience=0..6: a wider one may hold a better value"
    ]


def test_a_folder_of_something_else_stays_as_it_is(out: Path, tmp_path: Path) -> None:
    """Another search, another run, or other files: one line each, and nothing is written."""
    before = content(out)
    what = tuning()
    others = (
        what._replace(budget=BUDGET + 1),
        what._replace(space=make_space(["patience=0..21"])),
        what._replace(base=replace(what.base, seed=4)),
        tuning("majority"),
    )
    for other in others:
        with pytest.raises(InputError, match="holds another tuning: "):
            play(out, other)
    assert content(out) == before
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files and no tuning"):
        play(tmp_path, what)
    (tmp_path / TUNING).write_text("[1]")
    with pytest.raises(InputError, match="not a JSON object"):
        play(tmp_path, what)
    (tmp_path / TUNING).write_text("{")
    with pytest.raises(InputError, match=TUNING):
        play(tmp_path, what)


def test_a_round_of_another_search_is_refused(out: Path, tmp_path: Path) -> None:
    """Its candidates are checked, also where the folder says that it is this search."""
    folder = tmp_path / "out"
    shutil.copytree(out, folder)
    for parameters, message in ((("patience=5..9",), "changed"), (("patience=a,b",), "candidates")):
        other = tuning(WEAK, parameters)
        (folder / TUNING).write_text(json.dumps(other.manifest()))
        with pytest.raises(InputError, match=message):
            play(folder, other)
