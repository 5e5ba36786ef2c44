"""Pages of games: what a seat may see, the table of plies, mistakes in words, text and scripts."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena
from arena.batch.judging import MISTAKES, name_mistake
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.faults import Fault
from arena.replays import html_page
from arena.replays.board import Layout, group
from arena.replays.curve import find_beliefs, find_curve, mean_chances
from arena.replays.finished_game import Game, game_timeline
from arena.replays.html_page import (
    content_policy,
    frame,
    is_replay,
    render,
    render_replay,
    static,
    tabulate,
    to_data,
)
from arena.replays.judge_records import line_timeline
from arena.replays.timeline import DISPUTED, describe_decision, make_timeline
from arena.runs.judge_games import describe_judge, review_record
from arena.tournament.asking import ILLEGAL, Judged
from arena.tournament.config_keys import Naming
from engine import STANDARD, EngineError, Record, Rules, Seat, View, pack_text, points, to_text
from engine.cards import CHARS
from engine.notation import parse_actions, parse_deal
from engine.state import State
from engine.view import view
from tests import ROOT
from tests.replays.games import game_with_thoughts, random_record, twins
from tests.replays.test_timeline import states_of
from tests.tiers import few

CHAMPION = resolve("champion")
HIDDEN = '''
"""Knows its chance in seat 0; in seat 1 it may not be asked."""
class Shy:
    def __init__(self, setup):
        self.seat = setup.seat
    def choose(self, view, /):
        return view.legal[0]
    def chance(self, view, /):
        if self.seat or view.seat:
            raise ValueError("asked for the hidden hand")
        return 0.75
bot = Shy
'''


@pytest.mark.slow
def test_a_game_has_its_chances_thoughts_and_ending() -> None:
    """As the bot says them, but for the last plies, in which hands are searched."""
    game = game_with_thoughts()
    timeline = game_timeline(game, title="cup", by=CHAMPION)
    assert timeline["players"] == [*game.seats]
    assert (timeline["title"], timeline["ending"]) == ("cup", game.ending)
    wanted = mean_chances(find_beliefs(game.record, CHAMPION))
    found = [one["chance"] for one in timeline["frames"]]
    assert found[:-9] == pytest.approx(wanted[:-9], abs=1e-4)
    assert found[-9:] == pytest.approx(find_curve(game.record, CHAMPION).chances[-9:], abs=1e-4)
    assert game.thoughts
    thinking = [one["ply"] for one in timeline["frames"] if one["thoughts"]]
    assert thinking == [*game.thoughts]
    line = line_timeline(game.to_json().encode(), title="cup", by=CHAMPION)
    assert line == timeline


def test_what_is_not_valued_has_no_chance_before_its_end() -> None:
    line = random_record(Random(1), Rules(set_bonus=3)).to_json().encode()
    frames = line_timeline(line, by=CHAMPION)["frames"]
    assert {one["chance"] for one in frames[:-1]} == {None}
    assert frames[-1]["chance"] in (0.0, 0.5, 1.0)
    assert {one["chance"] for one in line_timeline(line)["frames"]} == {None}


@pytest.mark.slow
def test_only_the_seat_of_the_page_is_asked_for_chances(tmp_path: Path) -> None:
    """A bot that is asked for the other seat's fails, and the page with both fails with it."""
    (tmp_path / "shy.py").write_text(HIDDEN)
    shy = resolve(str(tmp_path / "shy.py"))
    record = random_record(Random(2), plies=20)
    assert find_beliefs(record, shy, (0,)) == [[0.75] * 21]
    frames = line_timeline(record.to_json().encode(), seat=0, by=shy)["frames"]
    assert {one["chance"] for one in frames} == {0.75}
    for seat in (None, 1):
        with pytest.raises(InputError, match="asked for the hidden hand"):
            line_timeline(record.to_json().encode(), seat=seat, by=shy)


