"""`arena table`, the site and the pages of a league in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import submission
from arena.addons.league.league_site import write_site
from arena.addons.table import table_games
from arena.addons.table.table_server import write_page
from arena.replays.html_page import render
from tests.addons.league.small import a_league, accept, play, write_bot
from tests.addons.table import BROKEN, HOSTILE, LOWEST, Client, running
from tests.browser.conftest import LAPTOP, PHONE, find_faults, overflowing
from tests.conftest import run_here, start_command
from tests.docs.test_pages import site
from tests.waiting import PATIENCE

Open = Callable[..., Any]
LONG = "\u05d0\u05d1\u05d2" + "\uff37" * 57  # from right to left, and wide
PLACE = ".place-in-game"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a server without any game."""
    with running(tmp_path_factory.mktemp("results")) as client:
        yield client


@pytest.fixture(autouse=True)
def _same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deal the same cards each time, and judge in fewer worlds, which takes less time."""
    monkeypatch.setattr("arena.addons.table.table_server.secrets.randbelow", lambda _: 0)
    monkeypatch.setattr(table_games, "WORLDS", 8)


def check(page: Any) -> None:
    """Check that axe finds nothing serious, and that nothing is wider than the window."""
    assert find_faults(page) == []
    assert overflowing(page) == 0


def begin(page: Any, bot: str = "greedy", begins: str = "me") -> None:
    """Fill in the form, and begin a game."""
    page.wait_for_selector("form")
    select = page.get_by_role("combobox", name="Bot", exact=True)
    if bot in select.locator("option").evaluate_all("all => all.map(one => one.value)"):
        select.select_option(bot)
    else:
        select.select_option("")
        page.get_by_label("Bot: a file or a spec").fill(bot)
    page.get_by_label("Who begins").select_option(begins)
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_selector(".act, .end:not(:empty)")


def await_turn(page: Any, act: Callable[[], None]) -> None:
    """Act, and wait until the person is asked again, or the game has ended."""
    before = page.locator(PLACE).inner_text()
    act()
    page.wait_for_function(
        """([place, before]) => document.querySelector(place).textContent !== before
            && document.querySelector('.act, .end:not(:empty)')""",
        arg=[PLACE, before],
    )


def leave(page: Any) -> None:
    page.get_by_role("button", name="Leave the game").click()
    page.get_by_text("The game was left.").wait_for()


def focused(page: Any) -> str:
    """Return what kind of action the focused element is, or its tag."""
    found: str = page.evaluate(
        """() => {
          const { dataset, tagName } = document.activeElement;
          return dataset.action ? (dataset.action === "T" ? "take" : "card") : tagName;
        }"""
    )
    return found


@pytest.mark.slow
def test_a_newcomer_reaches_the_first_action(tmp_path: Path, open_page: Open) -> None:
    """From the command, by what the page says and shows, and by nothing else: each step."""
    server = start_command(tmp_path, "table", "--no-browser")
    try:
        assert server.stdout is not None
        page = open_page(server.stdout.readline().split()[-1])
        page.get_by_text("Choose a bot, and play.").wait_for()
        chosen = page.get_by_role("combobox", name="Bot", exact=True).locator("option:checked")
        assert chosen.inner_text() == "1 Beginner: uniform (Elo 1028)"
        page.get_by_text("Rules", exact=True).click()
        assert page.get_by_text("R7. Each player takes exactly once in each round.").is_visible()
        page.get_by_role("button", name="Play", exact=True).click()
        page.get_by_text(re.compile("Your turn: play a card")).wait_for()
        card = page.get_by_role("button", name=re.compile(r"^play .*, in your hand$")).first
        await_turn(page, card.click)
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)


@pytest.mark.slow
def test_a_whole_game_by_clicks(client: Client, open_page: Open) -> None:
    """From the form to the record, the judged decisions, and a rematch."""
    page = open_page(client.address)
    page.wait_for_selector("form")
    assert find_faults(page) == []
    begin(page)
    assert page.title() == "Your turn: human against greedy \u2013 District Noir Arena"
    assert page.get_by_role("list", name="Your hand").count() == 1
    check(page)
    while page.get_by_role("button", name="Leave the game").is_visible():
        take = page.locator(".act.take")
        await_turn(page, (take if take.count() else page.locator(".hand .act").first).click)
    line = int(re.findall(r"Recorded: line (\d+)", page.locator(".end").inner_text())[0])
    file = client.table.records.path
    told = run_here(file.parent, "replay", file.name, "--json").stdout.splitlines()[line - 1]
    assert '"over": true' in told
    assert page.locator(".hand .back").count() == 0
    assert find_faults(page) == []
    page.get_by_role("button", name="Judge every decision").click()
    page.wait_for_selector("button.blunder-on")
    assert page.locator(".found").inner_text()
    check(page)
    page.get_by_role("button", name="Rematch with seats swapped").click()
    page.wait_for_selector(".act")
    assert "seat 1" in page.locator(".seat:has(.act)").inner_text()
    leave(page)


@pytest.mark.slow
def test_a_game_on_a_phone_by_keys_with_a_reload(client: Client, open_page: Open) -> None:
    """Signs of cards and T, wherever the focus is; dark; the game is there after a reload."""
    page = open_page(client.address, viewport=PHONE, color_scheme="dark")
    page.wait_for_selector("form")
    assert overflowing(page) == 0
    begin(page, "uniform", begins="bot")
    page.get_by_label("Cards").select_option("german")
    hand = page.locator(".hand .act").evaluate_all("all => all.map(one => one.dataset.action)")
    before = page.locator(PLACE).inner_text()
    page.keyboard.press(next(char for char in "5678" if char not in hand))
    page.keyboard.press(f"Control+{hand[0]}")
    assert page.locator(PLACE).inner_text() == before
    await_turn(page, partial(page.keyboard.press, hand[0]))
    page.locator(".hand .act").first.focus()
    await_turn(page, partial(page.keyboard.press, "Enter"))
    assert focused(page) == "card"
    assert "Bande" in page.locator(".score").inner_text()
    await_turn(page, partial(page.keyboard.press, "t"))
    assert focused(page) == "DIV", "a second Enter does nothing"
    shown = page.locator(".hand .act").count()
    page.reload()
    page.wait_for_selector(".act")
    assert page.locator(".hand .act").count() == shown
    check(page)
    leave(page)
    assert "Kept unfinished: line" in page.locator(".end").inner_text()
    page.get_by_role("link", name="District Noir Arena").click()
    page.get_by_text("uniform against human \u2013 left").wait_for()


@pytest.mark.slow
def test_a_game_is_looked_at_while_it_is_played_and_two_bots_are_watched(
    client: Client, open_page: Open
) -> None:
    """An earlier position has no buttons; bots play at the viewer's pace, with open hands."""
    page = open_page(client.address)
    begin(page)
    await_turn(page, page.locator(".hand .act").first.click)
    page.get_by_role("button", name="To the deal").click()
    assert page.locator(".act").count() == 0
    at = page.locator(PLACE).inner_text()
    page.keyboard.press("t")
    assert page.locator(PLACE).inner_text() == at
    page.get_by_role("button", name="To the end").click()
    assert page.locator(".hand .act").count() > 0
    leave(page)
    page = open_page(client.address)
    page.wait_for_selector("form")
    for label, bot in (("Seat 0", "greedy"), ("Seat 1", "majority")):
        page.get_by_role("combobox", name=label).select_option(bot)
    page.get_by_label("Seed of the deal").fill("7")
    page.get_by_role("button", name="Watch").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("combobox", name="Pace").select_option("fast")
    at = f"parseInt(document.querySelector('{PLACE}').textContent.slice(4))"
    page.wait_for_function(f"() => {at} >= 2")
    page.get_by_role("button", name="To the end").click()
    assert page.locator(".hand .back").count() == 0
    page.get_by_role("button", name="To the deal").click()
    page.get_by_role("radio", name="greedy").check(force=True)
    assert page.locator(".hand .back").count() == 5
    check(page)


