"""The command that plays a game again has everything that decides the game."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from arena.cli.records import game
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.entries.spec import check_label, parse
from arena.errors import InputError, shell_line
from arena.lanes.limits import Limits
from arena.tournament.replay_command import replay_commands
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules


def cup(*specs: str, rules: Rules = STANDARD, limits: Limits | None = None) -> Tournament:
    """Return a tournament with the seed 7."""
    bots = [resolve(spec) for spec in specs]
    return Tournament("cup", 7, 10, bots, rules, limits or Limits())


def command(tournament: Tournament, pairing: int = 0, pair: int = 3, seat: int = 1) -> str:
    """Return the command of a game."""
    return replay_commands(tournament)(tournament.fixture(pairing, pair, seat))


def options(tournament: Tournament, pairing: int = 0) -> dict[str, list[str]]:
    """Return the values of each option of a command, in order."""
    values = defaultdict(list)
    for name, value in pairwise(shlex.split(command(tournament, pairing))):
        if name.startswith("--"):
            values[name].append(value)
    return dict(values)


def test_a_command_names_the_bots_and_the_place_of_the_game() -> None:
    """Options with their default value are left out."""
    tournament = cup("uniform", "greedy", "majority")
    assert command(tournament) == (
        "arena game uniform greedy --seed 7 --pair 3 --seat 1 --lane inproc --lane inproc"
    )
    assert command(tournament, pairing=2, pair=0, seat=0) == (
        "arena game greedy majority --seed 7 --pair 0 --seat 0 --lane inproc --lane inproc"
    )


def test_parameters_are_quoted_for_a_shell() -> None:
    """They are in the bot's spec, with brackets."""
    text = command(cup("uniform", "greedy(patience=1.5)"))
    assert text.startswith("arena game uniform 'greedy(patience=1.5)' --seed 7 ")


def test_limits_are_in_the_command() -> None:
    """Those that differ from the defaults."""
    (text,) = options(cup("uniform", "greedy", limits=Limits(decision=3.0)))["--limits"]
    assert json.loads(text) == {"decision": 3.0}
    for limits in (Limits(game=60.0), Limits(start=1.0), Limits(memory=64)):
        assert "--limits" in options(cup("uniform", "greedy", limits=limits))


def test_rules_are_in_the_command() -> None:
    """Only the rules that differ from the published ones."""
    rules = Rules(set_bonus=7, take_size=4)
    (text,) = options(cup("uniform", "greedy", rules=rules))["--rules"]
    assert json.loads(text) == {"set_bonus": 7, "take_size": 4}


def test_labels_are_in_the_command_if_one_was_chosen() -> None:
    """Both of them, in the order of the bots, because the deal depends on both."""
    tournament = cup("uniform", "mine=greedy", "majority")
    assert options(tournament)["--label"] == ["uniform", "mine"]
    assert options(tournament, pairing=2)["--label"] == ["mine", "majority"]
    assert "--label" not in options(tournament, pairing=1)  # uniform - majority


def test_the_lane_of_each_bot_is_in_the_command() -> None:
    """In the order of the bots."""
    lanes = {"uniform": "process", "greedy": "jail", "majority": "inproc"}
    bots = [resolve(name, lane=lane) for name, lane in lanes.items()]
    tournament = Tournament("cup", 7, 10, bots, STANDARD)
    assert options(tournament)["--lane"] == ["process", "jail"]
    assert options(tournament, pairing=1)["--lane"] == ["process", "inproc"]
    assert options(tournament, pairing=2)["--lane"] == ["jail", "inproc"]


anything = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
odd = st.sampled_from(
    ["-", "\x1b[2J", "\n", "'", "$'", "\\", "\x9b", "!", " ", "(", "=", "é\u202e", "1"]
)
words = st.lists(anything | odd, min_size=1, max_size=4).map("".join)


def read_by_bash(text: str) -> list[str]:
    """Return the words of a command as bash reads them."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(words, min_size=1, max_size=5))
def test_a_shell_reads_the_words_of_a_command_as_they_were(texts: list[str]) -> None:
    """And it is printable; what needs no `$'...'` is what shlex reads, too."""
    text = shell_line(texts)
    assert text.isprintable()
    assert read_by_bash(text) == texts
    if "".join(texts).isprintable():
        assert shlex.split(text) == texts


def entry(label: str, target: str) -> Entry:
    """Return a bot that has been accepted under a label, from a file of this name."""
    try:
        check_label(target, label)
        assume(parse(target) == (None, target, {}))
    except InputError:
        assume(False)
    return replace(resolve("greedy"), target=target, label=label, params={"mode": label})


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(words, words.map(lambda name: f"{name.replace('/', '')}.py"), st.sampled_from(["", "./"]))
def test_a_command_names_every_bot_that_is_accepted(label: str, file: str, folder: str) -> None:
    """The command line of the arena reads its label, file and parameters as they were."""
    assume(label != "uniform")
    mine = entry(label, folder + file)
    shown = command(Tournament("cup", 7, 10, [mine, resolve("uniform")], STANDARD))
    assert shown.isprintable()
    read = game.make_context("game", read_by_bash(shown)[2:]).params
    bots = dict(zip(read["labels"], map(parse, (read["bot"], read["opponent"])), strict=True))
    assert bots == {label: (None, mine.target, mine.params), "uniform": (None, "uniform", {})}
