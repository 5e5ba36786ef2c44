"""What the README and the pages for those who change the arena say is true."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.entries.catalogue import place
from arena.tournament import config
from arena.tournament.stop import Until
from engine import State
from engine.state import random_deal
from engine.view import view
from tests import ROOT, markdown
from tests.conftest import Arena
from tests.test_imports import ADDONS, ROOMS

README = (ROOT / "README.md").read_text()
PAGES = {
    name: (ROOT / "docs" / name).read_text() for name in ("tournaments.md", "bot.md", "rules.md")
}
RESULTS = (ROOT / "docs" / "results.md").read_text()
TEMPLATE = (ROOT / "arena" / "entries" / "template" / "my_bot.py").read_text()
ELSEWHERE = ("make ", "source ", "arena table")
"""Commands that are tried by `.ci/run`, by the release check, and by the table's own tests."""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder like a reader's clone, with the README's bot and that of `arena new`.

    The quickstart is short.
    """
    for folder in ("configs", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "patient.py").write_text(markdown.blocks(README, "python")[0])
    (tmp_path / "my_bot.py").write_text(TEMPLATE)
    (tmp_path / "shipped").mkdir()
    short = (ROOT / "configs" / "quickstart.yaml").read_text().replace("pairs: 500", "pairs: 5")
    (tmp_path / "shipped" / "quickstart.yaml").write_text(short)
    monkeypatch.setattr("arena.tournament.yaml_text.FOLDER", tmp_path / "shipped")
    return tmp_path


def test_my_bot_is_one_bot_everywhere() -> None:
    """All pages call what `arena new my_bot` writes so; the README begins with two commands."""
    assert README.split("```console\n")[1].split("```")[0] == "make tournament\nmake test\n"
    elo, words = find_guess()
    assert place(elo) == words
    guide = (ROOT / "docs" / "first-bot.md").read_text()
    (saved,) = re.findall(r"Save the bot as\s+`(\w+)\.py`", README)
    assert f"class {saved.title()}:" in markdown.blocks(README, "python")[0]
    assert saved not in re.findall(r"^arena new (\w+)", guide, re.MULTILINE)
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for params in re.findall(r"my_bot\.py\((\w+)=", page.read_text()):
            assert params in ("enough", "hurry"), page
    assert "enough: float" in TEMPLATE


def find_guess() -> tuple[float, str]:
    """Return the rating that the check guesses, as the README says, and between which bots."""
    (found,) = re.findall(r"rating is about (\d+), (between `\w+` and `\w+`)", README)
    return float(found[0]), found[1].replace("`", "")


@pytest.mark.study
def test_the_check_of_the_page_says_so(clone: Path) -> None:
    """To the hundred, and in the same words."""
    command, *_ = (one for one in markdown.commands(README) if one.startswith("arena check"))
    said = " ".join(markdown.run(command, clone).stdout.split())
    elo, words = find_guess()
    (guess,) = re.findall(r"rating about (\d+) ", said)
    assert round(float(guess), -2) == elo
    assert words in said


@pytest.mark.slow
def test_the_bot_plays_without_a_fault_and_leaves_the_files_of_the_table(
    arena: Arena, clone: Path
) -> None:
    """The README's bot, with and without its parameter."""
    specs = ["patient.py", "patient.py(enough=6)"]
    done = arena("play", *specs, "uniform", "--pairs", "20", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert len((clone / "out" / "faults.csv").read_text().splitlines()) == 1
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "files")
    named = set(re.findall(r"^\| `(\w+\.\w+)` \|", RESULTS, re.MULTILINE))
    assert named == {path.name for path in (clone / "files").rglob("*.*")}


