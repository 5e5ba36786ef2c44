"""What bots thought in a game that is over, in every lane, written into its record."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.replays.judge_records import parse_record
from arena.replays.timeline import parse_thoughts, write_thoughts
from arena.store.manifest import manifest_text, read_tournament
from arena.tournament import fixed_deals
from arena.tournament.asking import find_thoughts
from arena.tournament.fixed_deals import read_deals
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from bots.endgame import Endgame
from bots.ismcts import Ismcts
from engine import STANDARD, Record, Rules, Thought, View, to_text
from engine.cards import CHARS
from engine.play import draw, setup
from engine.play import play as referee
from engine.seeds import address
from engine.state import State, random_deal
from tests.conftest import Arena
from tests.kit import refused
from tests.positions import DECK
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


@pytest.mark.parametrize(
    "lane",
    [
        pytest.param("inproc", marks=pytest.mark.slow),
        "process",
        pytest.param("jail", marks=[needs_jail, pytest.mark.slow]),
    ],
)
def test_a_bot_says_the_same_in_every_lane(says: str, lane: str) -> None:
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


def test_a_bot_without_the_method_and_a_command_are_left_out() -> None:
    record, bots = game_of("greedy")
    assert find_thoughts(record, bots) == ({}, [])
    assert find_thoughts(record, {0: (resolve("cmd:false"), 7)}) == ({}, [])


@pytest.mark.slow
def test_a_record_has_thoughts_and_is_read_with_them(arena: Arena, tmp_path: Path) -> None:
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


DEALS = [to_text(random_deal(Random(n))) for n in range(3)]
OF_RECORD = json.dumps({"deal": DEALS[2], "actions": ""})
BOOK = f"# three deals\n\n{DEALS[0]}\n  {DEALS[1]}\r\n{OF_RECORD}"
BOTS = [resolve(bot) for bot in ("greedy", "uniform", "majority")]
CUP = Tournament("cup", 7, 3, BOTS, STANDARD, deals=DEALS)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text(BOOK)
    return path


def test_a_file_has_deals_and_records_in_its_lines(book: Path) -> None:
    assert read_deals(str(book), STANDARD) == DEALS
    assert read_deals(DEALS, STANDARD) == DEALS
    assert read_deals("", STANDARD) == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (DECK[1:], "line 2: the deal has 44 cards, not 45"),
        (f"6{DECK[1:]}", "line 2: the deal has 4 of card 5, not 5"),
        ("what is this?", "line 2: 'w' at index 0 is not a card: use"),
        (DEALS[0], "line 2: the same deal as in line 1"),
        ('{"deal": 5}', "line 2: a record needs a string 'deal'"),
        ("{" * 2000, "line 2: not JSON"),
        ("\0\N{SNOWMAN}", r"line 2: '\x00' at index 0 is not a card"),
    ],
)
def test_a_bad_line_is_one_clear_line(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "book.txt"
    path.write_text(f"{DEALS[0]}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_deals(str(path), STANDARD)
    said = str(caught.value)
    assert said.startswith(f"deals: {path}: line 2")
    assert why in said
    assert said.isprintable()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("empty.txt", "0 deals; expected 1 to"),
        (".", "is a directory"),
        ("none", "No such file"),
        ("book.txt", "3 deals; expected 1 to 2"),
        ("long.txt", "larger than 250 bytes"),
    ],
)
def test_a_file_must_have_some_deals_and_not_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, book: Path, name: str, why: str
) -> None:
    monkeypatch.setattr(fixed_deals, "MOST_DEALS", 2)
    monkeypatch.setattr(fixed_deals, "_MOST_BYTES", 250)
    (tmp_path / "empty.txt").write_text("# nothing\n")
    (tmp_path / "long.txt").write_text(book.read_text().ljust(251))
    with pytest.raises(InputError, match=f"deals: {tmp_path / name}: {why}"):
        read_deals(str(tmp_path / name), STANDARD)


def test_pair_k_of_every_pairing_is_deal_k() -> None:
    usual = replace(CUP, deals=())
    for pairing, pair, seat in product(range(3), range(3), (0, 1)):
        fixture = CUP.fixture(pairing, pair, seat)
        drawn, random = CUP.draw(fixture), usual.draw(fixture)
        assert to_text(drawn.deal) == DEALS[pair]
        assert drawn.lucks == random.lucks
        assert drawn.deal != random.deal


@pytest.mark.slow
def test_a_run_with_fixed_deals_goes_on_and_is_verified_without_the_file(
    arena: Arena, tmp_path: Path, book: Path
) -> None:
    words = ("play", "greedy", "uniform", "--workers", "1", "-q", "--deals", book.name)
    assert not arena(*words, "--pairs", "1", "--out", "run").returncode
    assert not arena(*words, "--pairs", "3", "--out", "run").returncode
    book.rename(tmp_path / "away")
    verified = arena("verify", "run", "--workers", "1")
    assert (verified.returncode, verified.stdout.splitlines()[0]) == (0, "games: 6 replayed")
    lines = [json.loads(line) for line in arena("export", "run").stdout.splitlines()]
    assert [line["deal"] for line in lines] == [deal for deal in DEALS for _ in (0, 1)]
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["deals"] == DEALS
    assert not arena("run", "run/manifest.json", "--out", "again", "-q").returncode
    assert (tmp_path / "run/games.csv").read_bytes() == (tmp_path / "again/games.csv").read_bytes()
    book.write_text(f"{DEALS[1]}\n{DEALS[0]}\n{DEALS[2]}\n")
    other = arena(*words, "--pairs", "3", "--out", "run")
    assert "holds another run: deals[0]: there" in other.stderr
    assert other.returncode == 2
    gone = refused(arena(*words[:-1], "nowhere", "--pairs", "1", "--out", "fresh"))
    assert "deals: nowhere: No such file" in gone


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"pairs": 4}, "deals: 4 pairs, and only 3 deals"),
        ({"rounds": 1}, "deals: only a round robin or a gauntlet"),
        ({"stop": make_sprt(0, 10, 0.05, 0.05, 3)}, "deals: only a round robin or a gauntlet"),
        ({"rules": Rules(copies=(6, 5, 7, 8, 4, 2, 1, 3, 4, 2, 3))}, "have other cards than the"),
    ],
)
def test_what_cannot_play_fixed_deals_is_refused(changes: dict[str, object], why: str) -> None:
    with pytest.raises(InputError, match=why):
        replace(CUP, **changes)


@pytest.mark.parametrize(
    "wrong", [["5"], DEALS[:1], [DEALS[n] for n in (0, 0, 1)], ["?"] * 3, 5, [DEALS[0], "", DECK]]
)
def test_a_manifest_with_wrong_deals_is_no_manifest(wrong: object) -> None:
    manifest = CUP.manifest()
    assert read_tournament(manifest_text(manifest)).deals == DEALS
    with pytest.raises(InputError):
        read_tournament(manifest_text(manifest | {"deals": wrong}))


@pytest.mark.slow
def test_runs_with_other_deals_have_no_game_in_common_when_they_are_rated(tmp_path: Path) -> None:
    outs = [tmp_path / name for name in ("one", "two", "like one")]
    for out, deal in zip(outs, (0, 1, 0), strict=True):
        library.run(["greedy", "uniform"], pairs=1, deals=[DEALS[deal]], out=out, progress=False)
    for out, is_same in zip(outs[1:], (False, True), strict=True):
        notes = library.rate(outs[0], out).notes
        assert any("counted once" in note for note in notes) == is_same
