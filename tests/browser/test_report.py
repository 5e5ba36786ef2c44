"""The pages of reports in a browser: charts, tables, replays, names, and people who use them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.differences.run_files import RunTables
from arena.entries.resolve import resolve
from arena.lanes.faults import Fault
from arena.replays.html_page import frame as frame_of
from arena.reports.html import to_html
from arena.reports.run_report import make_report
from arena.store.csv_files import guard
from arena.tables.standings_text import names_on_page
from arena.tournament.sprt_rounds import as_comparison
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.browser.conftest import LAPTOP, PHONE, Pages, find_bad_texts, find_faults, overflowing
from tests.conftest import Once
from tests.reports.runs import BASE, HOSTILE, VARIANTS, cup, make_store, page_of, played
from tests.reports.test_index import report_of, with_hostile
from tests.tiers import few

Open = Callable[..., Any]
BOOM = Fault("exception", "<b>boom</b>", "<script>alert(2)</script>")


RUNS: dict[str, tuple[Tournament, dict[tuple[int, int, int], Fault]]] = {
    "small": (cup(["a", "b", "c"], 60), {}),
    "hostile": (cup(HOSTILE, 3), {(0, 1, 0): BOOM}),
    "many": (cup([f"bot number {number:02}" for number in range(40)], 1), {}),
    "variants": (cup(VARIANTS, 1), {}),
}
"""The runs whose pages are looked at, and their faults."""


def run_page(folder: Path, name: str) -> Path:
    run, faults = RUNS[name]
    return written(folder / f"{name}.html", page_of(run, make_store(run, faults=faults)))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pages(once: Once) -> Pages:
    makers: Any = {name: partial(run_page, name=name) for name in RUNS}
    makers |= {"runs": runs_page, "versions": versions_page}
    return Pages(once, "report", makers)


LIGHT = {"viewport": LAPTOP, "color_scheme": "light"}
DARK = {"viewport": PHONE, "color_scheme": "dark"}
LOOKS: dict[str, dict[str, Any]] = {
    **{"small": LIGHT, "hostile": DARK | {"has_touch": True}, "many": LIGHT},
    **{"runs": LIGHT, "versions": DARK},
}
"""How the page that tests share is looked at."""


@pytest.fixture
def shared(keep_page: Open, pages: Pages) -> Open:
    """Return a function that returns the page of a name, which all tests of it use."""
    return lambda name: keep_page(pages[name], **LOOKS[name])


def rows_of(page: Any, table: str) -> list[list[str]]:
    """Return the texts of a table's rows that are shown."""
    texts: list[list[str]] = page.eval_on_selector_all(
        f"#table-{table} tbody tr:not([hidden])",
        "rows => rows.map(r => [...r.cells].map(c => c.textContent))",
    )
    return texts


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "hostile")) for name in LOOKS]
)
def test_every_chart_is_drawn_and_nothing_overflows(shared: Open, name: str) -> None:
    """On a laptop and on a phone, light and dark; no label of a chart is cut off."""
    page = shared(name)
    charts = page.locator("figure.chart")
    assert charts.count() == 6 if name in RUNS else charts.count() >= 2
    for number in range(charts.count()):
        marks = charts.nth(number).locator(".sign, .bar, .line, .map tbody td")
        assert marks.count() > (name in RUNS)
    assert overflowing(page) == 0
    assert find_bad_texts(page) == []
    assert page.locator("nav li").evaluate_all(BEYOND_WINDOW) == []


BEYOND_WINDOW = """all => all.filter(one => one.getBoundingClientRect().right > innerWidth)
  .map(one => one.textContent)"""


@pytest.mark.parametrize("font", few(["60%", "100%"], 0))
def test_no_text_of_a_chart_is_cut_whatever_the_font(
    open_page: Open, pages: Pages, font: str
) -> None:
    """A character is as wide as in a font for code, or twice as wide as in others."""
    page = open_page(pages["hostile"], font, **LOOKS["hostile"])
    page.evaluate("document.fonts.ready.then(() => 0)")
    assert f"{page.evaluate(WIDTH_OF_I)}%" == font
    assert find_bad_texts(page) == []


