"""The replay viewer in a browser: keys, buttons, the slider, who looks, names, and its looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.replays.finished_game import Game, game_timeline
from arena.replays.html_page import render_replay
from arena.replays.judge_records import line_timeline
from engine import KINDS, Rules, View, count, hands, size
from engine.cards import CHARS
from engine.view import view
from tests.browser.conftest import LAPTOP, PHONE, find_faults, overflowing
from tests.replays.games import game_with_thoughts, random_record
from tests.replays.test_timeline import states_of
from tests.tiers import few

CHAMPION = resolve("champion")
PLIES = 48
EVIL = (
    "<script>alert(1)</script>" + "\uff57" * 35,
    "\u05ea\"\u05e9'\u05e8 <b>&amp; " + "\u05e9" * 46,
)
LARGE = Rules(
    (9,) * 4 + (6,) * 7, removed=2, hand_size=9, opening_row=4, take_size=7, cities_needed=6
)

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def game() -> Game:
    """Return a game whose bots say what they think."""
    return game_with_thoughts()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, game: Game) -> Path:
    """Return a folder with pages: of the referee, of a seat, with hostile labels, and others."""
    folder = tmp_path_factory.mktemp("pages")
    hostile = replace(game, seats=EVIL, winner=EVIL[game.seats.index(game.winner or "")])
    large = random_record(Random(1), LARGE).to_json().encode()
    forfeit = random_record(Random(2), plies=9).to_json(
        bots=["ann", "bob"], fault={"bot": "bob", "kind": "exception", "message": "<b>boom</b>"}
    )
    timelines = {
        "referee": game_timeline(game, title="cup: a game", by=CHAMPION),
        "seat": game_timeline(game, title="cup: a game", by=CHAMPION, seat=0),
        "hostile": game_timeline(hostile, title="x" * 90, by=CHAMPION),
        "large": line_timeline(large, by=CHAMPION),
        "forfeit": line_timeline(forfeit.encode(), by=CHAMPION)
        | {"evidence": "Traceback <b>\n" + "y" * 300},
        "deal": line_timeline(random_record(Random(3), plies=0).to_json().encode()),
    }
    for name, timeline in timelines.items():
        (folder / f"{name}.html").write_text(render_replay(timeline), encoding="utf-8")
    return folder


@pytest.fixture
def referee(keep_page: Open, pages: Path) -> Any:
    """Return the referee's page at the deal, which tests share that only look and step."""
    page = keep_page(pages / "referee.html")
    page.emulate_media(media="screen")
    page.evaluate("document.querySelector('.arena-viewer').arenaViewer.jump(0)")
    page.get_by_label("Referee").check()
    page.get_by_label("Cards").select_option("english")
    return page


def ply(page: Any) -> int:
    """Return the ply that is shown; slider, list and text agree on it."""
    number = int(page.locator(".slider").input_value())
    assert page.locator(".place-in-game").inner_text().startswith(f"Ply {number} of ")
    marked = page.locator(".chip[aria-current=step]")
    assert marked.count() == (1 if number else 0)
    assert not number or marked.get_attribute("data-ply") == str(number)
    stops = page.locator(".chip").evaluate_all(
        "all => all.filter(one => one.tabIndex === 0).map(one => Number(one.dataset.ply))"
    )
    wanted = [max(1, number)] if page.locator(".chip").count() else []
    assert stops == wanted, "Tab stops once in the list, at the marked action"
    return number


def shown_hand(page: Any, seat: int) -> list[str]:
    return list(page.locator(f".felt .seat-{seat} .hand li .unseen-text").all_inner_texts())


def at_every_ply(page: Any, selector: str, attribute: str = "textContent") -> list[list[str]]:
    """Return, for every ply, the texts of a selector's elements; then the last ply is shown."""
    found: list[list[str]] = page.evaluate(
        """([selector, attribute]) => {
          const viewer = document.querySelector(".arena-viewer").arenaViewer;
          return viewer.timeline.frames.map((frame) => {
            viewer.jump(frame.ply);
            return [...document.querySelectorAll(selector)].map((one) => one[attribute]);
          });
        }""",
        [selector, attribute],
    )
    return found


