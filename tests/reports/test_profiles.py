"""The section on single bots: its data are the numbers of the profiles, and stay small."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arena.differences.profiles import make_files, make_profiles
from arena.reports import games as telling_games
from arena.reports.blocks import Profiles, Report, Section, to_markdown
from arena.reports.games import find_telling, replay_id
from arena.reports.html import to_html
from arena.reports.profile_data import DIGITS, Games, write_change, write_value
from arena.reports.run_report import make_report
from arena.store.finished import Game
from arena.store.html_page import to_data
from arena.tables.losses import JudgedTables
from arena.tables.swings import chances_by_game
from arena.tournament.tournament import Tournament
from tests.reports.runs import HOSTILE, cup, make_store

CUP = cup(["a", "b", "c"], 30)
LOSSES = [("a", "b", 0.01), ("a", "c", 0.02), ("b", "c", 0.04), ("c", "a", 0.03)]
JUDGED = JudgedTables(
    pd.DataFrame(
        [
            (
                f"{bot}/{opponent}/{pair}/0",
                bot,
                opponent,
                "5",
                pair,
                0,
                0,
                1,
                8,
                loss + pair / 50,
                0.1,
            )
            for bot, opponent, loss in LOSSES
            for pair in (0, 1)
        ],
        columns=[
            *("game", "bot", "opponent", "action", "pair", "seat", "ply", "round", "worlds"),
            *("loss", "error"),
        ],
    ).assign(better="6", again=0.2, again_error=0.05, mistake="gave a city"),
    "analysis.csv: an example",
)


def report_of(tournament: Tournament, judged: JudgedTables | None = None) -> Report:
    store = make_store(tournament)
    return make_report(tournament, store, make_files(tournament, store), judged=judged)


def section_of(report: Report) -> Section:
    return next(section for section in report.sections if section.name == "profiles")


def data_of(report: Report) -> dict[str, Any]:
    (block,) = (block for block in section_of(report).blocks if isinstance(block, Profiles))
    return block.data


def read(data: dict[str, Any], cells: str) -> list[str]:
    """Return the texts of some cells, as the page reads them."""
    width, texts = data["width"], []
    for at in range(0, len(cells), width):
        number = 0
        for digit in cells[at : at + width]:
            number = number * len(DIGITS) + DIGITS.index(digit)
        texts.append(data["texts"][number])
    return texts


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(CUP, JUDGED)


@pytest.mark.slow
def test_the_page_has_the_numbers_of_the_profiles(report: Report) -> None:
    """Each as people read it, with the rows of all groups in their order."""
    store = make_store(CUP)
    made = make_profiles(CUP.pairings, make_files(CUP, store), JUDGED, 200)
    data = data_of(report)
    groups = [group["name"] for group in data["groups"] for _ in group["rows"]]
    assert groups == [one.group for one in made.measures]
    for place, cells in enumerate(data["own"]):
        ends = np.stack([part[place] for part in made.own], axis=1).tolist()
        units = [one.unit for one in made.measures]
        pairs = zip(ends, units, strict=True)
        assert read(data, cells) == [write_value(end, unit) for row, unit in pairs for end in row]
    one = made.beside[0]
    cells, marks, direct = data["beside"][0][1]
    opponents, sure, *texts = read(data, cells)
    assert opponents == "Compared by 1 common opponent"
    assert sure.startswith(f"{marks.count('+')} of {len(marks) - marks.count('.')} differences ")
    for place, measure in enumerate(made.measures):
        if measure.group != "cards":
            values = [part[1, place] for part in (one.first, one.second)]
            assert [texts.pop(0) for _ in values] == [write_value(v, measure.unit) for v in values]
        ends = [write_change(part[1, place], measure.unit) for part in one.difference]
        assert [texts.pop(0) for _ in ends] == ends
        assert (marks[place] == "+") == one.sure[1, place]
    assert texts == []
    assert read(data, direct)[0] == "60 games"


def test_lists_name_other_bots_by_their_places(report: Report) -> None:
    """Losses by opponent, and games; the best bot is a."""
    data = data_of(report)
    assert data["names"] == ["a", "b", "c"]
    losses = [[data["names"][place], *read(data, cells)] for place, cells in data["losses"][0]]
    half = 100 * 12.7062 * 0.01  # Student's t with one degree of freedom
    assert losses[0] == ["b", "2.00", f"{2 - half:.2f}", f"{2 + half:.2f}", "2"]
    assert [row[:2] for row in losses] == [["b", "2.00"], ["c", "3.00"]]
    assert data["notes"]["losses"].startswith("Judged in 8 worlds. ")
    ids = {replay.id for replay in report.replays()}
    assert all(2 <= len(games) <= 4 and {*games} <= ids for games in data["games"])
    for rows in data["beyond"]:
        for place, cells in rows:
            assert 0 <= place < 3
            assert read(data, cells)[-1] in ("within chance", "not as the Elo says")


def test_the_names_in_the_standings_lead_to_the_profiles(report: Report) -> None:
    """The cell of the name, and not that of the rank."""
    page = to_html(report)
    for place, bot in enumerate("abc", 1):
        assert f'<td>{place}<th scope="row"><a href="#profile-{place}">{bot}</a>' in page


def test_the_markdown_has_the_key_figures_and_the_mistakes(report: Report) -> None:
    """And the line on what was left out."""
    text = to_markdown(report)
    assert "**Key figures of every bot**" in text
    assert "| Loss against c |" in text
    assert "> **Note:** Left out: analysis.csv: an example." in text
    assert "| b | c | gave a city | 2 | 20.0 % |" in text


@pytest.mark.slow
@pytest.mark.parametrize("bots", [4, 40])
def test_the_data_stay_small(bots: int) -> None:
    """Those of two bots side by side most of all, of which there are 780."""
    many = report_of(cup([f"bot number {number:02}" for number in range(bots)], 1))
    data = data_of(many)
    assert [len(row) for row in data["beside"]] == [*range(bots - 1, 0, -1)]
    assert len(to_data(data).encode()) < {4: 12_000, 40: 330_000}[bots]
    assert data["width"] == 2


@pytest.mark.slow
def test_names_are_text_in_the_data() -> None:
    """No tag of a label stands in the page."""
    page = to_html(report_of(cup(HOSTILE, 2)))
    assert "<script>alert" not in page
    assert "\\u003cscript\\u003ealert(1)" in page


def test_a_bot_without_a_replay_has_the_names_of_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the first bots, where no game of it is shown: its win and its loss with the turns."""
    monkeypatch.setattr(telling_games, "MOST_SHOWN", 1)
    four = cup(["a", "b", "c", "d"], 10)
    turns = make_files(four, make_store(four)).wins().turns_of
    telling = find_telling([], turns, four, ["a", "b", "c", "d"])
    assert [pick.reason.split(", at ply")[0] for pick in telling.picks] == [
        "The greatest turn among the wins of a",
        "The greatest turn among the losses of a",
    ]
    two = [replay_id(pick.place) for pick in telling.picks]
    games = telling.games(two)
    assert games["a"] == Games(two)
    other = next(bot for bot in "bcd" if not games[bot].replays)
    won, lost = games[other].named
    assert won.startswith("Won: ")
    assert lost.startswith("Lost: ")
    assert f"/{other}/" in won or f" {other}/" in won


@pytest.mark.slow
def test_the_greatest_turns_of_a_bot_are_those_of_its_games() -> None:
    """Of each bot and result the game with the largest swing of its decisive ply."""
    store = make_store(CUP)
    turns = make_files(CUP, store).wins().turns_of.frame.set_index(["bot", "result"])
    games = {
        (number, game.pair, game.seat): Game.of(CUP, CUP.fixture(number, *game[:2]), game)
        for number, game in store.results()
    }
    chances = chances_by_game(CUP, games)
    for (bot, result), turn in turns.iterrows():
        swings = {
            place: max(abs(one - other) for one, other in pairwise(chances[place]))
            for place, game in games.items()
            if game.winner is not None and bot in game.seats
            if (game.winner == bot) == (result == "won")
        }
        place = turn["pairing"], turn["pair"], turn["seat"]
        assert swings[place] == pytest.approx(max(swings.values()), abs=1e-5)
    assert len(turns) == 6