WIDTH_OF_I = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `100px ${getComputedStyle(document.querySelector("#chart-leads .part")).fontFamily}`;
  return Math.round(pen.measureText("i").width);
}"""


@pytest.mark.slow
@pytest.mark.parametrize("viewport", few([PHONE, LAPTOP], 0, 1), ids=["phone", "laptop"])
def test_40_variants_have_40_names_of_which_none_is_cut(
    open_page: Open, pages: Pages, viewport: dict[str, int]
) -> None:
    """In charts, in the rows of the first screen and in tables; copies are whole."""
    page = open_page(pages["variants"], viewport=viewport)
    names = {*page.locator(".rung .name").all_text_contents()}
    assert len(names) == 40
    assert max(map(len, names)) <= 28
    assert len({*page.locator("#chart-leads .part").all_text_contents()} & names) == 39
    heads = page.locator("#chart-heat-map tbody th").all_text_contents()
    assert {head.strip().partition(" ")[2] for head in heads} == names
    assert {row[1] for row in rows_of(page, "standings")} == names
    for place in (".rung .name", ".bars .part", ".sheet tbody :is(th, td)"):
        assert page.locator(place).evaluate_all(HIDDEN) == []
    page.locator("#table-standings input").fill("iterations=400 1.1")
    assert {row[1][:6] for row in rows_of(page, "standings")} == {"ismcts"}
    page.evaluate(TAKE_TEXT)
    page.locator("#table-standings [data-copy]").click()
    page.wait_for_function("() => window.copied")
    copied = [*csv.DictReader(io.StringIO(page.evaluate("window.copied")))]
    assert {row["bot"] for row in copied} == {one for one in VARIANTS if "re=1.1" in one}


HIDDEN = """all => all.filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth)
  .map(one => one.textContent)"""


@pytest.mark.slow
def test_a_table_is_sorted_by_its_headers(shared: Open) -> None:
    """Numbers from the greatest on, names from A on; a second click, or key, turns it around."""
    page = shared("many")
    head = page.locator("#table-standings th[data-name=bot]")
    names = [f"bot number {number:02}" for number in range(40)]
    head.get_by_role("button").click()
    assert [row[1] for row in rows_of(page, "standings")] == names
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").press("Enter")
    assert [row[1] for row in rows_of(page, "standings")] == names[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    names = page.locator("#table-standings th").evaluate_all(
        "all => all.map(th => th.dataset.name)"
    )
    page.locator("#table-standings th[data-name=points_wins] button").click()
    cells = [row[names.index("points_wins")] for row in rows_of(page, "standings")]
    wins = [int(cell.replace(",", "")) for cell in cells]
    assert wins == sorted(wins, reverse=True)
    assert head.get_attribute("aria-sort") is None


def test_a_table_is_filtered_by_words(shared: Open) -> None:
    """Rows that have all of them stay; their number is said aloud."""
    page = shared("hostile")
    field = page.locator("#table-head_to_head input")
    every = rows_of(page, "head_to_head")
    one, other = (bot.split()[-1] for bot in every[len(every) // 2][:2])
    field.fill(f"{one} {other}")
    rows = rows_of(page, "head_to_head")
    assert rows == [row for row in every if one in " ".join(row) and other in " ".join(row)]
    assert 0 < len(rows) < len(every) == 21
    said = page.locator("#table-head_to_head [role=status]")
    assert said.text_content() == f"{len(rows)} of {len(every)} rows"
    field.fill("")
    assert rows_of(page, "head_to_head") == every


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "many"])
def test_the_standings_fit_a_laptop(open_page: Open, pages: Pages, name: str) -> None:
    """On a phone they scroll in their place, and the name of the bot stays."""
    page = open_page(pages[name])
    assert page.evaluate(SPARE) == 0
    page.set_viewport_size(PHONE)
    assert page.evaluate(SPARE) > 0
    assert overflowing(page) == 0
    page.evaluate("document.querySelector('#table-standings .scroll').scrollLeft = 300")
    head = page.locator("#table-standings tbody th").first
    region = page.locator("#table-standings .scroll").bounding_box()
    assert region["x"] <= head.bounding_box()["x"] < region["x"] + 2


SPARE = """() => {
  const region = document.querySelector("#table-standings .scroll");
  return region.scrollWidth - region.clientWidth;
}"""
"""By how many pixels the standings are wider than what is seen of them."""


@pytest.mark.slow
def test_names_are_of_their_own_and_never_more_than_text(shared: Open) -> None:
    """Of controls, charts and bots; no script of a name or of a fault's evidence is run."""
    page = shared("hostile")
    for control in ("input[type=search]", "[data-copy]"):
        names = page.locator(control).evaluate_all("all => all.map(one => one.ariaLabel)")
        assert len({*names}) == len(names) > 3
    page.get_by_label("Copy as CSV: Standings", exact=True).wait_for(state="attached")
    said = page.locator("figure.chart svg[role=img] > title").all_text_contents()
    assert len(said) > 10
    assert all(said)
    names = {row[1] for row in rows_of(page, "standings")}
    assert names == {*names_on_page(HOSTILE).short.values()}
    titles = page.locator("#table-standings th[title]").evaluate_all("all => all.map(a => a.title)")
    assert {*titles} >= {label for label in HOSTILE if len(label) == 60}
    evidence = page.locator("#faults pre").first.text_content()
    assert evidence.count("<script>alert(2)</script>") == 1
    assert page.locator("td script, th script, pre script").count() == 0


