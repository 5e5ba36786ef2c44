"""`arena league`: a few calls, a line for every mistake, and the pages that say how it stands."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from arena.addons.league import league_site, submission
from arena.addons.league.hosting import host
from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.league_standing import standings
from arena.executors.local import LocalExecutor
from arena.reports.blocks import Report
from arena.reports.first_screen import ENDINGS, Opening, lay_out
from arena.reports.html import to_html
from tests.addons.league.small import NOON, a_league, accept, play, standing, write_bot
from tests.addons.league.test_league import FAULTY
from tests.conftest import Arena
from tests.kit import csv_rows, refused

PANEL = "uniform,greedy,majority"


@pytest.fixture
def club(arena: Arena, tmp_path: Path) -> Arena:
    """Return the command, in a folder with a small league."""
    with a_league(tmp_path / "club", round_pairs=300):
        return arena


ONCE = ("league", "host", "club", "--once", "--workers", "1")


@pytest.mark.slow
def test_a_league_from_its_beginning(club: Arena) -> None:
    """Submit, play, look, submit again and withdraw; every line fits 80 columns."""
    done = club("league", "submit", "club", "timing(patience=2.5)", "--name", "patient")
    assert done.stdout == "accepted: patient 1, by patient; it plays in the next round\n"
    done = club(*ONCE)
    assert done.returncode == 0, done.stderr
    assert "round 1: 600 games" in done.stdout
    shown = club("league", "show", "club").stdout.splitlines()
    assert shown[:2] == [
        "club \u00b7 1 bot \u00b7 round 1",
        "patient is rated so far, beside the arena's own.",
    ]
    assert next(line for line in shown if "patient  " in line).split()[:2] == ["1", "patient"]
    assert next(line for line in shown if "uniform  " in line).split()[:2] == ["-", "uniform"]
    assert max(map(len, shown)) <= 80
    assert "This is after round 1" in shown[-1]
    done = club("league", "withdraw", "club", "patient", "--by", "patient")
    assert done.stdout == "patient 1 is withdrawn\n"
    history = club("league", "show", "club", "patient").stdout.splitlines()
    assert history[0].endswith("withdrawn")
    assert re.fullmatch(r"  Elo \d+ \(\d+\.\.\d+\) after round 1, [\d,]+ pairs", history[1])
    assert len(history) == 2


def test_before_the_first_round_there_is_neither_a_table_nor_a_run(club: Arena) -> None:
    """Each command says so in a line."""
    shown = club("league", "show", "club").stdout
    assert "small letters" not in shown
    assert "Not rated yet: greedy, majority and uniform." in shown
    done = club("verify", "club")
    assert (done.returncode, done.stderr) == (2, "error: club: no run has begun there\n")


@pytest.mark.slow
def test_verbs_take_a_league(club: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its games are one run; what is verified is its games, as it has no files of a run.

    The bots play them again, wherever one stands: their files are the league's.
    """
    monkeypatch.setattr(submission, "run_check", accept)
    assert club("league", "submit", "club", str(write_bot(tmp_path))).returncode == 0
    assert club(*ONCE).returncode == 0
    for words in (("show", "club"), ("rate", "club"), ("export", "club", "-o", "games.jsonl")):
        assert club(*words).returncode == 0
    for more in ([], ["--fresh"]):
        done = club("play", "greedy", "uniform", "--out", "club", *more)
        assert done.stderr == "error: club: a league, whose games are kept; choose a new folder\n"
    said = club("verify", "club", "--sample", "1").stdout
    assert "games: 600 replayed" in said
    assert "not played again" not in said
    lesson = json.loads(club("analyse", "club", "mine", "--games", "4", "--json").stdout)["lesson"]
    assert (lesson["why"], lesson["games"]) == ("", 4)


@pytest.mark.slow
def test_every_command_has_one_json_document(club: Arena, tmp_path: Path) -> None:
    """And nothing else on standard output."""
    new = json.loads(club("league", "new", "other", "--lane", "process", "--json").stdout)
    assert (new["folder"], new["lane"], len(new["panel"])) == ("other", "process", 6)
    bot = "greedy(patience=3)"
    words = ("league", "submit", "club", bot, "--by", "Ann", "--json", "--name")
    version = json.loads(club(*words, "mine").stdout)
    assert (version["accepted"], version["version"]) == (True, 1)
    for name in ("mine", "more"):
        again = club(*words, name)
        assert again.returncode == 1
        assert json.loads(again.stdout)["why"] == "the same as mine 1 of Ann"
    shown = json.loads(club("league", "show", "club", "--json").stdout)
    assert {one["bot"] for one in shown["standings"]} == {"mine", *PANEL.split(",")}
    history = json.loads(club("league", "show", "club", "mine", "--json").stdout)
    assert [one["number"] for one in history["versions"]] == [1]
    assert history["refusals"] == []  # those bytes play already
    history = json.loads(club("league", "show", "club", "more", "--json").stdout)
    assert [one["why"] for one in history["refusals"]] == ["the same as mine 1 of Ann"]
    assert club("report", "club").stdout == "report in club/site/index.html\n"
    assert (tmp_path / "club" / "site" / "index.html").is_file()
    frozen = json.loads(club("league", "freeze", "club", "--json").stdout)
    assert (frozen["frozen"], frozen["bots"], frozen["waiting"]) == (True, 4, 0)
    assert club("league", "freeze", "club", "--undo").stdout == "submissions count again\n"
    gone = json.loads(club("league", "withdraw", "club", "mine", "--json").stdout)
    assert gone == {"bot": "mine", "version": 1, "state": "withdrawn"}


