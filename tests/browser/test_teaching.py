"""The table teaches: a newcomer's way to the first action, the rules, taking back, the review."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.addons.table import second_look
from arena.tournament.judged import Judged
from tests.addons.table import Client, running
from tests.addons.table.results import HOSTILE
from tests.addons.table.test_own_games import FACTS, GREEDY, finished
from tests.addons.table.test_playing import LOWEST
from tests.browser.conftest import PHONE, find_faults, overflowing
from tests.browser.test_table import await_turn, begin, is_over
from tests.conftest import start_command
from tests.waiting import PATIENCE

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a server without any game."""
    with running(tmp_path_factory.mktemp("results")) as client:
        yield client


@pytest.fixture(autouse=True)
def _few_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge in fewer worlds, which takes less time."""
    monkeypatch.setattr(second_look, "WORLDS", 20)


@pytest.mark.slow
@pytest.mark.parametrize("begins", ["you", "the bot"])
def test_a_newcomer_reaches_the_first_action(tmp_path: Path, open_page: Open, begins: str) -> None:
    """From the command, by what the page says and shows, and by nothing else: each step.

    Who begins is chosen by lot; here it is chosen, so that both ways are walked.
    """
    server = start_command(tmp_path, "table", "--no-browser")
    try:
        # 1. `arena table` prints an address; the browser opens it.
        assert server.stdout is not None
        page = open_page(server.stdout.readline().split()[-1])
        # 2. The page says what to do, and where the rules are.
        lead = page.get_by_text("Choose how strong the bot is, and play.")
        lead.wait_for()
        assert lead.is_visible()
        # 3. The weakest strength is chosen already, in words; no name of a bot has to be known.
        weakest = page.get_by_role("radio", name="1 Beginner")
        assert weakest.is_checked()
        assert not page.locator(".expert select").is_visible()
        # 4. The rules are one click away, with every card, and so is the way back.
        page.get_by_role("link", name="the rules").click()
        page.get_by_role("heading", name="The aim").wait_for()
        assert page.locator(".kinds .card").count() == 11
        page.get_by_role("link", name="Play", exact=True).click()
        # 5. "Play" begins the game.
        page.get_by_label("Who begins").select_option(begins)
        page.get_by_role("button", name="Play").click()
        # 6. The page says whose turn it is, and what can be done.
        turn = page.get_by_text(re.compile(r"^Your turn: play a card"))
        turn.wait_for()
        # 7. Each card of the hand is a button that says what it does; one click is an action.
        card = page.get_by_role("button", name=re.compile(r"^play .*, in your hand$")).first
        assert card.is_visible()
        await_turn(page, card.click)
        assert re.search(r"You play ", page.locator(".turn-line").inner_text())
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not lead to {selector}")


@pytest.mark.slow
def test_all_of_it_is_done_by_the_keyboard(client: Client, open_page: Open) -> None:
    """A strength by an arrow, a card, taking it back, a card again: Tab and Enter are enough."""
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    tab_to(page, "input[name=strength]")
    page.get_by_role("radio", name="1 Beginner").focus()
    page.keyboard.press("ArrowDown")
    assert page.get_by_role("radio", name="2 Novice").is_checked()
    tab_to(page, ".main-button")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hand .act")
    assert "strength 2, Novice" in page.locator("h1").inner_text()
    for selector in (".hand .act", "button:text-is('Take back my last action')", ".hand .act"):
        page.locator(selector).first.evaluate("one => { one.dataset.wanted = 'now'; }")
        tab_to(page, "[data-wanted]")
        await_turn(page, partial(page.keyboard.press, "Enter"))
        page.evaluate("document.querySelector('[data-wanted]')?.removeAttribute('data-wanted')")
    assert page.get_by_text("Taken back in this game: once.").is_visible()


@pytest.mark.slow
def test_the_rules_are_beside_the_board(client: Client, open_page: Open) -> None:
    """Opened and closed by the keyboard, in the names of the game, without leaving it."""
    page = open_page(client.guard.door.make_address(), color_scheme="dark")
    page.wait_for_selector("form")
    begin(page, "uniform", names="german")
    before = page.locator(".felt").inner_text()
    button = page.get_by_role("button", name="Rules")
    assert button.get_attribute("aria-expanded") == "false"
    button.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Rules")
    panel.get_by_text("The player who holds 3 cities wins at once.").wait_for()
    assert button.get_attribute("aria-expanded") == "true"
    assert "Bündnis +3" in panel.inner_text()
    assert page.evaluate("document.activeElement.id") == "rules-panel"
    board, beside = page.locator(".felt").bounding_box(), panel.bounding_box()
    assert board["x"] + board["width"] < beside["x"]
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Rules"
    assert page.locator(".felt").inner_text() == before
    page.set_viewport_size(PHONE)
    button.click()
    panel.get_by_role("heading", name="The cards").wait_for()
    assert overflowing(page) == 0
    assert find_faults(page) == []


@pytest.mark.slow
def test_an_action_is_taken_back(client: Client, open_page: Open) -> None:
    """The position is as before; it is said aloud, marked, and told in the list of games."""
    page = open_page(client.guard.door.make_address(), viewport=PHONE)
    page.wait_for_selector("form")
    begin(page, "uniform")
    back = page.get_by_role("button", name="Take back my last action")
    assert back.is_disabled()
    await_turn(page, page.locator(".hand .act").first.click)
    before = page.locator(".felt").inner_text()
    await_turn(page, page.locator(".hand .act").last.click)
    await_turn(page, back.dblclick)
    assert page.locator(".felt").inner_text() == before
    assert not page.locator("#complaint").is_visible()
    assert "Your last action is taken back." in page.locator("#said").text_content()
    assert page.get_by_text("Taken back in this game: once.").is_visible()
    assert overflowing(page) == 0
    assert find_faults(page) == []
    page.reload()
    page.get_by_text("Taken back in this game: once.").wait_for()
    await_turn(page, page.locator(".hand .act").first.click)
    page.get_by_role("button", name="Leave the game").click()
    page.get_by_text("Kept unfinished").wait_for()
    page.get_by_role("link", name="Play", exact=True).click()
    page.get_by_text("with take back").first.wait_for()
    assert page.get_by_role("row", name="1 Beginner 1", exact=True).count() == 1


@pytest.mark.slow
def test_a_bot_that_is_set_back_is_not_thinking(
    client: Client, open_page: Open, tmp_path: Path
) -> None:
    """It gets ready again while the turn is the person's, which takes as long as its start."""
    bot = tmp_path / "slow.py"
    bot.write_text(f"import time\ntime.sleep(1)\n{LOWEST}")
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    begin(page, str(bot))
    act = page.locator(".hand .act").first
    page.wait_for_function(SAYS, arg=["getting ready", "thinking"])
    act.click()
    page.wait_for_selector("button:has-text('Take back'):enabled")
    page.evaluate(WATCH)
    page.get_by_role("button", name="Take back my last action").click()
    page.wait_for_selector("text=Your last action is taken back.")
    page.wait_for_selector("button:has-text('Hint'):enabled")
    told = page.evaluate("window.told.join(' ')")
    assert "getting ready" in told
    assert "thinking" not in told


