"""The list of runs, the colours of pages, and the reports of comparisons and of several runs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest

from arena.differences.run_files import RunTables
from arena.differences.sentences import read_path
from arena.entries.resolve import resolve
from arena.replays.html_page import static
from arena.reports.blocks import Report, to_markdown, to_paragraph
from arena.reports.charts import Rows
from arena.reports.html import renew_index, to_html
from arena.reports.ratings_report import RunFacts, make_changes_report
from arena.reports.run_report import make_report
from arena.store.listed_games import list_run
from arena.tables.rated_lists import rate_lists
from arena.tables.standings_text import plain_rows
from arena.tournament.sprt_rounds import as_comparison
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from tests.conftest import Arena
from tests.reports.runs import BASE, RunGames, played, table_of, tournament

HOSTILE = "<b>&amp;'\"\u202e #?%"


def add(folder: Path, name: str, sentence: str = "a is first.", time: int = 1_700_000_000) -> Path:
    """Make the folder of a run as far as the list reads it."""
    run = folder / name
    run.mkdir(parents=True)
    for file, text in (
        ("report.html", "<!doctype html>"),
        ("report.md", f"# Run\n\n{to_paragraph(sentence)}\n"),
        ("manifest.json", "{}"),
    ):
        (run / file).write_text(text)
        os.utime(run / file, (time, time))
    return run


def rows(folder: Path) -> list[tuple[str, ...]]:
    """Return the date, the link, the name and the sentence of each row of a list."""
    cells = '<a href="(.*?)">(.*?)</a><td class=mono><code>(.*?)</code><td class=.*?>(.*)'
    row = re.compile(f'<tr><th scope="row".*?>{cells}$', re.M)
    found = row.findall((folder / "index.html").read_text())
    return [(when, link, name, sentence) for link, name, when, sentence in found]


def test_a_run_and_a_tuning_are_rows(arena: Arena, tmp_path: Path) -> None:
    """With the first sentence of their reports; a second writing changes no byte."""
    words = ("greedy", "uniform", "--seed", "1", "--quiet")
    assert arena("play", *words, "--pairs", "3", "--out", "results/cup").returncode == 0
    ((_, link, name, sentence),) = rows(tmp_path / "results")
    assert (link, name) == ("./cup/report.html", "cup")
    assert sentence in (tmp_path / "results" / "cup" / "report.md").read_text().replace("\\", "")
    page = (tmp_path / "results" / "index.html").read_bytes()
    renew_index(tmp_path / "results" / "cup")
    assert (tmp_path / "results" / "index.html").read_bytes() == page
    assert arena("play", *words, "--pairs", "1", "--out", "elsewhere/cup").returncode == 0
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["cup"]


def test_the_last_written_is_first_and_names_are_text(tmp_path: Path) -> None:
    """A name and a sentence are escaped, and the link is quoted; without a page, to the text."""
    results = tmp_path / "results"
    add(results, "old", time=1_000_000_000)
    hostile = add(results, HOSTILE, HOSTILE)
    (hostile / "report.html").unlink()
    renew_index(hostile)
    first, second = rows(results)
    shown = "&lt;b&gt;&amp;amp;&#39;&#34;\\u202e #?%"
    link = "./%3Cb%3E%26amp%3B%27%22%E2%80%AE%20%23%3F%25/report.md"
    assert first == ("2023-11-14 22:13", link, shown, shown)
    assert second[:3] == ("2001-09-09 01:46", "./old/report.html", "old")


def test_what_is_no_run_is_skipped(tmp_path: Path) -> None:
    """Files, links, hidden and empty folders, a report that is a link, a pipe or no text."""
    results = tmp_path / "results"
    run = add(results, "cup")
    secret = add(tmp_path, "secret", "secret")
    (results / "linked").symlink_to(secret)
    add(results, ".hidden")
    (results / "empty").mkdir()
    (results / "notes.txt").write_text("")
    link, pipe, inner = (add(results, name) / "report.md" for name in ("link", "pipe", "inner"))
    for odd in (link, pipe, inner):
        odd.unlink()
    link.symlink_to(secret / "report.md")
    os.mkfifo(pipe)
    inner.mkdir()
    (add(results, "noise") / "report.md").write_bytes(b"\xff\xfe\0")
    renew_index(run)
    assert {row[2] for row in rows(results)} == {"cup", "noise"}


def test_another_file_of_this_name_is_not_touched(tmp_path: Path) -> None:
    """Neither a page of somebody's own, nor a link, a folder, or one where nothing can be made."""
    results = tmp_path / "results"
    run, page = add(results, "cup"), results / "index.html"
    other = tmp_path / "other.html"
    page.write_text("mine")
    renew_index(run)
    assert page.read_text() == "mine"
    page.unlink()
    for target in (other, results):
        page.symlink_to(target)
        renew_index(run)
        assert page.is_symlink()
        page.unlink()
    assert not other.exists()
    page.mkdir()
    renew_index(run)
    assert page.is_dir()
    page.rmdir()
    renew_index(results / "gone" / "deeper")
    shutil.rmtree(results)
    renew_index(run)
    assert not results.exists()


