"""What is said of a bot: its page, its answer, whom it meets, and its rating."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arena.addons.league.league import League
from arena.addons.league.league_ratings import BLOCK, Contender, choose_meetings, rate
from arena.addons.league.league_site import bot_report
from arena.addons.league.league_standing import format_why, standings, surely_beats, why
from arena.addons.league.ledger import WITHDRAWN, RatingRow, Version
from arena.addons.studies import analysis
from arena.entries.catalogue import ELO as LADDER
from arena.errors import InputError
from arena.lanes.process import TOO_MANY
from arena.reports.blocks import Replays, Report, Section, Text
from arena.reports.charts import Lines
from arena.runs.progress_bar import FirstFault
from arena.statistics.bradley_terry import find_groups
from arena.statistics.counts import PairTotals, ScoreCounts
from arena.statistics.distributions import expit
from arena.statistics.ratings import ELO
from arena.store.reader import Choice
from arena.tables.losses import Asked
from arena.tournament.config_keys import Venue
from tests.addons.league.small import a_league, play, settings, standing, version
from tests.conftest import Arena

WEAK, STRONG = version(10, "weak"), version(11, "strong")
OLD = version(1, "mine", state="replaced", at="2026-11-24T12:00:00", sha256="0" * 64)
NEW = version(2, "mine", owner="Ann", at="2026-11-25T08:30:00", sha256="abcdef" * 10)._replace(
    number=2
)
RATINGS = {
    2: RatingRow(2, 60, 1500.0, 1470.0, 1530.0, "a", played=True),
    10: RatingRow(10, 60, 1400.0, 1370.0, 1430.0, "b", played=True),
    11: RatingRow(11, 60, 1700.0, None, 1730.0, "", played=True),
}
RESULTS = [
    {"opponent": "weak", "games": 80, "score": 0.875},
    {"opponent": "strong", "games": 40, "score": 0.0},
]


class Books:
    """Stands in for a ledger."""

    def versions(self, *_: object) -> list[Version]:
        return [OLD, NEW, WEAK, STRONG]

    def refusals(self, *_: object) -> list[Any]:
        return []

    def rating_history(self, number: int) -> list[tuple[int, RatingRow]]:
        return [(1, RATINGS[2]._replace(elo=1480.04, pairs=30)), (2, RATINGS[2])][: 2 * number - 2]


def league(**changes: Any) -> Any:
    """Return what stands in for a league."""
    first = FirstFault("timeout", "secret", 7, "a/b/0/1", "")
    return SimpleNamespace(
        ledger=Books(),
        games=SimpleNamespace(
            results={"mine@2": RESULTS},
            faults={"mine": (2, first)},
            tournament=settings().tournament("league", 0, 1, []),
            store=None,
        ),
        settings=settings(**changes),
        folder=Path("/nowhere"),
        number=1234,
        find=lambda _: [OLD, NEW],
        ratings=lambda: RATINGS,
        is_precise=lambda: True,
    )


def section(report: Report, name: str) -> Section:
    """Return a section of a report."""
    return next(one for one in report.sections if one.name == name)


def advice(report: Report) -> str:
    """Return what the owner is told."""
    (text,) = section(report, "next").blocks
    assert isinstance(text, Text)
    return " ".join(text.paragraphs)


def test_the_worst_opponent_is_named_with_its_numbers() -> None:
    """None of 20 pairs where 24 % was to be expected is 3.04 errors; of 10 pairs 2.1 are luck."""
    wide, narrow = league(target=40), league(target=10)
    said = advice(bot_report(wide, "mine", []))
    assert said == (
        "It does worst against strong 1, for its Elo: 0 % in 20 pairs, and 24 % was to be expected."
    )
    assert advice(bot_report(narrow, "mine", [])).startswith("Its rating is not sure yet")
    wide.games.results = {"mine@2": [RESULTS[0], RESULTS[1] | {"games": 20}]}
    assert "24 % was to be expected, which may be luck." in advice(bot_report(wide, "mine", []))
    wide.games.results = {"mine@2": RESULTS[:1]}
    assert "It does worst" not in advice(bot_report(wide, "mine", []))


def test_the_course_has_a_line_for_each_version_and_faults_say_what_to_do() -> None:
    """Neither a raw table nor what the bot said; a version without games has no line."""
    report = bot_report(league(), "mine", [standing(3, "mine", "a")])
    assert report.summary == ["mine, version 2 of Ann: rank 3, Elo 1500 (1470..1530)."]
    assert not [*report.tables()]
    (chart,) = report.charts()
    assert isinstance(chart, Lines)
    assert [list(one.points) for one in chart.series] == [[], [(1, 1480.0), (2, 1500.0)]]
    (text,) = section(report, "faults").blocks
    assert isinstance(text, Text)
    assert text.paragraphs[0] == (
        "Version 1 had 2 faults; the first: no answer in time (timeout) at ply 7 of a/b/0/1."
    )
    faulty = league()
    first = FirstFault("exception", f"secret: {TOO_MANY}", 7, "a/b/0/1", "")
    faulty.games.faults = {"mine@2": (1, first)}
    (text,) = section(bot_report(faulty, "mine", []), "faults").blocks
    assert isinstance(text, Text)
    assert text.paragraphs[0] == (
        "Version 2 had 1 fault; the first: it started more than 32 processes at ply 7 of a/b/0/1."
    )
    assert text.paragraphs[1].startswith("`arena check FILE` plays such games")  # no .py file


def test_a_game_is_drawn_from_the_side_of_the_bot(tmp_path: Path) -> None:
    """Also where the other one is named first: a won game ends above, a lost one below."""
    with a_league(tmp_path / "club", round_pairs=40) as club:
        play(club)
        for name in ("uniform", "majority"):
            report = bot_report(club, name, standings(club))
            (games,) = (one for one in section(report, "games").blocks if isinstance(one, Replays))
            assert len({one.reason.split()[1] for one in games.games}) == 2
            for game in games.games:
                assert game.line
                last = game.line.series[0].points[-1][1]
                if "by points" in game.reason:
                    assert (last > 0) == game.reason.startswith("A win"), game.title


VENUE = Venue(workers=1)


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[League]:
    """Yield a league in which a bot has two versions and two rounds; two losses are judged."""
    with (
        pytest.MonkeyPatch.context() as patch,
        a_league(tmp_path_factory.mktemp("answer") / "club", round_pairs=80) as league,
    ):
        patch.setattr("arena.addons.league.league_standing._MOST_COSTLY", 1)
        league.desk.submit("timing(patience=2.5)", "patient", "Ann")
        play(league)
        league.desk.submit("timing(patience=3.5)", "patient", "Ann")
        play(league, 2)
        yield league


def test_a_bot_surely_beats_whom_it_is_ahead_of_and_shares_no_letter_with() -> None:
    """Neither those beside it, nor those above it, nor those that are not rated or suspended."""
    rows = (1, "a", "a"), (2, "b", "ab"), (3, "c", "b"), (4, "new", ""), (None, "gone", "")
    found = [standing(rank, bot, group, 9.0 - (rank or 0)) for rank, bot, group in rows]
    beaten = [(one.bot, two.bot) for one in found for two in found if surely_beats(one, two)]
    assert beaten == [("a", "c")]


@pytest.mark.slow
def test_the_command_has_lines_and_a_document(club: League, arena: Arena) -> None:
    """Without a name it is one clear line."""
    folder = str(club.folder)
    done = arena("league", "show", folder, "patient", "--why", "--workers", "1", "--json")
    document = json.loads(done.stdout)
    assert document == why(club, "patient", VENUE)  # of games that were judged before
    assert max(map(len, format_why(document))) <= 110
    lines = arena("league", "show", folder, "patient", "--why", "--workers", "1").stdout
    assert lines.startswith("patient 2: ")
    done = arena("league", "show", folder, "--why")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error: --why: name a bot, too\n")
    assert "no bot 'nobody'" in arena("league", "show", folder, "nobody", "--why").stderr
    with pytest.raises(InputError, match="no bot 'nobody'"):
        why(club, "nobody", VENUE)


@pytest.mark.slow
def test_a_lesson_finds_the_leagues_files(club: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """And why a bot lost is said without a lesson, for which its deals would be played again."""
    homes: list[Path] = []
    monkeypatch.setattr(analysis, "teach", lambda *_, home, **__: homes.append(home))
    why(club, "patient", VENUE)
    assert not homes
    assert club.games.tournament
    run = club.games.tournament, club.games.store, club.folder, VENUE, Asked(worst=0)
    analysis.analyse_run(*run, choice=Choice(("patient@2",)), progress=False)
    assert homes == [club.folder]


MANY = 1 << 30


def known(elo: float = 1500.0, half: float = 5.0, cost: float = 0.1, most: int = MANY) -> Contender:
    """Return a bot whose rating is within the target."""
    return Contender(elo, half, cost, most)


FRESH = known(half=math.inf)


def played(bots: int, pairs: float, new: int = 0) -> np.ndarray:
    """Return the pairs of a field whose last bots are new."""
    matrix = np.full((bots, bots), pairs)
    np.fill_diagonal(matrix, 0)
    if new:
        matrix[-new:] = matrix[:, -new:] = 0
    return matrix


def of_bot(chosen: dict[tuple[int, int], int], bot: int) -> Counter[int]:
    """Return how many pairs a bot plays against each other one."""
    found: Counter[int] = Counter()
    for (one, two), pairs in chosen.items():
        if bot in (one, two):
            found[one if bot == two else two] += pairs
    return found


def test_a_newcomer_meets_thirty_others_before_it_meets_one_again() -> None:
    """One block each, whatever their Elo; more of them in the next round."""
    bots = [*(known(1500 + 10 * (n - 20)) for n in range(40)), FRESH]
    matrix = played(41, 100, new=1)
    chosen = of_bot(choose_meetings(bots, matrix, 20 * BLOCK), 40)
    assert len(chosen) == 20
    assert {*chosen.values()} == {BLOCK}
    for other, pairs in chosen.items():
        matrix[40, other] = matrix[other, 40] = pairs
    more = of_bot(choose_meetings(bots, matrix, 30 * BLOCK), 40)
    assert len({*chosen} | {*more}) >= 30
    assert not {*chosen} & {other for other in [*more][:10] if other not in more}


def test_newcomers_are_connected_and_meet_bots_of_known_elo_first() -> None:
    """Without games between the panel's bots, most of a first round had no rating."""
    bots = [known(1400 + 50 * n, half=60.0) for n in range(6)] + [FRESH] * 30
    chosen = choose_meetings(bots, played(36, 0), 30 * BLOCK)
    assert {bot for two in chosen for bot in two} >= {*range(6, 36)}
    matrix = np.zeros((36, 36))
    for two, pairs in chosen.items():
        matrix[two] = pairs
    playing = np.flatnonzero((matrix + matrix.T).any(axis=1))
    assert len({*find_groups(36, *np.nonzero(matrix))[playing].tolist()}) == 1
    assert sum(chosen.values()) <= (30 + 5) * BLOCK
    gone = [*bots[:6], *([known(most=0)] * 30)]  # replaced since then; two of the panel had met
    matrix[0, 1] = 500
    assert all(max(two) < 6 for two in choose_meetings(gone, matrix, BLOCK))
    bots = [known(1300), known(1500), known(1700)] + [FRESH] * 8
    chosen = choose_meetings(bots, played(11, 500, new=8), 24 * BLOCK)
    assert all(min(two) < 3 for two in chosen)
    assert all({*of_bot(chosen, new)} == {0, 1, 2} for new in range(3, 11))


