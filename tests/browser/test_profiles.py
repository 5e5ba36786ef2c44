"""Profiles in a browser: one bot, two bots, by mouse, keyboard and address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.differences.profiles import make_files
from arena.reports.blocks import Chart
from arena.reports.html import to_html
from arena.reports.run_report import make_report
from arena.tables.short_names import names_on_page
from tests.browser.conftest import LAPTOP, PHONE, find_faults, overflowing
from tests.conftest import Once
from tests.reports.runs import HOSTILE, cup, make_store

Open = Callable[..., Any]
LOOKS = [
    pytest.param(PHONE, "dark", id="phone"),
    pytest.param(LAPTOP, "light", id="laptop", marks=pytest.mark.slow),
    pytest.param(LAPTOP, "dark", id="laptop-dark", marks=pytest.mark.slow),
    pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module")
def written(once: Once) -> Path:
    """Return the page that tests share."""
    return once("profiles", write_page) / "report.html"


def write_page(folder: Path) -> None:
    """Write a page of a run with hostile names, without charts, which take most of its time."""
    what = cup(HOSTILE, 4)
    store = make_store(what)
    report = make_report(what, store, make_files(what, store))
    sections = [
        replace(one, blocks=[block for block in one.blocks if not isinstance(block, Chart)])
        for one in report.sections
        if one.name in ("standings", "profiles", "games")
    ]
    report = replace(report, sections=sections)
    (folder / "report.html").write_text(to_html(report), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("viewport", "scheme"), LOOKS)
def test_one_bot_and_two_are_shown_when_they_are_chosen(
    open_page: Open, written: Path, viewport: dict[str, int], scheme: str
) -> None:
    """Nothing before; with the address of the choice, texts as texts, and nothing for axe."""
    page = open_page(written, viewport=viewport, color_scheme=scheme)
    holder = page.locator(".profiles")
    article, selects = holder.locator("article"), holder.locator("select")
    assert not article.is_visible()
    assert holder.locator(".unscripted").count() == 0
    whole = {name: label for label, name in names_on_page(HOSTILE).short.items()}
    names = [whole[name] for name in selects.first.locator("option").all_text_contents()[1:]]
    assert sorted(names) == sorted(HOSTILE)
    page.locator("#table-standings tbody th a").nth(1).click()
    article.wait_for(state="visible")
    assert article.locator("h3").text_content() == names[1]
    assert page.evaluate("location.hash") == "#profile-2"
    assert page.evaluate("document.activeElement.id") == "profile-2"
    assert article.locator(".part").count() == 5
    check_part(page)
    page.get_by_label("beside", exact=True).select_option(
        index=1
    )  # the first bot, which comes first
    assert page.evaluate("location.hash") == "#profile-1-2"
    assert article.locator("h3").text_content() == f"{names[0]} and {names[1]}"
    titles = article.locator("h4").all_text_contents()
    assert titles[-1] == "Against each other: 8 games"
    check_part(page)
    assert page.evaluate("document.querySelectorAll('td script, th script').length") == 0
    page.get_by_label("Bot", exact=True).select_option(index=0)
    assert not article.is_visible()


def check_part(page: Any) -> None:
    assert overflowing(page) == 0
    assert page.evaluate(BEYOND) == []
    assert find_faults(page, ".profiles") == []


BEYOND = """() => {
  const edge = document.querySelector('.profiles article').getBoundingClientRect().right;
  return [...document.querySelectorAll('.profiles article *')]
    .filter(part => part.getBoundingClientRect().right > edge)
    .map(part => part.textContent.slice(0, 80));
}"""


@pytest.mark.slow
def test_an_address_shows_its_bots_and_a_wrong_one_nothing(open_page: Open, written: Path) -> None:
    """In any order; keys choose, too, games open their replay, and the choice is printed."""
    page = open_page(written)
    article = page.locator(".profiles article")
    for wrong in ("profile-0", "profile-99", "profile-1-1", "profile-1-99", "profile-x"):
        page.evaluate("hash => { location.hash = hash; }", wrong)
        assert not article.is_visible()
    page.evaluate("location.hash = 'profile-3-1'")
    article.wait_for(state="visible")
    assert article.get_attribute("id") == "profile-1-3"
    selects = page.locator(".profiles select")
    assert [selects.nth(n).input_value() for n in (0, 1)] == ["0", "2"]
    selects.nth(1).focus()
    page.keyboard.press("Home")
    assert article.get_attribute("id") == "profile-1"
    article.locator("a[href^='#game-']").first.click()
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.emulate_media(media="print")
    assert article.is_visible()
    assert not selects.first.is_visible()


def test_without_scripts_the_section_says_where_the_numbers_are(
    browser: Any, written: Path
) -> None:
    """And no choice is offered that does nothing."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written.as_uri())
    assert "report.md has their key figures" in page.locator(".profiles").inner_text()
    assert not page.locator(".profiles select").first.is_visible()
    context.close()
