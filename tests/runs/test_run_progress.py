"""A run of several rounds: the same games for any workers, however it was stopped."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, RunLog
from arena.runs import saving
from arena.runs.run import run
from arena.runs.verify import verify
from arena.store.folder import RunFolder
from arena.tournament.plan import Plan, Played
from arena.tournament.rounds import Counts, Rounds
from arena.tournament.schedule import PairRange
from arena.tournament.stop import Until
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.rogues import write

SEEN: list[tuple[int, dict[int, Counts], list[str]]] = []


class Closest(Rounds):
    """Two pairs of every pairing, then three more, twice, of the one that is closest to even."""

    leaves_out_unrated = True

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        SEEN.append((number, dict(counts), [*out]))
        if number == 0:
            return [PairRange(n, 0, 2) for n in range(len(self.tournament.pairings))]
        if number > 2:
            return []
        lead = {
            n: abs(4 * c[4] + 3 * c[3] + 2 * c[2] + c[1] - 2 * sum(c)) for n, c in counts.items()
        }
        free = [n for n in lead if not {*self.tournament.pairings[n]} & {*out}]
        closest = min(free, key=lambda n: (lead[n], n))
        return [PairRange(closest, sum(counts[closest]), sum(counts[closest]) + 3)]

    def status(self, counts: Mapping[int, Counts], _out: Collection[str] = (), /) -> str:
        return f"{sum(map(sum, counts.values()))} pairs"


@pytest.fixture(autouse=True)
def closest(monkeypatch: pytest.MonkeyPatch) -> None:
    SEEN.clear()
    monkeypatch.setattr(saving, "make_rounds", Closest)


@pytest.fixture
def cup() -> Tournament:
    bots = [resolve(name) for name in ("uniform", "greedy", "denier")]
    return Tournament("cup", 5, 2, bots, STANDARD, stop=Until("resolved", 8))


def files(folder: Path, *unlike: str) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*.csv") if path.stem not in ("timings", *unlike)]
    return {path.name: path.read_bytes() for path in paths}


@dataclass(frozen=True)
class Stops:
    """Stops the run after so many chunks, as Ctrl-C does."""

    chunks: int

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        with closing(LocalExecutor(1).play(plan, tournament, log)) as games:
            for number, played in enumerate(games):
                if number == self.chunks:
                    raise KeyboardInterrupt
                yield played


@pytest.mark.slow
def test_rounds_are_decided_from_all_games_before_them(cup: Tournament, tmp_path: Path) -> None:
    """The counts at each barrier are those of the whole rounds before it."""
    outcome = run(cup, LocalExecutor(2), RunFolder(tmp_path), QUIET)
    assert [number for number, *_ in SEEN] == [0, 1, 2, 3]
    assert [sum(map(sum, counts.values())) for _, counts, _ in SEEN] == [0, 6, 9, 12]
    assert outcome.progress.counts == SEEN[-1][1]
    assert outcome.played == 24 == sum(row["games"] for row in outcome.standings) / 2
    lengths = {n: sum(c) for n, c in outcome.progress.counts.items()}
    assert outcome.progress.lengths == lengths
    assert max(lengths.values()) > min(lengths.values()) == 2


@pytest.mark.slow
def test_the_same_bytes_for_any_workers_and_after_any_stop(cup: Tournament, tmp_path: Path) -> None:
    """Stopped after each number of chunks, and gone on with."""
    run(cup, LocalExecutor(2), RunFolder(tmp_path / "whole"), QUIET)
    whole = files(tmp_path / "whole")
    folder = RunFolder(tmp_path / "stopped")
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run(cup, Stops(1), folder, QUIET)
    outcome = run(cup, LocalExecutor(3), folder, QUIET)
    assert outcome.kept > 0
    assert files(folder.path) == whole
    again = run(cup, LocalExecutor(1), folder, QUIET)
    assert (again.played, again.kept) == (0, 24)
    verified = list(verify(folder.path, 2, LocalExecutor(1)))
    assert verified[0] == "games: 24 replayed"
    assert verified[1].startswith("files: ")


@pytest.mark.slow
def test_a_bot_with_too_many_faults_is_out_in_the_rounds_that_follow(tmp_path: Path) -> None:
    """Its games of the round are forfeits by rule, and the next barrier knows it."""
    body = "    def choose(self, view, /):\n        raise ValueError"
    write(tmp_path, "fails", body)
    bots = [
        resolve("uniform"),
        resolve(str(tmp_path / "fails.py"), lane="inproc"),
        resolve("greedy"),
    ]
    cup = Tournament("cup", 5, 2, bots, STANDARD, max_faults=3, stop=Until("resolved", 8))
    outcome = run(cup, LocalExecutor(2), RunFolder(tmp_path / "out"), QUIET)
    assert [out for *_, out in SEEN] == [[], ["fails"], ["fails"], ["fails"]]
    assert outcome.progress.lengths == {0: 2, 1: 8, 2: 2}
    assert outcome.out == {"fails": "3 exceptions"}
    verified = list(verify(tmp_path / "out", 2, LocalExecutor(1)))
    assert verified[0] == "games: 24 replayed"
    assert verified[1].startswith("files: ")
