"""Every page is followed from its first block to its last, in a folder of its own.

A new page is tested without further ado. What is not run of a page has its reason before the
block, or in `markdown.ELSEWHERE`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import ROOT, markdown
from tests.docs import (
    test_analyse,
    test_command_line,
    test_compare,
    test_comparing_runs,
    test_course,
    test_guide,
    test_probe,
    test_readme,
    test_viewer,
)
from tests.runs.test_rogues import needs_jail
from tests.tiers import tier

PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
}
CHECKS: dict[str, Callable[[markdown.Ran, Path], None]] = {
    "docs/analyse.md": test_analyse.the_run_has_its_files,
    "docs/bot-faults.md": test_guide.only_the_broken_bot_forfeits,
    "docs/command-line.md": test_command_line.one_shows_the_game_that_another_one_has_played,
    "docs/compare.md": test_compare.the_commands_print_what_stands_there,
    "docs/comparing-runs.md": test_comparing_runs.the_last_command_prints_what_stands_there,
    "docs/course/README.md": test_course.the_league_has_the_student,
    "docs/first-bot.md": test_guide.the_bot_is_that_of_the_last_step,
    "docs/probe.md": test_probe.the_commands_print_what_stands_there,
    "docs/tournaments.md": test_readme.bots_that_join_play_only_their_games,
    "docs/viewer.md": test_viewer.the_pages_have_the_names_of_the_page,
}
"""What is seen of a page's commands beside their exit status."""
EXACT = ("docs/compare.md",)
"""Pages whose commands play as many games as they say, because what they print is compared."""
NEEDS = {"docs/course/README.md": [needs_jail], "docs/programs.md": [needs_jail]}
FAILING = ("docs/troubleshooting.md",)
"""Pages whose commands fail as they say; tests/docs/test_troubleshooting.py runs them."""
QUICK = ("CONTRIBUTING.md", "docs/help.md")
LONG = (
    *("docs/ablate.md", "docs/analyse.md", "docs/bot-faults.md", "docs/course/README.md"),
    *("docs/first-bot.md", "docs/league.md"),
    *("docs/measuring.md", "docs/probe.md", "docs/rating.md"),
    *("docs/training.md", "docs/tune.md"),
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
    (tmp_path / "submissions" / "ben.py").write_text(test_guide.TEMPLATE)
    if "arena new my_bot" not in markdown.commands(PAGES[request.getfixturevalue("page")]):
        (tmp_path / "my_bot.py").write_text(test_guide.versions()[-1])
        (tmp_path / "test_my_bot.py").write_text(test_guide.TEMPLATE_TEST)
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
    """Also one that is not run; the steps of a bot are in `test_guide`."""
    for page, text in PAGES.items():
        for number, block in enumerate(markdown.fences(text)):
            if block.language == "python" and not block.is_step:
                name = f"{re.sub(r'[/.]', '-', page)}-{number}.py"
                (tmp_path / name).write_text(block.text)
    words = ["check", "--isolated", "--select", "F821,F822,F823", "--output-format", "concise"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *words, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_commands_are_in_blocks_that_are_run() -> None:
    """There is one language for commands and one for programs, and text has neither."""
    begins = ("arena ", "python ", *markdown.ELSEWHERE)
    for page, text in PAGES.items():
        assert markdown.languages(text) == {block.language for block in markdown.fences(text)} - {
            ""
        }
        for block in markdown.fences(text):
            assert block.language not in ("sh", "bash", "shell", "py", "python3"), page
            if block.language in ("", "text"):
                assert not any(line.startswith(begins) for line in block.text.splitlines()), page


def test_every_check_is_of_a_page_that_is_walked() -> None:
    """No page is renamed without them."""
    walked = {page for page, text in PAGES.items() if markdown.commands(text)}
    assert {*CHECKS, *EXACT, *NEEDS, *FAILING} <= walked
    assert {"README.md", "docs/first-bot.md"} <= walked
