"""The report of a run: every form of run has one, and its figures are those of the tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from markupsafe import escape

from arena.differences.run_files import RunTables
from arena.lanes.faults import Fault
from arena.reports.blocks import Code, Report, Table, read_sentence, to_markdown, write_cell
from arena.reports.charts import Cell, Map, draw
from arena.reports.games_section import _least_leads
from arena.reports.html import is_shown, to_html, write_rows
from arena.reports.run_report import make_report
from arena.reports.win_section import Margin
from arena.store import column_titles
from arena.store.column_titles import (
    HEAD_TO_HEAD,
    LEAGUE,
    STANDINGS,
    TIMINGS,
    VERDICTS,
    WINS,
    Column,
    TableColumns,
)
from arena.store.columns import Columns
from arena.store.store import Store
from arena.tables.standings_text import Names
from arena.tournament.plan import Chunk, Played
from arena.tournament.stop import Sprt, Until
from arena.tournament.timing import SPENT, Spending
from arena.tournament.tournament import Tournament
from engine import Rules
from tests.reports.runs import VARIANTS, cup, make_store, report_of, table_of
from tests.tiers import few

OTHERS = {"", TIMINGS.file, LEAGUE.file}  # which a clock and a league write
OTHERS |= {"differences.csv", "decided.csv", "lead_parts.csv", "ablation.csv", "candidates.csv"}
LISTED = [
    one
    for one in vars(column_titles).values()
    if isinstance(one, TableColumns) and one.file not in OTHERS
]
LISTED.append(VERDICTS)
CUP = cup(["c", "a", "b"], pairs=60)
BOOM = Fault("exception", "boom", "Traceback:\n  it went wrong", "a line that was printed")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Return the games of CUP, two of which are forfeits."""
    made = make_store(CUP, faults={(1, 2, 0): BOOM, (2, 5, 1): BOOM})
    yield made
    made.close()


@pytest.fixture(scope="module")
def files(store: Store) -> RunTables:
    return RunTables(CUP, store)


@pytest.fixture(scope="module")
def report(store: Store, files: RunTables) -> Report:
    return make_report(CUP, store, files)


def column(report: Report, name: str, of: str) -> list[object]:
    found = table_of(report, name)
    number = [column.name for column in found.columns].index(of)
    return [row[number] for row in found.rows]


def chart(report: Report, name: str) -> Any:
    """Return a chart of a report: rows, lines, or the map of all pairings."""
    return next(chart for chart in report.charts() if chart.name == name)


def test_a_run_under_changed_rules_says_so_below_its_headline(report: Report) -> None:
    """One under the published rules does not mention them."""
    changed = cup(["a", "b"], pairs=2, rules=Rules(set_bonus=0, majority_values=(1, 1, 1, 1)))
    found, _ = report_of(changed, make_store(changed))
    said = "Played under changed rules: majority_values=1-1-1-1 (published: 5-6-7-8), "
    assert found.summary[2] == f"{said}set_bonus=0 (published: 5)."
    assert not [line for line in report.summary if "rules" in line]


def test_a_page_has_six_charts_and_three_open_tables() -> None:
    """Each chart says what it shows, and in which table its numbers are; the rest is folded."""
    run = cup(["c", "a", "b"], pairs=10)
    report, _ = report_of(run, make_store(run))
    names = {table.name for table in report.tables()}
    drawn = "leads", "points-by-source", "ahead", "margins", "takes", "heat-map"
    assert [chart.name for chart in report.charts()] == [*drawn]
    for chart in report.charts():
        assert len(chart.meaning) > 20
        assert chart.table in names
    shown = [section for section in report.sections if is_shown(section) and not section.folded]
    blocks = [block for section in shown for block in section.blocks]
    opened = [block.name for block in blocks if isinstance(block, Table) and not block.folded]
    assert opened == ["standings", "head_to_head", "key-figures"]
    page = to_html(report)
    assert page.count('<figure class="chart') == 6
    body = page[: page.index('id="tables"')]
    assert body.count('<div class="sheet"') == 3
    assert "sha256" not in page[page.index("<body>") : page.index('<details class="fold" id="run"')]
    assert "vega" not in page


@pytest.mark.parametrize("columns", LISTED, ids=lambda columns: columns.file)
def test_a_file_has_the_columns_of_the_list(columns: TableColumns, files: RunTables) -> None:
    """In this order, whatever code has made it."""
    text = io.StringIO()
    files.writers[columns.file](text)
    assert text.getvalue().split("\n", 1)[0].split(",") == columns.names


