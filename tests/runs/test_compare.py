"""Comparisons: the same files however they are played, and what odd bots come to."""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arena.differences.common_deals import PairedGame, PairedGames, _list_decided
from arena.differences.comparison import SprtResult, comparison_command, judge_compared
from arena.entries.resolve import resolve
from arena.entries.spec import LANES
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.runs.verify import verify
from arena.statistics.intervals import Estimate
from arena.statistics.sequential_test import (
    DIFFERENCES,
    PAIR_SCORES,
    Bounds,
    estimate_mean,
)
from arena.store.column_titles import VERDICTS
from arena.store.columns import Columns
from arena.store.folder import RunFolder
from arena.tournament.sprt_rounds import Evidence, as_comparison
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests import ROOT
from tests.kit import Stops, same_files
from tests.rogues import write
from tests.tiers import few


def comparison_of(new: str, old: str, *against: str, most: int = 64) -> Tournament:
    """Return a comparison, all of whose bots are called in the worker's process."""
    bots = [resolve(spec, lane="inproc") for spec in (new, old, *against)]
    plain = Tournament("compare", 3, 1, bots, STANDARD, panel=len(against))
    return as_comparison(plain, make_sprt(0, 30, 0.05, 0.05, most))


def play(tournament: Tournament, folder: Path, workers: int = 4) -> SprtResult:
    outcome = run(tournament, LocalExecutor(workers), RunFolder(folder), QUIET)
    assert outcome.comparison is not None
    return outcome.comparison


def numbers(document: Any) -> list[float]:
    """Return every number in a document."""
    if isinstance(document, dict):
        return [number for value in document.values() for number in numbers(value)]
    if isinstance(document, list):
        return [number for value in document for number in numbers(value)]
    return [float(document)] if isinstance(document, int | float) else []


