"""The reports that compare: runs, two versions of a bot, and rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from arena.addons.studies.ablate_rules import ablate, make_ablation_report
from arena.differences.changes import find_changes
from arena.differences.claims import Shown, read_path
from arena.differences.run_files import make_files
from arena.entries.resolve import resolve
from arena.reports.about import RunFacts
from arena.reports.blocks import Report, Table, Text, to_markdown
from arena.reports.changes_report import make_changes_report, name_significant, point_chart
from arena.reports.html import to_html
from arena.reports.lead import Bars
from arena.reports.run_report import make_report
from arena.statistics.intervals import Estimate
from arena.tables.summary import plain_rows
from arena.tournament.rule_changes import make_variants
from arena.tournament.sprt_rounds import as_comparison
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.differences.test_changes import BASE, RunGames, play, tournament
from tests.runs.test_verify import playing

HOSTILE = ["<script>alert(1)</script>", "a|b`*", "W" * 60, "שלום"]


def with_hostile(*bots: str) -> Tournament:
    """Return a tournament that also has bots with hostile labels."""
    what = tournament(*bots, pairs=6)
    denier = resolve("denier", lane="inproc")
    hostile = [replace(denier, label=label) for label in HOSTILE]
    return replace(what, entries=[*what.entries, *hostile])


def table_of(report: Report, name: str) -> Table:
    (found,) = (table for table in report.tables() if table.name == name)
    return found


def facts(title: str, games: RunGames) -> RunFacts:
    return RunFacts(
        title,
        games.tournament,
        games.store.count_games(),
        games.store.count_games() == games.tournament.games,
    )


@pytest.fixture(scope="module")
def runs() -> Iterator[list[RunGames]]:
    """Three runs: a base, one with a bot that has changed and hostile names, one apart."""
    made = [
        play(with_hostile(*BASE)),
        play(with_hostile("greedy", "uniform", "mine=greedy(patience=1)")),
        play(tournament("majority", "city_hunter", pairs=2)),
    ]
    yield made
    for games in made:
        games.store.close()


@pytest.fixture(scope="module")
def report(runs: list[RunGames]) -> Report:
    """What is different from the first run to the others."""
    named = [facts(name, games) for name, games in zip(HOSTILE, runs, strict=False)]
    changes = [find_changes(runs[0], other) for other in runs[1:]]
    return make_changes_report(named[0], [*zip(named[1:], changes, strict=True)])


@pytest.mark.slow
def test_every_part_has_a_name_of_its_own(report: Report) -> None:
    """Also where several runs are compared; charts lead to tables that are there."""
    tables = [table.name for table in report.tables()]
    charts = [chart.name for chart in report.charts()]
    sections = [section.name for section in report.sections]
    for names in (tables, charts, sections):
        assert len(names) == len({*names})
    assert {chart.table for chart in report.charts()} <= {*tables}
    assert {"ratings-1", "win-types-1", "head-to-head-1", "ratings-2"} <= {*sections}
    assert "head-to-head-2" not in sections


@pytest.mark.slow
def test_every_row_has_a_cell_for_each_column(report: Report) -> None:
    """And what is a number is one, or nothing."""
    for table in report.tables():
        for row in table.rows:
            assert len(row) == len(table.columns)
            for column, cell in zip(table.columns, row, strict=True):
                is_text = isinstance(cell, str)
                assert cell is None or is_text == (column.kind in ("text", "code")), column


@pytest.mark.slow
def test_the_table_says_which_bots_are_the_same(report: Report) -> None:
    """And the chart has the same changes as the table of ratings."""
    table = table_of(report, "ratings-1")
    rows = {row[0]: row for row in table.rows}
    assert rows["greedy"][1] == "same"
    assert rows["mine"][1] == "changed"
    assert rows["greedy"][-1] == "not tested"
    assert rows["mine"][-1] in ("significant", "not significant")
    (chart,) = (chart for chart in report.charts() if chart.name == "rating-changes-1")
    values = {row["name"]: row["value"] for row in chart.spec["data"]["values"]}
    assert values == {label: row[4] for label, row in rows.items()}


@pytest.mark.slow
def test_what_cannot_be_compared_is_a_warning(report: Report) -> None:
    """In the section of the run, and the others are compared."""
    (section,) = (section for section in report.sections if section.name == "ratings-2")
    warning = section.blocks[0]
    assert isinstance(warning, Text)
    assert warning.warning
    assert len(warning.paragraphs) == 2


def test_hostile_names_are_text_on_the_page_and_in_markdown(report: Report) -> None:
    """Titles of runs and labels alike."""
    page = to_html(report)
    assert "<script>alert" not in page.replace("\\u003c", "")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\\<script>alert" in to_markdown(report)
    assert page == to_html(report)


def test_an_unfinished_run_is_named(runs: list[RunGames]) -> None:
    """So that nobody takes it for the whole."""
    one = facts("one", runs[0])
    other = replace(facts("two", runs[1]), finished=False)
    report = make_changes_report(one, [(other, find_changes(*runs[:2]))])
    first = report.sections[0].blocks[0]
    assert isinstance(first, Text)
    assert first.paragraphs == ["Not finished, so as far as it was played: two."]
    assert report.summary[0].startswith("mine has ")
    assert report.summary[1].startswith("Not finished: two. What is said may turn around ")


def test_the_headline_of_several_runs_has_one_for_each(report: Report) -> None:
    """Those that have no bot in common cannot be compared."""
    first, second, _ = report.summary
    assert first.startswith(f"{HOSTILE[1]}: mine has ")
    assert second == f"{HOSTILE[2]}: The Elo of no bot can be compared between these runs."


@pytest.fixture(scope="module", params=[[], ["uniform", "denier"]], ids=["direct", "against"])
def compared(request: pytest.FixtureRequest) -> Iterator[tuple[Tournament, RunGames]]:
    """A comparison of two versions, with each other and against others."""
    bots = ["new=greedy(patience=1)", "greedy", *request.param]
    what = Tournament(
        "compare",
        1,
        64,
        [resolve(bot, lane="inproc") for bot in bots],
        STANDARD,
        panel=len(request.param),
    )
    what = as_comparison(what, make_sprt(0, 10, 0.05, 0.05, 64))
    games = play(what)
    yield what, games
    games.store.close()


@pytest.mark.slow
def test_the_report_of_a_comparison_has_its_verdict_and_path(
    compared: tuple[Tournament, RunGames],
) -> None:
    """The path ends where the test ended; the counts are those of the test."""
    what, games = compared
    files = make_files(what, games.store)
    comparison = files.tables.comparison
    assert comparison is not None
    path = read_path(what, comparison.stop, games.store, comparison.evidence.pairs)
    assert [look.pairs for look in path] == [*comparison.evidence.looks]
    assert path[-1].ratio == pytest.approx(comparison.evidence.ratio)
    report = make_report(what, games.store, files)
    verdict = next(section for section in report.sections if section.name == "verdict")
    text = verdict.blocks[0]
    assert isinstance(text, Text)
    assert text.paragraphs[0].startswith(f"Elo difference {comparison.elo.value:+.1f}, 95 % ")
    assert report.opening
    assert report.opening.sentence == comparison.statement
    assert report.opening.lead
    assert report.opening.lead.verdict == comparison.word
    assert [row[1] for row in table_of(report, "counts").rows] == [*comparison.evidence.counts]
    rows = table_of(report, "ratio-path").rows
    assert [row[0] for row in rows] == [*comparison.evidence.looks]
    names = [section.name for section in report.sections]
    assert ("differences" in names) == ("decided" in names) == (comparison.paired is not None)


@pytest.mark.slow
def test_the_bars_of_the_parts_are_the_rows_of_the_file(
    compared: tuple[Tournament, RunGames],
) -> None:
    """Each with its number, and where it begins, ends and may lie; the stacked ones follow on."""
    what, games = compared
    files = make_files(what, games.store)
    report = make_report(what, games.store, files)
    rows = {(row["split"], row["part"]): row for row in plain_rows(files.lead_parts().table())}
    drawn = {bars.title: bars for bars in report.blocks if isinstance(bars, Bars)}
    for title, split, factor in (("", "ending", 100), ("By round", "round", 1)):
        bars = (
            drawn[title].bars
            if title
            else next(one for one in report.blocks if isinstance(one, Bars) and one.stacked).bars
        )
        of_split = [row for (name, _), row in rows.items() if name == split]
        assert len(bars) == len(of_split) > 1
        for bar, row in zip(bars, of_split, strict=True):
            assert float(bar.value) == pytest.approx(factor * row["lead"], abs=0.0501)
            assert bar.low - 0.01 <= (bar.start if row["lead"] < 0 else bar.start + bar.width)
            assert bar.high + 0.01 >= (bar.start if row["lead"] < 0 else bar.start + bar.width)
            assert bar.whole == (row["part"] == "all")
    table = next(one for one in report.tables() if one.name == "lead-parts")
    assert [row[:2] for row in table.rows] == [*rows]


@pytest.mark.slow
def test_decided_games_lead_to_their_replays(compared: tuple[Tournament, RunGames]) -> None:
    """Those that are on the page."""
    what, games = compared
    files = make_files(what, games.store)
    if files.tables.comparison is None or files.tables.comparison.paired is None:
        return
    report = make_report(what, games.store, files)
    table = table_of(report, "decided")
    titles = {replay.id: replay.title for replay in report.replays()}
    linked = {row[0]: link for row, link in zip(table.rows, table.links, strict=True) if link}
    assert linked
    for game, link in linked.items():
        assert titles[link].startswith(f"{game}: ")


@pytest.mark.slow
def test_the_report_of_an_ablation_leads_to_its_variants(tmp_path: Path) -> None:
    """A section for each measure, with the numbers of ablation.csv; the links are there."""
    variants = make_variants(STANDARD, ["set_bonus=0", "majority_values=[1,1,1,1]"])
    what = tournament("greedy", "uniform", pairs=4)
    found = ablate(what, variants, tmp_path / "out", playing())
    report = make_ablation_report(found, what)
    assert (tmp_path / "out" / "report.html").read_text() == to_html(report)
    assert (tmp_path / "out" / "report.md").read_text() == to_markdown(report)
    assert report.summary[0].startswith("No effect is surely more than luck; the clearest seen: ")
    effects = table_of(report, "effects")
    assert [row[0] for row in effects.rows] == ["set_bonus=0", "majority_values=1-1-1-1"]
    assert all((tmp_path / "out" / unquote(link or "")).is_file() for link in effects.links)
    links = table_of(report, "variants").links
    assert all((tmp_path / "out" / unquote(link or "")).is_file() for link in links)
    city = table_of(report, "city").rows
    value, low, high, _ = found.variants[1].values[0]
    assert None not in (value, low, high)
    assert city[1][1:4] == pytest.approx([100 * number for number in (value, low, high)])  # type: ignore[operator]
    assert "](./set_bonus%3D0/report.html)" in to_markdown(report)
    for table in report.tables():
        assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "a"), (4, "a, b, c and d"), (5, "a, b, c and 2 more"), (8, "a, b, c and 5 more")],
)
def test_of_many_differences_the_first_ones_are_named(count: int, text: str) -> None:
    """And the others are counted."""
    points = [Shown(name, Estimate(1.0, 0.5, 1.5), True) for name in "abcdefgh"[:count]]
    assert name_significant(points) == f"significant: {text}"


def test_a_chart_of_differences_has_a_line_at_zero() -> None:
    """And shapes that say what is significant; a chart of values has neither."""
    points = [
        Shown("a", Estimate(1.0, 0.5, 1.5), True),
        Shown("b", Estimate(0.1, -0.5, 0.7), False),
    ]
    differences, values = (
        json.dumps(spec)
        for spec in (
            point_chart(points, "Elo", "change"),
            point_chart(points, "Elo", "number", zero=False),
        )
    )
    for part in ('"field": "zero"', '"shape"', '"legend"'):
        assert part in differences, part
        assert part not in values, part