SAYS = """([right, wrong]) => {
  const text = document.querySelector(".turn-line").textContent;
  return text.includes("Your turn") || (text.includes(right) && !text.includes(wrong));
}"""
WATCH = """() => {
  window.told = [];
  const line = document.querySelector(".turn-line");
  new MutationObserver(() => window.told.push(line.textContent)).observe(line, {childList: true});
}"""


@pytest.mark.slow
def test_a_server_that_has_gone_is_told(client: Client, open_page: Open) -> None:
    """The news of a game end where the table is killed; a connection that comes again is one."""
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    page.evaluate(
        """() => {
          window.EventSource = class { constructor() { window.source = this; } close() {} };
          Object.assign(window.EventSource, { CONNECTING: 0, CLOSED: 2 });
          window.Table.listen("news", () => {});
        }"""
    )
    complaint = page.locator("#complaint")
    page.evaluate("Object.assign(source, { readyState: EventSource.CONNECTING }).onerror()")
    assert complaint.inner_text().startswith("The server does not answer")
    page.evaluate("source.onopen()")
    assert not complaint.is_visible()
    page.evaluate("Object.assign(source, { readyState: EventSource.CLOSED }).onerror()")
    assert complaint.inner_text().startswith("This page is no longer let in")


def _as_sure(judged: Sequence[Judged]) -> list[Judged]:
    """Return two decisions that are not the best, as if both judges were sure of them.

    The deal is drawn anew each time, and in some games there is no mistake by both.
    """
    wrong = [one for one in judged if one.best != one.action]
    return [one._replace(loss=300_000, error=10_000, first=300_000) for one in wrong[:2]]