@pytest.mark.slow
def test_keys_step_jump_and_play(open_page: Open, pages: Path) -> None:
    """Arrows, pages, numbers of rounds, Home and End; space plays until it is pressed again."""
    page = open_page(pages / "referee.html")
    assert ply(page) == 0
    for key, wanted in (
        *(("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("PageDown", 12)),
        *(("PageDown", 24), ("ArrowRight", 25), ("PageUp", 24), ("PageUp", 12)),
        *(("4", 36), ("1", 0), ("9", 0), ("ArrowLeft", 0), ("End", PLIES), ("ArrowRight", PLIES)),
        *(("PageDown", PLIES), ("Home", 0), ("x", 0), ("Control+ArrowRight", 0)),
    ):
        page.keyboard.press(key)
        assert ply(page) == wanted, key
    page.clock.install()
    page.keyboard.press(" ")
    assert page.locator("button[aria-label='Pause (space)']").count() == 1
    page.clock.run_for(2500)
    assert ply(page) == 2
    page.keyboard.press(" ")
    page.clock.run_for(5000)
    assert ply(page) == 2
    page.keyboard.press("End")
    page.keyboard.press(" ")
    assert ply(page) == 0, "at the end the game is played from its beginning"
    page.clock.run_for(60_000)
    assert ply(page) == PLIES
    assert page.locator("button[aria-label='Play (space)']").count() == 1


@pytest.mark.slow
def test_buttons_the_slider_the_curve_and_the_list_lead_to_a_ply(referee: Any) -> None:
    """Each shows the same position."""
    page = referee
    buttons = page.locator(".buttons button")
    for number, wanted in ((4, 1), (5, 12), (6, PLIES), (2, PLIES - 1), (1, 36), (0, 0)):
        buttons.nth(number).click()
        assert ply(page) == wanted, number
    page.locator(".slider").fill("17")
    assert ply(page) == 17
    page.locator(".slider").press("ArrowRight")
    assert ply(page) == 18
    page.locator(".chip[data-ply='30']").click()
    assert ply(page) == 30
    box = page.locator(".swing").bounding_box()
    page.locator(".swing").click(position={"x": box["width"] / 2, "y": 10})
    assert ply(page) == PLIES // 2
    page.locator(".chip[data-ply='30']").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    assert ply(page) == 29
    assert page.locator(".chip[data-ply='29']:focus").count() == 1


@pytest.mark.slow
def test_an_address_leads_to_a_ply(open_page: Open, pages: Path) -> None:
    """The fragment is read, followed and written; nonsense in it is the deal."""
    address = (pages / "referee.html").as_uri()
    page = open_page(f"{address}#ply=17")
    assert ply(page) == 17
    page.evaluate("location.hash = '#ply=5'")
    page.wait_for_function("() => document.querySelector('.slider').value === '5'")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash === '#ply=6'")
    for fragment, wanted in (("#ply=999", PLIES), ("#ply=-1", 0), ("#ply=x", 0), ("#nothing", 0)):
        page.goto(address + fragment)
        page.reload()
        assert ply(page) == wanted


@pytest.mark.slow
def test_the_referee_sees_every_card_and_a_seat_its_own(referee: Any, game: Game) -> None:
    """Hidden cards are backs; the chance, the thoughts and what is unseen are the seat's."""
    page = referee
    timeline = game_timeline(game, by=CHAMPION)
    page.keyboard.press("ArrowRight")
    frame = timeline["frames"][1]
    assert len(shown_hand(page, 0)) == frame["counts"][0]
    assert "hidden" not in " ".join(shown_hand(page, 0) + shown_hand(page, 1))
    assert page.locator(".thoughts").count() == 1
    assert page.locator(".felt .card.back").count() == 0
    page.get_by_label("champion (seat 0)").check()
    assert shown_hand(page, 1) == ["hidden card, in the hand"] * 5
    assert page.locator(".felt .card.back").count() == 5
    assert page.locator(".thoughts").count() == 0, "those of seat 1, which acts"
    assert page.get_by_role("heading", name="Not seen by champion").is_visible()
    page.keyboard.press("ArrowRight")
    assert page.locator(".thoughts .chosen").count() == 1
    page.get_by_label("ismcts (seat 1)").check()
    assert shown_hand(page, 0) == ["hidden card, in the hand"] * len(shown_hand(page, 0))
    assert page.locator(".felt > .seat").last.get_attribute("class").startswith("seat seat-1")
    assert "Out of the game" not in page.inner_text("main")
    page.get_by_label("Referee").check()
    assert page.locator(".unseen-cards").count() == 0
    assert "Out of the game, unseen by both: " in page.inner_text("main")


@pytest.mark.slow
def test_a_seats_page_has_nothing_to_switch_to(open_page: Open, pages: Path) -> None:
    """In what is shown and in its source: a switch on the page could not show more."""
    page = open_page(pages / "seat.html")
    assert page.get_by_role("radio").count() == 0
    assert "Out of the game" not in page.inner_text("main")
    assert "What champion (seat 0) knew, and nothing else." in page.inner_text("main")
    for held in at_every_ply(page, ".felt .seat-1 .hand li"):
        assert {*held} <= {"hidden card, in the hand"}
    source = page.evaluate("JSON.parse(document.getElementById('timeline').textContent)")
    assert {str(frame["hands"][1]) for frame in source["frames"]} == {"None"}
    assert not any(frame["turn"] == 1 and frame["thoughts"] for frame in source["frames"])


@pytest.mark.parametrize("seat", few([1, 0]))
def test_how_likely_the_other_holds_a_kind_is_counted_in_worlds(
    referee: Any, seat: int, game: Game
) -> None:
    """At every ply, by the number of deals that lead to each hand (engine.worlds.hands)."""
    found = referee.evaluate(
        "seat => { const all = JSON.parse(document.getElementById('timeline').textContent);"
        "return all.frames.map((frame) => Arena.findUnseen(frame, seat, all.rules)); }",
        seat,
    )
    for of_ply, state in list(zip(found, states_of(game.record), strict=True))[::5]:
        seen: View = view(state, seat)
        every = list(hands(seen))
        total = sum(ways for _, ways in every)
        assert [one["unseen"] for one in of_ply] == [count(seen.unseen, kind) for kind in KINDS]
        for kind, one in enumerate(of_ply):
            with_it = sum(ways for hand, ways in every if count(hand, kind))
            mean = sum(ways * count(hand, kind) for hand, ways in every) / total
            assert one["chance"] == pytest.approx(with_it / total, abs=1e-12)
            assert one["expected"] == pytest.approx(mean, abs=1e-12)
            assert one["char"] == CHARS[kind]
        assert sum(one["unseen"] for one in of_ply) == size(seen.unseen)


@pytest.mark.slow
def test_a_step_is_read_aloud_with_its_marks(referee: Any, game: Game) -> None:
    """One sentence for the action, one mark for each change, and at the end how it ended."""
    page = referee
    frames = game_timeline(game)["frames"]
    said = [texts[0] for texts in at_every_ply(page, "[role=status]")]
    shown = [len(texts) for texts in at_every_ply(page, "[role=status] .mark")]
    turned = [len(texts) for texts in at_every_ply(page, ".score .turned")]
    assert said[0] == "The deal. champion acts next."
    marks = 0
    for number, frame in enumerate(frames[1:], 1):
        action = frame["action"]
        what = f"takes {len(action['cards'])}: " if action["char"] == "T" else "plays "
        assert said[number].startswith(f"{game.seats[action['seat']]} {what}")
        new_round = number % 12 == 0 and number < PLIES
        assert shown[number] == len(action["marks"]) + new_round
        majorities = [mark for mark in action["marks"] if mark["what"] == "majority"]
        assert turned[number] == len(majorities)
        marks += len(action["marks"])
    assert marks > 5
    assert game.ending in said[-1]


def test_thoughts_are_bars_beside_the_actions(referee: Any, game: Game) -> None:
    """The best first, with the chosen one marked."""
    page = referee
    assert game.thoughts
    first = game.thoughts[0]
    rows = page.locator(".thoughts tbody tr")
    assert rows.count() == len(first)
    best = max(first, key=lambda thought: thought.value)
    assert f"{best.value:.1%}".rstrip("%") in rows.first.inner_text()
    assert page.locator(".thoughts .chosen").count() == 1
    bars = page.locator(".thoughts .filled").all()
    widths = [bar.bounding_box()["width"] for bar in bars]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0


@pytest.mark.slow
def test_the_curve_shows_the_chance_where_it_is_known(
    referee: Any, open_page: Open, pages: Path
) -> None:
    """In words too; without a chance there is no curve, and the slider is there."""
    page = referee
    label = page.get_by_role("img", name="Chance of champion to win, ply by ply: from ")
    assert label.count() == 1
    points = page.locator(".chance-line").get_attribute("d")
    assert points.count("L") == PLIES
    assert page.locator(".decisive").count() == 1
    page = open_page(pages / "large.html")
    assert page.locator(".chance-line").count() == 1
    page = open_page(pages / "deal.html")
    assert page.locator(".chance-line").count() == 0
    assert page.get_by_role("img", name="The chance to win is not known").count() == 1
    assert ply(page) == 0


def test_a_forfeit_shows_its_evidence_as_text(open_page: Open, pages: Path) -> None:
    """Folded, below the game."""
    page = open_page(pages / "forfeit.html")
    assert "bob forfeits (exception at ply 9): <b>boom</b>" in page.inner_text("main")
    page.get_by_text("Evidence of the fault").click()
    assert page.locator("pre").inner_text().startswith("Traceback <b>\nyyy")
    page.keyboard.press("End")
    assert ply(page) == 9
    assert overflowing(page) == 0


CUT = """
() => [...document.querySelectorAll("main *")].filter((one) => {
  if (one.closest(".unseen-text, svg, .swing, option") || !one.textContent.trim()) return false;
  return one.clientWidth && one.scrollWidth > one.clientWidth + 1;
}).map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`)
"""


@pytest.mark.parametrize(
    ("name", "viewport", "scheme"),
    [
        ("hostile", PHONE, "dark"),
        pytest.param("referee", PHONE, "dark", marks=pytest.mark.slow),
        pytest.param("seat", LAPTOP, "dark", marks=pytest.mark.slow),
        pytest.param("large", PHONE, "light", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_cut_or_too_wide_and_axe_finds_nothing(
    open_page: Open, pages: Path, name: str, viewport: dict[str, int], scheme: str
) -> None:
    """On a phone and a laptop, light and dark, at the deal, in the middle and at the end."""
    page = open_page(pages / f"{name}.html", viewport=viewport, color_scheme=scheme)
    for key in ("Home", "3", "PageDown", "ArrowLeft", "End"):
        page.keyboard.press(key)
        assert overflowing(page) == 0, key
        assert page.evaluate(CUT) == [], key
    if name == "hostile":
        assert EVIL[0] in page.inner_text("h1")
        return
    assert find_faults(page) == []
    if name == "referee":
        page.keyboard.press("3")
        page.get_by_label("champion (seat 0)").check()
        assert find_faults(page) == []


UNDER = """() => {
  const hand = document.querySelector(".seat.acts .hand");
  if (!hand) return 0;
  const controls = document.querySelector(".transport").getBoundingClientRect().top;
  return hand.getBoundingClientRect().bottom - controls;
}"""
"""By how many pixels the hand of who acts next lies under the controls."""


def test_the_hand_of_who_acts_is_not_under_the_controls(open_page: Open, pages: Path) -> None:
    """Not on a phone, ply by ply; and the page stays where the reader has gone in it."""
    page = open_page(pages / "referee.html", viewport=PHONE)
    page.keyboard.press("Home")
    for _ in range(30):
        assert page.evaluate(UNDER) < 1
        page.keyboard.press("ArrowRight")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight - 1.5 * innerHeight)")
    below = page.evaluate("scrollY")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("scrollY") == pytest.approx(below, abs=200)  # a text may have a line more


@pytest.mark.slow
def test_a_player_plays_by_the_cards_of_the_board(open_page: Open, pages: Path, game: Game) -> None:
    """Only what is legal is a button, and it says its action; the other hand is hidden."""
    page = open_page(pages / "referee.html")
    frames = game_timeline(game, seat=0)["frames"]
    draw = """(frame) => {
      const timeline = JSON.parse(document.getElementById("timeline").textContent);
      const place = document.getElementById("viewer");
      window.acted = [];
      window.Arena.drawBoard(place, frame, {players: timeline.players, rules: timeline.rules,
        perspective: 0, names: "english", onAction: (char) => window.acted.push(char)});
    }"""
    for frame in (frames[0], frames[1], frames[-1]):
        page.evaluate(draw, frame)
        buttons = page.locator("#viewer button.act").all()
        for button in buttons:
            button.focus()
            page.keyboard.press("Enter")
        acted = page.evaluate("window.acted")
        assert {*acted} == {*frame["legal"]}
        assert len(acted) == (len(frame["hands"][0]) + ("T" in frame["legal"]) if acted else 0)
        assert page.locator(".felt .card.back").count() == frame["counts"][1]
