"""`arena table` in a browser: a game by clicks, one by keys, watching, runs and reports."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league.league_site import say_standings, write_site
from arena.addons.league.shown import standings
from arena.addons.table.guard import write_page
from tests.addons.league.small import a_league, play
from tests.addons.table import Client, running
from tests.addons.table.interrupting import leave_journal
from tests.addons.table.results import HOSTILE, make_results
from tests.addons.table.test_playing import BROKEN, LOWEST
from tests.browser.conftest import PHONE, find_faults, overflowing
from tests.conftest import run_here

Open = Callable[..., Any]
BOARD = ".arena-board[data-ply]"
LONG = "\u05d0\u05d1\u05d2" + "\uff37" * 57  # from right to left, and wide

PRYING = """<!doctype html><meta charset="utf-8"><title>report</title><p id="said"></p>
<script>
const tries = {
  parent: () => parent.document.title, cookie: () => document.cookie,
  storage: () => localStorage.length, top: () => top.location.href,
};
const got = [];
for (const [name, reach] of Object.entries(tries)) { try { reach(); got.push(name); } catch {} }
fetch("../api/home").then(() => got.push("fetch"), () => {}).finally(() => {
  document.getElementById("said").textContent = `reached: ${got.join(" ")}.`;
});
const there = address => `ADDRESS/${address}`;
const leads = [
  () => window.open(there("popup")), () => { top.location = there("top"); },
  () => { location.href = there(encodeURIComponent(location.href)); },
  () => { document.head.innerHTML += `<meta http-equiv="refresh" content="0; ${there("meta")}">`; },
  () => { new Image().src = there("image"); }, () => navigator.sendBeacon(there("beacon")),
];
onmessage = () => { for (const lead of leads) try { lead(); } catch {} };
</script>"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a server over a folder of results."""
    results = tmp_path_factory.mktemp("results")
    make_results(results)
    (results / "cup" / "report.html").write_text(PRYING)
    with running(results) as client:
        yield client


def begin(page: Any, bot: str = "greedy", begins: str = "me", names: str = "english") -> None:
    """Fill in the form, and begin a game."""
    strength = page.locator(f"input[name=strength][value={json.dumps(bot)}]")
    if strength.count():
        strength.check()
    else:
        page.locator(".expert summary").click()
        page.locator(".expert select").select_option("")
        page.get_by_label("Bot: a file or a spec").fill(bot)
    page.get_by_label("Who begins").select_option(begins)
    page.get_by_label("Cards").select_option(names)
    page.get_by_role("button", name="Play").click()
    page.wait_for_selector(".act, .result:not([hidden])")


def await_turn(page: Any, act: Callable[[], None]) -> None:
    """Act, and wait until the person is asked again, or the game has ended."""
    before = page.locator(BOARD).get_attribute("data-ply")
    act()
    page.wait_for_function(
        """([board, before]) => document.querySelector(board).dataset.ply !== before
            && document.querySelector('.act, .result:not([hidden])')""",
        arg=[BOARD, before],
    )


def is_over(page: Any) -> bool:
    return bool(page.locator(".result").is_visible())


def judge(client: Client, line: int) -> dict[str, Any]:
    """Return what `arena replay` says of a line of the records."""
    file = client.table.records.path
    done = run_here(file.parent, "replay", file.name, "--json")
    judged: dict[str, Any] = json.loads(done.stdout.splitlines()[line - 1])
    return judged


def last_line(page: Any) -> int:
    found = re.search(r"line (\d+)", page.locator(".result").inner_text())
    assert found
    return int(found[1])


