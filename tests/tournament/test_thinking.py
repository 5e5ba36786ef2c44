"""What bots thought in a game that is over, in every lane, written into its record."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.replays.judge_records import parse_record
from arena.replays.timeline import parse_thoughts, write_thoughts
from arena.tournament.thinking import find_thoughts
from bots.endgame import Endgame
from bots.ismcts import Ismcts
from engine import Record, Thought, View
from engine.cards import CHARS
from engine.play import draw, setup
from engine.play import play as referee
from engine.seeds import address
from engine.state import State
from tests.conftest import Arena
from tests.runs.test_rogues import needs_jail

SPECS = (
    "ismcts(iterations=20)",
    "champion(iterations=20)",
    "flat_mc(worlds=2)",
    "endgame(inside='greedy')",
)
LUCKS = (7, 8)
SEED = 3  # no game of the bots above ends early

BOT = '''
"""Says what it is asked to say."""
class Says:
    def __init__(self, setup, what="fine"):
        self.rng, self.what, self.legal, self.ply = setup.rng, what, (), 0
    def choose(self, view, /):
        self.legal, self.ply = view.legal, len(view.history)
        return self.rng.choice(view.legal)
    def thoughts(self):
        if self.what == "draws":
            self.rng.random()
        if self.what == "raises":
            raise OSError("no\\nidea")
        if self.what == "dies":
            import os
            os._exit(3)
        if self.what == "much":
            return [(self.legal[0], 7.0)]
        if self.what == "illegal":
            return [(99, 0.5)]
        if self.what == "text":
            return "thoughts"
        return [(action, 1 / (2 + self.ply), self.ply) for action in reversed(self.legal)]
bot = Says
'''


@pytest.fixture(scope="module")
def says(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bots") / "says.py"
    path.write_text(BOT)
    return str(path)


def game_of(spec: str, lane: str = "inproc") -> tuple[Record, dict[int, tuple[Any, int]]]:
    """Return a game of a bot against itself that asked nobody, and its bots for `find_thoughts`."""
    entry = resolve(spec, lane=lane)
    deal, _ = draw(address(SEED, "thoughts"))
    state = State(deal)
    referee(state, [entry.create(setup(LUCKS[seat], seat)) for seat in (0, 1)])
    return Record.of(deal, state), {seat: (entry, LUCKS[seat]) for seat in (0, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_our_search_bots_say_what_they_thought(spec: str) -> None:
    """At each ply of a choice; the games they would play are the same, though they were asked."""
    record, bots = game_of(spec)
    found = find_thoughts(record, bots)
    assert found.strayed == []
    state = State(record.replay().deal())
    for ply, char in enumerate(record.actions):
        thoughts = {one.action: one for one in found.thoughts.get(ply, ())}
        assert thoughts.keys() <= {*state.legal()}
        if "greedy" not in spec and len(state.legal()) > 1:
            assert thoughts.keys() == {*state.legal()}
        if thoughts and state.round < 4:
            chosen = thoughts[CHARS.index(char)]
            assert chosen.visits == max(one.visits or 0 for one in thoughts.values())
        state.apply(CHARS.index(char))
    solved = [of_ply for of_ply in found.thoughts.values() if of_ply[0].visits is None]
    assert solved, "the last round is exact"
    assert len(found.thoughts) == len(solved) or "greedy" not in spec


def test_a_wrapped_bot_is_asked_where_it_has_chosen() -> None:
    """Not before the first choice, nor after one that it had no part in."""
    bot = Endgame(setup(0, 0), inside="greedy")
    inside = bot.inside = Ismcts(setup(0, 0), iterations=20)
    assert [*bot.thoughts()] == []
    bot.choose(View.from_text("0 5678C xy"))
    assert [*bot.thoughts()] == inside.thoughts() != []
    bot.choose(View.from_text("1 6666 67 56T"))
    assert [*bot.thoughts()] == []


@pytest.mark.slow
def test_the_value_is_that_of_the_action_for_its_seat() -> None:
    """Of a solved last round: the chosen action has the highest value, and 0 to 1 is in use."""
    record, bots = game_of("endgame(inside='greedy')")
    thoughts = find_thoughts(record, bots).thoughts
    for ply, of_ply in thoughts.items():
        values = {CHARS[one.action]: one.value for one in of_ply}
        assert values[record.actions[ply]] == max(values.values())
    assert {one.value for of_ply in thoughts.values() for one in of_ply} >= {0.0, 1.0}


@pytest.mark.parametrize(
    "lane",
    [
        pytest.param("inproc", marks=pytest.mark.slow),
        "process",
        pytest.param("jail", marks=[needs_jail, pytest.mark.slow]),
    ],
)
def test_a_bot_says_the_same_in_every_lane(says: str, lane: str) -> None:
    """Ours, and one from a file, which is never asked in this process."""
    for spec in ("ismcts(iterations=20)", says):
        record, bots = game_of(spec)
        wanted = find_thoughts(record, bots)
        moved = {seat: (replace(bot, lane=lane), luck) for seat, (bot, luck) in bots.items()}
        assert find_thoughts(record, moved) == wanted
        assert len(wanted.thoughts) > 40 or "ismcts" in spec


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("raises", "OSError: no idea"),
        ("dies", "ended with exit status 3"),
        ("much", "`thoughts` has the value 7.0 at ply 0: not 0 to 1"),
        ("illegal", "illegal action 99; legal: "),
        ("text", "`thoughts` has 't' in place of an action, a value and visits at ply 0"),
    ],
)
def test_a_bot_that_fails_is_refused_in_one_line(says: str, what: str, message: str) -> None:
    """With its name; the game that it played is not touched."""
    record, bots = game_of(f"{says}(what={what!r})")
    with pytest.raises(InputError) as refused:
        find_thoughts(record, bots)
    assert f"bot {says!r}: " in str(refused.value)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_who_draws_while_it_is_asked_strays_and_says_nothing_there(says: str) -> None:
    """Its later choices are not those of the game: those plies are named, and have no thoughts."""
    record, bots = game_of(f"{says}(what='draws')")
    found = find_thoughts(record, bots)
    assert len(found.strayed) > 5
    assert not {*found.strayed} & found.thoughts.keys()
    assert 0 in found.thoughts


@pytest.mark.slow
def test_where_a_bot_strays_is_noted(says: str, arena: Arena) -> None:
    """On standard error, and by the library as a warning."""
    done = arena("game", f"d={says}(what='draws')", "greedy", "--thoughts")
    (note,) = done.stderr.splitlines()
    assert note.startswith("note: no thoughts at plies ")
    assert note.endswith(": asked again, the bot chose another action")


def test_who_cannot_say_is_left_out() -> None:
    """A bot without the method is asked once; a command is not asked, and not started."""
    record, bots = game_of("greedy")
    assert find_thoughts(record, bots) == ({}, [])
    command = resolve("cmd:false")
    assert find_thoughts(record, {0: (command, 7)}) == ({}, [])


@pytest.mark.slow
def test_a_record_has_them_and_is_read_with_them(arena: Arena, tmp_path: Path) -> None:
    """`arena game` prints the same record as without, and one more key; replay passes over it."""
    words = ("game", "ismcts(iterations=20)", "greedy", "--seed", "3", "--pair", "1")
    plain = json.loads(arena(*words).stdout)
    done = arena(*words, "--thoughts")
    line = done.stdout.strip()
    thoughts = json.loads(line).pop("thoughts")
    assert {key: value for key, value in json.loads(line).items() if key != "thoughts"} == plain
    assert [*map(int, thoughts)] == sorted(map(int, thoughts))
    assert {int(ply) % 2 for ply in thoughts if int(ply) < 12} == {0}
    record = parse_record(line.encode())
    assert write_thoughts(parse_thoughts(line, record)) == thoughts
    (tmp_path / "game.jsonl").write_text(line)
    assert arena("replay", "game.jsonl").returncode == 0
    game = library.play("ismcts(iterations=20)", "greedy", seed=3, pair=1, thoughts=True)
    assert game.to_json() == line
    assert hash(game) == hash(replace(game, thoughts=None))


def test_a_record_says_only_what_can_be_a_thought() -> None:
    """Of a stranger's record; the rest of it is left out."""
    record, _ = game_of("greedy")
    take, char = [{"action": "T", "value": 0.5}], record.actions[0]
    said: dict[str, Any] = {
        "0": [*take, {"action": char, "value": 1, "visits": 3, "note": "9 s", "more": "x"}],
        "1": [{"action": "Q", "value": 0.5}],
        "2": [{"action": "", "value": 0.5}],
        "3": [{"action": ["T"], "value": 0.5}],
        "4": [{"value": 0.5}],
        "5": "T",
        "6": None,
        "7": [*take, *take],
        "8": [{"action": "T", "value": 3}],
        "9": [7],
        "10": [{"action": record.actions[10], "value": 0.5, "note": "x" * 999}],
        "4999": take,
        "x": take,
    }
    found = parse_thoughts(record.to_json(thoughts=said), record)
    kind = CHARS.index(char)
    assert found == {0: (Thought(kind, 1.0, 3, "9 s"), Thought(11, 0.5))}
    for odd in (None, [], 7, "T"):
        assert parse_thoughts(record.to_json(thoughts=odd), record) == {}
