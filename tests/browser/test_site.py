"""The site, a page's policy and the pages of a league in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import submission
from arena.addons.league.league_site import write_site
from arena.replays.html_page import render
from tests.addons.league.small import a_league, accept, play, write_bot
from tests.browser.conftest import LAPTOP, PHONE, find_faults, overflowing
from tests.docs.test_site import site

__all__ = ["site"]

Open = Callable[..., Any]

SHOWN = ("index", "results", "how-to", "reference/arena-run", "reference/config-keys")


@pytest.fixture
def open_site(open_page: Open, site: Path) -> Callable[..., Any]:
    """Return a function that opens a page of the site; at the end all must have been quiet."""
    return lambda name, **options: open_page(f"{site.as_uri()}/{name}", **options)


@pytest.mark.slow
@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("name", SHOWN)
def test_axe_finds_nothing_serious(open_site: Open, name: str, look: str) -> None:
    """In both looks, of which the page takes that of the system."""
    page = open_site(f"{name}.html", color_scheme=look)
    assert page.get_attribute("html", "data-theme") == look
    assert find_faults(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("name", SHOWN)
def test_nothing_is_wider_than_the_window(
    open_site: Open, name: str, viewport: dict[str, int]
) -> None:
    """A table that is wide scrolls in its place."""
    assert overflowing(open_site(f"{name}.html", viewport=viewport)) == 0


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


def test_only_the_scripts_of_the_page_run(browser: Any, tmp_path: Path) -> None:
    """No eval, no further script, no handler in an attribute, and nothing is loaded."""
    path = tmp_path / "page.html"
    path.write_text(render("arena.replays/page.html", title="A page", libraries=[TRIES]))
    page = browser.new_page()
    sent: list[str] = []
    page.on("requestfinished", lambda request: sent.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state()
    assert page.evaluate("window.ran") == ["script"]
    assert sent == [path.as_uri()]
    page.close()


def test_a_page_that_is_as_it_should_be_is_quiet(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    """Its own script runs under the policy, also with `</script` in it."""
    script = "document.title = 'ran </script>';"
    path = tmp_path / "page.html"
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
    assert page.locator(".rungs .course .end").count() == page.locator(".rungs .rung").count()
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.locator(".rungs").get_by_role("link", name="patient", exact=True).click()
    page.wait_for_selector("text=What to work on")
    assert "beside version 1" in page.inner_text("main")
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.locator("#games a[data-replay]").first.click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    assert dialog.locator("svg").count() > 5
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    page.get_by_role("link", name="All bots").click()
    page.wait_for_selector(".rungs")