def test_the_parts_of_a_report_are_those_of_the_run(report: Report, files: RunTables) -> None:
    """Standings, row by row; config, bots and versions; a sentence for every figure; no clock."""
    standings = table_of(report, "standings")
    names = [column.name for column in standings.columns]
    expected = STANDINGS.frame(files.standings)[names].astype(object).to_numpy().tolist()
    assert [list(row) for row in standings.rows] == expected
    assert not {"cpu_mean", "cpu_p99"} & {*names}
    codes = (one for part in report.sections for one in part.blocks if isinstance(one, Code))
    config = next(code for code in codes if code.title == "Resolved config")
    manifest = CUP.manifest()
    assert json.loads(config.text)["pairs"] == 60
    assert column(report, "bots", "sha256") == [bot["sha256"] for bot in manifest["bots"]]
    assert dict(table_of(report, "versions").rows) == manifest["versions"]  # type: ignore[arg-type]
    figures = {*column(report, "glossary", "figure")}
    tables = [one for one in report.tables() if one.name not in ("glossary", "versions")]
    assert {of.title for table in tables for of in table.columns} <= figures
    for sentence in column(report, "glossary", "meaning"):
        assert str(sentence).endswith("."), sentence


@pytest.mark.slow
def test_timings_add_the_time_per_decision(store: Store, files: RunTables) -> None:
    """To the standings, and a table with the slowest decisions first."""
    times = [("a", 9, 1e-3, 2e-3, 3e-3, 1e-3, 2e-3, 4e-3), ("b", 9, 1e-4, 2e-4, 9e-3, 1e-4, 1, 1)]
    clocks = [f"{clock}_{of}" for clock in ("cpu", "wall") for of in ("mean", "p99", "max")]
    timings = Columns.of_rows(["bot", "decisions", *clocks], times)
    timed = make_report(CUP, store, files, timings)
    both = (column(timed, "standings", name) for name in ("bot", "cpu_mean"))
    assert dict(zip(*both, strict=True)) == {"a": 1e-3, "b": 1e-4, "c": None}
    assert column(timed, "timings", "bot") == ["b", "a"]
    assert "timings" not in {table.name for table in make_report(CUP, store, files).tables()}


@pytest.mark.slow
def test_the_last_line_says_where_the_time_of_the_processor_went(
    store: Store, files: RunTables
) -> None:
    """It is a reading of a clock, so the report that a run writes does not have it."""
    line = str(Spending(1.0, 3.0, 4.0))
    made = make_report(CUP, store, files, ending=line)
    assert to_markdown(made).endswith(f"\n\n{line}\n")
    assert f"<p>{line}</p>\n</main>" in to_html(made)
    assert SPENT not in to_markdown(make_report(CUP, store, files))
    assert SPENT not in to_html(replace(made, ending=""))
    hostile = replace(made, ending="<script>")
    assert "<p>&lt;script&gt;</p>" in to_html(hostile)
    assert to_markdown(hostile).endswith("\n\n\\<script>\n")


def test_the_map_has_every_pairing_in_the_order_of_the_standings(
    report: Report, files: RunTables
) -> None:
    """With score, interval, games, City wins and verdict; a misfit is marked beyond its shade."""
    labels, score_map = [*files.standings["bot"]], chart(report, "heat-map")
    assert score_map.labels == labels
    places = range(len(labels))
    assert [cell[:2] for cell in score_map.cells] == [
        (r, c) for r in places for c in places if r != c
    ]
    facts = HEAD_TO_HEAD.frame(files.head_to_head).set_index(["bot", "opponent"])
    verdicts = VERDICTS.frame(files.verdicts).set_index(["bot", "opponent"])
    for cell in score_map.cells:
        two = labels[cell.row], labels[cell.column]
        fact = facts.loc[two]
        low, high = (write_cell(float(fact[name]), "share") for name in ("score_low", "score_high"))
        assert f"({low.removesuffix(' %')}..{high})" in cell.said
        assert f"{fact['games']:.0f} games, {fact['city_wins']:.0f} won by City" in cell.said
        assert cell.share == fact["score"]
        assert bool(cell.mark) == (fact["residual_q"] < 0.05)
        verdict = verdicts.loc[two if two in verdicts.index else two[::-1]]
        chance = verdict["likely"] if two in verdicts.index else 1 - verdict["likely"]
        assert f"stronger with {write_cell(chance, 'chance')}, {verdict['verdict']}" in cell.said
        assert not re.search(r" (0|100)\.0 %,", cell.said)  # what is shown is never 0 or 1