@pytest.mark.slow
def test_a_bot_that_fails_the_check_is_refused_with_status_1(club: Arena, tmp_path: Path) -> None:
    """Its owner sees why, also later; by default it has its file's name, and no other path."""
    (tmp_path / "bare.py").write_text("bott = 1\n")
    done = club("league", "submit", "club", "bare.py")
    assert " bare.py does not bind `bot`; `arena check` of the file" in done.stderr
    assert str(tmp_path) not in done.stderr
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("refused: the check failed: binds bot: ")
    assert "does not bind `bot`" in club("league", "show", "club", "bare").stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("new", "a", "--lane", "process", "--panel", ","), "--panel: ',' has an empty place"),
        (("show", "x" * 5000), "` makes one"),
        (("show", "nowhere"), "nowhere: no league there; `arena league new nowhere` makes one"),
        (("new", "club"), "club: there is something already"),
        (("new", "a", "--rules", '{"rounds": 100}'), "--rules: "),
        (("submit", "club", "none.py", "--name", "x"), "bot 'none.py': no such file"),
        (("submit", "club", "greedy(patience=3)", "--name", "x", "--by", "a\nb"), "owner 'a\\nb'"),
        (("submit", "club", "cmd:./first", "--name", "x"), "a bot.toml that names the command"),
        (("submit", "club", "greedy(patience=3)"), "name 'greedy(patience=3)': '(' is not one"),
        (("host", "club", "--executor", "moon"), "--executor"),
        (("show", "club", "nobody"), "no bot 'nobody' in this league"),
        (("host", "club", "--workers", "0"), "--workers"),
        (("host", "club", "--port", "70000"), "70000"),
        (("host", "club", "--host", "me", "--port", "0"), "--host me --port 0: "),
        (("invite", "nowhere", "Ann"), "no league there"),
        (("invite", "club", "a/b"), "owner 'a/b': 1 to 60 of"),
        (("invite", "club", "Zed", "--revoke"), "no token was given"),
    ],
)
def test_a_mistake_is_one_line_with_status_2(club: Arena, words: tuple[str, ...], why: str) -> None:
    """Which names the thing and the place; nothing is lost."""
    before = club("league", "show", "club").stdout
    assert why in refused(club("league", *words))
    assert club("league", "show", "club").stdout == before


def test_a_token_is_shown_once(club: Arena) -> None:
    """The list has owners, and no token."""
    tokens = json.loads(club("league", "invite", "club", "Ann", "Bob B.", "--json").stdout)[
        "tokens"
    ]
    assert [*tokens] == ["Ann", "Bob B."]
    assert len({*tokens.values()}) == 2
    shown = club("league", "invite", "club").stdout
    assert shown == "Ann\nBob B.\n"
    assert club("league", "invite", "club", "Ann", "--revoke").stdout == "Ann: revoked\n"
    assert "Ann" not in club("league", "invite", "club").stdout


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
        league.desk.now = lambda: NOON + timedelta(days=2)
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
        return League(league.folder, league.desk.now)


@pytest.mark.slow
def test_the_first_page_has_refusals_and_the_standings(league: League) -> None:
    """And a page for every name that has a version."""
    site = league.folder / "site"
    index = text_of(site / "index.html")
    for words in ("eve it cannot be read as a bot", "after round 4", "New in this round: late."):
        assert words in index
    names = {path.stem for path in (site / "bots").iterdir()}
    assert names == {"uniform", "greedy", "majority", "patient", "faulty", "late"}
    links = re.findall(r'href="\./bots/(\w+)\.html"', (site / "index.html").read_text())
    assert {*links} <= names
    assert "faulty" in links


def test_the_first_page_begins_with_a_row_for_each_bot(league: League) -> None:
    """With its score; who is suspended comes before all."""
    opening = league_site.make_opening(league, found := standings(league))
    assert opening.ladder
    assert opening.sentence == league_site.say_standings(found)
    assert [(one.bot, one.link) for one in opening.forfeiting] == [("faulty", "./bots/faulty.html")]
    shown = [one for one in found if one.elo is not None and one.state == "active"]
    assert [rung.bot for rung in opening.ladder.rungs] == [one.bot for one in shown]
    newest = {version.name: version for version in league.ledger.versions()}
    for rung, one in zip(opening.ladder.rungs, shown, strict=True):
        games = league.games.totals[newest[one.bot].label]
        assert rung.rank == one.rank
        assert rung.score == (games["wins"] + games["draws"] / 2) / games["games"]
    page = (league.folder / "site" / "index.html").read_text()
    assert page.index("faulty</b> is suspended") < page.index('class="rungs"') < page.index("<main")


