"""Every page is followed from its first block to its last, in a folder of its own."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import arena as library
from arena.replays.html_page import is_replay
from arena.tables.losses import DECISIONS
from bench import ladder
from engine import View
from tests import ROOT, markdown
from tests.conftest import Arena
from tests.kit import run_program
from tests.markdown import PAGES
from tests.runs.test_rogues import needs_jail
from tests.stability import MADE
from tests.tiers import tier

EXACT = ("docs/compare.md",)
"""Pages whose commands play as many games as they say, because what they print is compared."""
NEEDS = {"docs/course/README.md": [needs_jail], "docs/programs.md": [needs_jail]}
FAILING = ("docs/troubleshooting.md",)
"""Pages whose commands fail as they say; tests/docs/test_tour.py runs them."""
QUICK = ("CONTRIBUTING.md", "docs/help.md")
LONG = (
    *("docs/ablate.md", "docs/analyse.md", "docs/bot-faults.md", "docs/course/README.md"),
    *("docs/first-bot.md", "docs/league.md", "docs/measuring.md", "docs/probe.md"),
    *("docs/rating.md", "docs/training.md", "docs/tune.md"),
)
"""Pages that take half a minute and more; the study follows them."""
SESSIONS_SLOW = ("docs/compare.md", "docs/library.md", "docs/openspiel.md")


def pages(*languages: str, quick: tuple[str, ...]) -> list[object]:
    """Return the pages with blocks of a language, as parameters of a test; most are slow."""
    params = []
    for page, text in PAGES.items():
        if page in FAILING:
            continue
        if {*languages} & markdown.languages(text):
            marks = tier((page not in quick) + (page in LONG), 1, 1)
            params.append(pytest.param(page, marks=[*marks, *NEEDS.get(page, [])], id=page))
    return params


@pytest.fixture
def reader(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder as the reader of a page has it: with the files of the checkout and bots.

    The quickstart is short.
    """
    for name in ("bots", "configs", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "patient.py").write_text(markdown.blocks(PAGES["README.md"], "python")[0])
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "ben.py").write_text(TEMPLATE)
    if "arena new my_bot" not in markdown.commands(PAGES[request.getfixturevalue("page")]):
        (tmp_path / "my_bot.py").write_text(versions()[-1])
        (tmp_path / "test_my_bot.py").write_text(TEMPLATE_TEST)
    (tmp_path / "shipped").mkdir()
    short = (ROOT / "configs" / "quickstart.yaml").read_text().replace("pairs: 500", "pairs: 5")
    (tmp_path / "shipped" / "quickstart.yaml").write_text(short)
    monkeypatch.setattr("arena.tournament.yaml_text.FOLDER", tmp_path / "shipped")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", pages("console", "python", quick=QUICK))
def test_a_page_can_be_followed(page: str, reader: Path) -> None:
    """Each command and program ends well, has an output, and no bot forfeits."""
    ran = []
    for command, done in markdown.walk(PAGES[page], reader, shorter=page not in EXACT):
        stopped = command.startswith("timeout ") and done.returncode in (124, 130)
        assert done.returncode == 0 or stopped, (command, done.stdout, done.stderr)
        writes = re.search(" -o | > ", command)
        assert done.stdout or writes or not command.startswith("arena "), command
        assert "forfeits" not in done.stdout or "broken.py" in command, (command, done.stdout)
        ran.append((command, done))
    CHECKS.get(page, lambda *_: None)(ran, reader)


