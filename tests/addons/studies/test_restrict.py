"""`arena play --restrict`: the table, the same as JSON, and what it refuses."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from arena.addons.studies.restrictions import RESTRICTIONS, Restricted
from bots.greedy import bot as greedy
from bots.majority import bot as majority
from engine import STANDARD, Bot, Setup, State, Strategy, outcome
from engine.play import draw, play, setup
from engine.seeds import address
from tests import ROOT, markdown
from tests.cli.test_mistakes import refusal
from tests.conftest import Arena, run_here
from tests.docs.test_command_line import keys
from tests.runs.test_rogues import needs_jail
from tests.tiers import few

PAIRS = 12
PLAY = ("play", "greedy", "majority", "--pairs", f"{PAIRS}", "--seed", "4", "--workers", "1")
TWO = ("--restrict", "last-take", "--restrict", "blind")
BOT = """
class Bot:
    def __init__(self, setup):
        pass
    def choose(self, view, /):
        return {}
bot = Bot
"""
OBSTINATE = BOT.format("11 if view.row and not view.taken[view.seat] else view.legal[0]")
COMMAND = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    answer = {"id": message["id"], "ready": True}
    if message["type"] == "choose":
        answer["action"] = message["legal"][-1]
    print(json.dumps(answer), flush=True)
"""


def held(bot: Bot, name: str) -> Bot:
    """Return a bot under a restriction, or as it is without a name."""

    def make(setup: Setup) -> Strategy:
        strategy: Strategy = bot(setup)
        return Restricted(strategy, RESTRICTIONS[name].narrow) if name else strategy

    return make


def played(name: str) -> Counter[str]:
    """Return half points and City wins of greedy under a restriction, game by game."""
    found: Counter[str] = Counter()
    for pair in range(PAIRS):
        where = address(4, "deal", *sorted(["unrestricted", "majority"]), pair)
        deal, lucks = draw(where, STANDARD)
        for seat in (0, 1):
            state = State(deal)
            both = [held(greedy, name), majority][:: 1 - 2 * seat]
            play(state, [bot(setup(lucks[n], n)) for n, bot in enumerate(both)])
            winner, win_type, _ = outcome(state.piles)
            found["half points"] += 1 if winner is None else 2 * (winner == seat)
            found["city"] += winner == seat and win_type == "city"
    return found


@pytest.mark.slow
def test_the_table_is_that_of_games_played_one_by_one(arena: Arena) -> None:
    """All versions meet the opponent on the deals of the bot as it is; the keys are the page's."""
    done = arena(*PLAY, *TWO, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert {*document} == keys("play --restrict")
    assert document["bot"] == "greedy"
    assert document["against"] == ["majority"]
    assert document["games"] == 3 * 2 * PAIRS
    base, games = played(""), 2 * PAIRS
    for one, name in zip(document["restrictions"], ("last-take", "blind"), strict=True):
        assert (one["restriction"], one["what"]) == (name, RESTRICTIONS[name].text)
        now = played(name)
        total, *rest = one["differences"]
        assert total["new"] == pytest.approx(now["half points"] / 2 / games, abs=1e-4)
        assert total["old"] == pytest.approx(base["half points"] / 2 / games, abs=1e-4)
        assert total["low"] < total["difference"] < total["high"]
        assert total["difference"] == pytest.approx(total["new"] - total["old"], abs=1e-4)
        city = [row for row in rest if (row["part"], row["name"]) == ("won_by", "city")]
        shares = [(row["new"], row["old"]) for row in city] or [(0.0, 0.0)]
        assert shares == [pytest.approx((now["city"] / games, base["city"] / games), abs=1e-4)]


@pytest.mark.slow
def test_the_same_for_any_number_of_workers(arena: Arena) -> None:
    """As text: a line for each version, and one that says what each restriction is."""
    done = arena(*PLAY, *TWO, "-q")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "greedy against majority: 24 games each, on the same deals"
    assert [line.split()[0] for line in lines[2:5]] == ["unrestricted", "last-take", "blind"]
    assert lines[5:] == [f"{name}: {RESTRICTIONS[name].text}" for name in ("last-take", "blind")]
    assert max(map(len, lines)) <= 80
    assert arena(*PLAY, *TWO, "-q", "--workers", "2").stdout == done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "lane", ["process", pytest.param("jail", marks=[needs_jail, pytest.mark.study])]
)
def test_the_same_in_a_process_of_its_own(arena: Arena, lane: str) -> None:
    """Where the view is made narrower before it is sent."""
    here, apart = (arena(*PLAY, *TWO, "--json", "--lane", one) for one in ("inproc", lane))
    assert here.returncode == 0, here.stderr
    assert apart.stdout == here.stdout