@pytest.mark.parametrize("seat", few([0, 1], 0, 1))
def test_pages_of_games_that_a_seat_cannot_tell_apart_are_the_same_bytes(seat: Seat) -> None:
    for both in twins(seat):
        pages = []
        for one in both:
            said = {
                str(ply): [{"action": char, "value": 0.5}] for ply, char in enumerate(one.actions)
            }
            line = one.to_json(bots=["ann", "bob"], thoughts=said).encode()
            judged = review_record(Record(one.deal, one.actions[:12]), worlds=4)
            more = {"judged": judged, "judge": describe_judge(worlds=4)}
            pages.append(render_replay(line_timeline(line, seat=seat, by=CHAMPION, **more)))
        assert pages[0] == pages[1]
        assert "decisions judged by apprentice, 4 worlds" in pages[0]


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_a_fault_does_not_say_what_the_guilty_bot_held(seat: Seat) -> None:
    """What it says is for the referee, whatever its kind is called; the seat knows the ply."""
    for both in twins(seat):
        pages = []
        for one in both:
            held = one.deal
            fault = Fault("illegal", f"legal: {held}", f"traceback {held}", f"printed {held}")
            game = Game(one, ("ann", "bob"), "ann", "forfeit", (0, 0), fault)
            assert held in game_timeline(game)["evidence"]
            timeline = game_timeline(game, seat=seat)
            assert timeline["ending"] == f"bob forfeits at ply {len(one.actions)}"
            said = {"bot": ("ann", "bob")[one.replay().to_act], "kind": held, "message": held}
            line = line_timeline(one.to_json(bots=["ann", "bob"], fault=said).encode(), seat=seat)
            pages.append([*map(render_replay, (timeline, line))])
        assert pages[0] == pages[1]


def spellings(cards: str) -> set[str]:
    """Return some cards as a page might hold them: in any order, as numbers, encoded."""
    kinds = ["5678234xyzC".index(char) for char in cards]
    orders = {"".join(order) for order in permutations(cards)}
    encoded = {base64.b64encode(order.encode()).decode().rstrip("=") for order in orders}
    hexed = {order.encode().hex() for order in orders}
    return {*orders, *encoded, *hexed, json.dumps(kinds), json.dumps(kinds, separators=(",", ":"))}


@pytest.mark.parametrize("number", [1, 3])
def test_no_hidden_hand_is_in_the_source_of_a_seats_page(number: int) -> None:
    """In no order and no encoding, nor one that is dealt later; the referee's page has them."""
    record = random_record(Random(number), plies=number)
    line = record.to_json().encode()
    state, deal = record.replay(), record.deal
    hidden = [pack_text(state.hands[1]), *(deal[start : start + 5] for start in range(12, 42, 5))]
    judged = review_record(record, worlds=4)
    page = render_replay(line_timeline(line, seat=0, by=CHAMPION, judged=judged))
    assert deal not in page
    page = re.sub(r"\b0\.\d+|\b\d+\.\d \+- \d+\.\d", "", page)  # chances, of any digits
    for hand in hidden:
        assert not any(text in page for text in spellings(hand)), hand
    for text in (pack_text(state.hands[0]), to_text(state.opening)):
        assert f'"{text}"' in page
    referee = render_replay(line_timeline(line, by=CHAMPION))
    assert any(text in referee for text in spellings(hidden[0]))


OPEN = "unfinished after 3 plies"
LATE = {"bot": "bob", "kind": "timeout", "message": "late"}


@pytest.mark.parametrize(
    ("more", "ending", "winner"),
    [
        ({}, OPEN, None),
        ({"fault": LATE}, "bob forfeits (timeout at ply 3): late", 0),
        ({"fault": {"bot": "bob", "kind": 7, "message": ["\n"]}}, "bob forfeits ( at ply 3): ", 0),
        ({"fault": {"bot": ["ann"]}}, OPEN, None),
        ({"fault": {"bot": "cat"}}, OPEN, None),
        ({"fault": [], "thoughts": 7, "winner": None}, OPEN, None),
        ({"thoughts": {"0": [{"action": "T", "value": "x"}], "9": 1}}, OPEN, None),
    ],
)
def test_what_stands_beside_a_record_is_shown_where_it_can_be_and_else_left_out(
    more: dict[str, Any], ending: str, winner: Seat | None
) -> None:
    record = random_record(Random(4), plies=3)
    timeline = line_timeline(record.to_json(bots=["ann", "bob"], **more).encode())
    assert (timeline["ending"], timeline["winner"]) == (ending, winner)
    assert not any(one["thoughts"] for one in timeline["frames"])


def test_two_bots_of_one_name_are_called_by_their_seats() -> None:
    line = random_record(Random(5)).to_json(bots=["ann", "ann"]).encode()
    assert line_timeline(line)["players"] == ["seat 0", "seat 1"]


@pytest.mark.parametrize("line", [b"", b"{}", b"[" * 9999, b'{"deal": "56", "actions": ""}'])
def test_a_bad_line_is_refused(line: bytes) -> None:
    with pytest.raises(EngineError):
        line_timeline(line)