@pytest.mark.slow
def test_a_game_is_reviewed_at_its_end(
    client: Client, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The costliest decisions with their positions; a link opens the replay at that ply."""
    monkeypatch.setattr(second_look, "find_mistakes", _as_sure)
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    begin(page, "uniform")
    while not is_over(page):
        await_turn(page, page.locator(".act").last.click)
    page.get_by_text("Your decisions are being looked at").wait_for()
    mistakes = page.locator(".mistake")
    mistakes.first.wait_for()
    assert 1 <= mistakes.count() <= 2
    assert "By this judge" in page.locator("#said").text_content()
    first = mistakes.first
    assert re.search(
        r"gave away [\d.]+ points of 100 .*In words: it .*Better was to", first.inner_text()
    )
    assert first.locator(".felt").is_visible()
    assert first.locator(".act").count() == 0
    assert first.locator(".hand .back").count() > 0
    assert find_faults(page) == []
    assert overflowing(page) == 0
    link = first.get_by_role("link", name="Open the replay at ply")
    ply = re.findall(r"\d+", link.inner_text())[0]
    link.click()
    page.wait_for_selector(".transport")
    assert page.locator(".place-in-game").inner_text().startswith(f"Ply {ply} of ")


@pytest.mark.study
def test_a_recorded_game_is_judged_and_played_on(client: Client, open_page: Open) -> None:
    """By buttons, on a phone; and a hostile name in the record is text everywhere."""
    line = client.table.records.add(
        finished(0).to_json(
            **FACTS | {"bots": ["human", HOSTILE], "opponent": GREEDY | {"label": HOSTILE}}
        )
    )
    page = open_page(client.guard.door.make_address(), viewport=PHONE, color_scheme="dark")
    page.wait_for_selector("form")
    page.goto(f"{client.origin}{client.root}/#/record/{line}/2/deck")
    page.wait_for_selector(".transport")
    assert page.locator(".place-in-game").inner_text().startswith("Ply 2 of ")
    page.get_by_role("button", name="What if").click()
    page.get_by_label("At ply 2 instead").wait_for()
    page.get_by_label("both then play as").select_option("1")
    page.get_by_role("button", name="Play on").click()
    page.wait_for_selector(".other .transport")
    assert "at ply 2, then uniform" in page.locator(".other > h2").inner_text()
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.get_by_role("button", name="Review the person's decisions").click()
    page.locator(".review").get_by_text("By this judge").wait_for()
    page.get_by_role("button", name="Judge every decision").click()
    page.wait_for_selector("#said:has-text('Every decision is judged')", state="attached")
    assert find_faults(page) == []
    assert overflowing(page) == 0
    assert page.locator("b[onclick]").count() == 0
    page.locator(".arena-viewer").first.locator(".buttons .last").click()
    page.get_by_role("button", name="What if").click()
    page.get_by_text("The game is over at this ply").wait_for()
