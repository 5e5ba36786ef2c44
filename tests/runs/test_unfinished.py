"""A run that was stopped has met all bots about equally often, and says that it is not finished."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import arena
from arena.entries.resolve import resolve
from arena.executors.log import QUIET, RunLog
from arena.runs.run import Interrupted, run
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.plan import Plan, Played
from arena.tournament.stop import Until
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import run_here
from tests.runs.test_verify import HERE

CHUNKS = 40


class Stops:
    """Plays as this process does, and is interrupted after some chunks."""

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        for number, played in enumerate(HERE.play(plan, tournament, log)):
            if number == CHUNKS:
                raise KeyboardInterrupt
            yield played


def stopped(folder: Path) -> Path:
    """Return the folder of a run of four bots that was stopped."""
    bots = [resolve(name) for name in ("uniform", "greedy", "majority", "city_hunter")]
    tournament = Tournament("cup", 1, 200, bots, STANDARD)
    with pytest.raises(Interrupted):
        run(tournament, Stops(), RunFolder(folder), QUIET)
    return folder


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that was stopped."""
    return stopped(tmp_path_factory.mktemp("stopped") / "cup")


@pytest.mark.slow
def test_all_pairings_have_about_as_many_games(cup: Path) -> None:
    """Not one pairing after the other."""
    games = arena.open(cup).head_to_head["games"]
    assert len(games) == 12
    assert min(games) >= 0.75 * max(games) - 2


@pytest.mark.slow
def test_the_library_says_that_it_is_not_finished(cup: Path) -> None:
    """In its head, its report and as a value."""
    results = arena.open(cup)
    assert not results.finished
    state = f"not finished: {results.played:,} of 2,400 games"
    assert str(results).splitlines()[0] == f"cup: {state}"
    text = results.report().markdown()
    assert text.splitlines()[1] == "# cup: 4 bots, seed 1 (not finished)"
    assert f"{state.capitalize()}." in text
    assert "4 bots, every bot against every other one" in text


@pytest.mark.slow
@pytest.mark.parametrize("words", [("show", "--seat", "0"), ("export",)])
def test_a_command_says_that_it_is_not_finished(cup: Path, words: tuple[str, ...]) -> None:
    """On standard error, beside what it prints; of a finished run it says nothing."""
    done = run_here(cup.parent, *words, "cup")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("note: cup: not finished: ")
    assert line.endswith(" of 2,400 games")
    assert run_here(cup.parent, "play", "uniform", "greedy", "--pairs", "1", "--out", "o").stdout
    assert run_here(cup.parent, *words, "o").stderr == ""
    shown = run_here(cup.parent, "show", "cup")
    assert re.match(r"cup · 4 bots · not finished: [\d,]+ of 2,400 games\n", shown.stdout)


@pytest.mark.slow
def test_a_page_of_the_run_says_so_first(cup: Path) -> None:
    """The report that is written of it, for people who open the file only."""
    assert run_here(cup.parent, "report", "cup").returncode == 0
    lines = (cup / "report.md").read_text().splitlines()
    assert lines[1] == "# cup: 4 bots, seed 1 (not finished)"
    page = (cup / "report.html").read_text()
    assert "<title>cup: 4 bots, seed 1 (not finished)</title>" in page


def test_ctrl_c_while_a_chunk_is_stored_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is kept as a whole: an import of the main thread that is left halfway may lock others."""
    add = Store.add

    def add_at_ctrl_c(store: Store, *chunks: Played) -> None:
        signal.raise_signal(signal.SIGINT)
        add(store, *chunks)

    monkeypatch.setattr(Store, "add", add_at_ctrl_c)
    monkeypatch.setattr("arena.runs.saving._UNSTORED", 0.0)
    cup = Tournament("cup", 1, 40, [resolve("uniform"), resolve("greedy")], STANDARD)
    with pytest.raises(Interrupted) as caught:
        run(cup, HERE, RunFolder(tmp_path), QUIET)
    assert 0 < caught.value.kept == arena.open(tmp_path).played < 80


class StopsAfterARound:
    """Plays the first round as this process does, and is interrupted as the second begins."""

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        for played in HERE.play(plan, tournament, log):
            yield played
            if played.chunk.first + played.chunk.pairs == 2:
                raise KeyboardInterrupt


@pytest.mark.slow
def test_a_run_that_is_stopped_between_rounds_is_not_finished(tmp_path: Path) -> None:
    """All games of its rounds so far are there; the same run goes on to its end."""
    bots = [resolve("greedy"), resolve("other=greedy")]
    until = Tournament("until", 1, 2, bots, STANDARD, stop=Until("resolved", 6))
    with pytest.raises(Interrupted):
        run(until, StopsAfterARound(), RunFolder(tmp_path / "cup"), QUIET)
    assert (arena.open(tmp_path / "cup").played, arena.open(tmp_path / "cup").finished) == (
        4,
        False,
    )
    run(until, HERE, RunFolder(tmp_path / "cup"), QUIET)
    assert (arena.open(tmp_path / "cup").played, arena.open(tmp_path / "cup").finished) == (
        12,
        True,
    )