def test_scores_are_printed_in_the_map_where_there_is_room() -> None:
    """Up to 14 bots; with more the cells are small squares, and have shades only."""
    for number in (2, 14, 15):
        labels = [f"b{one}" for one in range(number)]
        cells = [Cell(0, 1, 0.5, "50", "x")]
        page = draw(Map(name="m", title="m", meaning="", labels=labels, cells=cells), Names({}))
        assert ('<td style="--s:0.50" title="1 - 2: x">50' in page) is (number < 15)
        assert page.count("<td") == 1 + number * number


def test_margins_count_every_game_that_was_decided_by_points_and_takes_every_action(
    report: Report, store: Store
) -> None:
    """Once, by the winner's lead, as in the table; an action without a take is no gap."""
    games = [game for _, game in store.results() if game.win_type not in ("city", "forfeit")]
    (series,) = chart(report, "margins").series
    assert sum(count for _, count in series.points) == len(games)
    near = sum(abs(game.points - game.opponent_points) < 2 for game in games)
    assert series.points[0] == (0, near)
    rows = table_of(report, "margins").rows
    assert [(row[0], row[2]) for row in rows] == [*series.points]
    one = cup(["a", "b"], 1)
    made, _ = report_of(one, make_store(one))
    for shown in (report, made):
        most = max(row[2] for row in table_of(shown, "takes").rows if row[2] is not None)
        for series in chart(shown, "takes").series:
            assert [x for x, _ in series.points] == [*range(1, int(str(most)) + 1)]
            assert sum(y for _, y in series.points) == pytest.approx(100, abs=0.5)


def test_the_points_of_a_chart_are_those_of_the_file(report: Report, files: RunTables) -> None:
    """Of winners and losers at the end; and what it is worth to be ahead after each round."""
    wins = WINS.frame(files.won.wins)
    of_all = wins[wins["bot"].isna()].set_index(["round", "source"])
    rows = {row.name: row.marks for row in chart(report, "points-by-source").rows}
    assert len(rows) == 7
    sets = of_all.loc[(4, "sets")]
    assert [mark.value for mark in rows["sets"]] == [sets["in_wins"], sets["in_losses"]]
    rows = {row.name: row.marks for row in chart(report, "ahead").rows}
    rounds = [f"points after round {number}" for number in (1, 2, 3)]
    assert [*rows][:4] == [*rounds, "majority of 5s at the end"]
    any_way, by_city = rows["cities at the end"]
    cities = 100 * of_all.loc[(4, "cities"), ["won", "won_low", "won_high", "by_city"]]
    assert (*any_way[:3], by_city.value) == tuple(cities)
    assert (any_way.sign, by_city.sign) == ("won", "city")
    first, _ = rows["points after round 1"]
    assert first.value == 100 * of_all.loc[(1, "total"), "won"]


def test_faults_have_their_evidence_and_the_command(report: Report) -> None:
    """Each is a link to its replay."""
    assert column(report, "fault_kinds", "games") == [1, 1]
    faults = table_of(report, "faults")
    assert column(report, "faults", "game") == ["c/b/2/0", "a/b/5/1"]
    commands = column(report, "faults", "command")
    assert all(str(command).startswith("arena game ") for command in commands)
    ids = {replay.id for replay in report.replays()}
    assert {*faults.links} <= ids
    (section,) = (one for one in report.sections if one.name == "faults")
    listings = [block for block in section.blocks if isinstance(block, Code)]
    assert len(listings) == 2
    for text in ("arena game", "boom", "it went wrong", "a line that was printed"):
        assert text in listings[0].text


def test_the_games_to_look_at_are_what_they_are_called(report: Report, store: Store) -> None:
    """The closest, the shortest by City, and every forfeit."""
    results = {(number, *game[:2]): game for number, game in store.results()}
    by_points = [g for g in results.values() if g.win_type in ("points", "tiebreak", "draw")]
    closest = min(abs(game.points - game.opponent_points) for game in by_points)
    by_city = min(game.plies for game in results.values() if game.win_type == "city")
    seen = {"closest": 0, "City": 0, "forfeit": 0}
    for replay in report.replays():
        _, *place = map(int, replay.id.replace("game", "0").split("-"))
        game = results[place[0], place[1], place[2]]
        assert len(replay.data["frames"]) == game.plies + 1
        for word in seen:
            seen[word] += word in replay.reason
        if "closest" in replay.reason and not seen["closest"] > 1:
            assert abs(game.points - game.opponent_points) == closest
        if "by City" in replay.reason and not seen["City"] > 1:
            assert game.plies == by_city
    assert seen == {"closest": 3, "City": 3, "forfeit": 2}


