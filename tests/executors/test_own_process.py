"""This process plays what cannot reach it, until workers go on; nothing of it changes."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors import local
from arena.executors.local import LocalExecutor
from arena.executors.log import RunLog, run_log
from arena.executors.member import Member
from arena.executors.own_process import Here, is_harmless
from arena.runs.rerun import play_again
from arena.tournament.config_keys import HERE
from arena.tournament.match import GameResult
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.cards import Action
from engine.view import View
from tests import rogues

PAIRS = 3


def played(workers: int, log: RunLog) -> list[GameResult]:
    """Return the games of two bots of ours."""
    bots = [resolve("greedy"), resolve("majority")]
    tournament = Tournament("here", 3, PAIRS, bots, STANDARD)
    plan = Plan([[range(PAIRS)]], Strikes(tournament.pairings, PAIRS, most=1000))
    results: list[GameResult] = []
    for chunk in LocalExecutor(workers).play(plan, tournament, log):
        plan.learn(chunk)
        results += chunk.results
    return sorted(results, key=lambda result: result[:2])


def test_harmless_are_bots_of_ours_and_those_shut_in(tmp_path: Path) -> None:
    """A stranger in a process may reach the one above it, whoever wrote it."""
    stranger = rogues.write(tmp_path, "stranger", "")
    for lane, is_one in (("inproc", False), ("process", False), ("jail", True)):
        assert is_harmless(resolve(str(stranger), lane=lane)) is is_one
    assert is_harmless(resolve("greedy"))
    assert not is_harmless(resolve("greedy", lane="process"))


def test_a_short_run_and_a_game_start_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there may be."""
    monkeypatch.setattr(Member, "__init__", None)
    assert len(played(4, RunLog([]))) == 2 * PAIRS
    tournament = Tournament("one", 3, 1, [resolve("greedy"), resolve("majority")], STANDARD)
    assert play_again(tournament, 0, 0, HERE).record.actions


@pytest.mark.slow
def test_workers_go_on_with_the_same_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also with those of a chunk that this process has begun; one worker alone is this process."""
    beat: Callable[[Here], None] = Here.beat

    def wait(here: Here) -> None:
        while here._chunk:
            beat(here)
            time.sleep(0.01)

    alone = played(1, RunLog([]))
    monkeypatch.setattr(local, "_ALONE", 0.0)
    monkeypatch.setattr(local, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(Here, "beat", wait)
    with run_log(tmp_path / "log") as log:
        assert played(2, log) == alone
    assert "worker ready" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_a_signal_is_no_fault_of_the_bot_that_plays(
    raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends the run at once."""

    def choose(_: object, view: View) -> Action:
        if raised is SystemExit:
            raise SystemExit(143)
        signal.raise_signal(signal.SIGINT)
        return view.legal[0]

    monkeypatch.setattr(resolve("greedy").load(), "choose", choose)
    with pytest.raises(raised):
        played(2, RunLog([]))


def test_what_a_chunk_logs_is_of_a_worker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is in the file under its name, and not on the terminal."""
    logger = logging.getLogger("arena")
    with run_log(tmp_path / "log") as log:
        with log.of_worker("worker-0"):
            logger.warning("it is late")
        logger.warning("it is later")
    assert " worker-0 WARNING it is late\n" in (tmp_path / "log").read_text()
    assert capsys.readouterr().err == "it is later\n"
