"""The command that plays a game again; how strategies are closed; variants of the rules."""

from __future__ import annotations

import json
import shlex
import subprocess
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from arena.cli.records import game
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.entries.spec import check_label, parse
from arena.errors import InputError, shell_line
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament.judged import ILLEGAL, PARTS, Judged
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk
from arena.tournament.replay_command import replay_commands
from arena.tournament.rule_changes import MOST_VARIANTS, deals_alike, make_variants, name_of
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules, Setup, View, play_game
from tests.rogues import FOLDER, rogue, write


def cup(*specs: str, rules: Rules = STANDARD, limits: Limits | None = None) -> Tournament:
    """Return a tournament with the seed 7."""
    bots = [resolve(spec) for spec in specs]
    return Tournament("cup", 7, 10, bots, rules, limits or Limits())


def test_a_command_names_the_bots_and_the_place_of_the_game() -> None:
    """Options with their default value are left out."""
    tournament = cup("uniform", "greedy", "majority")
    assert command(tournament) == (
        "arena game uniform greedy --seed 7 --pair 3 --seat 1 --lane inproc --lane inproc"
    )
    assert command(tournament, pairing=2, pair=0, seat=0) == (
        "arena game greedy majority --seed 7 --pair 0 --seat 0 --lane inproc --lane inproc"
    )


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


PAIRS = 3
CLOSES = """\
    def choose(self, view, /):
        assert not self.fails or not view.history[1:]
        return view.legal[0]

    def close(self):
        with open({file!r}, "a") as file:
            file.write("closed ")"""


def closes(folder: Path, *, fails: bool = False) -> tuple[Path, Path]:
    """Return a bot that may fail in a decision, and the file in which it notes each `close`."""
    file = folder / "closed"
    return write(folder, "closes", CLOSES.format(file=str(file)), f"self.fails = {fails}"), file


def played(folder: Path, *entries: Entry) -> list[GameResult]:
    """Return the games of two bots, played by a worker."""
    (folder / "run").mkdir()
    with closing(Worker(Tournament("test", 0, PAIRS, entries, STANDARD), folder / "run")) as worker:
        return worker.play(Chunk(0, 0, PAIRS)).results


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
def test_it_is_called_once_after_each_game(tmp_path: Path, lane: str) -> None:
    """The six games of three pairs."""
    path, file = closes(tmp_path)
    games = played(tmp_path, resolve(str(path), lane=lane), resolve("uniform"))
    assert not any(game.fault for game in games)
    assert file.read_text().split() == ["closed"] * 2 * PAIRS


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["inproc", "process"])
@pytest.mark.parametrize("own", [True, False], ids=["own", "opponent"])
def test_it_is_called_after_a_fault(tmp_path: Path, lane: str, own: bool) -> None:
    """Of the bot, or of its opponent; a game that is tried again has other strategies."""
    path, file = closes(tmp_path, fails=own)
    opponent = resolve("uniform") if own else rogue("raises_boom", lane)
    games = played(tmp_path, resolve(str(path), lane=lane), opponent)
    assert all(game.fault and game.fault.kind == "exception" for game in games)
    assert len(file.read_text().split()) >= 2 * PAIRS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lane"),
    [
        *(("closes_and_raises", "inproc"), ("closes_and_loops", "inproc")),
        *(("closes_and_exits", "process"), ("closes_and_sleeps", "process")),
    ],
)
def test_one_that_fails_costs_no_game(tmp_path: Path, name: str, lane: str) -> None:
    """The games are those of a bot without `close`; run.log has a warning."""
    limits = Limits(decision=1.0, start=2.0, backstop=3.0)
    found = []
    honest = resolve(f"{name}={FOLDER / 'first.py'}", lane=lane)
    for number, entry in enumerate([rogue(name, lane), honest]):
        folder = RunFolder(tmp_path / f"{number}")
        cup = Tournament("cup", 1, 2, [entry, resolve("uniform")], STANDARD, limits)
        run(cup, LocalExecutor(2), folder, QUIET)
        found.append((folder.path / "games.csv").read_text())
        warned = f"{name} failed in close(), after its game: " in folder.log.read_text()
        assert warned == (number == 0)
    assert found[0] == found[1]