def test_neighbours_that_are_not_told_apart_are_one_group() -> None:
    """The arena's own bots have no rank, and stand between the others."""
    rows = (1, "ann", "a"), (None, "own", "ab"), (2, "bob", "ab"), (3, "cid", "b"), (4, "dan", "c")
    found = [standing(*row) for row in (*rows, (None, "last", "c"))]
    verdicts = league_site.find_verdicts(found)
    assert [*verdicts.values()] == ["open", "open", "open", "apart", "open"]
    ends = dict.fromkeys((name for _, *two in ENDINGS.values() for name in two), 1)
    shown = [one._asdict() | ends | {"games": 8, "draws": 0, "score": 0.5} for one in found]
    ladder = lay_out(shown, verdicts, [None] * len(shown), of_league=True)
    page = to_html(Report("x", ["x"], [], opening=Opening("x", "x", [], ladder)))
    assert page.count('<span class="verdict">open</span>') == 2  # one for neighbours in a row
    assert page.count('<span class="verdict">apart</span>') == 1
    assert page.count("rung open scale") == 1


def test_the_sentence_is_what_the_letters_say() -> None:
    """Two bots that share a letter are not told apart; a letter may have a number."""
    for groups, said in (
        ("a b c", "b1 is the strongest, told apart from both others."),
        ("a2 a3", "b1 is stronger than b2."),
        ("ab b", "b1 and b2 are not told apart."),
        ("a a b", "b1 is first, but not told apart from b2; the top two are told apart from b3."),
        ("a", "b1 is rated so far, beside the arena's own."),
    ):
        rows = [standing(n, f"b{n}", group) for n, group in enumerate(groups.split(), 1)]
        assert league_site.say_standings(rows) == said


def test_the_page_of_a_bot_says_what_to_do_next(league: League) -> None:
    """Its versions, its first fault and what helps, and its games; no page has what it printed."""
    bots = league.folder / "site" / "bots"
    faulty = text_of(bots / "faulty.html")
    assert "Version 1 is suspended" in faulty
    assert re.search(r"the first: an exception \(exception\) at ply \d+ of \S+/\d+/[01]\.", faulty)
    assert "arena check ./faulty.py" in faulty
    patient = text_of(bots / "patient.html")
    assert "Version 2 is withdrawn; a new version brings the bot back." in patient
    assert "Games to look at" in patient
    assert 'href="../index.html"' in (bots / "patient.html").read_text()
    assert "Its rating is not sure yet" in text_of(bots / "late.html")
    hidden = "secret", "own_words", "def choose", "271828182845", str(league.folder.parent)
    for path in (league.folder / "site").rglob("*.*"):
        text = path.read_text()
        assert not [words for words in hidden if words in text]
        assert path.suffix != ".html" or "Content-Security-Policy" in text


def test_the_standings_are_a_csv_file_too(league: League) -> None:
    """With every column of the page, and what courses grade by; empty cells before its games."""
    rows, found = csv_rows(league.folder / "site" / "league.csv"), standings(league)
    assert [row["bot"] for row in rows] == [one.bot for one in found]
    panel = [version.name for version in league.ledger.versions("panel")]
    for row, one in zip(rows, found, strict=True):
        known = one._asdict()
        del known["beats"]
        for name in panel:
            may = one.pairs > 0 and name != one.bot
            known[f"beats_{name}"] = ("yes" if name in one.beats else "no") if may else ""
        assert row == {name: "" if v is None else str(v) for name, v in known.items()}


def test_the_standings_say_who_is_new_and_how_the_ratings_went(tmp_path: Path) -> None:
    """A course goes on from that of the version before; the arena's own bots are never new."""
    with a_league(tmp_path / "club", round_pairs=30) as league:
        seen = []
        for patience in (11, 5):
            league.desk.submit(f"greedy(patience={patience})", "patient", "Ann")
            for _ in range(2):
                play(league)
                rows = {one.bot: one for one in standings(league)}
                seen.append({name: one.new for name, one in rows.items() if one.new})
        assert seen == [{"patient": "new"}, {}, {"patient": "version 2"}, {}]
        for name, one in rows.items():
            known = [
                f"{round(rated.elo, 1):.0f}"
                for version in league.find(name)
                for _, rated in league.ledger.rating_history(version.id)
            ]
            assert one.course == " > ".join(known)
            assert known[-1] == f"{one.elo:.0f}"
        assert len(rows["patient"].course.split(" > ")) > 2
        assert rows["patient"].beats == ("uniform",)


def test_every_page_has_the_rating_of_now(tmp_path: Path) -> None:
    """Also that of a bot which did not play in the last round, whose rating changed with it."""
    with a_league(tmp_path / "club", round_pairs=10) as league, league.playing():
        host(league, LocalExecutor(1), lambda _: None, rounds=5)
        (idle,) = (row for row in league.ratings().values() if not row.played)
        before = league.ledger.ratings(league.number - 1)[idle.version]
        assert f"{idle.elo:.0f}" != f"{before.elo:.0f}"
        for one in standings(league):
            page = text_of(league.folder / "site" / "bots" / f"{one.bot}.html")
            assert f"Elo {one.elo:.0f} (" in page
