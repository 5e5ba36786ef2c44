"""A run of meetings plays just these pairs, on the deals that a round robin has for them."""

from __future__ import annotations

import shlex
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import play_games, run
from arena.store.folder import RunFolder
from arena.store.manifest import manifest_text, read_tournament
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.replay_command import replay_commands
from arena.tournament.rounds import make_rounds
from arena.tournament.schedule import Meeting, PairRange
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import run_here

BOTS = ("greedy", "uniform", "majority")
CUP = Tournament("cup", 7, 1, [resolve(bot) for bot in BOTS], STANDARD)
MEETINGS = (Meeting("uniform", "greedy", 2, 3), Meeting("majority", "uniform", 0, 1))


@pytest.mark.slow
def test_its_games_are_those_of_a_round_robin() -> None:
    """Pair 0 of a meeting that begins with pair 2 is pair 2 of these bots, with its seats."""
    with closing(Store(None)) as store:
        run(replace(CUP, pairs=5), LocalExecutor(1), shown=QUIET, store=store)
        whole = {(number, *game[:2]): game[2:] for number, game in store.results()}
    with closing(Store(None)) as store:
        run(replace(CUP, meetings=MEETINGS), LocalExecutor(1), shown=QUIET, store=store)
        own = {(number, *game[:2]): game for number, game in store.results()}
    assert len(own) == 8
    for pair in range(3):
        for seat in (0, 1):  # the round robin names greedy first
            game, there = own[0, pair, seat], whole[0, pair + 2, 1 - seat]
            assert game.actions == there[-1]
            assert (game.winner == 0) == (there[0] == 1)
    assert [own[1, 0, seat].actions for seat in (0, 1)] == [
        whole[2, 0, 1 - seat][-1] for seat in (0, 1)
    ]


def test_a_tournament_of_meetings_is_one_round_of_them() -> None:
    """Its sizes are those of the meetings, whatever `pairs` says."""
    tournament = replace(CUP, meetings=MEETINGS)
    assert tournament.games == 8
    assert tournament.most_pairs == 3
    rounds = make_rounds(tournament)
    assert rounds.next(0, {}, ()) == [PairRange(0, 0, 3), PairRange(1, 0, 1)]
    assert rounds.next(1, {}, ()) == []


@pytest.mark.slow
def test_it_is_stored_without_tables_and_read_back(tmp_path: Path) -> None:
    """`play_games` leaves the games alone, and what is read is what was played."""
    tournament = replace(CUP, meetings=MEETINGS)
    play_games(tournament, LocalExecutor(1), RunFolder(tmp_path / "run"), QUIET)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["run.log", "run.sqlite"]
    read, store = read_run(tmp_path / "run")
    with closing(store):
        assert store.count_games() == 8
    assert [Meeting(*meeting) for meeting in read.meetings] == [*MEETINGS]


@pytest.mark.slow
def test_the_replay_command_names_the_pair_of_the_deal(tmp_path: Path) -> None:
    """It plays the stored game again."""
    tournament = replace(CUP, meetings=MEETINGS)
    with closing(Store(None)) as store:
        run(tournament, LocalExecutor(1), shown=QUIET, store=store)
        game = store.game(0, 1, 1)
    command = replay_commands(tournament)(tournament.fixture(0, 1, 1))
    words = shlex.split(command)
    assert words[words.index("--pair") + 1] == "3"
    done = run_here(tmp_path, *words[1:])
    assert game is not None
    assert game.actions in done.stdout


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"meetings": [["greedy", "nobody", 0, 1]]}, "a bot that it does not have"),
        ({"meetings": [["greedy", "greedy", 0, 1]]}, "a bot with itself"),
        ({"meetings": [["greedy", "uniform", 0, 1], ["uniform", "greedy", 1, 1]]}, "two meetings"),
        ({"meetings": [["greedy", "uniform", 10**9, 1]]}, "beyond pair 1,000,000,000"),
        ({"meetings": [["greedy", "uniform", -1, 1]]}, "meetings"),
        ({"meetings": [["greedy", "uniform", 0, 0]]}, "meetings"),
        ({"meetings": [["greedy", "uniform", 0, 1]], "rounds": 2}, "something else"),
    ],
)
def test_wrong_meetings_are_refused(changes: dict[str, object], why: str) -> None:
    """A store is a stranger's file."""
    manifest = replace(CUP, meetings=MEETINGS).manifest() | changes
    with pytest.raises(InputError, match=why):
        read_tournament(manifest_text(manifest))
