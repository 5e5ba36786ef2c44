"""The pages of a league say how it stands, and nothing that is not everybody's."""

from __future__ import annotations

import csv
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import league_site, submission
from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.shown import Standing, standings
from arena.reports.blocks import Report
from arena.reports.html import to_html
from arena.reports.ladder import ENDINGS, Lately, Opening, lay_out
from tests.addons.league.small import NOON, a_league, accept, play
from tests.addons.league.test_league import FAULTY


def text_of(page: Path) -> str:
    """Return the words of a page without its scripts and styles."""
    html = page.read_text()
    html = re.sub(r"<(script|style)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> League:
    """Return a league in which all kinds of things have happened, with its pages."""
    folder = tmp_path_factory.mktemp("league")
    with (
        pytest.MonkeyPatch.context() as patch,
        a_league(folder / "club", round_pairs=30, max_faults=3, seed=271828182845) as league,
    ):
        patch.setattr(submission, "run_check", accept)
        league.desk.submit("greedy(patience=11)", "patient", "Ann")
        play(league)
        league.desk.now = league.now = lambda: NOON + timedelta(days=2)
        league.desk.submit("greedy(patience=5)", "patient", "Ann")
        (folder / "faulty.py").write_text(FAULTY)
        league.desk.submit(str(folder / "faulty.py"), "faulty", "Bob")
        bad = folder / "own_words_of_eve.py"
        bad.write_text("x = 1\n" * 300_000)
        with pytest.raises(submission.Refused):
            league.desk.submit(str(bad), "eve")
        play(league, 2)
        league.desk.submit("greedy(patience=7)", "late", "Cid")
        play(league)
        league.withdraw("patient")
        write_site(league)
        return League(league.folder, league.now)


@pytest.mark.slow
def test_the_first_page_has_the_news_and_the_standings(league: League) -> None:
    """What happened in the last day only, and a page for every name that has a version."""
    site = league.folder / "site"
    index = text_of(site / "index.html")
    for words in (
        "patient 2, by Ann, is a new version",
        "faulty 1, by Bob, joins the league",
        "faulty 1 is suspended",
        "patient 2 is withdrawn",
        "a submission for eve was refused",
        "Results differ from Elo by about ±",
    ):
        assert words in index
    assert "patient 1, by Ann" not in index  # that was two days before
    names = {path.stem for path in (site / "bots").iterdir()}
    assert names == {"uniform", "greedy", "majority", "patient", "faulty", "late"}
    links = re.findall(r'href="\./bots/(\w+)\.html"', (site / "index.html").read_text())
    assert {*links} <= names
    assert "faulty" in links


def test_the_first_page_begins_with_a_row_for_each_bot(league: League) -> None:
    """Score, City and the day of the last submission; who is suspended comes before all."""
    report = league_site._index(league, found := standings(league))
    opening = report.opening
    assert opening
    assert report.sections[0].name == "standings"
    assert opening.sentence == league_site.say_standings(found)
    assert [(one.bot, one.link) for one in opening.forfeiting] == [("faulty", "./bots/faulty.html")]
    shown = [one for one in found if one.elo is not None and one.state == "active"]
    assert [rung.bot for rung in opening.ladder.rungs] == [one.bot for one in shown]
    newest = {version.name: version for version in league.ledger.versions()}
    for rung, one in zip(opening.ladder.rungs, shown, strict=True):
        results = league.games.results[newest[one.bot].label]
        games = [sum(column) for column in zip(*(r.endings for r in results), strict=True)]
        assert rung.rank == one.rank
        assert rung.lately
        assert rung.lately.city == games[0] / sum(games)
        assert rung.score == (sum(games[0::3]) + sum(games[2::3]) / 2) / sum(games)
        assert rung.lately.at == ("new" if one.rank else "24 Nov")
        assert len(rung.lately.lines) == 1
        assert rung.lately.end
        assert rung.lately.lines[-1].endswith("{},{}".format(*rung.lately.end))
    page = (league.folder / "site" / "index.html").read_text()
    assert page.index("faulty</b> is suspended") < page.index('class="rungs"') < page.index("<main")


def test_neighbours_that_are_not_told_apart_are_one_group() -> None:
    """The arena's own bots have no rank, and stand between the others without a verdict."""
    rows = (1, "ann", "a"), (None, "own", "ab"), (2, "bob", "ab"), (3, "cid", "b"), (4, "dan", "c")
    found = [
        Standing(rank, bot, 1, "", 1.0, 0.0, 2.0, 1.0, 9, group, "active", "")
        for rank, bot, group in (*rows, (None, "last", "c"))
    ]
    verdicts = dict(league_site._find_verdicts(found))
    assert [*verdicts.values()] == ["open", "open", "open", "apart"]
    page = to_html(Report("x", ["x"], [], opening=opening_of(verdicts, found)))
    assert page.count('<span class="verdict">open</span>') == 1
    assert page.count('<span class="verdict">apart</span>') == 1
    assert page.count("rung open scale") == 1


def opening_of(verdicts: Any, found: list[Standing]) -> Opening:
    """Return a first screen of these standings."""
    ends = dict.fromkeys((name for _, *two in ENDINGS.values() for name in two), 1)
    more = {"games": 8, "draws": 0, "score": 0.5, "lately": Lately(0.1, "new")}
    rows = [one._asdict() | ends | more for one in found]
    ladder = lay_out(rows, verdicts, [None] * len(rows), of_league=True)
    return Opening("x", "x", [], ladder)


def test_the_sentence_is_what_the_letters_say() -> None:
    """Two bots that share a letter are not told apart; a letter may have a number."""

    def said(*groups: str) -> str:
        rows = [
            Standing(n, f"b{n}", 1, "", 1.0, 0.0, 2.0, 1.0, 9, group, "active", "")
            for n, group in enumerate(groups, 1)
        ]
        return league_site.say_standings(rows)

    assert said("a", "b", "c") == "b1 is the strongest, told apart from both others."
    assert said("a2", "a3") == "b1 is stronger than b2."
    assert said("ab", "b") == "b1 and b2 are not told apart."
    assert said("a", "a", "b") == (
        "b1 is first, but not told apart from b2; the top two are told apart from b3."
    )
    assert said("a") == "b1 is rated so far, beside the arena's own."


def test_the_page_of_a_bot_says_what_to_do_next(league: League) -> None:
    """Its versions, its profile, the command of its first fault, and its games."""
    bots = league.folder / "site" / "bots"
    faulty = text_of(bots / "faulty.html")
    assert "Version 1 is suspended" in faulty
    assert re.search(r"the first: an exception \(exception\) at ply \d+ of \S+/\d+/[01]\.", faulty)
    patient = text_of(bots / "patient.html")
    assert "Version 2 is withdrawn; a new version brings the bot back." in patient
    assert "y points it has won" in patient
    assert "Games to look at" in patient
    assert 'href="../index.html"' in (bots / "patient.html").read_text()
    assert "Its rating is not sure yet" in text_of(bots / "late.html")


def test_no_page_has_a_source_or_what_a_bot_has_printed(league: League) -> None:
    """Neither the text of an exception, nor a path of this machine."""
    for path in (league.folder / "site").rglob("*.*"):
        text = path.read_text()
        assert "secret" not in text
        assert "own_words" not in text
        assert "def choose" not in text
        assert "271828182845" not in text
        assert str(league.folder.parent) not in text
        if path.suffix == ".html":
            assert "Content-Security-Policy" in text


def test_the_standings_are_a_csv_file_too(league: League) -> None:
    """With every column of the page, and what courses grade by; empty cells before its games."""
    with (league.folder / "site" / "league.csv").open() as file:
        rows = [*csv.DictReader(file)]
    found = standings(league)
    assert [row["bot"] for row in rows] == [one.bot for one in found]
    panel = [version.name for version in league.ledger.versions("panel")]
    for row, one in zip(rows, found, strict=True):
        known = one._asdict()
        del known["beats"]
        for name in panel:
            may = one.pairs > 0 and name != one.bot
            known[f"beats_{name}"] = ("yes" if name in one.beats else "no") if may else ""
        assert row == {name: "" if v is None else str(v) for name, v in known.items()}


def test_only_what_has_changed_is_written_again(league: League) -> None:
    """And a page that is missing."""
    bots = league.folder / "site" / "bots"
    before = {path: path.stat().st_mtime_ns for path in bots.iterdir()}
    (bots / "greedy.html").unlink()
    write_site(league, ["uniform"])
    after = {path.stem for path in bots.iterdir() if path.stat().st_mtime_ns != before[path]}
    assert after == {"uniform", "greedy"}
