"""What the words of the commands that play ask for; nothing is played."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.cli import cli
from arena.entries.resolve import resolve
from arena.lanes.limits import Limits
from arena.store.finished import Game
from arena.tournament.keys import Venue
from arena.tournament.replay_command import replay_commands
from arena.tournament.tournament import Tournament
from engine import Record, Rules


class Asked(NamedTuple):
    """What a command would have played; `place` is the pair and the seat of a single game."""

    tournament: Tournament
    place: tuple[int, int] | None = None


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Return a list that collects what commands ask for; no bot and no process is started."""
    calls: list[Asked] = []

    def play_again(tournament: Tournament, pair: int, seat: int, _: Venue) -> Game:
        calls.append(Asked(tournament, (pair, seat)))
        return Game(Record("", ""), ("", ""), None, "draw", (0, 0), None)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.runs.run.run", lambda what, *_, **__: calls.append(Asked(what)))
    monkeypatch.setattr("arena.runs.rerun.play_again", play_again)
    monkeypatch.setattr("arena.runs.rerun.probe", lambda *_: [])
    monkeypatch.setattr("arena.processes.adopt_orphans", lambda: None)
    return calls


CUP = "seed: 5\npairs: 40\nbots: [uniform, greedy]\n"


def run(asked: list[Asked], *words: str, config: str = CUP) -> Tournament:
    """Return the tournament that `arena run` with these words asks for."""
    Path("cup.yaml").write_text(config)
    cli.main(["run", "cup.yaml", "--quiet", *words], standalone_mode=False)
    return asked.pop().tournament


def test_the_seed_of_the_command_line_wins_over_the_configs(asked: list[Asked]) -> None:
    """0 is a seed like any other."""
    assert run(asked).seed == 5
    assert run(asked, "--seed", "0").seed == 0
    assert run(asked, "--seed", "9").seed == 9


def test_the_pairs_of_the_command_line_win_over_the_configs(asked: list[Asked]) -> None:
    """Whether fewer or more."""
    assert run(asked).pairs == 40
    assert run(asked, "--pairs", "1").pairs == 1
    assert run(asked, "--pairs", "41").pairs == 41


def test_a_bot_of_the_command_line_joins_in_the_lane_of_the_config(asked: list[Asked]) -> None:
    """It comes last; --lane holds for all bots, over the config."""
    words = ("--bot", "more=uniform")
    config = f"{CUP}lane: process\n"
    tournament = run(asked, *words, config=config)
    assert tournament.labels == ["uniform", "greedy", "more"]
    assert [entry.lane for entry in tournament.entries] == ["process"] * 3
    tournament = run(asked, *words, "--lane", "jail", config=config)
    assert [entry.lane for entry in tournament.entries] == ["jail"] * 3
    assert [entry.lane for entry in run(asked, *words).entries] == ["inproc"] * 3


def test_a_command_asks_for_the_game_that_it_was_written_for(asked: list[Asked]) -> None:
    """Its words give the same bots, lanes, seed, rules, limits, pair and seat."""
    bots = [resolve("first=greedy(patience=1.5)", lane="process"), resolve("uniform", lane="jail")]
    rules, limits = Rules(set_bonus=7), Limits(decision=3.0, game=60.0, memory=64)
    tournament = Tournament("cup", 9, 10, bots, rules, limits)
    for pair, seat in ((0, 1), (4, 0)):
        words = shlex.split(replay_commands(tournament)(tournament.fixture(0, pair, seat)))
        cli.main(words[1:], standalone_mode=False)
        game = asked.pop()
        assert game.place == (pair, seat)
        assert list(game.tournament.entries) == bots
        assert game.tournament.seed == 9
        assert game.tournament.rules == rules
        assert game.tournament.limits == limits