@pytest.mark.slow
def test_a_page_shows_text_as_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    game = replace(game_with_thoughts(), seats=(evil, "bob"), winner=evil)
    page = render_replay(game_timeline(game, title=evil))
    assert evil not in page
    assert page == render_replay(game_timeline(game, title=evil))
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "other.html").write_text(page.replace("data-page", "data-wage"))
    assert is_replay(tmp_path / "page.html")
    assert not is_replay(tmp_path / "other.html")
    assert not is_replay(tmp_path)


def test_a_game_is_its_replay_in_a_notebook() -> None:
    """In a frame that runs its own scripts and can reach nothing; the same bytes each time."""
    game = game_with_thoughts()
    html, page = game._repr_html_(), render_replay(game_timeline(game, by=CHAMPION))
    assert html == game._repr_html_() == frame(page, "Replay", "56rem")
    assert html.startswith('<iframe title="Replay" sandbox="allow-scripts" ')
    assert html.count("<") == 2  # the frame's two tags: the page is escaped
    assert replace(game, record=Record("56", "T"))._repr_html_() is None


RECORD = random_record(Random(4))
PLAYERS = ("<b>ann", "bob")


@pytest.mark.parametrize(
    ("naming", "seat"), [("english", None), ("german", None), ("deck", 0), ("deck", 1)]
)
def test_every_ply_has_its_action_cards_and_points(naming: Naming, seat: Seat | None) -> None:
    """With the names that the cards have at a table, of the referee or of a seat."""
    rows = tabulate(make_timeline(RECORD, players=PLAYERS, seat=seat), naming)
    states, seats = states_of(RECORD), (0, 1) if seat is None else (seat,)
    layout = Layout(tuple(view(states[0], one) for one in seats), naming)
    for row, state in zip(rows, states, strict=True):
        layout.follow(tuple(view(state, one) for one in seats))
        assert (row.ply, row.round) == (len(state.history), state.round)
        assert row.row == ", ".join(card.name for card in layout.row)
        assert row.hands == [", ".join(group(layout.hands[one])) for one in seats]
        assert row.points == "{} : {}".format(*points(state.piles, state.rules))
        if row.ply:
            move = layout.moves[-1]
            assert row.event == move.describe(PLAYERS[move.seat])
    assert rows[0].event == "the deal"


def test_a_loss_stands_where_the_decision_led() -> None:
    chances, equal = [ILLEGAL] * 10 + [410_000, 523_456], [ILLEGAL] * 10 + [500_000, 500_000]
    judged = [
        Judged(0, 10, chances, 113_456, 50_000, first=200_000),
        Judged(1, 10, chances, 90_000, 50_000),
        Judged(2, 11, chances, -40_000, 30_000),
        Judged(3, 11, equal, 0, 0),
    ]
    timeline = make_timeline(RECORD, players=PLAYERS, judged=judged, chances=[0.614] * 49)
    rows = tabulate(timeline)
    assert [row.loss for row in rows[:5]] == [
        "",
        "11.3 +- 5.0 (took too late), a blunder; best: to take",
        "9.0 +- 5.0; best: to take",
        "-4.0 +- 3.0",
        "0.0 +- 0.0",
    ]
    assert rows[0].chance == "61%"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_page_of_one_seat_has_its_hand_and_no_other(seat: int) -> None:
    timeline = make_timeline(RECORD, players=PLAYERS, seat=seat)
    assert {len(row.hands) for row in tabulate(timeline)} == {1}
    table = render_replay(timeline).partition("<noscript>")[2].partition("</noscript>")[0]
    assert table.count("Hand of") == 1
    assert table.count("<tr>") == len(timeline["frames"]) + 1
    assert "&lt;b&gt;ann" in table
    assert "<b>" not in table


GOLDEN = [
    ("0 5678C xy", "T", "5", "took betrayals"),
    ("0 5678C xy", "T", "C", "took too early"),
    ("0 678 56 5728", "T", "6", "took too early"),
    ("0 678C 56 57", "T", "6", "took one card early"),
    ("0 578C 56 67", "T", "5", "took one card early"),
    ("0 C 6C z7y2y64xTTC288Tx7668y88T8633y825", "C", "T", "left a win by City in reach"),
    ("0 5678C 2C", "C", "5", "left two cities in reach"),
    ("0 5678C 2C", "5", "T", "took too late"),
    ("0 5678C C5", "C", "T", "left two cities in reach"),
    ("0 5678C 52", "6", "T", "took too late"),
    ("0 567xC 52", "x", "7", "laid a betrayal too early"),
    ("0 567xC 52", "7", "C", "kept a city too long"),
    ("0 567xC 52", "C", "7", "gave a city"),
    ("0 567xC 52", "7", "x", "kept a betrayal too long"),
    ("0 567x2 52", "6", "7", "gave the card for a majority"),
    ("0 567x2 52", "2", "7", "gave an alliance"),
    ("0 567x2 52", "5", "7", "laid the wrong card"),
]
"""A view, the action, a better one, and what is wrong by hand."""


