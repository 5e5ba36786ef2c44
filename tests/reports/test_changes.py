"""The reports that compare: runs, two versions of a bot, and rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from arena.differences.claims import read_path
from arena.differences.run_files import make_files
from arena.entries.resolve import resolve
from arena.reports.about import RunFacts
from arena.reports.blocks import Report, Table, Text, to_markdown
from arena.reports.changes_report import make_changes_report
from arena.reports.drawing import Rows
from arena.reports.html import to_html
from arena.reports.run_report import make_report
from arena.store.listed_games import list_run
from arena.tables.rated_lists import rate_lists
from arena.tables.summary import plain_rows
from arena.tournament.sprt_rounds import as_comparison
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.reports.runs import BASE, RunGames, played, tournament

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


@pytest.fixture(scope="module")
def runs() -> Iterator[list[RunGames]]:
    """Three runs: a base, one with a bot that has changed and hostile names, one apart."""
    made = [
        played(with_hostile(*BASE)),
        played(with_hostile("greedy", "uniform", "mine=greedy(patience=1)")),
        played(tournament("majority", "city_hunter", pairs=2)),
    ]
    yield made
    for games in made:
        games.store.close()


def report_of(runs: Sequence[RunGames], *, finished: bool = True) -> Report:
    """Return the report of some runs with hostile titles."""
    titles = [*zip(HOSTILE, runs, strict=False)]
    lists = [list_run(*games, title) for title, games in titles]
    facts = [RunFacts(title, games.tournament, 9, finished) for title, games in titles]
    return make_changes_report(facts, lists, rate_lists(lists, by_list=True))


@pytest.mark.slow
def test_a_changed_bot_is_named_by_its_run_and_has_the_verdict_of_the_table(
    runs: list[RunGames],
) -> None:
    """The lead is that of the new one; the bots that are the same are rated once."""
    report = report_of(runs[:2])
    ((run, bot, base, lead, low, high, likely, verdict),) = table_of(report, "changes").rows
    assert (run, bot, base) == (HOSTILE[1], f"mine@{HOSTILE[1]}", "mine")
    (row,) = (row for row in table_of(report, "verdicts").rows if {*row[:2]} == {bot, base})
    sign = 1 if row[0] == bot else -1
    assert [lead, low, high] == [sign * end for end in (row[2], *row[3:5][::sign])]  # type: ignore[operator]
    assert likely == pytest.approx(row[5] if sign > 0 else 1 - row[5])  # type: ignore[operator]
    assert verdict == row[6]
    assert report.summary[0].endswith(f": {bot} is at {lead:+.0f} Elo ({low:.0f}..{high:.0f}).")
    bots = [row[1] for row in table_of(report, "standings").rows]
    assert {*bots} == {*BASE[:2], "mine", bot, HOSTILE[0]}  # deniers are one bot


@pytest.mark.slow
def test_every_part_of_the_report_of_runs_has_a_name_of_its_own(runs: list[RunGames]) -> None:
    """Charts lead to tables that are there, and a row has a cell for each column."""
    report = report_of(runs)
    tables = [table.name for table in report.tables()]
    for names in (tables, [chart.name for chart in report.charts()]):
        assert len(names) == len({*names})
    assert {chart.table for chart in report.charts()} <= {*tables, ""}
    for table in report.tables():
        assert all(len(row) == len(table.columns) for row in table.rows)
    page = to_html(report)
    assert "<script>alert" not in page.replace("\\u003c", "")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\\<script>alert" in to_markdown(report)


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
    games = played(what)
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
    drawn = {one.name: one for one in report.charts() if isinstance(one, Rows)}
    for name, split, factor in (("ending", "ending", 100), ("by-round", "round", 1)):
        of_split = [row for (of, _), row in rows.items() if of == split]
        assert len(drawn[name].rows) == len(of_split) > 1
        end = 0.0
        for bar, row in zip(drawn[name].rows, of_split, strict=True):
            (mark,) = bar.marks
            assert mark.start is not None
            assert float(bar.value) == pytest.approx(factor * row["lead"], abs=0.0501)
            assert mark.value - mark.start == pytest.approx(factor * row["lead"], abs=0.01 * factor)
            assert mark.ends[1] <= mark.value <= mark.ends[2]
            assert bar.whole == (row["part"] == "all")
            assert mark.start == (end if split == "ending" and not bar.whole else 0.0)
            end = mark.value
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