STYLES = "arena.replays/base.css", "arena.reports/charts.css"
COLOURS = [
    found
    for name in STYLES
    for found in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", static(name))
]
LIGHT, DARK = ({one[0]: one[n] for one in COLOURS} for n in (1, 2))
ENDINGS = "city", "points", "tiebreak", "forfeit"
PAIRS = ("new", "old"), ("seat-0", "seat-1")
SIGNS = (*ENDINGS, *chain(*PAIRS), "ink", "soft")
DEFICIENCIES = {
    "none": np.eye(3),
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}
"""What remains of linear red, green and blue. Source: Machado, Oliveira and Fernandes 2009."""


def linear(colour: str) -> np.ndarray:
    """Return red, green and blue as amounts of light (IEC 61966-2-1)."""
    parts = np.array([*bytes.fromhex(colour[1:])]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2)."""
    low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(light: np.ndarray) -> np.ndarray:
    """Return an amount of light in a space of equal differences (CIE 1976)."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_signs_are_seen_and_told_apart_by_everybody(colours: dict[str, str]) -> None:
    """A contrast of three, 20 units between two (2 are just seen), and only City is orange."""
    for name in SIGNS:
        assert contrast(colours[name], colours["paper"]) >= 3, name
    for two in (*combinations(ENDINGS, 2), *PAIRS):
        for seen in map(np.array, DEFICIENCIES.values()):
            one, other = (lab(seen @ linear(colours[name])) for name in two)
            assert np.linalg.norm(one - other) > 20, two
    assert {name for name, colour in colours.items() if is_orange(colour)} == {"city"}