def test_every_version_plays_a_tenth_of_the_mean_and_a_slow_one_has_a_budget() -> None:
    """It comes before one far less well known; what counts is what a second of playing tells."""
    bots = [known(), known(), known(), known(half=3.0), FRESH]
    matrix = played(5, 1000, new=2)
    matrix[3, 0] = matrix[0, 3] = 30
    matrix[4, 1:3] = matrix[1:3, 4] = 600
    chosen = choose_meetings(bots, matrix, 6 * BLOCK)
    assert sum(of_bot(chosen, 3).values()) == 6 * BLOCK
    bots = [known(cost=6.4), known(cost=0.1), known(cost=0.1), FRESH]
    matrix = played(4, 100)
    assert of_bot(choose_meetings(bots, matrix, 20 * BLOCK), 3)[0] == 0
    slow = Contender(1500, math.inf, 6.4, 2 * BLOCK)
    chosen = choose_meetings([known(), known(), slow], played(3, 0), 30 * BLOCK)
    assert sum(of_bot(chosen, 2).values()) == 2 * BLOCK
    assert sum(chosen.values()) == 30 * BLOCK


FIELD = [
    version(1, panel=True, spec="greedy"),
    version(2, panel=True, spec="majority"),
    version(3),
    version(4, state=WITHDRAWN),
    version(5),
]
PANEL = (LADDER["greedy"] + LADDER["majority"]) / 2
TRUE = {1: PANEL - 95.0, 2: PANEL + 95.0, 3: PANEL + 165.0, 4: PANEL + 65.0, 5: PANEL - 35.0}
"""Elo by id; the two of the panel are made unequal here, with the mean that they have."""


