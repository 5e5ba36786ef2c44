"""The first screen, the standings and the key figures of a report say what is known."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.differences.comparison import find_compared
from arena.differences.run_files import RunTables
from arena.lanes.faults import Fault
from arena.reports.axis import Scale, write_ticks
from arena.reports.blocks import Report, Section, Text
from arena.reports.charts import Mark, Row, Rows, draw
from arena.reports.first_screen import ENDINGS, Opening, make_ladder
from arena.reports.html import to_html
from arena.reports.run_report import suggest_next
from arena.reports.standings_section import bots_section, standings_section
from arena.store.column_titles import STANDINGS, TAKES
from arena.store.columns import Columns
from arena.tables.findings import Findings, Unbounded
from arena.tables.headline import headline_of
from arena.tables.losses import JudgedTables
from arena.tables.standings_text import Names, plain_rows
from arena.tournament.stop import Sprt
from engine import Rules
from tests.reports.runs import cup, make_store, report_of

TWELVE = cup([f"bot_{letter}" for letter in "abcdefghijkl"], 4)


@cache
def report_of_twelve() -> tuple[Report, RunTables]:
    """Return the report of twelve bots, and their files: for reading."""
    return report_of(TWELVE, make_store(TWELVE))


def first_screen(report: Report) -> str:
    """Return the text of the first screen and of the contents, without axes and hidden parts."""
    page = to_html(report)
    body = page[page.index('<section class="hero"') : page.index("<main")]
    axis = '<span class="ticks">.*?</span></div>'
    shown = re.sub(rf"<(title|details|style).*?</\1>|{axis}", " ", body, flags=re.S)
    return unescape(re.sub(r"<[^>]*>", " ", shown)).replace("\u00a0", " ")


@pytest.mark.slow
def test_a_row_says_what_the_standings_say() -> None:
    """Rank, Elo and score; the parts of the bar are the games, wins first, and fill it."""
    report, files = report_of_twelve()
    rungs = report.opening.ladder.rungs
    rows = plain_rows(files.standings)
    assert [rung.bot for rung in rungs] == [row["bot"] for row in rows]
    for rung, row in zip(rungs, rows, strict=True):
        assert (rung.rank, rung.elo, rung.score) == (row["rank"], f"{row['elo']:.0f}", row["score"])
        games = {part.shape: round(part.width * row["games"] / 100, 1) for part in rung.parts}
        wins = {f"{kind}-won": row[column] for kind, (_, column, _) in ENDINGS.items()}
        losses = {f"{kind}-lost": row[column] for kind, (_, _, column) in ENDINGS.items()}
        asked = {**wins, "draw": row["draws"], **losses}
        assert games == {shape: count for shape, count in asked.items() if count}
        ends = [0.0, *(part.start + part.width for part in rung.parts)]
        starts = [*(part.start for part in rung.parts), 100.0]
        assert starts == pytest.approx(ends, abs=0.01)
        assert rung.low <= rung.dot <= rung.high


def test_a_row_in_a_terminal_is_that_of_the_page() -> None:
    """Its dot and its bar are where those of the page are, by half a character at most."""
    report, _ = report_of_twelve()
    lines = [*report.opening.lines()]
    assert all(len(text + bar) <= 80 for text, bar in lines)
    assert " ".join(text.strip() for text, _ in lines[1:3]).startswith(report.opening.sentence)
    rows = [(text, bar) for text, bar in lines if bar]
    for rung, (text, bar) in zip(report.opening.ladder.rungs, rows, strict=True):
        axis = text[31:44]
        assert f"{rung.rank:>4}  {rung.bot:<18} {rung.elo:>5} " == text[:31]
        assert axis.index("o") == pytest.approx(12 * rung.dot / 100, abs=0.5)
        assert axis.strip("- o") == ""
        assert len(axis.strip()) == pytest.approx(1 + 12 * (rung.high - rung.low) / 100, abs=1)
        assert len(bar) == 20
        city = sum(part.width for part in rung.parts if part.shape == "city-won")
        assert text[45:] == f"{rung.score:>6.1%} {city / 100:>6.1%}  "
        for part in rung.parts:
            kind, _, side = part.shape.partition("-")
            letter = kind[0].upper() if side == "won" else kind[0]
            assert bar.count(letter) == pytest.approx(part.width / 5, abs=1)


def test_a_rung_is_where_its_elo_is_with_losses_opposite_to_wins() -> None:
    """Two grid lines are a step of Elo apart; wins and losses of a kind meet."""
    report, files = report_of_twelve()
    for rung in report.opening.ladder.rungs:
        won = [part.shape.removesuffix("-won") for part in rung.parts if "-won" in part.shape]
        lost = [part.shape.removesuffix("-lost") for part in rung.parts if "-lost" in part.shape]
        assert won == [kind for kind in ENDINGS if kind in won]
        assert lost == [kind for kind in reversed(ENDINGS) if kind in lost]
    ladder = report.opening.ladder
    (first, *_, last), elos = ladder.rungs, files.standings["elo"].tolist()
    wide = (ladder.ticks[1][0] - ladder.ticks[0][0]) / ladder.step
    assert int(ladder.ticks[1][1]) - int(ladder.ticks[0][1]) == ladder.step
    assert first.dot - last.dot == pytest.approx(wide * (elos[0] - elos[-1]), abs=0.1)


@pytest.mark.slow
def test_after_a_comparison_the_stronger_one_is_challenged_or_it_is_played_on() -> None:
    """With as many pairs as would tell; a person can paste the command."""
    sure = cup(["a", "b"], 20, stop=Sprt(0, 30, 0.05, 0.05, 20))
    report, _ = report_of(sure, make_store(sure))
    task, command = report.opening.task, report.opening.command
    assert not report.opening.continues
    assert (task, command) == ("Challenge the stronger one", "arena compare ./my_bot.py a=uniform")
    undecided = cup([*"abcd"], 20, panel=2, paired=True, stop=Sprt(0, 30, 0.05, 0.05, 20))
    report, files = report_of(undecided, make_store(undecided))
    found = files.comparison
    further = find_compared(found).further_pairs
    assert further
    assert report.opening.task == "Play on"
    assert report.opening.continues
    (pairs,) = re.findall(r"--max-pairs (\d+)", report.opening.command)
    assert found.evidence.pairs + further <= int(pairs) < found.evidence.pairs + further + 100


@pytest.mark.slow
def test_a_bot_that_forfeits_stands_first_with_its_reason_and_its_game() -> None:
    """And its bar is hatched by as much; nothing is said where nobody forfeits."""
    three = cup(["a", "b", "c"], 20, max_faults=3)
    late = Fault("timeout", "no answer in 2 s")
    places = {(number, pair, 0): late for number in (0, 1) for pair in range(20)}
    report, files = report_of(three, make_store(three, faults=places))
    (one,) = report.opening.forfeiting
    forfeits = STANDINGS.frame(files.standings).set_index("bot").loc["a", "forfeits"]
    assert one.bot == "a"
    assert one.said == f"forfeits {forfeits} of 80 games: timeout: no answer in 2 s"
    assert one.link in {replay.id for replay in report.replays()}
    rung = next(rung for rung in report.opening.ladder.rungs if rung.bot == "a")
    (hatched,) = (part for part in rung.parts if part.shape == "forfeit-lost")
    assert hatched.width == pytest.approx(100 * forfeits / 80, abs=0.01)
    page = to_html(report)
    assert page.index("forfeits 40 of 80") < page.index('class="rungs"')
    assert "forfeit" not in first_screen(report_of_twelve()[0])


def test_what_to_do_next_is_a_command_that_names_the_bots() -> None:
    """Two that are not apart are compared, else the first one is challenged."""
    run = cup(["a", "b"], 2)
    _, files = report_of(run, make_store(run))
    found = headline_of(run, files, finished=True)
    top = found.top
    assert top
    two = f"{top.bot}=uniform {top.second}=uniform"
    assert suggest_next(run, found) == ("Settle first place", f"arena compare {two}")
    apart = replace(found, top=top._replace(verdict=top.verdict._replace(word="apart")))
    first = f"arena play ./my_bot.py {top.bot}=uniform"
    assert suggest_next(run, apart) == ("Challenge the first", first)
    assert suggest_next(cup(["a", "b"], 2, rules=Rules(set_bonus=0)), found) == ("", "")
    assert suggest_next(run, replace(found, top=None)) == ("", "")


ROWS = {
    "bot": ["x", "a", "b", "broken"],
    "elo": [2380.0, 1510.0, 1490.0, None],
    "elo_low": [2040.0, 1480.0, 1460.0, None],
    "elo_high": [None, 1540.0, 1520.0, None],
    "group": ["a", "b", "b", None],
}
LEADS: dict[str, list[Any]] = {
    "bot": ["x", "x", "a"],
    "opponent": ["a", "b", "b"],
    "lead": [870.0, 890.0, 20.0],
    "lead_low": [530.0, 550.0, -16.0],
    "lead_high": [None, None, 56.0],
    "likely": [1.0, 1.0, 0.86],
    "verdict": ["apart", "apart", "open"],
}
FOUND = Findings(
    *({}, (), None, [], 0, [], []), unbounded=[Unbounded("x", "unbeaten", 2040.0, None)]
)


def standings() -> Columns:
    """Return the standings of an unbeaten bot, two that are close, and a broken one."""
    table = pd.DataFrame({name: [0] * 4 for name in STANDINGS.names} | ROWS)
    table["rank"] = [1, 2, 3, 4]
    return Columns.of(table)


def section() -> Section:
    """Return the section of a run with these bots."""
    return standings_section(standings(), Columns(LEADS), FOUND, None)


def test_a_row_of_the_first_screen_has_no_rating_that_is_a_guess() -> None:
    """As everywhere: of an unbeaten bot only the known end is said, and it has no dot."""
    rows = make_ladder(standings().put(games=np.ones(4)), Columns(LEADS))
    unbeaten, usual, _, broken = rows.rungs
    assert (unbeaten.elo, unbeaten.rating) == ("≥2040", "at least 2040 Elo (95 %)")
    assert (usual.elo, usual.rating) == ("1510", "1510 Elo, 95 %: 1480..1540")
    assert (broken.elo, broken.rating) == ("", "not rated")
    signs = [[one.draw_rating().count(part) for part in ('"sign', '"span')] for one in rows.rungs]
    assert signs == [[0, 1], [1, 1], [1, 1], [0, 0]]
    drawn = [text[25:44].strip("- ") for text, _ in Opening("", "", [], rows).lines()]
    assert drawn[3:5] == ["≥2040", "1510  o"]


def test_an_unbeaten_bot_and_one_without_a_rating_are_named_and_drawn() -> None:
    """No upper end, no Elo: a paragraph says so, and the interval goes to the edge."""
    (notes,) = (block.paragraphs for block in section().blocks if isinstance(block, Text))
    assert notes == [
        "Not rated, because no game of theirs was finished: broken.",
        "x is unbeaten: its Elo is at least 2040.",
    ]
    first, second = leads().rows
    assert first.marks == [Mark(870.0, 530.0, None, "apart")]
    assert first.said.startswith("+870 Elo ahead of a, 95 %: at least 530; ")
    assert second.said.startswith("+20 Elo ahead of b, 95 %: -16..56; ")
    drawn = draw(leads(), Names({}))
    assert 'x2="100.0%"' in drawn[: drawn.index("20 Elo ahead of b")]
    assert 'x2="100.0%"' not in drawn[drawn.index("20 Elo ahead of b") :]
    facts = [(row.name, row.value, row.marks[0].sign, row.strong) for row in leads().rows]
    assert facts == [("x", "above 99.9 %", "apart", True), ("a", "86.0 %", "open", False)]
    assert {*leads().signs} == {"apart", "open"}
    assert "Apart: 1 of 2." in leads().meaning


def leads() -> Rows:
    (chart,) = Report("r", [], [section()]).charts()
    return chart


def test_an_outlier_does_not_squeeze_the_chart() -> None:
    """Its arrow and its words are at the end; a label at the end of a crowded axis is left out."""
    rows = [
        Row(name, [Mark(lead, lead - 20, lead + 20)], f"{lead:+}")
        for name, lead in zip("abcde", (60, 40, 20, 0, -2000), strict=True)
    ]
    chart = Rows(name="c", title="c", meaning="", rows=rows)
    drawn = draw(chart, Names({}))
    assert drawn.count("<polygon") == 1
    far = drawn[drawn.index("e: -2000") :]
    assert '<svg x="0.0%"' in far
    assert "-500" not in drawn.replace("-2000", "")
    near = draw(replace(chart, rows=rows[:4]), Names({}))
    ticks = re.compile('class="tick.*?</span>')
    assert ticks.findall(near) == ticks.findall(drawn)


@given(
    st.lists(st.floats(-3000, 3000), min_size=1, max_size=4),
    st.sampled_from(["{:.0f}", "{:+,.0f}", "{:+,.0f} %"]),
    st.sampled_from([1, 100]),
)
def test_no_label_of_an_axis_touches_another_one(values: list[float], form: str, less: int) -> None:
    """With letters as wide as in DejaVu Sans, in the narrowest chart and first screen; 0 stays."""
    write = lambda value: form.format(value) if value else "even"  # noqa: E731
    scale = Scale([value / less for value in values])
    ticks = [(scale.place(value), write(value)) for value in scale.round_values()]
    parts = 'tick( first| last|)( more|)" style="left:(.*?)%">(.*?)<'
    drawn = re.findall(parts, write_ticks(ticks))
    assert len(ticks) > 1 or scale.high - scale.low < 3
    for room, shown in (22, drawn), (12, [one for one in drawn if not one[1]]):
        end = -math.inf
        for side, _, place, label in shown:
            wide = 100 * sum(_WIDTHS.get(char, 0.64) for char in label) / (0.636 * room)
            start = float(place) - wide * {" first": 0, "": 0.5, " last": 1}[side]
            assert start > end
            end = start + wide
        assert bool(shown) is bool(ticks)
    assert ("even" in [label for *_, label in drawn]) is ("even" in [label for _, label in ticks])


_WIDTHS = {"+": 0.838, "%": 0.95, ",": 0.318, " ": 0.318, "-": 0.361}
"""The widths of characters, in sizes of the font; those of others are less than that of a digit."""


CUP = cup(["a", "b", "c"], pairs=10)


@pytest.fixture(scope="module")
def files() -> RunTables:
    return RunTables(CUP, make_store(CUP))


def figures(files: RunTables, timings: Columns | None = None) -> list[dict[str, object]]:
    """Return the rows of the table by the names of their columns."""
    section = bots_section(files.standings, files.won.takes, timings, JudgedTables())
    (table,) = section.blocks
    names = [column.name for column in table.columns]  # type: ignore[union-attr]
    return [dict(zip(names, row, strict=True)) for row in table.rows]  # type: ignore[union-attr]


def test_every_bot_has_a_row_of_key_figures(files: RunTables) -> None:
    """In the order of the standings; a bot without a measured time has an empty cell."""
    standings, takes = STANDINGS.frame(files.standings), TAKES.frame(files.won.takes)
    rows = figures(files)
    assert [row["bot"] for row in rows] == standings["bot"].tolist()
    for row, bot in zip(rows, standings.itertuples(), strict=True):
        assert row["score"] == bot.score
        assert row["won_city"] == bot.city_wins / bot.games
        assert row["lost_forfeit"] == bot.forfeits / bot.games
        (own,) = takes[(takes["bot"] == bot.bot) & takes["round"].isna()].itertuples()
        assert (row["take_cards"], row["take_gain"]) == (own.cards, own.gain)
    assert "cpu_mean" not in figures(files)[0]
    timings = Columns.of(pd.DataFrame({"bot": ["b"], "cpu_mean": [0.5]}))
    shown = {row["bot"]: row["cpu_mean"] for row in figures(files, timings)}
    assert shown == {"a": None, "b": 0.5, "c": None}