@pytest.mark.slow
def test_a_whole_game_by_clicks(
    client: Client, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the form to the record, which `arena replay` judges as the page did.

    With this seed the game has all of its rounds.
    """
    monkeypatch.setattr("arena.addons.table.visitor.secrets.randbelow", lambda _: 0)
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    assert "token" not in page.url
    assert find_faults(page) == []
    begin(page)
    assert find_faults(page) == []
    assert "Your turn" in page.locator("#said").text_content()
    assert page.get_by_role("list", name="Your hand").count() == 1
    assert "you act next" in re.sub(r"\s+", " ", page.locator(".seat.acts").inner_text())
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector(".hint table")
    assert page.locator(".hint h2").inner_text().startswith("champion would ")
    assert overflowing(page) == 0
    await_turn(page, page.locator(".hand .act").first.click)
    assert re.search(r"greedy (plays|takes) ", page.locator("#said").text_content())
    said, places = "", set()
    while not is_over(page):
        assert "Your turn" in page.locator(".turn-line").inner_text()
        said += page.locator("#said").text_content()
        places.add(page.locator(".row-head .brings-note").first.inner_text())
        take = page.locator(".act.take")
        await_turn(page, (take if take.count() else page.locator(".hand .act").first).click)
    assert places == {f"round {number} of 4" for number in (1, 2, 3, 4)}
    assert re.findall(r"Round (\d) of 4 begins\.", said) == ["2", "3", "4"]
    written = page.locator(".log").text_content()
    assert "Betrayal \u2212" in written
    assert not re.search(r" -\d", written + said)
    result = page.locator(".result h2").inner_text()
    judged = judge(client, last_line(page))
    assert judged["over"]
    assert result.startswith({0: "You win", 1: "greedy wins", None: "A draw"}[judged["winner"]])
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.get_by_role("link", name="Replay", exact=True).click()
    page.wait_for_selector(".transport")
    assert page.locator("article, .felt").count() == 1
    page.go_back()
    page.get_by_role("button", name="Rematch with seats swapped").click()
    page.wait_for_selector(".act")
    assert "seat 1" in page.locator(".seat:has(.act)").inner_text()


@pytest.mark.slow
def test_a_game_on_a_phone_by_keys_with_a_reload(
    client: Client, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signs of cards and T; dark; in German; the game is there again after a reload.

    With this seed there is something to take in the end.
    """
    monkeypatch.setattr("arena.addons.table.visitor.secrets.randbelow", lambda _: 0)
    page = open_page(client.guard.door.make_address(), viewport=PHONE, color_scheme="dark")
    page.wait_for_selector("form")
    assert overflowing(page) == 0
    begin(page, "uniform", begins="bot", names="german")
    page.locator(".act").first.focus()
    for _ in range(3):
        key = page.locator(".hand .act").first.get_attribute("data-action")
        await_turn(page, partial(page.keyboard.press, key))
        focused = page.evaluate("document.activeElement.closest('.arena-board') !== null")
        assert focused
    while not page.evaluate("document.activeElement.matches('.hand .act')"):
        page.keyboard.press("Tab")
    await_turn(page, partial(page.keyboard.press, "Enter"))
    await_turn(page, partial(page.keyboard.press, "t"))
    shown = page.locator(".felt").inner_text()
    page.reload()
    page.wait_for_selector(".act")
    assert page.locator(".felt").inner_text() == shown
    assert "Bande" in page.locator(".score").inner_text()
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.get_by_role("button", name="Leave the game").click()
    page.wait_for_selector(".result:not([hidden])")
    assert "Kept unfinished" in page.locator(".result").inner_text()
    line = last_line(page)
    assert judge(client, line)["over"] is False
    page.get_by_role("link", name="Play", exact=True).click()
    page.get_by_role("link", name=str(line), exact=True).click()
    page.wait_for_selector(".transport")


def focused(page: Any) -> str:
    """Return what kind of action the focused element is, or its tag and its label."""
    found: str = page.evaluate(
        """() => {
          const { dataset, tagName, ariaLabel, textContent } = document.activeElement;
          if (dataset.action) return dataset.action === "T" ? "take" : "card";
          return `${tagName} ${ariaLabel || (tagName === "BUTTON" ? textContent : "")}`.trim();
        }"""
    )
    return found


@pytest.mark.slow
def test_keys_and_the_focus_of_a_game(
    client: Client, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys need no focus on the board; no second Enter takes, and no button drops the focus."""
    monkeypatch.setattr("arena.addons.table.visitor.secrets.randbelow", lambda _: 0)
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    page.wait_for_function("() => document.title === 'Play \u2013 District Noir Arena'")
    begin(page, "uniform", begins="bot")
    assert page.title() == "Your turn: you against uniform"
    assert focused(page) == "MAIN"
    hand = page.locator(".hand .act").evaluate_all("all => all.map(one => one.dataset.action)")
    missing = next(char for char in "5678" if char not in hand)
    page.keyboard.press(missing)
    assert page.locator("#said").text_content().startswith(f"Support {missing} is not in your hand")
    assert f"Support {missing} is not in your hand." in page.locator(".turn-line").inner_text()
    page.keyboard.press(f"Control+{hand[0]}")
    assert page.locator(BOARD).get_attribute("data-ply") == "1"
    await_turn(page, partial(page.keyboard.press, hand[0]))
    while not page.locator(".act.take").count():
        assert focused(page) == "card"
        await_turn(page, partial(page.keyboard.press, "Enter"))
    assert focused(page) == "card", "not what takes"
    page.get_by_role("button", name="Hint").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".hint table")
    assert focused(page) == "BUTTON Hint"
    await_turn(page, partial(page.keyboard.press, "t"))
    assert focused(page) == "DIV Board", "a second Enter does nothing"
    page.get_by_role("button", name="Leave the game").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".result:not([hidden])")
    assert focused(page) == "DIV Board"


@pytest.mark.slow
def test_the_page_that_is_opened_leads_in_and_an_address_works_once(
    client: Client, browser: Any, tmp_path: Path
) -> None:
    """Also from a file, as Chromium follows it; a second tab needs no address of its own.

    Scripts do not see the cookie, and no other port of this machine gets it.
    """
    file, address = tmp_path / "open.html", client.guard.door.make_address()
    write_page(file, address)
    inside, outside = browser.new_context(), browser.new_context()
    page, tab, other = inside.new_page(), inside.new_page(), outside.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("form")
    assert page.url == f"{client.origin}{client.root}/"
    assert page.evaluate("document.cookie") == ""
    for again in (page.url, address):
        tab.goto(again)
        tab.wait_for_selector("form")
        assert tab.url == page.url
    with listening() as (port, asked):
        tab.goto(f"http://127.0.0.1:{port}/")
    assert "cookie" not in asked[0].lower()
    other.goto(address)
    assert "an address works once" in other.locator("p").inner_text()
    inside.close()
    outside.close()


@contextmanager
def listening() -> Iterator[tuple[int, list[str]]]:
    """Yield the port of another server of this machine, and the headers that it is sent."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(str(self.headers))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


@pytest.mark.slow
def test_an_interrupted_game_goes_on_or_is_kept(client: Client, open_page: Open) -> None:
    """The page with the form lists it, with the spec of its bot, and a button for each."""
    for seed in (0, 2):
        leave_journal(client.table.records.path.parent, "greedy", seed, 9)
    page = open_page(client.guard.door.make_address(), viewport=PHONE)
    page.wait_for_selector("text=Interrupted games")
    assert page.get_by_text("human against greedy (greedy) \u2013 9 actions").count() == 2
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.get_by_role("button", name="Keep it unfinished").first.click()
    page.wait_for_selector("text=human against greedy \u2013 kept unfinished")
    page.get_by_role("button", name="Go on").click()
    page.wait_for_selector(".act")
    assert "goes on where it was interrupted, at ply 9." in page.locator(".turn-line").inner_text()
    page.get_by_role("button", name="Leave the game").click()
    page.wait_for_selector("text=Kept unfinished")


@pytest.mark.slow
def test_what_is_refused_is_said_on_the_page(client: Client, browser: Any) -> None:
    """A bot that does not exist; and, when the cookie is gone, where to find a new one."""
    context = browser.new_context()  # the browser writes every refusal on its console
    page = context.new_page()
    page.goto(client.guard.door.make_address())
    page.wait_for_selector("form")
    page.locator(".expert summary").click()
    page.locator(".expert select").select_option("")
    page.get_by_label("Bot: a file or a spec").fill("./none.py")
    page.get_by_role("button", name="Play").click()
    page.wait_for_selector("#complaint:not([hidden])")
    assert "./none.py" in page.locator("#complaint").inner_text()
    context.clear_cookies()
    page.get_by_role("link", name="Runs").click()
    page.wait_for_selector("text=Open the last address")
    context.close()


@pytest.mark.slow
def test_a_bot_with_a_hostile_name_is_shown_as_text(
    client: Client, open_page: Open, tmp_path: Path
) -> None:
    """It is no element, does not turn the sentences round, and fits a phone."""
    bot = tmp_path / "lowest.py"
    bot.write_text(LOWEST)
    page = open_page(client.guard.door.make_address(), viewport=PHONE)
    page.wait_for_selector("form")
    for name in (HOSTILE, LONG):
        page.goto(f"{client.origin}{client.root}/#/play")
        page.wait_for_selector("form")
        begin(page, f"{name}={bot}")
        assert name in page.locator("h1").text_content()
        assert page.locator("b[onclick]").count() == 0
        assert overflowing(page) == 0
        assert find_faults(page) == []
        page.get_by_role("button", name="Leave the game").click()
        page.wait_for_selector(".result:not([hidden])")
        page.goto(f"{client.origin}{client.root}/#/play")
        page.wait_for_selector(".games a")
        assert overflowing(page) == 0
    bot.write_text(BROKEN)
    begin(page, str(bot), begins="bot")
    assert page.locator(".result h2").inner_text() == "You win."
    evidence = page.locator(".result .evidence").inner_text()
    assert "ZeroDivisionError" in evidence
    assert "<noise>" in evidence


@pytest.mark.slow
def test_two_bots_are_watched(client: Client, open_page: Open) -> None:
    """As they play, and step by step: no more of the game is shown than has been asked for."""
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    page.get_by_role("link", name="Watch").click()
    page.wait_for_selector("text=Seed of the deal")
    assert find_faults(page) == []
    for select, bot in zip(page.locator("form select").all(), ("greedy", "majority"), strict=True):
        select.select_option(bot)
    page.get_by_label("Seed of the deal").fill("7")
    page.get_by_role("button", name="Watch").click()
    page.wait_for_selector(".transport")
    chips = page.locator(".chip")
    chips.first.wait_for()
    speeds = page.get_by_label("Speed").locator("option").all_inner_texts()
    assert speeds == ["as they play", "fast", "slowly", "step by step"]
    page.get_by_label("Speed").select_option("")
    shown = chips.count()
    page.get_by_role("button", name="Next action").click()
    assert chips.count() == shown + 1
    assert find_faults(page) == []
    page.get_by_label("Speed").select_option("0")
    page.wait_for_selector("text=The game is over. Seed 7.")
    page.wait_for_selector(".status .ending")
    page.get_by_role("button", name="To the deal").click()
    assert page.locator(".hand .back").count() == 0
    page.get_by_role("radio", name="greedy").check(force=True)
    assert page.locator(".hand .back").count() == 5
    assert "majority" in page.locator("h1").inner_text()
    assert overflowing(page) == 0


@pytest.mark.slow
def test_a_run_its_games_and_its_faults(client: Client, open_page: Open) -> None:
    """Standings, a game through the viewer, and evidence as text, also on a phone."""
    page = open_page(client.guard.door.make_address(), viewport=PHONE, color_scheme="dark")
    page.wait_for_selector("form")
    page.get_by_role("link", name="Runs").click()
    page.wait_for_function("() => document.title === 'Runs \u2013 District Noir Arena'")
    page.get_by_role("link", name="series/faults").click()
    page.wait_for_selector(".fault")
    page.wait_for_function("() => document.title === 'series/faults \u2013 District Noir Arena'")
    page.locator(".fault summary").first.click()
    assert "</script><script>" in page.locator(".fault").first.inner_text()
    assert page.locator("b[onclick]").count() == 0
    assert overflowing(page) == 0
    page.get_by_role("link", name="Runs").click()
    page.get_by_role("link", name="cup", exact=True).click()
    page.wait_for_selector("text=Later games")
    assert page.locator(".facts").first.inner_text().count("greedy") == 1
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.get_by_role("link", name="3/1", exact=True).click()
    page.wait_for_selector(".transport")
    assert find_faults(page) == []
    assert overflowing(page) == 0


LEADING = """<!doctype html><script>
const open_ = (to) => parent.postMessage({open: to}, "*");
const places = {away: "https://example.org/report/x", out: "../../../report.html", up: "/",
  other: 1, wrong: "%", proof: "./proof/report.html"};
onload = () => {
  for (const [name, to] of Object.entries(places)) {
    const button = document.createElement("button");
    button.textContent = name;
    button.onclick = () => open_(to);
    document.body.append(button);
  }
};
</script>"""
"""A report that asks the table to show other pages, of which only one is below the results."""


@pytest.mark.slow
@pytest.mark.parametrize("look", [{"viewport": PHONE}, {"color_scheme": "dark"}])
def test_what_was_started_is_a_row_each(
    client: Client, open_page: Open, look: dict[str, Any]
) -> None:
    """With the runs inside it, how it stands, and a report whose links lead on in its frame."""
    root = client.table.shelf.root
    tuning = root / HOSTILE
    for place in ("proof", "rungs/01"):
        shutil.copytree(root / "cup", tuning / place)
    (tuning / "candidates.csv").write_text("{}")
    (tuning / "report.html").write_text(LEADING)
    (tuning / "proof" / "report.html").write_text("<!doctype html>")
    (root / "broken").mkdir()
    (root / "broken" / "run.sqlite").write_text("noise")
    page = open_page(f"{client.guard.door.make_address()}", **look)
    page.wait_for_selector("form")
    page.get_by_role("link", name="Runs").click()
    page.wait_for_selector("text=4 results: 1 is not finished, 1 is damaged.")
    row = page.locator(".thing", has_text="tuning of 2 runs")
    assert row.locator(".thing-name").inner_text() == HOSTILE
    assert row.locator(".state").inner_text() == "not finished"
    cup = page.locator(".thing", has=page.get_by_role("link", name="cup", exact=True))
    assert cup.locator(".thing-verdict").inner_text() == "greedy is stronger than uniform."
    row.locator("summary").click()
    assert find_faults(page) == []
    assert overflowing(page) == 0
    row.get_by_role("link", name=f"report of {HOSTILE}").click()
    here = page.url
    report = page.frame_locator("iframe.report")
    for name in ("away", "out", "up", "other", "wrong"):
        report.get_by_role("button", name=name).click()
    assert page.url == here
    report.get_by_role("button", name="proof").click()
    page.wait_for_function("(here) => location.href !== here", arg=here)
    assert page.url.endswith("%2Fproof%2Freport.html")
    page.get_by_role("link", name="Runs").click()
    row.locator("summary").click()
    row.get_by_role("link", name="proof").click()
    page.wait_for_selector("text=Later games")
    assert page.locator(".said").inner_text() == "greedy is stronger than uniform."
    page.get_by_role("link", name="The report").click()
    page.frame_locator("iframe.report").locator("html").wait_for(state="attached")
    for place in (tuning, root / "broken"):
        shutil.rmtree(place)


@pytest.mark.slow
def test_a_league_is_shown_as_it_stands(client: Client, open_page: Open) -> None:
    """Its table and its news, new by themselves, also on a phone."""
    with a_league(client.table.shelf.root / "club") as league:
        play(league)
        write_site(league)
        page = open_page(client.guard.door.make_address(), viewport=PHONE)
        page.wait_for_selector("form")
        page.get_by_role("link", name="Runs").click()
        page.get_by_role("link", name="club", exact=True).click()
        page.wait_for_selector("text=This is after round 1")
        assert page.get_by_role("cell", name="majority 1", exact=True).count() == 1
        play(league)
        write_site(league)
        page.wait_for_selector("text=This is after round 2")
        sentence = say_standings(standings(league))
        assert page.get_by_role("heading", level=1).inner_text() == sentence
        page.get_by_role("link", name="Runs").click()
        row = page.locator(".thing", has_text="club")
        assert row.locator(".thing-verdict").inner_text() == sentence
        assert row.locator(".state").inner_text() == "open"
        row.get_by_role("link", name="pages of club").click()
        pages = page.frame_locator("iframe.report")
        pages.locator(".rungs").get_by_role("link", name="majority").click()
        pages.get_by_role("link", name="All bots").click()
        pages.locator(".rungs").wait_for()
        page.get_by_role("link", name="Runs").click()
    assert find_faults(page) == []
    assert overflowing(page) == 0
    shutil.rmtree(client.table.shelf.root / "club")


@pytest.mark.slow
def test_a_run_under_way_is_followed(client: Client, open_page: Open) -> None:
    """Its standings and faults come by themselves; at its end its games can be looked at."""
    root = client.table.shelf.root
    folder = root / "now"
    shutil.copytree(root / "series" / "faults", folder, symlinks=True)
    log = folder / "run.sqlite-wal"
    log.touch()
    page = open_page(client.guard.door.make_address())
    page.wait_for_selector("form")
    page.goto(f"{client.origin}{client.root}/#/run/now")
    page.wait_for_selector("text=2 of 2 games; running")
    page.wait_for_selector("text=Faults (2)")
    assert page.locator("#said").text_content().startswith(HOSTILE)
    log.unlink()
    page.wait_for_selector("section .facts")
    assert "running" not in page.locator(".turn-line").inner_text()
    shutil.rmtree(folder)


@contextmanager
def counting() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of another server of this machine, and what it is asked for."""
    asked: list[str] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
def test_a_report_reaches_nothing(client: Client, browser: Any) -> None:
    """Neither inside the page nor opened alone, whatever its scripts try; nor does it lead away."""
    report = client.table.shelf.root / "cup" / "report.html"
    context = browser.new_context()
    page = context.new_page()
    page.goto(client.guard.door.make_address())
    page.wait_for_selector("form")
    with counting() as (address, asked):
        report.write_text(PRYING.replace("ADDRESS", json.dumps(address)[1:-1]))
        for path in (
            "#/report/cup%2Freport.html",
            "alone/cup/report.html",
            "report/cup/report.html",
        ):
            page.goto(f"{client.origin}{client.root}/{path}")
            inside = page.frame_locator("iframe.report").locator("#said:not(:empty)")
            assert inside.text_content() == "reached: ."
            page.evaluate("document.querySelector('iframe').contentWindow.postMessage(0, '*')")
            page.wait_for_timeout(300)
            assert page.url.startswith(f"{client.origin}{client.root}/")
            assert len(context.pages) == 1
        assert asked == []
        with page.expect_request(f"{address}/lives"):  # the server would have heard it
            page.goto(f"{address}/lives")
        assert asked[0] == "/lives"  # what the browser asks of it by itself comes after
    page.goto(f"{client.origin}{client.root}/#/report/cup")
    with context.expect_page() as opened:
        page.get_by_role("link", name="Open it alone").click()
    assert opened.value.url == f"{client.origin}{client.root}/alone/cup"
    context.close()