@pytest.mark.slow
def test_a_page_has_no_more_rows_than_people_read() -> None:
    """A line says of how many rows they are the first, and which file has all."""
    many = cup([f"bot{number:02}" for number in range(46)], 1)
    found, files = report_of(many, make_store(many))
    head_to_head = table_of(found, "head_to_head")
    assert len(files.head_to_head) == 2 * 1035
    assert len(head_to_head.rows) == 100
    assert head_to_head.note == "The first 100 of 1,035 rows; head_to_head.csv has all of them."


def test_a_row_has_its_text_its_number_and_its_link() -> None:
    """Escaped, and exact for what sorts and copies it."""
    columns = (Column("bot", "Bot"), Column("share", "Share", "share"), Column("n", "N", "count"))
    made = Table("many", "Many", columns, [("<b>", 5 / 6, 7), ("c", 0.5, 8)], links=["game-1"])
    first, second = write_rows(made, Names({})).split("\n")
    link = '<a href="#game-1">&lt;b&gt;</a>'
    assert first == f'<tr><th scope="row">{link}<td data-v="{5 / 6}">83.3 %<td>7'
    assert second == '<tr><th scope="row">c<td data-v="0.5">50.0 %<td>8'


def test_every_pairing_is_in_the_table_and_has_a_verdict_once(
    report: Report, files: RunTables
) -> None:
    """With the wins of both."""
    facts = HEAD_TO_HEAD.frame(files.head_to_head).set_index(["bot", "opponent"])
    shown, pairings = table_of(report, "head_to_head"), [*combinations(files.standings["bot"], 2)]
    names = [column.name for column in shown.columns]
    assert [row[:2] for row in shown.rows] == pairings
    for row in shown.rows:
        cells = dict(zip(names, row, strict=True))
        theirs = facts.loc[row[1], row[0]]
        assert cells["city_wins"] == facts.loc[row[0], row[1]]["city_wins"]
        assert cells["city_losses"] == theirs["city_wins"]
        assert cells["forfeits"] == theirs["forfeit_wins"]
    assert [row[:2] for row in table_of(report, "verdicts").rows] == pairings


FORMS = {
    "one pair": cup(["a", "b"], 1),
    "forfeits only": cup(["a", "b", "c"], 2),
    "no rated bot": cup(["a", "b"], 2),
    "gauntlet": cup(["a", "b", "c", "d"], 2, panel=2),
    "swiss": cup(["a", "b", "c", "d"], 2, rounds=2),
    "until": cup(["a", "b", "c"], 2, stop=Until("resolved", 5)),
    "other rules": cup(["a", "b", "c"], 3, rules=Rules.from_changes({"set_bonus": 4})),
    "comparison of two": cup(["a", "b"], 2, stop=Sprt(0, 30, 0.05, 0.05, 20)),
    "comparison": cup(["a", "b", "c"], 2, panel=1, paired=True, stop=Sprt(0, 30, 0.05, 0.05, 20)),
}
NOBODY = "No bot can be judged, so nobody is called the stronger one. Left out, "
HEADLINES = {
    "one pair": "a and b are not told apart. a leads b by ",
    **dict.fromkeys(("forfeits only", "no rated bot"), NOBODY),
    **dict.fromkeys(("gauntlet", "swiss", "until", "other rules"), "a is "),
    "comparison of two": "a is stronger than b: it scored ",
    "comparison": "a and b are not told apart: a scored ",
}
"""How the report of each form begins."""
LENGTHS = {"swiss": {0: 2, 1: 2, 4: 2, 5: 2}, "until": {0: 5, 1: 2, 2: 4}}


def games_of(form: str, tournament: Tournament) -> Store:
    """Return a store of this form of run."""
    faults = {}
    if form in ("forfeits only", "no rated bot"):
        kind = "import" if form == "no rated bot" else "timeout"
        places = product(range(len(tournament.pairings)), (0, 1), (0, 1))
        faults = dict.fromkeys(places, Fault(kind, "never"))
    return make_store(tournament, LENGTHS.get(form), faults)


FIRST = ("forfeits only", "comparison")
"""Forms of run whose reports have the most parts that others lack."""


