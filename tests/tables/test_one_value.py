"""Of every two bots all files and pages of a run say the same: one lead, one verdict, one score."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pandas as pd
import pytest

import arena
from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.league_tables import RatingRow
from arena.addons.league.shown import format_standings, standings
from arena.lanes.faults import Fault
from arena.library.comparing import Comparison
from arena.library.results import Results
from arena.runs.saving import RunProgress
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.match import Finished, GameResult, result_of
from arena.tournament.plan import Chunk, Played
from arena.tournament.stop import Sprt, Until
from arena.tournament.tournament import Anchor, Tournament
from engine import State
from engine.play import playout
from tests import rogues
from tests.addons.league.small import a_league
from tests.conftest import run_here
from tests.reports.runs import cup
from tests.tables.statements import Statements
from tests.tiers import few

BOOM = Fault("exception", "boom")


class Form(NamedTuple):
    """A small run: what it is, who wins all games or forfeits some, and how much is played."""

    tournament: Tournament
    always: str = ""
    faulty: str = ""
    is_unrated: bool = False
    is_even: bool = False
    rounds: int = 100
    stops_after: int = 1_000


def play(form: Form) -> Store:
    """Return a store with random games; of a few of them the earlier label has the best one."""
    tournament, store = form.tournament, Store(None)
    store.begin(tournament.manifest())
    progress = RunProgress(tournament, store)
    for _ in range(form.rounds):
        for number, first, end in progress.next_round(()):
            end = min(end, form.stops_after - 2 * number)
            games = [
                _play_game(form, (number, pair, seat))
                for pair in range(first, end)
                for seat in (0, 1)
            ]
            store.add(Played(Chunk(number, first, end - first), games, {}, 0.0))
        if progress.ended:
            break
    store.commit()
    return store


def _play_game(form: Form, place: tuple[int, int, int]) -> GameResult:
    _, pair, seat = place
    fixture = form.tournament.fixture(*place)
    state = State(form.tournament.draw(fixture).deal, form.tournament.rules)
    if form.faulty in fixture.pairing and (pair == 0 or form.is_unrated):
        guilty = seat ^ (form.faulty != fixture.pairing.bot)
        return result_of(Finished(state, BOOM, guilty), pair, seat)
    sign = 1 if min(fixture.pairing) == fixture.pairing.bot else -1
    winner = seat if form.is_even else int(form.always != fixture.pairing.bot)
    is_bound = form.is_even or form.always in fixture.pairing
    played: list[GameResult] = []
    while not played or (len(played) < 2 if not is_bound else played[-1].winner != winner):
        state = State(form.tournament.draw(fixture).deal, form.tournament.rules)
        playout(state, Random(f"{place} {len(played)}"))
        played.append(result_of(Finished(state), pair, seat))
    return played[-1] if is_bound else max(played, key=lambda game: sign * game.score)


SPRT = Sprt(0.0, 10.0, 0.05, 0.05, 16)
ALL, FOUR = ["ann", "bea", "cid", "dan", "eve"], ["ann", "bea", "cid", "dan"]
NEW = ["new", "old"]
FORMS = {
    "stopped": Form(cup(FOUR, 12), stops_after=9),
    "20 : 0": Form(cup(ALL[:2], 10), always="bea"),
    "a comparison": Form(cup(NEW, 16, stop=SPRT)),
    "a comparison, stopped": Form(cup(NEW, 16, stop=SPRT), stops_after=7),
    "a comparison by others": Form(cup([*NEW, *ALL[:2]], 16, stop=SPRT, paired=True, panel=2)),
    "a round robin of 2": Form(cup(ALL[:2], 9)),
    "a round robin of 4": Form(cup(FOUR, 8)),
    "a gauntlet": Form(cup(FOUR, 8, panel=3)),
    "a gauntlet of two": Form(cup(["cid", "dan", "ann", "bea"], 8, panel=2)),
    "Swiss": Form(cup(ALL, 4, rounds=3)),
    "until resolved": Form(cup(ALL[:3], 4, stop=Until("resolved", 12))),
    "until a number": Form(cup(ALL[:3], 4, stop=Until(150.0, 20))),
    "an anchor": Form(cup(ALL[:3], 8, anchor=Anchor("bea", 1700.0))),
    "an unbeaten bot of four": Form(cup(FOUR, 6), always="dan"),
    "some forfeits": Form(cup(FOUR, 8, max_faults=50), faulty="cid"),
    "an unrated bot": Form(cup(FOUR, 8, max_faults=50), faulty="bea", is_unrated=True),
    "two, stopped": Form(cup(ALL[:2], 12), stops_after=8),
    "extended": Form(cup(ALL[:3], 8, extended=True)),
    "two, extended": Form(cup(ALL[:2], 10, extended=True), always="bea"),
}
LEAST = {
    **{"lead_high": 6, "likely": 5, "verdict": 5, "is apart": 11, "neighbours apart": 2},
    **{"elo": 6, "elo_low": 7, "rank": 5, "score": 11, "score_low": 3, "expected": 3},
}
"""In how many places at least a quantity stands."""
FEWEST = {
    **{"lead_high": 5, "likely": 1, "verdict": 2, "is apart": 4, "neighbours apart": 1},
    **{"elo": 3, "elo_low": 3, "rank": 3, "score": 6, "score_low": 1, "expected": 1},
}
"""The same of a comparison, whose page has no standings."""


def collect(results: Results, tournament: Tournament, folder: Path) -> Statements:
    """Return what all files, pages, tables and printed lines of a run say."""
    said = Statements(results.standings["bot"].tolist())
    said.compared = tournament.labels[:2] if tournament.comparison else []
    for name in ("verdicts", "standings", "head_to_head"):
        rows = getattr(results, name).astype(object)
        said.read_rows(rows.where(rows.notna(), None).to_dict("records"), f"results.{name}")
    for path in sorted(folder.rglob("*.csv")):
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        said.read_rows(rows.to_dict("records"), path.name)
    if results.finished:
        done = run_here(folder.parent, "run", f"{folder}/manifest.json", "--out", str(folder))
        assert done.returncode == 0, done.stderr
        said.read_text(done.stdout, "arena run")
    if found := results._tables.comparison:
        comparison = Comparison(found, results)
        said.read_data(comparison.document(), "comparison.json")
        said.read_text(str(comparison), "arena compare")
    report = results.report()
    said.read_html(report.html, "report.html")
    said.read_markdown(report.markdown(), "report.md")
    said.read_text(str(results), "results")
    said.read_html(results._repr_html_(), "notebook")
    elos = results.standings.dropna(subset="elo").set_index("bot")["elo"].to_dict()
    said.derive({} if tournament.comparison else elos)
    return said


@pytest.mark.parametrize("name", few(FORMS, 0, 7))
def test_of_two_bots_there_is_one_value(name: str, tmp_path: Path) -> None:
    """Of each quantity and two bots, or one, in every place; and it stands in many places."""
    results = Results(FORMS[name].tournament, play(FORMS[name]))
    results.save(tmp_path / "run")
    said = collect(results, FORMS[name].tournament, tmp_path / "run")
    assert [*said.contradictions()] == []
    found = {quantity: len(said.sources(quantity)) for quantity in LEAST}
    least = FEWEST if FORMS[name].tournament.comparison else LEAST
    assert {quantity: min(found[quantity], fewest) for quantity, fewest in least.items()} == least


@pytest.mark.slow
def test_so_it_is_where_a_bot_is_out_and_others_come_later(tmp_path: Path) -> None:
    """Of a run that was really played, and extended by a bot."""
    bots: list[Any] = [("ann", "uniform"), ("bea", "uniform"), ("cid", rogues.spec("raises_boom"))]
    path = tmp_path / "run"
    for number in (2, 3):
        arena.run(bots[:number], pairs=4, seed=7, max_faults=3, out=path, progress=False)
    tournament, store = read_run(path)
    said = collect(Results(tournament, store, None, path), tournament, path)
    assert tournament.extended
    assert [*said.contradictions()] == []
    assert len(said.sources("elo")) >= LEAST["elo"]


ROWS = [{"bot": "ann", "opponent": "bea", "lead": 41.2, "lead_low": -146.4, "lead_high": 235.7}]
PLACES = {
    "a row": lambda said: said.read_rows([{"bot": "bea", "opponent": "ann", "lead": -42.2}], "new"),
    "a chart": lambda said: said.read_data(
        {"data": {"values": [{"bot": "ann", "next": "bea", "lead": 41.2, "interval": "7..95"}]}},
        "new",
    ),
    "a table of HTML": lambda said: said.read_html(
        '<table><tr><th data-name="bot">B<th data-name="opponent">O<th data-name="lead_low">L</tr>'
        "</thead><tbody><tr><td>ann<td>bea<td>-145</tr></tbody></table>",
        "new",
    ),
    "a table of Markdown": lambda said: said.read_markdown(
        "\n| Bot | Opponent | Lead |\n| --- | --- | --- |\n| ann | bea | 41 (-14..236) |", "new"
    ),
    "a sentence": lambda said: said.read_text("ann leads bea by +41 Elo (7..95).", "new"),
    "one end": lambda said: said.read_text("ann leads bea by at least 7 Elo.", "new"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_second_value_is_found_wherever_it_stands(place: str) -> None:
    """So the tests above see a new file or page, too."""
    said = Statements(["ann", "bea"])
    said.read_rows(ROWS, "verdicts.csv")
    said.read_text("ann leads bea by +41 Elo (-146..236).", "headline")
    assert [*said.contradictions()] == []
    PLACES[place](said)
    assert any("of ann and bea" in one and "(new" in one for one in said.contradictions())


def test_words_and_letters_that_disagree_are_found() -> None:
    """A verdict, letters, and what a row opens to."""
    said = Statements(["ann", "bea"])
    said.read_rows([{"bot": "ann", "opponent": "bea", "verdict": "apart"}], "verdicts.csv")
    assert [*said.contradictions()] == []
    letters = [{"bot": "ann", "group": "a"}, {"bot": "bea", "group": "ab"}]
    said.read_rows(letters, "standings.csv")
    assert len([*said.contradictions()]) == 1
    said.read_rows([{"bot": "ann", "opponent": "bea", "verdict": "leans"}], "new")
    assert len([*said.contradictions()]) == 2


@pytest.mark.slow
def test_equal_bots_share_a_rank_on_every_page(tmp_path: Path) -> None:
    """1, 1, 1 in the files, the report, the terminal and the browser, and in `arena rate`."""
    form = Form(cup(ALL[:3], 4), is_even=True)
    results = Results(form.tournament, play(form))
    results.save(tmp_path / "run")
    said = collect(results, form.tournament, tmp_path / "run")
    rated = arena.rate(pd.read_csv(tmp_path / "run" / "games.csv"))
    said.read_rows(rated.standings.to_dict("records"), "results.rate")
    said.read_text(str(rated), "arena rate")
    said.read_html(rated.report().html, "arena rate's report")
    said.read_markdown(rated.report().markdown(), "arena rate's report.md")
    ranks = {
        one.value for key, all_of in said.numbers.items() if key[0] == "rank" for one in all_of
    }
    assert ranks == {1.0}
    assert [*said.contradictions()] == []
    assert len(said.sources("rank")) >= 11


@pytest.mark.slow
def test_equal_bots_of_a_league_share_a_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its standings, in the terminal and on its page."""
    with a_league(tmp_path / "club") as league:
        names = [version.name for version in league.ledger.versions()]
        rows = {
            version.id: RatingRow(version.id, 20, 1500.0, 1450.0, 1550.0, 1500.0, "a", True)
            for version in league.ledger.versions()
        }
        monkeypatch.setattr(League, "ratings", lambda _: rows)
        assert [one.rank for one in standings(league)] == [1, 1, 1]
        said = Statements(names)
        for line in format_standings(standings(league)):
            rank, name = line.split()[:2]
            if name in names:
                said.add("rank", (name,), rank, "arena league show")
        said.read_html(write_site(league).read_text(), "the site")
        assert {one.value for all_of in said.numbers.values() for one in all_of if one} >= {1.0}
        assert [*said.contradictions()] == []
        assert len(said.sources("rank")) >= 2