def test_the_search_snippet_draws_a_world_and_plays_it_on() -> None:
    """It turns a view of a game in progress into the points of both seats."""
    names: dict[str, Any] = {}
    exec(markdown.blocks(PAGES["bot.md"], "python")[0], names)
    state = State(random_deal(Random(0)))
    for _ in range(10):
        state.apply(state.legal()[0])
    points = names["points_after_a_random_game"](view(state, state.to_act), Random(1))
    assert len(points) == 2


def test_the_configs_can_be_read(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three bots of the first load, and its rules are valid; the others are what they say."""
    (clone / "openings").mkdir()
    monkeypatch.chdir(clone)
    names = ("friday", "gauntlet", "until", "swiss")
    for name, text in zip(names, markdown.blocks(PAGES["tournaments.md"], "yaml"), strict=True):
        Path(f"{name}.yaml").write_text(text)
    friday = config.read(Path("friday.yaml"))
    assert len(config.resolve_bots(friday)) == 3
    assert friday.game_rules().tiebreak == "supports"
    gauntlet = config.make_tournament(config.read(Path("gauntlet.yaml")))
    assert len(gauntlet.pairings) == 3
    until = config.make_tournament(config.read(Path("until.yaml")))
    assert until.stop == Until("first", 2000)
    swiss = config.make_tournament(config.read(Path("swiss.yaml")))
    assert (swiss.rounds, swiss.pairs, len(swiss.entries)) == (12, 10, 3)


def bots_that_join_play_only_their_games(ran: markdown.Ran, _: Path) -> None:
    """The page on tournaments says how many."""
    assert "The second command plays 40 games" in PAGES["tournaments.md"]
    outputs = [done.stdout for command, done in ran if "--out results/course" in command]
    assert outputs[1].startswith("40 games in ")


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOR_AUTHORS = [
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")]
    if path.name != "CHANGELOG.md" and "site" not in path.relative_to(ROOT).parts
]
FILE = re.compile(r"`((?:arena|bench|bots|docs|engine|tests)/[a-z0-9_/.-]*[a-z0-9])/?`")
MODULE = re.compile(r"\b(arena(?:\.addons)?)\.([a-z_]+)\.([a-z_]+)")


def is_there(name: str) -> bool:
    """Return whether the repository has a file; those of the site are made."""
    return (ROOT / name).exists() or name.startswith("docs/site/")


def first_cells(heading: str) -> list[str]:
    """Return the first cells of the table below a line of the architecture."""
    table = ARCHITECTURE.split(heading)[1].strip().split("\n\n")[0]
    return re.findall(r"^\| `(\w+)/?` \|", table, re.MULTILINE)


def test_the_map_has_every_room_and_every_addon() -> None:
    """The rooms in the order in which they may import one another."""
    flat = ("__main__", "addons", "errors", "processes", "removed", "threads", "tokens")
    rooms = [room for room in ROOMS if room not in flat]
    assert first_cells("rooms below it in this table:") == rooms
    assert {*first_cells("are beside the core:")} == ADDONS


@pytest.mark.parametrize("page", FOR_AUTHORS, ids=lambda path: path.name)
def test_a_page_names_files_that_exist(page: Path) -> None:
    """By their place in the repository, or as modules of the arena."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^```diff\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not [name for name in FILE.findall(text) if not is_there(name)]
    for folder, *names in MODULE.findall(text):
        place = ROOT.joinpath(*folder.split("."), names[0])
        known = place.with_suffix(".py").exists() or place.is_dir()
        assert known, (folder, names)


@pytest.mark.parametrize("addon", sorted(ADDONS))
def test_an_addon_has_a_page_that_says_so(addon: str) -> None:
    """The first one of its row, before its first heading; it also says which extra is needed."""
    (row,) = re.findall(rf"^\| `{addon}` \| .+$", ARCHITECTURE, re.MULTILINE)
    page = re.findall(r"\]\((.+?)\)", row)[0]
    head = (ROOT / "docs" / page).read_text(encoding="utf-8").split("\n## ")[0]
    assert f"add-on `{addon}`" in head
    assert "extra" in head