class Notes:
    """A strategy that counts how often it is closed, and then raises."""

    closed = 0

    def __init__(self, _setup: Setup) -> None:
        pass

    def choose(self, view: View, /) -> int:
        return view.legal[0]

    def close(self) -> None:
        Notes.closed += 1
        raise RuntimeError("too late")


def test_one_game_of_the_engine_closes_both_and_warns() -> None:
    """The game is the same as that of bots without `close`; a fault closes both as well."""
    Notes.closed = 0
    first = resolve(str(FOLDER / "first.py")).load()
    with pytest.warns(RuntimeWarning, match=r"close\(\) raised RuntimeError\('too late'\)"):
        assert play_game(Notes, Notes, seed=7) == play_game(first, first, seed=7)
    assert Notes.closed == 2
    raises = rogue("raises_boom").load()
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match="boom"):
        play_game(Notes, lambda setup: raises(setup, what="boom"), seed=7)
    assert Notes.closed == 3


GOOD = Judged(0, 2, [ILLEGAL, 0, PARTS], -PARTS, 0)


def test_the_best_action_is_a_legal_one() -> None:
    """Also where nothing can win; of equal ones it is the first."""
    assert GOOD._replace(chances=[ILLEGAL, 0, 0]).best == 1
    assert GOOD._replace(chances=[ILLEGAL, 1, 2]).best == 2


def command(tournament: Tournament, pairing: int = 0, pair: int = 3, seat: int = 1) -> str:
    """Return the command of a game."""
    return replay_commands(tournament)(tournament.fixture(pairing, pair, seat))


def options(tournament: Tournament, name: str) -> list[list[str]]:
    """Return the values of an option in the command of each pairing."""
    numbers = range(len(tournament.pairings))
    words = (shlex.split(command(tournament, number)) for number in numbers)
    return [[value for one, value in pairwise(own) if one == f"--{name}"] for own in words]


def test_what_is_not_as_usual_is_in_the_command() -> None:
    """Parameters are quoted for a shell; both labels and lanes, as the deal depends on both."""
    text = command(cup("uniform", "greedy(patience=1.5)"))
    assert text.startswith("arena game uniform 'greedy(patience=1.5)' --seed 7 ")
    ((said,),) = options(cup("uniform", "greedy", limits=Limits(decision=3.0)), "limits")
    assert json.loads(said) == {"decision": 3.0}
    for limits in (Limits(game=60.0), Limits(start=1.0), Limits(memory=64)):
        assert options(cup("uniform", "greedy", limits=limits), "limits") != [[]]
    rules = Rules(set_bonus=7, take_size=4)
    ((said,),) = options(cup("uniform", "greedy", rules=rules), "rules")
    assert json.loads(said) == {"set_bonus": 7, "take_size": 4}
    labels = options(cup("uniform", "mine=greedy", "majority"), "label")
    assert labels == [["uniform", "mine"], [], ["mine", "majority"]]
    lanes = {"uniform": "process", "greedy": "jail", "majority": "inproc"}
    bots = [resolve(name, lane=lane) for name, lane in lanes.items()]
    found = options(Tournament("cup", 7, 10, bots, STANDARD), "lane")
    assert found == [["process", "jail"], ["process", "inproc"], ["jail", "inproc"]]


BASE = Rules()


def names(*options: str, base: Rules = BASE) -> list[str]:
    """Return the names of the variants in their order."""
    return [variant.name for variant in make_variants(base, options)]