@pytest.mark.slow
def test_a_comparison_has_the_same_files_for_any_workers_and_after_a_stop(tmp_path: Path) -> None:
    """Stopped with one worker and gone on with by more; `verify` finds nothing."""
    tournament = comparison_of("new=greedy(patience=2.5)", "greedy", "uniform", most=18)
    found = play(tournament, tmp_path / "one")
    stopped = RunFolder(tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        run(tournament, Stops(1, LocalExecutor(1)), stopped, QUIET)
    assert play(tournament, stopped.path, workers=5).document() == found.document()
    files = same_files(stopped.path)
    assert files == same_files(tmp_path / "one")
    assert {"comparison.json", "differences.csv", "decided.csv", "games.csv"} < files.keys()
    games, compared, *_ = verify(stopped.path, 0, LocalExecutor(1))
    assert games == f"games: {found.games} replayed"
    assert compared.startswith("files: ")


@pytest.mark.slow
def test_a_difference_is_that_of_both_versions_games(tmp_path: Path) -> None:
    """Counted again from games.csv, deal by deal; the games that are named did differ."""
    tournament = comparison_of("new=greedy(patience=2.5)", "greedy", "uniform", "denier")
    found = play(tournament, tmp_path)
    games = pd.read_csv(tmp_path / "games.csv", keep_default_na=False)
    games["score"] = [
        0.5 if not row.winner else float(row.winner == row.bot) for row in games.itertuples()
    ]
    by_deal = games.groupby(["opponent", "pair", "bot"])["score"].sum().unstack()
    gaps = (by_deal["new"] - by_deal["greedy"]).value_counts()
    counts = [int(gaps.get(value / 2, 0)) for value in range(-4, 5)]
    assert [*found.evidence.counts] == counts
    assert found.paired
    total = found.paired.differences.iloc[0]
    mean = estimate_mean(*found.evidence[:4], found.evidence.looks, found.evidence.ends)
    ends = [max(-1.0, min(1.0, end / 2)) for end in (mean.low, mean.high)]  # a deal has two games
    assert [total["low"], total["high"]] == pytest.approx(ends, abs=6e-5)
    shares = games.groupby("bot")["score"].mean()
    assert (total["new"], total["old"]) == (round(shares["new"], 4), round(shares["greedy"], 4))
    elos = total[["elo", "elo_low", "elo_high"]].tolist()
    assert elos == pytest.approx([found.elo.value, found.elo.low, found.elo.high], abs=0.1)
    assert total["low"] < total["difference"] < total["high"]
    half = 2 * (by_deal["new"] - by_deal["greedy"]).std() / 2 / len(by_deal) ** 0.5
    assert total["high"] - total["low"] == pytest.approx(2 * half, rel=0.2)
    keys = ["opponent", "pair", "seat"]
    both = games.pivot(index=keys, columns="bot", values="score")
    changed = both[both["new"] != both["greedy"]]
    assert len(changed) == len(found.paired.decided)
    assert {*found.paired.decided["game"]} == {f"new/{o}/{p}/{s}" for o, p, s in changed.index}
    assert found.paired.same_games < len(both)


@pytest.mark.slow
def test_an_unchanged_version_has_the_same_games(tmp_path: Path) -> None:
    """Move by move, in other processes and under another label."""
    tournament = comparison_of("new=greedy", "greedy", "uniform", "denier", most=32)
    found = play(tournament, tmp_path)
    assert found.paired
    assert 2 * found.paired.same_games == found.games == 128
    assert len(found.paired.decided) == 0
    assert abs(found.elo.value) < 1e-6
    assert found.elo.low < 0 < found.elo.high


FAILING = [
    ("new", False, "not better"),
    ("both", False, "not better"),  # the new one begins, and is out first
    ("opponent", True, "undecided"),
    ("old", False, "better"),
    ("new", True, "not better"),
    ("both", True, "undecided"),
]


@pytest.mark.parametrize(("failing", "against", "verdict"), few(FAILING, 0, 2, unpack=True))
def test_bots_that_forfeit_all_games_have_a_finite_comparison(
    failing: str, against: bool, verdict: str, tmp_path: Path
) -> None:
    """Whoever it is; where an opponent is out, nothing is left to compare."""
    write(tmp_path, "fails", "raise ValueError")
    fails = f"={tmp_path / 'fails.py'}"
    new = f"new{fails}" if failing in ("new", "both") else "new=greedy"
    old = f"old{fails}" if failing in ("old", "both") else "old=greedy"
    opponent = f"other{fails}" if failing == "opponent" else "uniform"
    tournament = comparison_of(new, old, *([opponent] if against else []), most=48)
    found = play(tournament, tmp_path / "out")
    assert found.verdict == verdict
    assert {*found.out} <= {"new", "old", "other"}
    assert found.out
    failed = f"{found.out[0]} had"
    if against and failing in ("both", "opponent"):
        failed = "every opponent had" if failing == "opponent" else "new and old both had"
    assert found.sentence.startswith(f"{verdict}: {failed} too many faults")
    assert next(found.lines()).lower() == f"{found.sentence}.".lower()
    printed = [*found.lines(), *found.difference_lines()]
    assert not [line for line in printed if re.search(r"-0\.?0*(?![\d./])", line)]
    document = json.loads((tmp_path / "out" / "details" / "comparison.json").read_text())
    assert all(map(math.isfinite, numbers(document)))
    lines = list(verify(tmp_path / "out", 0, LocalExecutor(1)))
    assert [line.split()[0] for line in lines[:2]] == ["games:", "files:"]


@pytest.mark.slow
def test_an_opponent_that_is_out_is_in_no_part(tmp_path: Path) -> None:
    """The tables are those of a comparison without it; games that nobody played do not count."""
    write(tmp_path, "fails", "raise ValueError")
    changed = ("new=greedy(patience=2.5)", "greedy")
    fails = f"fails={tmp_path / 'fails.py'}"
    found = play(comparison_of(*changed, fails, "denier", most=64), tmp_path / "out")
    alone = play(comparison_of(*changed, "denier", most=32), tmp_path / "alone")
    assert found.out == ("fails",)
    assert found.paired
    assert alone.paired
    assert {*found.paired.differences["part"]} >= {"total", "opponent", "seat", "won_by"}
    for table in ("differences.csv", "decided.csv"):
        one, other = ((tmp_path / run / "details" / table).read_text() for run in ("out", "alone"))
        assert one == other
    assert (found.paired.games, found.paired.same_games) == (128, alone.paired.same_games)
    assert found.paired.separate_games == alone.paired.separate_games
    kinds = pd.read_csv(tmp_path / "out" / "faults.csv")["kind"]
    assert (kinds == "max_faults").any()
    assert found.games == 128 + (kinds != "max_faults").sum()


def command_of(*lanes: str | None) -> str:
    """Return the command of a comparison of three bots in these lanes, without the numbers."""
    specs = ("new=greedy", "bots.greedy", str(ROOT / "docs" / "examples" / "greedy_plus"))
    bots = [resolve(spec, lane=lane) for spec, lane in zip(specs, lanes, strict=True)]
    stop = make_sprt(0, 30, 0.05, 0.05, 64)
    plain = Tournament("compare", 3, 1, bots, STANDARD, panel=1)
    command = comparison_command(as_comparison(plain, stop), stop)
    words = shlex.split(command)
    again = [words[2], words[3], words[words.index("--against") + 1]]
    lane = words[words.index("--lane") + 1] if "--lane" in words else None
    assert [resolve(spec, lane=lane).lane for spec in again] == [bot.lane for bot in bots]
    return command


@pytest.mark.slow
def test_the_command_has_the_lane_that_was_asked_for() -> None:
    """None where each bot has its own: inproc for a name in bots/, process for all others."""
    assert command_of(None, None, None).endswith(" --seed 3")
    assert command_of("inproc", "process", "process") == command_of(None, None, None)
    for lane in sorted({*LANES} - {"remote"}):  # no name in bots/ lives elsewhere
        assert command_of(lane, lane, lane).endswith(f" --seed 3 --lane {lane}")


AHEAD, EVEN, BEHIND = Estimate(62, 34, 91), Estimate(9, -2, 20), Estimate(-9, -20, 2)


@pytest.mark.parametrize(
    ("elo", "likely", "word", "said"),
    [
        (AHEAD, 0.97, "apart", "new is stronger than old"),
        (EVEN, 0.95, "leans", "new is probably stronger than old: new is at"),
        (BEHIND, 0.05, "leans", "old is probably stronger than new: new is at"),
        (EVEN, 0.89, "open", "the two are not told apart: new is at +9"),
        (BEHIND, 0.95, "open", "the two are not told apart: new is at -9"),
        (AHEAD, math.nan, "open", "new is stronger than old"),
    ],
)
def test_the_sentence_says_the_word_of_the_verdicts(
    elo: Estimate, likely: float, word: str, said: str
) -> None:
    """Apart where the test says so with its interval, else by how likely the one ahead is it."""
    evidence = Evidence((25, 0, 50, 0, 25), PAIR_SCORES, 1.0, 1.09, Bounds(-2.9, 2.9), [100])
    stop = make_sprt(0, 30, 0.05, 0.05, 100)
    found = SprtResult(
        *("new", "old", (), stop, evidence, "undecided", elo, 200, (), "", None), likely=likely
    )
    assert (found.word, found.document()["word"]) == (word, word)
    assert said in found.sentence
    verdicts = Columns.of_rows(VERDICTS.names, [["new", "old", 1.0, -1.0, 2.0, likely, "open"]])
    (judged,) = judge_compared(verdicts, found).dicts()
    ahead = ("new", "old") if elo.value > 0 else ("old", "new")
    assert (judged["bot"], judged["opponent"], judged["verdict"]) == (*ahead, word)


def test_no_number_is_minus_zero() -> None:
    """Neither in JSON nor in what is printed, whatever it was rounded from."""
    names = ("difference", "low", "high", "elo", "elo_low", "elo_high", "error")
    row = {"part": "total", "name": "", "deals": 9, "new": 0.5, "old": 0.5}
    row |= dict.fromkeys(names, -0.0002)
    twins = PairedGames(pd.DataFrame([row]), pd.DataFrame(), 18, 9, 18)
    ends = Bounds(-2.9, 2.9)
    evidence = Evidence((0, 0, 1, 0, 1000, 0, 1, 0, 0), DIFFERENCES, 0.0, 1e-9, ends, [16])
    assert -0.005 < evidence.ratio < 0
    stop, elo = make_sprt(-0.0, 10, 0.05, 0.05, 9), Estimate(-0.01, -0.02, -0.03)
    found = SprtResult(
        *("new", "old", ("uniform",), stop, evidence, "undecided", elo, 18, (), "", twins)
    )
    text = "\n".join([*found.lines(), *found.difference_lines()])
    assert "ratio 0.00, bounds" in text
    assert "+0.0..+0.0    +0       +0..+0" in text
    assert "Elo difference +0.0, 95 % interval 0.0..0.0 (" in text
    assert "new is at +0 Elo points (0..0)" in found.sentence
    assert "an Elo difference of 0 (H0) against 10 (H1)" in text
    document = found.document()
    del document["differences"]
    assert all(math.copysign(1, n) > 0 for n in numbers(document) if n == 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 0, 0.05, 0.05, 9), "elo1: 0 is not above elo0, which is 10"),
        ((0, 5000, 0.05, 0.05, 9), "elo1: expected `float` <= 1000.0"),
        (("0", 10, 0.05, 0.05, 9), "elo0: expected `float`, got `str`: '0'"),
        ((0, 10, 0.5, 0.05, 9), "alpha: expected `float` < 0.5"),
        ((0, 10, 0.05, 0.0, 9), "beta: expected `float` >= 1e-09"),
        ((0, 10**400, 0.05, 0.05, 9), "elo1: number out of range"),
        ((0, 10, 0.05, 0.05, True), "max_pairs: expected `int`, got `bool`: True; write a .*"),
    ],
)
def test_a_test_that_cannot_be_is_one_line(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match="^" + message.replace("-", r"\-") + "$"):
        make_sprt(*arguments)


def test_without_an_observation_the_middle_of_all_differences_is_shown() -> None:
    """All opponents are out: the interval has every value, and leans to none."""
    values = (-1.0, -0.5, 0.0, 0.5, 2.0)
    evidence = Evidence((0,) * 5, values, 0.0, 0.1, Bounds(-2.9, 2.9), [])
    assert tuple(evidence.estimate())[:3] == (0.5, -1.0, 2.0)


def test_only_games_with_another_result_are_decided() -> None:
    tournament = comparison_of("new=greedy(patience=2.5)", "greedy", "uniform")
    rows = [
        PairedGame("uniform", 0, 0, 1.0, 0.0, "points", "points", 7),
        PairedGame("uniform", 0, 1, 1.0, 1.0, "points", "points", 8),
        PairedGame("uniform", 1, 0, 0.5, 1.0, "draw", "points", 9),
        PairedGame("uniform", 1, 1, 1.0, 0.0, "points", "points", None),
    ]
    found = _list_decided(tournament, pd.DataFrame(rows, columns=PairedGame._fields))
    assert [*found["ply"]] == [7, 9]