Games = list[tuple[int, int, ScoreCounts]]


def games(bots: list[Version], pairs: int = 400, seed: int = 1) -> Games:
    """Return pairs of every two bots, as their true Elo says, with luck."""
    rng = np.random.default_rng(seed)
    found = []
    for number, one in enumerate(bots):
        for two in bots[number + 1 :]:
            share = float(expit((TRUE[one.id] - TRUE[two.id]) / ELO))
            won = rng.binomial(1, share, (2, pairs)).sum(axis=0)
            counts = np.bincount(2 * won, minlength=5)
            found.append((one.id, two.id, tuple(counts.tolist())))
    return found


def rated(bots: list[Version], played: Games, now: set[str] | None = None) -> dict[int, RatingRow]:
    """Return the ratings by id."""
    labels = {bot.id: bot.label for bot in bots}
    totals = []
    for number, (_, _, counts) in enumerate(played):
        scores = np.arange(5) / 2
        sums = float(scores @ counts), float(scores**2 @ counts)
        totals.append(PairTotals(number, sum(counts), *sums, counts))
    two = [(labels[one], labels[other]) for one, other, _ in played]
    return {row.version: row for row in rate(bots, two, totals, now or set())}


def test_who_is_not_connected_with_the_panel_is_not_rated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its Elo would be a number from nowhere."""
    bots = [*FIELD, version(6), version(7)]
    for id in (6, 7):
        monkeypatch.setitem(TRUE, id, TRUE[3])
    assert {*rated(bots, games(FIELD) + games(bots[5:]))} == {1, 2, 3, 4, 5}
    assert rated(bots, []) == {}


def test_the_intervals_of_the_first_and_the_last_allow_for_their_choice() -> None:
    """Of ten equal bots in 20 weeks: plain intervals held all of them in 11."""
    bots, found = [version(id, panel=id <= 4) for id in range(1, 11)], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        played = [
            (one, two, tuple(rng.multinomial(30, (0.22, 0, 0.56, 0, 0.22)).tolist()))
            for one in range(1, 11)
            for two in range(one + 1, 11)
        ]
        rows = rated(bots, played).values()
        zero = sum(row.elo for row in rows if row.version <= 4) / 4
        found.append([(row.low or 0) <= zero <= (row.high or 0) for row in rows])
    assert sum(map(all, found)) >= 18


def test_the_panel_keeps_its_mean_and_who_plays_has_letters() -> None:
    """Versions that no longer play count fully; an unbeaten bot has no upper end."""
    for part in (FIELD, FIELD[:3], [FIELD[0], FIELD[1], FIELD[4]]):
        rows = rated(FIELD, games(part))
        mean = (rows[1].elo + rows[2].elo) / 2
        assert mean == pytest.approx(PANEL, abs=1e-6)
    rows = rated(FIELD, games(FIELD), {"bot3"})
    for id, elo in TRUE.items():
        assert abs(rows[id].elo - elo) < 40
        assert rows[id].played == (id == 3)
        assert rows[id].pairs == 1600
    rows = rated(FIELD, games(FIELD))
    assert rows[4].letters == ""
    assert all(rows[id].letters for id in (1, 2, 3, 5))
    again = rated([*FIELD[:4], FIELD[4]._replace(state=WITHDRAWN)], games(FIELD))
    assert again[3].elo == rows[3].elo
    assert again[5].letters == ""
    rows = rated(FIELD, [*games(FIELD[:3]), (1, 5, (20, 0, 0, 0, 0))])
    assert rows[5].high is None
    assert rows[5].low is not None
