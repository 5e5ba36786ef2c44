"""The replay as an analysis board: losses, blunders, pace, the record, and no scripts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.replays.html_page import render_replay
from arena.replays.judge_records import line_timeline
from arena.runs.judge_games import describe_judge, review_record
from arena.tournament.asking import Judged
from engine import STANDARD, Record
from tests.browser.conftest import LAPTOP, PHONE, Pages, find_faults, overflowing
from tests.conftest import Once
from tests.replays.games import random_record

RECORD = random_record(Random(2))
EVIL = "<b>ann</b>\u05e9"
CHAMPION = resolve("champion")

Open = Callable[..., Any]


@cache
def review() -> list[Judged]:
    return review_record(RECORD)


def make_page(folder: Path, name: str, timeline: dict[str, Any]) -> Path:
    path = folder / f"{name}.html"
    path.write_text(render_replay(timeline), encoding="utf-8")
    return path


def make_judged(folder: Path, seat: int | None = None) -> Path:
    """Write the page of a judged game, or that of one seat."""
    line = RECORD.to_json(bots=[EVIL, "bob"]).encode()
    timeline = line_timeline(line, by=CHAMPION, seat=seat, judged=review(), judge=describe_judge())
    return make_page(folder, f"judged-{seat}", timeline)


@pytest.fixture(scope="module")
def pages(once: Once) -> Pages:
    """Return the pages, made when they are looked at."""
    makers: dict[str, Callable[[Path], Path]] = {
        "judged": make_judged,
        "seat": lambda folder: make_judged(folder, 0),
    }
    return Pages(once, "analysis_board", makers)


@pytest.fixture
def judged(keep_page: Open, pages: Pages) -> Any:
    """Return the page of the judged game at the deal, which tests share that only look and step."""
    page = keep_page(pages["judged"])
    page.get_by_label("Referee").check()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    return page


def blunders(seat: int | None = None) -> list[Judged]:
    """Return the blunders of the game, or those of one seat."""
    return [one for one in review() if one.blunder and seat in (None, STANDARD.seat_at(one.ply))]


def ply(page: Any) -> int:
    return int(page.locator(".slider").input_value())


@pytest.mark.slow
def test_keys_and_buttons_lead_from_blunder_to_blunder(judged: Any) -> None:
    """To the position in which it was made; of one seat only its own, and none at the ends."""
    page = judged
    wanted = [one.ply for one in blunders()]
    assert len(wanted) > 2
    assert [page.keyboard.press("m") or ply(page) for _ in wanted] == wanted
    page.keyboard.press("m")
    assert ply(page) == wanted[-1]
    page.keyboard.press("Shift+M")
    assert ply(page) == wanted[-2]
    page.get_by_role("button", name="Next blunder (m)").click()
    assert ply(page) == wanted[-1]
    page.get_by_label("bob (seat 1)").check()
    page.keyboard.press("Home")
    own = [one.ply for one in blunders(1)]
    assert [page.keyboard.press("m") or ply(page) for _ in own] == own
    assert page.locator(".chip.blunder").count() == len(own)
    page.get_by_label("Referee").check()
    assert page.locator(".chip.blunder").count() == len(wanted)
    assert page.locator(".blunder-mark").count() == len(wanted)


def test_a_decision_says_what_each_action_was_worth(judged: Any) -> None:
    """With the loss, its error and the best action, as the judge says; the curve has a band."""
    page = judged
    one = blunders()[0]
    page.evaluate("ply => document.querySelector('.arena-viewer').arenaViewer.jump(ply)", one.ply)
    shares = page.locator(".judged .share").all_inner_texts()
    chances = sorted((chance for chance in one.chances if chance >= 0), reverse=True)
    assert shares == [f"{chance / 10_000:.1f}\u2009%" for chance in chances]
    verdict = page.locator(".verdict").inner_text()
    loss = f"{one.loss / 10_000:.1f} \u00b1 {one.error / 10_000:.1f} points of 100, a blunder: "
    assert loss in verdict
    assert "Judged by apprentice, 8 worlds" in verdict
    assert page.locator(".judged tr", has_text="\u2605 best").count() == 1
    assert page.locator(".judged tr.chosen", has_text="\u2713 chosen").count() == 1
    assert "a blunder follows" in page.locator(".status").inner_text()
    page.keyboard.press("ArrowRight")
    assert "a blunder: it lost" in page.locator(".status").inner_text()
    assert "a blunder: it lost" in page.locator(".chip[aria-current]").get_attribute("aria-label")
    assert page.locator(".range-line").count() == 2
    assert "\u2013" in page.locator(".place-in-game").inner_text()
    page.keyboard.press("End")
    assert "\u2013" not in page.locator(".place-in-game").inner_text()


@pytest.mark.slow
def test_a_game_can_be_judged_while_it_is_shown(open_page: Open, pages: Pages) -> None:
    """As at the table: the same viewer gets a timeline with losses, and stays at its ply."""
    page = open_page(pages["judged"])
    update = """judge => {
      const viewer = document.querySelector('.arena-viewer').arenaViewer;
      window.whole = window.whole || viewer.timeline;
      const frames = window.whole.frames.map((frame) => ({ ...frame, judged: null }));
      viewer.update(judge ? window.whole : { ...window.whole, judge: "", frames });
    }"""
    page.keyboard.press("PageDown")
    page.evaluate(update, False)
    assert page.get_by_role("button", name="Next blunder (m)").count() == 0
    assert page.locator(".chip.blunder").count() == 0
    page.evaluate(update, True)
    assert ply(page) == STANDARD.round_plies
    page.get_by_role("button", name="Next blunder (m)").click()
    later = next(one.ply for one in blunders() if one.ply > STANDARD.round_plies)
    assert ply(page) == later
    page.keyboard.press("ArrowLeft")
    assert ply(page) == later - 1


@pytest.mark.slow
def test_the_record_is_copied(open_page: Open, pages: Pages) -> None:
    """As one line that the arena reads; a seat's page has none."""
    page = open_page(pages["judged"], permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the record").click()
    page.get_by_text("Copied.").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert Record.from_json(text) == RECORD
    page.get_by_label("The game as a record").press("m")
    assert ply(page) == 0, "the text has its own keys"
    page = open_page(pages["seat"])
    assert page.get_by_role("button", name="Copy the record").count() == 0
    assert RECORD.deal not in page.content()


@pytest.mark.parametrize(
    ("name", "viewport"), [("seat", PHONE), pytest.param("judged", LAPTOP, marks=pytest.mark.slow)]
)
def test_without_scripts_the_whole_game_is_a_table(
    open_page: Open, pages: Pages, name: str, viewport: dict[str, int]
) -> None:
    """With the losses; in the page of a seat only its own, and one hand."""
    page = open_page(pages[name], java_script_enabled=False, viewport=viewport)
    rows = page.locator(".plies tbody tr")
    assert rows.count() == len(RECORD.actions) + 1
    text = page.locator(".plies").inner_text()
    assert f"{EVIL} plays" in text or f"{EVIL} takes" in text
    hidden = name == "seat"
    assert page.locator("th[scope=col]", has_text="Hand of").count() == 2 - hidden
    assert text.count("a blunder") == len(blunders(0 if hidden else None))
    assert page.locator("#viewer *").count() == 0
    wide = page.locator(".plies").bounding_box()
    assert wide["x"] + wide["width"] <= viewport["width"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "viewport", "scheme"), [("judged", PHONE, "dark"), ("seat", LAPTOP, "light")]
)
def test_nothing_is_too_wide_and_axe_finds_nothing(
    open_page: Open, pages: Pages, name: str, viewport: dict[str, int], scheme: str
) -> None:
    """At the deal, at a blunder, after it, with the record open and at the end."""
    page = open_page(pages[name], viewport=viewport, color_scheme=scheme)
    for key in ("Home", "m", "ArrowRight", "End"):
        page.keyboard.press(key)
        assert overflowing(page) == 0, key
        assert find_faults(page) == [], key
    if name == "judged":
        page.get_by_label("bob (seat 1)").check()
        assert overflowing(page) == 0
        assert find_faults(page) == []