@pytest.mark.slow
def test_a_table_is_copied_as_csv(shared: Open) -> None:
    """With the names of the file's columns and exact numbers; what is not allowed is said."""
    page = shared("hostile")
    page.evaluate(TAKE_TEXT)
    page.locator("#table-standings [data-copy]").click()
    page.wait_for_function("() => window.copied")
    rows = [*csv.DictReader(io.StringIO(page.evaluate("window.copied")))]
    assert {row["bot"] for row in rows} == {*map(guard, HOSTILE)}
    assert guard("=1+1") == "'=1+1"
    assert rows[0]["rank"] == "1"
    assert 0 < float(rows[0]["score"]) <= 1
    said = page.locator("#table-standings [role=status]")
    said.filter(has_text="Copied").wait_for()
    page.locator("#table-standings [data-copy]").click()
    said.filter(has_text="The browser does not allow copying").wait_for()


TAKE_TEXT = """() => {
  document.execCommand = () => {
    const isFirst = !window.copied;
    window.copied = window.copied || document.activeElement.value;
    return isFirst;
  };
}"""


@pytest.mark.slow
def test_a_cell_of_the_map_and_a_game_are_one_click_away(shared: Open) -> None:
    """A dialog with the viewer opens, also from a fault; a folded table unfolds by its link."""
    page = shared("hostile")
    cell = page.locator("#chart-heat-map tbody tr").nth(1).locator("td").first
    assert re.match(r"2 - 1: [\d.]+ % \(.*\); 6 games, ", cell.get_attribute("title"))
    assert re.fullmatch(r"\d+", cell.text_content())
    links = page.locator("#games a[data-replay]")
    assert links.count() >= 3
    for link in (links.first, page.locator("#table-faults a").first):
        link.click()
        dialog = page.get_by_role("dialog")
        dialog.wait_for()
        assert dialog.locator("svg").count() > 5
        assert overflowing(page) == 0
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
    assert not page.locator("#table-verdicts table").is_visible()
    page.locator("#chart-leads figcaption summary").click()
    page.locator("#chart-leads figcaption a").click()
    page.locator("#table-verdicts table").wait_for(state="visible")
    page.evaluate("document.querySelector('#tables').open = false")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hostile", "runs", "versions"])
def test_axe_finds_nothing_serious(shared: Open, name: str) -> None:
    """With every part of a run's page unfolded, and with a replay open."""
    page = shared(name)
    if name != "hostile":
        assert find_faults(page) == []
        return
    page.evaluate(UNFOLD)
    assert find_faults(page) == []
    page.locator("#games a[data-replay]").first.click()
    page.get_by_role("dialog").wait_for()
    assert find_faults(page, "dialog") == []
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    page.evaluate("window.unfolded.forEach(part => { part.open = false; })")


UNFOLD = """() => {
  window.unfolded = [...document.querySelectorAll("details:not([open])")];
  window.unfolded.forEach(part => { part.open = true; });
}"""


def runs_page(folder: Path) -> Path:
    """Write the page of two runs with hostile names."""
    runs = [played(with_hostile(*BASE)), played(with_hostile("greedy", "mine=greedy(patience=1)"))]
    report = report_of(runs)
    for run in runs:
        run.store.close()
    return written(folder / "runs.html", to_html(report))


def versions_page(folder: Path) -> Path:
    """Write the page of two versions of a bot."""
    bots = [resolve(bot, lane="inproc") for bot in ("new=greedy(patience=1)", "greedy", "uniform")]
    what = Tournament("compare", 1, 48, bots, STANDARD, panel=1)
    what = as_comparison(what, make_sprt(0, 10, 0.05, 0.05, 48))
    games = played(what)
    made = make_report(what, games.store, RunTables(what, games.store))
    games.store.close()
    return written(folder / "versions.html", to_html(made))


@pytest.mark.slow
def test_a_notebook_frame_draws_the_page(pages: Pages, open_page: Open, tmp_path: Path) -> None:
    """In a sandbox without an origin."""
    notebook = tmp_path / "notebook.html"
    shown = frame_of(pages["runs"].read_text(), "Report", "40rem")
    notebook.write_text(f"<!doctype html><html lang=en><title>n</title>{shown}")
    frame = open_page(notebook).frame_locator("iframe")
    frame.locator("figure.chart svg").first.wait_for()
    frame.locator("#table-standings th button").first.wait_for()
