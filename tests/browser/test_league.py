"""The pages of a league in a browser: from the first one to a bot's, and to a replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import submission
from arena.addons.league.league_site import write_site
from tests.addons.league.small import a_league, accept, play, write_bot
from tests.browser.conftest import PHONE, find_faults, overflowing

Open = Callable[..., Any]


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
    page.wait_for_selector("html[data-drawn]")
    assert page.locator(".rungs .course .end").count() == page.locator(".rungs .rung").count()
    assert find_faults(page) == []
    assert overflowing(page) == 0
    page.locator(".rungs").get_by_role("link", name="patient", exact=True).click()
    page.wait_for_selector("text=What to do next")
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