@pytest.mark.slow
def test_a_bot_alone_meets_itself(arena: Arena) -> None:
    """As it is it then has half of the score: both games of a pair are the same one."""
    words = ("play", "greedy", "--pairs", "3", "--workers", "1", "--restrict", "take-at-five", "-q")
    lines = arena(*words).stdout.splitlines()
    assert lines[0] == "greedy against greedy: 6 games each, on the same deals"
    assert lines[2].split()[:2] == ["unrestricted", "50.0"]


@pytest.mark.slow
def test_opponents_of_both_kinds_count_alike(arena: Arena) -> None:
    """Those beside the bot, and those of --against."""
    words = ("--pairs", "2", "--workers", "1", "--restrict", "blind", "--json")
    beside = json.loads(arena("play", "greedy", "uniform", "majority", *words).stdout)
    assert beside["against"] == ["uniform", "majority"]
    against = arena("play", "greedy", "uniform", "--against", "majority", *words)
    assert json.loads(against.stdout) == beside


@pytest.mark.study
def test_a_program_and_a_file_are_restricted_too(arena: Arena, tmp_path: Path) -> None:
    """A program chooses among what it is told; a bot that does not forfeits its games.

    Those that the opponent forfeits are not the bot's.
    """
    (tmp_path / "broken.py").write_text(BOT.format("None"))
    (tmp_path / "command.py").write_text(COMMAND)
    (tmp_path / "obstinate.py").write_text(OBSTINATE)
    words = ("greedy", "--pairs", "4", "--workers", "1", "--restrict", "late-take")
    done = arena("play", "mine=cmd:python3 command.py", *words, "--json")
    assert done.returncode == 0, done.stderr
    (program,) = json.loads(done.stdout)["restrictions"]
    assert program["forfeits"] == 0
    assert {row["part"] for row in program["differences"]} >= {"total", "seat"}
    for lane in ("process", "inproc"):
        done = arena("play", "./obstinate.py", *words, "--lane", lane, "-q")
        assert done.returncode == 0, done.stderr
        assert "late-take: 8 forfeits" in done.stdout.splitlines()
    shown = arena("play", "./obstinate.py", *words).stderr
    assert "late-take forfeits a game (illegal, ply 0)" in shown
    assert "to see it again" not in shown
    words = ("play", "greedy", "./broken.py", "--pairs", "2", "--restrict", "blind", "--json")
    (one,) = json.loads(arena(*words, "--lane", "inproc").stdout)["restrictions"]
    assert (one["forfeits"], one["differences"][0]["new"]) == (0, 1.0)
    done = arena(*words[:4], "9", *words[5:], "--lane", "inproc")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("out were broken after 10 illegal actions\n")


@pytest.mark.study
def test_the_page_shows_what_its_command_prints(tmp_path: Path) -> None:
    """The table of the quicker bot in docs/ablate.md, played again."""
    page = (ROOT / "docs" / "ablate.md").read_text().split("## What a right")[1]
    command, recorded = markdown.blocks(page, "console")[0], markdown.blocks(page, "text")[0]
    done = run_here(tmp_path, *command.replace("\\\n", " ").split()[1:], "-q")
    assert done.stdout == recorded


@pytest.mark.parametrize(
    ("words", "line"),
    few(
        [
            (
                ("greedy", "--restrict", "blond"),
                "--restrict: no restriction 'blond'; there are late-take, last-take, "
                "take-at-five, first-card, betrayals-last, no-cities, blind",
            ),
            (("greedy", *TWO, *TWO), "--restrict: last-take is given twice"),
            (("human", "greedy", *TWO), "--restrict: not for a game with a person"),
            (
                ("greedy", "--against", "human", *TWO),
                "bot 'human': only `arena play human BOT` has a person",
            ),
            *(
                (("greedy", *TWO, *more), f"{more[0]}: not with --restrict, which only prints a t")
                for more in (("--out", "x"), ("--fresh",), ("--replace",), ("--anchor", "greedy=3"))
            ),
            (("greedy", "blind=uniform", *TWO), "bots 2 and 4 have the same label 'blind'; name"),
            (
                ("./nothing.py", *TWO),
                "bot './nothing.py': does not start: ValueError",
            ),
            (TWO, "Missing argument"),
        ],
        4,
        unpack=True,
    ),
)
def test_what_makes_no_sense_is_one_line(
    arena: Arena, tmp_path: Path, words: tuple[str, ...], line: str
) -> None:
    """Before a game is played."""
    (tmp_path / "nothing.py").write_text("raise ValueError\n")
    assert refusal(arena, "play", *words).startswith(line)
