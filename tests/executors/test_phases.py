"""With `halves: apart` nothing that saw one game of a pair lives while the other is played."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors import halves
from arena.executors.halves import Phases
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, RunLog
from arena.runs.run import Interrupted, run
from arena.runs.verify import verify
from arena.store.folder import RunFolder
from arena.tournament.keys import HalvesChoice
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.executors.test_contract import TwoSites
from tests.executors.test_contract import played as games_of
from tests.executors.test_halves import PAIRINGS, games, plan, played
from tests.rogues import FOLDER

PAIRS = 40
Place = tuple[int, int, int]


def deal_of(place: Place, twins: Collection[int]) -> tuple[int, int]:
    """Return the deal of a game: a twin of pairing 0 or 1 plays that one's deals."""
    pairing, pair, _ = place
    return (0 if pairing in twins else pairing, pair)


@pytest.mark.parametrize("seats", [(0, 1), (1, 0)], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("workers", "twins"), [(1, []), (2, []), (3, []), (5, [2])])
def test_no_living_worker_has_seen_another_game_of_the_deal(
    workers: int, twins: list[int], seats: tuple[int, int]
) -> None:
    """However long each takes, with workers that die now and then; chunks come back whole."""
    rng = Random(workers)
    todo = Plan([[range(PAIRS)]] * 3, Strikes(PAIRINGS, PAIRS, 1000), seats)
    ticks = count(step=0.5)
    given = Phases(todo, workers, lambda n: twins.count(n), clock=lambda: next(ticks))
    held: dict[int, list[Chunk]] = {number: [] for number in range(workers)}
    seen: dict[tuple[int, int], set[Place]] = {}  # by deal: the games that living workers know
    whole: list[Place] = []
    turns = 0
    while True:
        for number, pieces in held.items():
            while len(pieces) < 2 and (piece := given.next(number)):
                pieces.append(piece)
                for place in games(piece):
                    known = seen.setdefault(deal_of(place, twins), set())
                    known.add(place)
                    assert known == {place}
        busy = [number for number in held if held[number]]
        if not busy:
            if not given.turn():
                break
            seen.clear()  # the workers end
            turns += 1
            continue
        number = rng.choice(busy)
        if rng.random() < 0.1:
            given.take_back(held[number])
            held[number] = []
            continue
        for joined in given.join(played(held[number].pop(0))):
            todo.learn(joined)
            whole += [(joined.chunk.pairing, *result[:2]) for result in joined.results]
    assert len(whole) == 3 * PAIRS * 2 == len({*whole})
    assert turns > 4


def test_a_block_takes_what_there_is_at_first_and_no_more_than_it_may() -> None:
    """By its chunks, 32 for each worker, or by its time; one chunk at least."""
    for seconds, most in ((0.0, 32), (11.0, 1)):
        ticks = count(step=seconds)
        given = Phases(plan(), 1, clock=lambda ticks=ticks: next(ticks))
        taken = []
        while piece := given.next(0):
            taken.append(piece)
        assert len(taken) == most
        assert {piece.seats for piece in taken} == {(0,)}


def rogue_games(halves: HalvesChoice, file: str, workers: int) -> list[str]:
    """Return the actions of all games of a bot with the label of the rogue."""
    bots = [resolve("uniform"), resolve(str(FOLDER / file), "tells", lane="process")]
    tournament = Tournament("phases", 3, 6, bots, STANDARD, halves=halves)
    todo = Plan([[range(6)]], Strikes(tournament.pairings, 6, most=9))
    results = []
    for chunk in LocalExecutor(workers).play(todo, tournament, RunLog([])):
        todo.learn(chunk)
        assert chunk.forfeits == []
        results += [(*result[:2], result.actions) for result in chunk.results]
    return [result[2] for result in sorted(results)]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_bot_that_tells_its_other_process_what_it_holds_gets_nothing(workers: int) -> None:
    """It plays otherwise as soon as it knows its opponent's hand, as it does without `halves`."""
    honest = rogue_games("together", "first.py", 1)
    assert rogue_games("apart", "signals.py", workers) == honest
    if workers == 1:  # then one process lives after the other
        assert rogue_games("together", "signals.py", workers) != honest