@pytest.mark.parametrize("form", few(sorted(FORMS, key=lambda form: form not in FIRST), 0, 6))
def test_every_form_of_run_has_a_report(form: str) -> None:
    """With charts that are drawn, and a page."""
    tournament = FORMS[form]
    made, files = report_of(tournament, games_of(form, tournament))
    for chart in made.charts():
        assert draw(chart, made.names)
    assert len(to_html(made)) > 10_000
    assert " ".join(made.summary[:2]).startswith(HEADLINES[form])
    if form.startswith("comparison"):
        assert not any(section.name == "standings" for section in made.sections)
    else:
        assert len(table_of(made, "standings").rows) == len(files.standings)
    if form == "comparison":
        decided = files.comparison and files.comparison.paired and files.comparison.paired.decided
        assert decided is not None
        reasons = [replay.reason for replay in made.replays() if "decided" in replay.reason]
        assert len(decided) == 0 or len(reasons) >= 2


def test_a_report_of_half_a_pair_or_without_a_take_says_so() -> None:
    """A run that was stopped has one, too; a chart is never only a heading."""
    two = cup(["a", "b"], 1)
    whole = make_store(two)
    one = Store(None)
    games = [next(whole.games_of(0))]
    one.add(Played(Chunk(0, 0, 1), games, {}, 0.0))
    made, _ = report_of(two, one)
    assert made.summary[0] == "b and a are not told apart."
    assert "The two are not told apart" in {section.title for section in made.sections}
    assert any(text.startswith("1 game") for text in made.summary)
    assert len([*made.replays()]) >= 1
    made, _ = report_of(FORMS["no rated bot"], games_of("no rated bot", FORMS["no rated bot"]))
    assert "takes" not in {table.name for table in made.tables()}
    assert "\nNo card was taken.\n" in to_markdown(made)
    margins = [Margin(*one) for one in ((0, -9, 1), (0, 4, 2), (1, 1, 1), (2, -2, 5), (3, 4, 1))]
    assert [*_least_leads(margins)] == [(1, 1), (2, 2), (0, 4), (3, 4)]


def test_a_report_begins_with_its_headline(report: Report, store: Store, files: RunTables) -> None:
    """One sentence; then what is behind it, what was played, the forfeits, and last the seat."""
    first, more, count, forfeits, seat = report.summary
    assert first.startswith("a is ")
    assert "Apart: " in more
    assert read_sentence(to_markdown(report)) == first
    assert count == "360 games of 3 bots, every bot against every other one."
    assert forfeits == "2 of the games were forfeited."
    assert seat.startswith("Seat 0 scores ")
    assert "% (95 %: " in seat
    begun = make_report(CUP, store, files, state="not finished: 3 of 9 games")
    assert begun.title == "cup: 3 bots, seed 7 (not finished)"
    assert [*begun.summary[:3]] == ["Not finished: 3 of 9 games.", first, more]
    assert begun.summary[3].startswith("What is sure holds at any number of games.")


@pytest.mark.slow
def test_a_run_says_whether_it_has_found_out_and_whom_it_leaves_out() -> None:
    """Once it has ended; a bot with too many faults is named, and the others are compared."""
    until = FORMS["until"]
    store = games_of("until", until)
    made, files = report_of(until, store)
    why = "ended early, as 5 in a pairing would hardly tell more: a and b"
    assert f"Not resolved after 11 pairs, {why}" in made.summary[1]
    begun = make_report(until, store, files, state="not finished: 22 of 40 games")
    assert "esolved after" not in " ".join(begun.summary)
    places = product((0, 1), range(20), (0,))
    three = cup(["a", "b", "c"], 20, max_faults=3)
    store = make_store(three, faults=dict.fromkeys(places, Fault("timeout", "never")))
    first, more, *_ = report_of(three, store)[0].summary
    assert first.startswith("b ")
    assert more.endswith("Left out, because of faults in its games: a.")


@pytest.mark.slow
def test_a_page_has_short_names_and_markdown_has_whole_labels() -> None:
    """Each chart with a row of bots names them by the list that the page's tables use."""
    some = [VARIANTS[0], VARIANTS[1], VARIANTS[16], "greedy"]
    variants = cup(some, 2)
    found, _ = report_of(variants, make_store(variants))
    names = found.names
    assert names.of(some[0]) == "ismcts(explor\u2026perature=1.1)"
    page, text = to_html(found), to_markdown(found)
    assert f'title="{some[0]}" data-v="{some[0]}">{names.of(some[0])}' in page
    assert names.of(some[0]) not in text
    assert "temperature=1.1" in text
    leads = draw(chart(found, "leads"), names)
    assert f'title="{some[0]}">{names.of(some[0])}</span>' in leads or some[0] in leads
    scores = draw(chart(found, "heat-map"), names)
    for label in found.labels:
        assert f"</span> {escape(names.of(label))}</th>" in scores
        assert (f'title="{escape(label)}"' in scores) == (names.of(label) != label)