def test_one_rule_changes_at_a_time_in_the_order_of_the_options() -> None:
    """The issue's own example; published values and repeated ones are the base, once."""
    assert names("set_bonus=0,3,5,8", "cities_needed=2,3", "set_bonus=8,0") == [
        *("base", "set_bonus=0", "set_bonus=3", "set_bonus=8", "cities_needed=2"),
    ]


def test_each_variant_has_the_rules_of_its_name() -> None:
    """Numbers, lists and texts, by the type of the rule; a name is safe as that of a folder."""
    options = ["majority_values=[1, 2,3,4],[0,0,0,0]", "tiebreak=supports", "set_bonus=-2"]
    assert [tuple(variant) for variant in make_variants(BASE, options)] == [
        ("base", BASE),
        ("majority_values=1-2-3-4", Rules(majority_values=(1, 2, 3, 4))),
        ("majority_values=0-0-0-0", Rules(majority_values=(0, 0, 0, 0))),
        ("tiebreak=supports", Rules(tiebreak="supports")),
        ("set_bonus=-2", Rules(set_bonus=-2)),
    ]


def test_rules_that_are_joined_change_together() -> None:
    """Neither could change alone, because the cards would not add up."""
    base, *variants = make_variants(BASE, ["hand_size=4+removed=11,3+removed=19+take_size=3"])
    assert [variant.rules for variant in variants] == [
        Rules(hand_size=4, removed=11),
        Rules(hand_size=3, removed=19, take_size=3),
    ]
    assert not any(deals_alike(base.rules, variant.rules) for variant in variants)
    assert variants[0].name == "removed=11,hand_size=4"


def test_the_base_is_the_rules_of_the_config() -> None:
    """So the published value is a change, and changes keep what the config has changed."""
    mine = Rules(set_bonus=4, tiebreak="supports")
    variants = make_variants(mine, ["set_bonus=4,5"])
    assert [tuple(variant) for variant in variants] == [
        ("base", mine),
        ("set_bonus=5", Rules(tiebreak="supports")),
    ]
    assert name_of(mine, BASE) == "set_bonus=4,tiebreak=supports"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("set_bonus", "--rule 'set_bonus': write NAME=VALUE, such as set_bonus=0,3"),
        ("set_bonus=", "--rule 'set_bonus=': a value is missing"),
        ("set_bonus=0,,3", "--rule 'set_bonus=0,,3': a value is missing"),
        ("set_bonus=x", "--rule set_bonus=x: set_bonus must be a whole number up to 1000: 'x'"),
        ("set_bonus=1.5", "--rule set_bonus=1.5: set_bonus must be a whole"),
        ("set_bonus=" + "9" * 5000, "--rule set_bonus=9"),
        ("take_size=0", "--rule take_size=0: take_size must be a whole number from 1"),
        ("tiebreak=5", "--rule tiebreak=5: tiebreak must be 'cities' or 'supports': 5"),
        ("bonus=5", "--rule bonus=5: unknown rule 'bonus'; the rules are copies, removed"),
        ("copies=[1,2]", "--rule copies=1-2: copies must be 11 whole numbers"),
        ("copies=[1,[2", "--rule copies=[1: copies must be a list of whole numbers"),
        ("majority_values=[]", "--rule majority_values=: majority_values must be 4"),
        ("hand_size=4", "rounds 4 x 2 x hand_size 4 + removed 3 = 37 cards, but the copies"),
        ("removed=3+removed=4", "removed stands twice in one change"),
        ("set_bonus=5", "--rule: every value is that of the base; there is nothing to compare"),
    ],
)
def test_a_bad_rule_or_value_is_named(option: str, message: str) -> None:
    """With what the rule may be, on one short line."""
    with pytest.raises(InputError) as caught:
        make_variants(BASE, [option])
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 700


def test_more_than_two_hundred_variants_are_refused() -> None:
    """Before any is played."""
    with pytest.raises(InputError, match=f"more than {MOST_VARIANTS} variants"):
        make_variants(BASE, ["set_bonus=" + ",".join(map(str, range(MOST_VARIANTS + 2)))])