NOTES = """
import os
from engine import View

class Notes:
    def __init__(self, setup):
        with open({path!r}, "a") as file:
            file.write(f"{{setup.seat}} {{os.getpid()}}\\n")

    def choose(self, view, /):
        return view.legal[0]

bot = Notes
"""
"""A bot that writes down in which process it plays each seat."""


@pytest.mark.slow
def test_no_worker_plays_both_halves(tmp_path: Path) -> None:
    """A bot in its process could keep what it has seen in the other one."""
    notes = tmp_path / "notes"
    (tmp_path / "mine.py").write_text(NOTES.format(path=str(notes)))
    bots = [resolve(str(tmp_path / "mine.py"), lane="inproc"), resolve("uniform", lane="inproc")]
    tournament = Tournament("phases", 3, 2, bots, STANDARD, halves="apart")
    assert len(games_of(tournament, LocalExecutor(1))) == 4
    by_seat: dict[str, set[str]] = {"0": set(), "1": set()}
    for line in notes.read_text().splitlines():
        seat, process = line.split()
        by_seat[seat].add(process)
    assert all(by_seat.values())
    assert by_seat["0"].isdisjoint(by_seat["1"])


@pytest.mark.study
def test_games_are_the_same_on_sites() -> None:
    """A site plays the phases of the chunks that it has."""
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    together = Tournament("phases", 3, 12, bots, STANDARD)
    assert games_of(replace(together, halves="apart"), TwoSites()) == games_of(
        together, LocalExecutor(1)
    )


@pytest.mark.slow
def test_a_run_that_is_stopped_in_a_block_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks that were over are kept, and the bytes are those of a run without a stop."""
    monkeypatch.setattr(halves, "_MOST_CHUNKS", 2)
    bots = [resolve(name) for name in ("uniform", "greedy", "majority")]
    whole = Tournament("phases", 3, 4, bots, STANDARD, halves="apart")
    run(whole, LocalExecutor(1), RunFolder(tmp_path / "whole"), QUIET)
    folder = RunFolder(tmp_path / "stopped")
    with pytest.raises(Interrupted):
        run(whole, Stopped(after=5), folder, QUIET)
    assert run(whole, LocalExecutor(2), folder, QUIET).kept == 10
    for name in ("games.csv", "manifest.json", "standings.csv"):
        assert (folder.path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@dataclass
class Stopped:
    """Plays as one worker, and is interrupted after so many chunks, which have a pair each."""

    after: int

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play chunks."""
        with closing(LocalExecutor(1).play(plan, tournament, log)) as chunks:
            for number, chunk in enumerate(chunks, 1):
                assert chunk.chunk.pairs == 1
                yield chunk
                if number == self.after:
                    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_run_goes_on_and_is_verified(tmp_path: Path) -> None:
    """Its games are those of one whose halves are played together."""
    bots = [resolve(name) for name in ("uniform", "greedy", "majority")]
    few = Tournament("phases", 3, 2, bots, STANDARD, halves="apart")
    more = replace(few, pairs=5)
    folder = RunFolder(tmp_path / "apart")
    run(few, LocalExecutor(2), folder, QUIET)
    assert run(more, LocalExecutor(1), folder, QUIET).kept == 12
    run(replace(more, halves="together"), LocalExecutor(2), RunFolder(tmp_path / "both"), QUIET)
    for name in ("games.csv", "head_to_head.csv", "faults.csv"):
        written = [(tmp_path / part / name).read_bytes() for part in ("apart", "both")]
        assert written[0] == written[1]
    assert [*verify(folder.path, 4, LocalExecutor(2))][-1] == "bots: 12 games played again"
    with pytest.raises(InputError, match="halves: there apart, here None"):
        run(replace(more, halves="together"), LocalExecutor(1), folder, QUIET)
