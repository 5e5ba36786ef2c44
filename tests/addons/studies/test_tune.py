"""`arena tune`: settings that are tried, halved and proven; its command, and what it refuses."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import arena as arena_here
from arena.addons.studies.tuning import (
    CANDIDATES,
    PROOF,
    Tuning,
    TuningPlan,
    make_tuning,
    search_parameters,
)
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError
from arena.executors.local import Executor, LocalExecutor
from arena.runs.run import Interrupted
from arena.store.reader import read_run
from arena.tournament.rounds import Counts, HalvingRounds, add
from arena.tournament.stop import Halving
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.play import Draw
from tests.conftest import Arena
from tests.kit import HERE, Stops, count_games, playing, refused
from tests.rogues import FOLDER
from tests.tiers import few

BUDGET = 224
PATIENCE = ("patience=0..20",)
STRANGER = str(FOLDER / "tuned.py")
WEAK = "greedy(patience=3)"
"""A bot that a search makes better; the default was found by one."""


def tuning(
    bot: str = WEAK, parameters: tuple[str, ...] = PATIENCE, *panel: str, budget: int = BUDGET
) -> TuningPlan:
    entries = [resolve(one, lane="inproc") for one in (bot, *(panel or ("majority", "denier")))]
    base = Tournament("tune", 3, 1, entries, STANDARD, max_faults=1, panel=len(entries) - 1)
    return make_tuning(base, parameters, budget, 32)


def play(folder: Path, what: TuningPlan, executor: Executor = HERE) -> Tuning:
    return search_parameters(what, folder, playing(executor))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune") / "out"
    play(folder, tuning())
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a search that are the same for the same search."""
    names = CANDIDATES.file, *(f"{PROOF}/{name}" for name in ("games.csv", "report.md"))
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.parametrize("budget", [448, 1000])
def test_each_round_halves_the_settings_within_the_budget(budget: int) -> None:
    """The best one is found where scores are exact; a bot that is out leaves at once."""
    made = tuning("greedy", ("patience=0..12",), "uniform", "denier", budget=1000)
    candidates = made.begin()
    search = made.search(candidates)
    assert len(candidates) == 13
    rounds = HalvingRounds(search, Halving(budget, budget))
    counts: dict[int, Counts] = {}
    sizes, pairs = [], 0
    for number in range(5):
        ranges = rounds.next(number, counts, {"candidate-13"} if number else ())
        sizes.append(len(ranges) // 2 - 1 if ranges else 0)
        for pairing, first, end in ranges:
            bot, opponent = divmod(pairing, 2)
            assert first == sum(counts.get(pairing, ()))  # without a gap
            score = bot if opponent == 0 else 6  # of 13
            more = [(end - first) * (score == place) for place in range(14)]
            counts[pairing] = add(counts.get(pairing, (0,) * 14), tuple(more))
            pairs += end - first
    assert sizes == [13, 7, 4, 2, 0]
    assert budget / 2 < pairs <= budget
    best = max(range(13), key=lambda bot: (sum(counts[2 * bot]), bot))
    assert candidates[best].label == "candidate-12"
    assert sum(counts[2 * 12]) == sum(counts[0])  # those of the first round only


def first_draws(place: Path) -> list[list[Draw]]:
    """Return the first draws of each setting of a run against the first opponent."""
    run, store = read_run(place)
    store.close()
    numbers = range(0, len(run.pairings), run.panel)
    return [[run.draw(run.fixture(number, pair, 0)) for pair in range(4)] for number in numbers]


def test_all_settings_meet_the_same_deals_which_are_not_those_of_the_comparison(out: Path) -> None:
    """With the same luck; those that stay longer play more pairs."""
    search, comparison = map(first_draws, (out, out / PROOF))
    assert (len(search), len(comparison)) == (9, 2)
    assert search == search[:1] * 9
    assert not {draw.deal for draw in search[0]} & {draw.deal for draw in comparison[0]}
    pairs = play(out, tuning()).candidates["pairs"].tolist()
    assert len(pairs) == 8
    assert pairs == sorted(pairs, reverse=True)
    assert [pairs.count(each) for each in dict.fromkeys(pairs)] == [2, 2, 4]


def test_the_best_is_proven_and_its_scores_are_those_of_the_games(out: Path) -> None:
    """greedy with more patience; the table counts what the runs have."""
    found = play(out, tuning())
    rows = [line.split() for line in str(found).splitlines() if "%  patience=" in line]
    assert len(rows) == len({row[-1] for row in rows}) > 1
    assert all(row[0].isdecimal() for row in rows)
    assert (found.played, found.candidates["pairs"].sum() <= BUDGET) == (0, True)
    assert 6 <= found.best["patience"] <= 20
    assert found.is_better
    assert found.proof.elo_low > 0
    assert found.proof.pairs <= 32
    assert found.spec == f"greedy(patience={found.best['patience']})"
    points = games = 0
    tournament, store = read_run(out)
    with closing(store):
        for number, result in store.results():
            is_best = tournament.pairings[number].bot == found.tried[0].label
            points, games = points + is_best * result.score, games + is_best
    best = found.tried[0]
    assert (best.points, best.games) == (points, games)
    header, first, *rest = (out / CANDIDATES.file).read_text().splitlines()
    assert header == "candidate,setting,pairs,score,fault"
    setting = f"patience={best.setting['patience']}"
    assert first == f"{best.label},{setting},{games // 2},{best.score:.4f},"
    assert len(rest) == 7


@pytest.mark.parametrize("stops", few([(2,), (5, 0, 9, 20, 30)], 0, 1))
def test_a_stopped_search_ends_the_same(out: Path, tmp_path: Path, stops: tuple[int, ...]) -> None:
    """It keeps all games, and says how many."""
    folder, kept = tmp_path / "out", [0]
    for chunks in stops:
        with pytest.raises(Interrupted) as caught:
            play(folder, tuning(), Stops(chunks))
        assert caught.value.games == 2 * (BUDGET + 2 * 32)
        kept.append(caught.value.kept)
        assert not (folder / CANDIDATES.file).exists()
    assert kept == sorted(kept)
    assert kept[1] > 0
    play(folder, tuning())
    assert content(folder) == content(out)


def test_games_of_the_comparison_count_among_those_that_are_kept(tmp_path: Path) -> None:
    """The search has ended, and the comparison has not."""
    what = tuning(WEAK, ("patience=3,9",), "majority", budget=12)
    with pytest.raises(Interrupted) as caught:
        play(tmp_path / "out", what, Stops(20))
    kept = [count_games(folder) for folder in (tmp_path / "out", tmp_path / "out" / PROOF)]
    assert min(kept) > 0
    assert caught.value.kept == sum(kept)


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_bytes(out: Path, tmp_path: Path) -> None:
    """Processes of their own on three workers, too."""
    play(tmp_path / "out", tuning(), LocalExecutor(3))
    assert content(tmp_path / "out") == content(out)


@pytest.mark.parametrize("mode", few(["broken", "late"], 0, 1))
def test_a_setting_that_fails_is_dropped_and_told(tmp_path: Path, mode: str) -> None:
    """With its fault; the search goes on among the others."""
    parameters = ("patience=0..8", f"mode=plain,{mode}")
    found = play(tmp_path / "out", tuning(STRANGER, parameters, "uniform", budget=240))
    failed = [one for one in found.tried if one.fault]
    assert {one.setting["mode"] for one in failed} == {mode}
    assert {one.setting["mode"] for one in found.tried if not one.fault} == {"plain"}
    assert {one.games for one in failed} == {min(one.games for one in found.tried)}
    assert any(failed[0].label in line and "arena show" in line for line in found.warnings)


@pytest.mark.slow
def test_settings_that_all_fail_or_an_opponent_end_it_with_one_line(
    tmp_path: Path,
) -> None:
    """It names the fault, and the command that shows the game."""
    parameters = ("patience=0..8", "mode=late,broken")
    what = tuning(STRANGER, parameters, "uniform", budget=240)
    with pytest.raises(ArenaError, match=r"every setting fails: candidate-.*arena show "):
        play(tmp_path / "out", what)
    with pytest.raises(ArenaError, match=r"an opponent, fails: .*; see `arena show"):
        play(tmp_path / "two", tuning(WEAK, PATIENCE, f"{STRANGER}(mode='late')"))


def test_the_same_call_goes_on_and_a_fresh_one_plays_all_again(tmp_path: Path) -> None:
    """All games, those of the comparison, too."""
    keys = {"against": "uniform", "budget": 12, "proof": 2, "out": tmp_path / "out"}
    made = [
        arena_here.tune("greedy", {"patience": [3, 9]}, progress=False, **keys, **more)
        for more in ({}, {}, {"fresh": True})
    ]
    played = made[0].played
    assert played > 24
    assert [(one.played, one.kept) for one in made] == [(played, 0), (0, played), (played, 0)]


def test_a_value_at_the_end_of_its_range_is_warned_of(tmp_path: Path) -> None:
    """A wider range may hold a better one."""
    found = play(tmp_path / "out", tuning(WEAK, ("patience=0..6",)))
    assert found.best == {"patience": 6}
    assert found.warnings == [
        "patience=6 is at an end of its range: a wider one may hold a better value"
    ]


def test_a_folder_of_something_else_stays_as_it_is(out: Path) -> None:
    """A line each, which names options that the command has; nothing is written."""
    before = content(out)
    what = tuning()
    for other in (
        what._replace(base=replace(what.base, seed=4)),
        tuning(WEAK, ("patience=0..40",)),
        tuning("greedy(patience=4)"),
    ):
        with pytest.raises(InputError) as caught:
            play(out, other)
        assert str(caught.value).endswith(
            "; --fresh starts over, and --out FOLDER writes elsewhere"
        )
    assert content(out) == before


WORDS = (
    *("tune", "greedy(patience=1.0)", "--param", "patience=3,9"),
    *("--against", "majority", "--budget", "12", "--proof", "40"),
)


def test_a_search_says_what_it_found_and_goes_on_where_it_was(arena: Arena, tmp_path: Path) -> None:
    """The second time nothing is played; every line of the first 80 columns is whole."""
    done = arena(*WORDS)
    assert done.returncode == 0, done.stderr
    best, *_, games, use, folder = done.stdout.splitlines()
    assert best == "best of 2 settings, 8 pairs: patience=9"
    assert re.fullmatch(r"[\d,]+ games played, 0 kept from before", games)
    assert use == "use it: greedy(patience=9)"
    assert "nothing was found" not in done.stdout
    assert folder == "results in results/tune-greedy-patience-1.0/"
    again = arena(*WORDS)
    assert again.stdout.splitlines()[0] == best
    assert "\n0 games played, " in again.stdout
    quiet = arena(*WORDS, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (f"{best}\n", "")
    document = json.loads(arena(*WORDS, "--json", "--quiet").stdout)
    assert document["candidates"][0]["setting"] == best.partition(": ")[2]
    names = {path.name for path in (tmp_path / "results" / "tune-greedy-patience-1.0").iterdir()}
    assert names == {"run.sqlite", "run.log", "proof", CANDIDATES.file}


MISTAKES = [
    ("greedy patience=0..5", "--against: name the bots that the settings meet"),
    ("greedy patienc=0..5", "bot 'greedy': got an unexpected keyword argument"),
    ("greedy patience=a,b", "bot 'greedy': parameter patience='a': Expected"),
    (f"{STRANGER} modes=a,b", f"bot '{STRANGER}': got an unexpected keyword argument"),
    ("nobody patience=0..5", "bot 'nobody'"),
    ("greedy patience", "--param 'patience=': write NAME=LOW..HIGH"),
    ("greedy patience=0..5 --budget 7", "budget: 7 pairs, and it takes 12"),
    ("greedy patience=0..5 --budget 0", "Invalid value for '--budget'"),
]
"""What is typed, without --param before the second word."""


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_a_mistake_is_one_line(arena: Arena, tmp_path: Path, words: str, message: str) -> None:
    """It names the option and the text; no folder is made."""
    bot, *more = words.split()
    more += [] if message.startswith("--against") else ["--against", "uniform"]
    assert refused(arena("tune", bot, "--param", *more)).startswith(message)
    assert not (tmp_path / "results").exists()


@pytest.mark.study
def test_a_strangers_settings_are_tried_in_processes_of_their_own(arena: Arena) -> None:
    """One that cannot be made and one that prints what is no text; the terminal stays whole."""
    words = ("--param", "mode=plain,broken,tells", "--param", "patience=0..8")
    done = arena("tune", STRANGER, *words, "--against", "uniform", "--budget", "160")
    assert done.returncode == 0, done.stderr
    assert "mode='broken'" not in done.stdout
    assert re.search(
        r"warning: candidate-\d+ \(mode='broken', .*\) failed: exception, ", done.stderr
    )
    assert "\x1b" not in done.stdout + done.stderr
    is_better = "nothing was found that is surely better than tuned" not in done.stdout
    assert (f"use it: {STRANGER}(mode=" in done.stdout) == is_better
