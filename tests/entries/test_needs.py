"""What a bot needs travels from the config to the manifest, and to the command that replays."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from arena.errors import InputError
from arena.tournament.config import read, resolve_bots
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import Arena

CONFIG = "pairs: 1\nbots: [greedy, {bot: uniform, needs: [book, ./data]}]\n"


def write_config(folder: Path) -> Path:
    """Write a config whose second bot needs two folders, and return it."""
    for name in ("book", "data"):
        (folder / name).mkdir()
    path = folder / "cup.yaml"
    path.write_text(CONFIG)
    return path


def test_needs_are_in_the_manifest_and_the_replay_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were written; a bot without needs is described as before."""
    monkeypatch.chdir(tmp_path)
    entries = resolve_bots(read(write_config(tmp_path)))
    assert "needs" not in entries[0].describe()
    assert entries[1].describe()["needs"] == ["book", "./data"]
    tournament = Tournament("cup", 0, 1, entries, STANDARD)
    command = shlex.split(replay_commands(tournament)(Fixture(Pairing("greedy", "uniform"), 0, 0)))
    needs = [json.loads(text) for word, text in pairwise(command) if word == "--needs"]
    assert needs == [[], ["book", "./data"]]


@pytest.mark.slow
def test_a_run_with_needs_is_verified_and_its_games_are_played_again(
    tmp_path: Path, arena: Arena
) -> None:
    """By `arena verify`, and by `arena game` with the option that the command has."""
    write_config(tmp_path)
    assert arena("run", "cup.yaml", "--quiet", "--workers", "1").returncode == 0
    assert arena("verify", "results/cup").returncode == 0
    words = ["--needs", "[]", "--needs", '["book"]']
    assert arena("game", "greedy", "uniform", *words).returncode == 0
    assert arena("game", "greedy", "uniform", "--needs", '["results"]').returncode == 2


def test_a_need_that_is_missing_is_an_error_of_the_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the bot's place and the path."""
    monkeypatch.chdir(tmp_path)
    path = write_config(tmp_path)
    (tmp_path / "data").rmdir()
    with pytest.raises(InputError, match=r"bots\[1\].*needs: './data': no such file"):
        resolve_bots(read(path))