@pytest.mark.parametrize(("seen", "action", "better", "mistake"), GOLDEN)
def test_a_position_has_the_phrase_that_a_person_gives_it(
    seen: str, action: str, better: str, mistake: str
) -> None:
    position = View.from_text(seen)
    one, two = CHARS.index(action), CHARS.index(better)
    assert {one, two} <= {*position.legal}
    assert name_mistake(position, one, two) == mistake


def test_every_phrase_has_a_position_and_no_other_phrase_is_given() -> None:
    assert {mistake for *_, mistake in GOLDEN} == {*MISTAKES}


@pytest.mark.parametrize("seed", few(range(4)))
def test_every_decision_of_a_game_has_exactly_one_phrase(seed: int) -> None:
    """For each better action that there may be, also where a game is read from its record."""
    record = arena.play("greedy", "uniform", seed=seed).record
    state, actions = State(parse_deal(record.deal), STANDARD), parse_actions(record.actions)
    for ply, played in enumerate(actions):
        seen = view(state, state.to_act)
        for better in {*seen.legal} - {played}:
            mistake = name_mistake(seen, played, better)
            assert MISTAKES.count(mistake) == 1
            chances = [int(action == better) for action in range(12)]
            one = Judged(ply, played, chances, 200_000, 50_000)
            unsure = one._replace(error=150_000)
            assert describe_decision(record.deal, record.actions, unsure) == DISPUTED
            assert describe_decision(record.deal, record.actions, one) == mistake
            assert name_mistake(View.from_text(seen.to_text()), played, better) == mistake
        state.apply(played)


HOSTILE = (
    *("</script><script>alert(1)</script>", "<!--", "\u2028\u2029"),
    *("&amp;", "'\"", "\u202eevil"),
)


@pytest.mark.parametrize("text", HOSTILE)
def test_data_cannot_leave_its_element_and_a_title_is_text(text: str) -> None:
    data = str(to_data({text: [text]}))
    assert json.loads(data) == {text: [text]}
    assert not re.search("[<>&\u2028\u2029]", data)
    page = render("arena.replays/page.html", title=text)
    title = page.split("<title>")[1].split("</title>")[0]
    assert not re.search("[<>'\"]", title)
    assert page.count("<script") == 0


def test_the_policy_has_no_network_and_no_eval() -> None:
    policy = content_policy(["let a = 1"])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert policy.count("unsafe-inline") == 1
    assert not re.search(r"https?:|\*", policy)
    assert "script-src 'none'" in content_policy([])


def test_the_static_files_of_every_room_are_read_by_its_name() -> None:
    files = [path for path in (ROOT / "arena").rglob("static/*") if path.is_file()]
    assert files
    for path in files:
        package = ".".join(path.parent.parent.relative_to(ROOT).parts)
        assert static(f"{package}/{path.name}")


RENDER = """\
import jinja2; made = []; compile = jinja2.Environment.compile
jinja2.Environment.compile = lambda *a, **b: made.append(a) or compile(*a, **b)
from arena.replays.html_page import render
print(len(render('arena.replays/page.html', title='x')), len(made))
"""


def compiled(cache: Path) -> tuple[str, int]:
    """Render a page in a new process with this cache; return its length, and what was compiled."""
    words, env = [sys.executable, "-c", RENDER], os.environ | {"XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    length, made = done.stdout.split()
    return length, int(made)


@pytest.mark.slow
def test_compiled_templates_are_kept(tmp_path: Path) -> None:
    """The second process compiles none, and its page is the same; nobody else can read them."""
    length, first = compiled(tmp_path)
    assert first
    assert compiled(tmp_path) == (length, 0)
    (kept,) = (tmp_path / "district-noir-arena").glob("templates-*")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    for file in kept.iterdir():
        file.write_bytes(b"damaged")
    assert compiled(tmp_path) == (length, first)


def test_compiled_templates_of_others_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are code: a folder into which others can write, or a link to one, is left alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = html_page._find_compiled()
    folder.chmod(0o770)
    assert html_page._find_compiled() is None
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o700)
    assert html_page._find_compiled() is None
    folder.unlink()
    folder.parent.chmod(0o707)
    assert html_page._find_compiled() is None
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert html_page._find_compiled() is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/nowhere/at/all")
    assert html_page._find_compiled() is None or os.access("/nowhere", os.F_OK)