@pytest.mark.slow
def test_a_file_leads_to_the_table_and_what_is_refused_is_said(
    open_page: Open, tmp_path: Path
) -> None:
    """A bot that does not exist, a game that does not, and a table that has ended."""
    file = tmp_path / "open.html"
    with running(tmp_path) as client:
        write_page(file, client.address)  # which Chromium calls another site
        page = open_page(file, is_quiet=False)  # every refusal is written on its console
        complaint = page.locator("#complaint:not([hidden])")
        page.wait_for_selector("form")
        assert page.url == client.address
        page.get_by_role("combobox", name="Bot", exact=True).select_option("")
        page.get_by_label("Bot: a file or a spec").fill("./none.py")
        page.get_by_role("button", name="Play", exact=True).click()
        complaint.wait_for()
        assert "./none.py" in complaint.inner_text()
        page.goto(f"{client.address}#/99")
        page.get_by_text("there is no such game").wait_for()
        page.goto(f"{client.address}#/")
        begin(page)
    page.get_by_text("The server does not answer").wait_for()


@pytest.mark.slow
def test_a_bot_with_a_hostile_name_is_shown_as_text(
    client: Client, open_page: Open, tmp_path: Path
) -> None:
    """It is no element, does not turn the sentences round, and fits a phone."""
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    page = open_page(client.address, viewport=PHONE)
    for name in (HOSTILE, LONG):
        begin(page, f"{name}={bot}")
        assert name in page.locator("h1").text_content()
        assert page.locator("b[onclick]").count() == 0
        check(page)
        leave(page)
        page.get_by_role("link", name="District Noir Arena").click()
        page.wait_for_selector("form")
        assert overflowing(page) == 0
    bot.write_text(BROKEN)
    begin(page, str(bot), begins="bot")
    page.get_by_text("lowest forfeits (exception at ply 0)").wait_for()
    page.get_by_text("Evidence of the fault").click()
    evidence = page.locator("details[open] pre").inner_text()
    assert "ZeroDivisionError" in evidence
    assert "<noise>" in evidence