@pytest.mark.parametrize(
    "page", pages("pycon", quick=tuple(page for page in PAGES if page not in SESSIONS_SLOW))
)
def test_the_sessions_are_what_python_prints(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a page as one session, typed as it is printed."""
    if page == "docs/openspiel.md":
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra openspiel)")
    monkeypatch.chdir(tmp_path)
    assert markdown.failures(page, markdown.blocks(PAGES[page], "pycon")) == 0


@pytest.mark.slow
def test_every_program_knows_its_names(tmp_path: Path) -> None:
    """Also one that is not run; the steps of a bot are below."""
    for page, text in PAGES.items():
        for number, block in enumerate(markdown.fences(text)):
            if block.language == "python" and not block.is_step:
                name = f"{re.sub(r'[/.]', '-', page)}-{number}.py"
                (tmp_path / name).write_text(block.text)
    words = ["check", "--isolated", "--select", "F821,F822,F823", "--output-format", "concise"]
    done = run_program(sys.executable, "-m", "ruff", *words, tmp_path)
    assert done.returncode == 0, done.stdout


def test_commands_are_in_blocks_that_are_run() -> None:
    """There is one language for commands and one for programs, and text has neither."""
    begins = ("arena ", "python ", *markdown.ELSEWHERE)
    for page, text in PAGES.items():
        found = {block.language for block in markdown.fences(text)} - {""}
        assert markdown.languages(text) == found
        for block in markdown.fences(text):
            assert block.language not in ("sh", "bash", "shell", "py", "python3"), page
            if block.language in ("", "text"):
                assert not any(line.startswith(begins) for line in block.text.splitlines()), page
    walked = {page for page, text in PAGES.items() if markdown.commands(text)}
    assert {*CHECKS, *EXACT, *NEEDS, *FAILING, "README.md"} <= walked


def named_in(table: str) -> list[str]:
    """Return the names in the first column of a table."""
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def the_run_has_its_files(ran: markdown.Ran, folder: Path) -> None:
    """The first of the runs; one command prints a document."""
    (document,) = (json.loads(done.stdout) for command, done in ran if "--json" in command)
    table = pd.read_csv(folder / "results" / "losses" / "details" / "analysis.csv")
    assert [*table.columns] == DECISIONS.names
    assert document["decisions"] == len(table)


def keys(command: str) -> set[str]:
    """Return the keys that the table names for the document of a command."""
    table = PAGES["docs/command-line.md"].split("| command | keys |")[1].split("\n\n")[0]
    (row,) = re.findall(rf"^\| .*`{command}`.*? \| (.+) \|$", table, re.MULTILINE)
    row = row.partition(": a list of")[0]
    return {*re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row))}


def one_shows_the_game_that_another_one_has_played(ran: markdown.Ran, _: Path) -> None:
    """The last one does."""
    assert "ply 0: " in ran[-1][1].stdout or "seat " in ran[-1][1].stdout


IN_LIST = {"play": "run", "compare": "comparison", "ablate": "ablation", "tune": "tuning"}
IN_LIST |= {name: name for name in ("analyse", "verify", "bots", "doctor")}
"""Commands whose documents tests/stability lists, and their names there."""


@pytest.mark.parametrize("command", IN_LIST)
def test_the_documents_have_the_keys_of_the_table(command: str) -> None:
    """And a page names the columns of the file of judged decisions."""
    found = re.findall(rf"^keys of {IN_LIST[command]}: (\w+)$", MADE.read_text(), re.MULTILINE)
    apart = {"findings", "same_games", "separate_games", "decided", "differences"}
    assert {*found} - apart == keys(command) - apart
    table = PAGES["docs/analyse.md"].split("## The file")[1].split("\n## ")[0]
    assert command != "analyse" or named_in(table) == DECISIONS.names


@pytest.mark.slow
def test_other_documents_have_the_keys_of_the_table(arena: Arena) -> None:
    """An export, too: with a fault where there is one, and rules where they are changed."""
    for words in ("plan 3 --gap 100", "probe greedy --pairs 1"):
        document = arena(*words.split(), "--json").stdout
        assert {*json.loads(document)} == keys(words.split()[0])
    named = {*named_in(PAGES["docs/command-line.md"].split("| key | what |")[1])}
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "out")
    game = {*json.loads(arena("export", "out").stdout.splitlines()[0])}
    assert game < named
    assert {"rules", "fault"} <= named - game


def a_comparison_prints_what_stands_there(ran: markdown.Ran, folder: Path) -> None:
    """The first one exactly; a row of the decided games can be shown by either name."""
    first, second, shown = (done.stdout for _, done in ran)
    assert first.startswith(markdown.blocks(PAGES["docs/compare.md"], "text")[0])
    assert "separate round robins" in second
    assert "results in results/compare-new-greedy-against/\n" in second
    assert "ply " in shown
    *words, _ = ran[-1][0].split()
    row = pd.read_csv(folder / words[2] / "details" / "decided.csv").iloc[0]
    for game in (row["game"], row["old_game"]):
        assert "ply " in markdown.run(shlex.join([*words, game]), folder).stdout


def the_last_command_prints_what_stands_there(ran: markdown.Ran, folder: Path) -> None:
    """Exactly; and the report begins with the sentence."""
    assert ran[-1][1].stdout == markdown.blocks(PAGES["docs/comparing-runs.md"], "text")[0]
    (said,) = re.findall("^> (.*)$", PAGES["docs/comparing-runs.md"], re.MULTILINE)
    assert said in (folder / "results" / "report-monday-friday.md").read_text().splitlines()


FIRST = PAGES["docs/first-bot.md"]
STEPS = [block.text for block in markdown.fences(FIRST) if block.is_step]
TEMPLATES = ROOT / "arena" / "entries" / "template"
TEMPLATE = (TEMPLATES / "my_bot.py").read_text()
TEMPLATE_TEST = (TEMPLATES / "test_my_bot.py").read_text()


def versions() -> list[str]:
    """Return the source of `my_bot.py` from the template, and after every step."""
    sources = [TEMPLATE]
    for step in STEPS:
        sources.append(markdown.with_step(sources[-1], step))
    return sources


SEARCH, ROLLOUTS = PAGES["docs/search-bot.md"], PAGES["docs/rollouts.md"]


def score(bots: list[str], pairs: int) -> str:
    """Return the score of the first of two bots with seed 1, as a page prints it."""
    table = library.run(bots, pairs=pairs, seed=1, progress=False).head_to_head
    row = table.set_index("bot").loc[bots[0].partition("=")[0]]
    digits = 1 if pairs > 100 else 0
    share, low, high = (f"{100 * x:.{digits}f}" for x in (row.score, row.score_low, row.score_high))
    return f"{share} % ({low}..{high})"


@pytest.mark.study
@pytest.mark.parametrize("row", range(3))
def test_bots_of_pages_score_what_their_rows_say(row: int, tmp_path: Path) -> None:
    """The first bot after each step, the one that searches with other parameters, rollouts."""
    bot = f"my_bot={write_bots(tmp_path, row)}/my_bot.py"
    steps = re.findall(r"^\| (?:as|step).+? \| (\d.+?) \| (.+?) \|$", FIRST, re.MULTILINE)
    assert steps[row] == tuple(score([bot, name], 500) for name in ("greedy", "majority"))
    table = re.findall(r"^\| .+ \| (\d.+?) \| (.+?) \| (.+?) \|$", SEARCH, re.MULTILINE)
    params = ("", "(worlds=160)", "(exact=True)")[row]
    bot = f"sampler={write_bots(tmp_path)}/sampler.py{params}"
    opponents = "greedy", "majority", f"{tmp_path}/my_bot.py"
    assert table[row] == tuple(score([bot, name], 50) for name in opponents)
    assert row or score([f"rollouts={tmp_path}/rollouts.py", "apprentice"], 25) in ROLLOUTS


def write_bots(folder: Path, step: int = -1) -> Path:
    """Write the bots of the pages, the first one as after a step; return the folder."""
    (folder / "my_bot.py").write_text(versions()[step])
    for name, page in (("sampler.py", SEARCH), ("rollouts.py", ROLLOUTS)):
        (folder / name).write_text(dict(markdown.named(page, "python"))[name])
    return folder


QUICK = "apprentice", "city_hunter", "denier", "greedy", "majority", "timing", "uniform"


def test_the_steps_stand_on_the_ladder_where_their_page_says() -> None:
    """By their stored pairs."""
    row = re.compile(r"^\| .+ \| `(\w+)` \| (\d+) \((\d+)\.\.(\d+)\) \|$", re.MULTILINE)
    counts = ladder.read(ladder.STEPS)
    written = {bot: (*map(int, numbers),) for bot, *numbers in row.findall(ROLLOUTS)}
    assert written == {bot: (*map(round, ladder.place(bot, counts)[:3]),) for bot in written}
    assert len(written) * 11 == len(counts)


@pytest.mark.study
@pytest.mark.parametrize("bot", ["my_bot", "sampler", "rollouts"])
def test_a_step_plays_its_stored_pairs(bot: str, tmp_path: Path) -> None:
    """Against the quick bots of the ladder. (`own` and `learner` would have to be trained.)"""
    spec = f"{bot}={write_bots(tmp_path)}/{bot}.py{'(exact=True)' if bot == 'sampler' else ''}"
    run = library.run([spec], against=QUICK, pairs=50, seed=1, progress=False)
    stored = {two: one for two, one in ladder.read(ladder.STEPS).items() if bot in two}
    played = ladder.count_pairs(run.games)
    assert len(played) == len(QUICK)
    assert played == {two: stored[two] for two in played}


def the_league_has_the_student(ran: markdown.Ran, _: Path) -> None:
    """At the end, and no bot was refused."""
    assert not any("refused:" in done.stdout for _, done in ran)
    shown = [done.stdout for command, done in ran if command == "arena league show course"]
    assert "  ada  " in shown[-1]


def bots_that_join_play_only_their_games(ran: markdown.Ran, _: Path) -> None:
    """The page says how many."""
    assert "The second command plays 40 games" in PAGES["docs/tournaments.md"]
    outputs = [done.stdout for command, done in ran if "--out results/course" in command]
    assert outputs[1].startswith("40 games in ")


def the_bot_is_that_of_the_last_step(ran: markdown.Ran, folder: Path) -> None:
    """The page begins with the template; the first program that is run is its test."""
    assert (folder / "my_bot.py").read_text() == versions()[-1]
    printed = {command: done.stdout for command, done in ran}
    assert printed["python test_my_bot.py"] == markdown.blocks(FIRST, "text")[0]


def only_the_broken_bot_forfeits(ran: markdown.Ran, _: Path) -> None:
    """It does, and its game is shown."""
    assert "forfeits" in ran[0][1].stdout
    assert "IndexError" in ran[1][1].stdout
    assert any("ply " in done.stdout for _, done in ran)


def test_the_table_of_the_view_is_complete_and_true() -> None:
    """It has a row for every public name of a View, with its value in the example's view.

    The text of `describe` is too long for a row, and stands below.
    """
    import engine
    from engine.cards import pack_of

    seen = View.from_text("0 782yC 58 6T4yxCy5C7T87")
    part = PAGES["docs/bot.md"].split("## What a view offers")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)(?:\(\))?` \| .+ \| `(.+)` \|$", part, re.MULTILINE))
    ours = {name for name in dir(View) if not name.startswith("_")} - set(dir(tuple))
    assert set(rows) == ours - {"from_text", "describe"}
    for name, value in rows.items():
        member = getattr(seen, name)
        expected = eval(value, {"engine": engine, "pack_of": pack_of})
        assert (member() if callable(member) else member) == expected, name


def a_probe_prints_what_stands_there(ran: markdown.Ran, _: Path) -> None:
    """A network may learn otherwise on another machine: so without its figures."""
    first, _, learned, *small = markdown.blocks(PAGES["docs/probe.md"], "text")
    printed = [done.stdout for _, done in ran]
    assert [printed[0], *printed[2:]] == [first, *small]
    assert re.sub(r"\d+", "N", printed[1]) == re.sub(r"\d+", "N", learned)


def the_pages_have_the_names_of_the_page(_: markdown.Ran, folder: Path) -> None:
    """All of them, and no other; the functions of its scripts are there."""
    names = {path.name for path in folder.iterdir() if path.is_file() and is_replay(path)}
    of_a_game = {"champion-greedy-1-0.html", "champion-greedy-1-0-seat-1.html"}
    assert names == of_a_game | {"second.html", "judged.html"}
    board, viewer = (
        next((ROOT / "arena").rglob(name)).read_text() for name in ("board.js", "viewer.js")
    )
    assert "Arena.mountViewer =" in viewer
    for key in ("drawBoard", "players", "perspective", "names", "onAction"):
        assert key in board


CHECKS: dict[str, Callable[[markdown.Ran, Path], None]] = {
    "docs/analyse.md": the_run_has_its_files,
    "docs/bot-faults.md": only_the_broken_bot_forfeits,
    "docs/command-line.md": one_shows_the_game_that_another_one_has_played,
    "docs/compare.md": a_comparison_prints_what_stands_there,
    "docs/comparing-runs.md": the_last_command_prints_what_stands_there,
    "docs/course/README.md": the_league_has_the_student,
    "docs/first-bot.md": the_bot_is_that_of_the_last_step,
    "docs/probe.md": a_probe_prints_what_stands_there,
    "docs/tournaments.md": bots_that_join_play_only_their_games,
    "docs/viewer.md": the_pages_have_the_names_of_the_page,
}
"""What is seen of a page's commands beside their exit status."""