def is_orange(colour: str) -> bool:
    """Return whether a colour is strong, and between red and yellow."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red - blue > 100 and 0.35 < (green - blue) / (red - blue) < 0.8


@pytest.mark.parametrize(("shade", "colours"), [(0.5, LIGHT), (0.38, DARK)], ids=["light", "dark"])
def test_a_number_in_a_map_is_read_on_every_shade(shade: float, colours: dict[str, str]) -> None:
    """The darkest one mixes so much ink into the paper."""
    assert f"--shade: {100 * shade:.0f}%" in static("arena.reports/charts.css")
    ink, paper = (np.array([*bytes.fromhex(colours[name][1:])]) for name in ("ink", "paper"))
    mixed = bytes((shade * ink + (1 - shade) * paper).round().astype(int).tolist())
    assert contrast(colours["ink"], f"#{mixed.hex()}") >= 4.5


NAMES = ["<script>alert(1)</script>", "a|b`*", "W" * 60, "שלום"]


def with_hostile(*bots: str) -> Tournament:
    """Return a tournament that also has bots with hostile labels."""
    what = tournament(*bots, pairs=6)
    denier = resolve("denier", lane="inproc")
    hostile = [replace(denier, label=label) for label in NAMES]
    return replace(what, entries=[*what.entries, *hostile])


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
    titles = [*zip(NAMES, runs, strict=False)]
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
    assert (run, bot, base) == (NAMES[1], f"mine@{NAMES[1]}", "mine")
    (row,) = (row for row in table_of(report, "verdicts").rows if {*row[:2]} == {bot, base})
    sign = 1 if row[0] == bot else -1
    assert [lead, low, high] == [sign * end for end in (row[2], *row[3:5][::sign])]  # type: ignore[operator]
    assert likely == pytest.approx(row[5] if sign > 0 else 1 - row[5])  # type: ignore[operator]
    assert verdict == row[6]
    assert report.summary[0].endswith(f": {bot} is at {lead:+.0f} Elo ({low:.0f}..{high:.0f}).")
    bots = {row[1] for row in table_of(report, "standings").rows}
    assert bots == {*BASE[:2], "mine", bot, NAMES[0]}  # deniers are one bot


@pytest.mark.slow
def test_every_part_of_the_report_of_runs_has_a_name_of_its_own(runs: list[RunGames]) -> None:
    """Charts lead to tables that are there, and a row has a cell for each column."""
    report = report_of(runs)
    assert report.title == f"{NAMES[1]} and {NAMES[2]}, compared with {NAMES[0]}"
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
def compared(request: pytest.FixtureRequest) -> Iterator[tuple[RunGames, RunTables, Report]]:
    """A comparison of two versions, with each other and against others, and its report."""
    bots = ["new=greedy(patience=1)", "greedy", *request.param]
    what = replace(tournament(*bots, seed=1, pairs=64), panel=len(request.param))
    what = as_comparison(what, make_sprt(0, 10, 0.05, 0.05, 64))
    games = played(what)
    files = RunTables(what, games.store)
    yield games, files, make_report(what, games.store, files)
    games.store.close()


@pytest.mark.slow
def test_the_report_of_a_comparison_has_its_verdict_and_path(
    compared: tuple[RunGames, RunTables, Report],
) -> None:
    """The path ends where the test ended; the counts are those of the test."""
    (what, store), files, report = compared
    comparison = files.comparison
    path = read_path(what, comparison.stop, store, comparison.evidence.pairs)
    assert [look.pairs for look in path] == [*comparison.evidence.looks]
    assert path[-1].ratio == pytest.approx(comparison.evidence.ratio)
    verdict = next(section for section in report.sections if section.name == "verdict")
    text = verdict.blocks[0]
    assert text.paragraphs[0].startswith(f"Elo difference {comparison.elo.value:+.1f}, 95 % ")
    assert report.opening.sentence == comparison.statement
    assert report.opening.lead.verdict == comparison.word
    seen = re.findall(r": (\d+)(?=[,.])", text.paragraphs[1])
    assert [*map(int, seen)] == [*comparison.evidence.counts]
    (drawn,) = next(one.series for one in report.charts() if one.name == "ratio-path")
    looks = [(look.pairs, pytest.approx(look.ratio, abs=1e-4)) for look in path]
    assert [*drawn.points] == looks
    names = [section.name for section in report.sections]
    assert ("differences" in names) == ("decided" in names) == (comparison.paired is not None)


@pytest.mark.slow
def test_the_bars_of_the_parts_are_the_rows_of_the_file(
    compared: tuple[RunGames, RunTables, Report],
) -> None:
    """Each with its number, and where it begins, ends and may lie; the stacked ones follow on."""
    _, files, report = compared
    rows = {(row["split"], row["part"]): row for row in plain_rows(files.lead_parts.table())}
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
    assert [row[:2] for row in table_of(report, "lead-parts").rows] == [*rows]


@pytest.mark.slow
def test_decided_games_lead_to_their_replays(compared: tuple[RunGames, RunTables, Report]) -> None:
    """Those that are on the page."""
    _, files, report = compared
    if files.comparison.paired is None:
        return
    table = table_of(report, "decided")
    titles = {replay.id: replay.title for replay in report.replays()}
    linked = {row[0]: link for row, link in zip(table.rows, table.links, strict=True) if link}
    assert linked
    for game, link in linked.items():
        assert titles[link].startswith(f"{game}: ")
