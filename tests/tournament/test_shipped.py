"""Configs that come with the arena are found by name, and a file of that name wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.tournament import config, yaml_text
from tests import ROOT
from tests.conftest import Arena


def test_the_configs_of_the_clone_are_those_that_ship() -> None:
    """`configs/` in the clone is what a wheel has as `arena/configs/`."""
    assert yaml_text.FOLDER.resolve() == ROOT / "configs"
    assert yaml_text.shipped() == sorted(path.stem for path in (ROOT / "configs").iterdir())


@pytest.mark.parametrize("name", yaml_text.shipped())
def test_a_shipped_config_can_be_played(name: str) -> None:
    """It is valid, is named as its file, and all of its bots are found."""
    settings = config.read(yaml_text.find_config(Path(name)))
    assert settings.name == name
    assert len(config.resolve_bots(settings)) >= 2


@pytest.mark.slow
def test_a_shipped_config_plays_by_its_name(arena: Arena, tmp_path: Path) -> None:
    """The results go to results/NAME; a folder of the same name is not in the way."""
    (tmp_path / "quickstart").mkdir()
    done = arena("run", "quickstart", "--pairs", "1")
    assert done.returncode == 0, done.stderr
    assert "results in results/quickstart/" in done.stdout


def test_a_file_wins_over_a_shipped_config(arena: Arena, tmp_path: Path) -> None:
    """What is wrong with it is said of it."""
    (tmp_path / "quickstart").write_text("bots: [uniform]\npairs: none\n")
    done = arena("run", "quickstart")
    assert done.returncode == 2
    assert done.stderr.startswith("error: quickstart: line 2: pairs: ")


def test_an_unknown_name_lists_those_there_are(arena: Arena) -> None:
    """A word that is neither a file nor a config is one line; a path is only a path."""
    done = arena("run", "quickstrat")
    assert done.returncode == 2
    assert done.stderr == (
        "error: quickstrat: no such file, and no config has this name; "
        "there are ladder, long, quickstart, search\n"
    )
    for path in (Path("quickstart.yaml"), Path("mine/quickstart")):
        assert yaml_text.find_config(path) == path