__all__ = ["site"]


SHOWN = ("index", "results", "how-to", "reference/arena-run", "reference/config-keys")


@pytest.fixture
def open_site(open_page: Open, site: Path) -> Callable[..., Any]:
    """Return a function that opens a page of the site; at the end all must have been quiet."""
    return lambda name, **options: open_page(f"{site.as_uri()}/{name}", **options)


@pytest.mark.slow
@pytest.mark.parametrize(("look", "viewport"), [("light", LAPTOP), ("dark", PHONE)])
@pytest.mark.parametrize("name", SHOWN)
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_window(
    open_site: Open, name: str, look: str, viewport: dict[str, int]
) -> None:
    """In both looks, of which the page takes that of the system; a wide table scrolls."""
    page = open_site(f"{name}.html", color_scheme=look, viewport=viewport)
    assert page.get_attribute("html", "data-theme") == look
    check(page)


@pytest.mark.slow
def test_the_search_finds_a_page_without_a_network(open_site: Open) -> None:
    """By a word that only some pages have; a status says how many, and a link opens."""
    page = open_site("search.html?q=backstop")
    page.get_by_role("status").filter(has_text="Search finished, found").wait_for(state="attached")
    found = page.locator("#search-results a").filter(has_text="Keys of configs")
    found.first.click()
    assert page.url.split("?")[0].split("#")[0].endswith("/reference/config-keys.html")


TRIES = """
window.ran = [];
window.ran.push("script");
try { eval("window.ran.push('eval')"); } catch {}
try { new Function("window.ran.push('Function')")(); } catch {}
const late = document.createElement("script");
late.textContent = "window.ran.push('inline')";
document.body.append(late);
const link = "<a id='a' href='#' onclick='window.ran.push(1)'>a</a>";
document.body.insertAdjacentHTML("beforeend", link);
document.getElementById("a").click();
fetch("https://example.org/").then(() => window.ran.push("fetch"), () => {});
const image = new Image();
image.onload = () => window.ran.push("image");
image.src = "https://example.org/a.png";
"""


def test_only_the_scripts_of_the_page_run(open_page: Open, tmp_path: Path) -> None:
    """No eval, no further script, no handler in an attribute, and nothing is loaded."""
    path = tmp_path / "page.html"
    path.write_text(render("arena.replays/page.html", title="A page", libraries=[TRIES]))
    page = open_page(path, is_quiet=False)
    sent: list[str] = []
    page.on("requestfinished", lambda request: sent.append(request.url))
    page.reload()
    assert page.evaluate("window.ran") == ["script"]
    assert sent == [path.as_uri()]
    script = "document.title = 'ran </script>';"  # which is no end of it
    path.write_text(render("arena.replays/page.html", title="A page", libraries=[script]))
    assert open_page(path).title() == "ran </script>"


@pytest.mark.slow
def test_its_pages_are_drawn_and_lead_to_one_another(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a name and an owner as long as they can be, on a phone and in the dark."""
    monkeypatch.setattr(submission, "run_check", accept)
    with a_league(tmp_path / "club") as league:
        league.desk.submit(str(write_bot(tmp_path)), "x" * 40, "A" + "b" * 58 + "+")
        league.desk.submit("greedy(patience=11)", "patient", "Ann")
        play(league, 2)
        league.desk.submit("greedy(patience=5)", "patient", "Ann")
        play(league)
        index = write_site(league)
    page = open_page(index.as_uri(), viewport=PHONE, color_scheme="dark")
    check(page)
    page.locator(".rungs").get_by_role("link", name="patient", exact=True).click()
    page.wait_for_selector("text=What to work on")
    check(page)
    page.locator("#games a[data-replay]").first.click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    assert dialog.locator("svg").count() > 5
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    page.get_by_role("link", name="All bots").click()
    page.wait_for_selector(".rungs")
