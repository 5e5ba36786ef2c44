"""What docs/cluster.md shows can be used: its config, its programs, its containers."""

from __future__ import annotations

import re

import pytest
import yaml

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "cluster.md").read_text()
FOLDER = ROOT / "docs" / "cluster"


def test_it_begins_with_the_warning() -> None:
    """Nobody reads how before that."""
    assert PAGE.split("\n\n")[1].startswith("**An open scheduler port runs anybody's code.**")


@pytest.mark.parametrize("text", markdown.blocks(PAGE, "python"))
def test_its_programs_have_a_main_guard(text: str) -> None:
    """They compile; Dask starts processes that would import the program."""
    compile(text, "program.py", "exec")
    assert 'if __name__ == "__main__":' in text


def test_no_scheduler_of_it_shows_its_pages_to_other_machines() -> None:
    """Without the option its web server is open to everybody, also with --no-dashboard."""
    commands = re.findall(r"^dask scheduler .*$", PAGE, re.MULTILINE)
    assert commands
    for command in commands:
        assert "--dashboard-address 127.0.0.1:8787" in command


def test_the_containers_are_the_processes_of_the_page() -> None:
    """Nothing is open to the outside, and workers are three of one process each."""
    composed = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    services = composed["services"]
    assert composed["networks"] == {"inside": {"internal": True}}
    for service in services.values():
        assert "ports" not in service
        assert service["networks"] == ["inside"]
    assert services["scheduler"]["command"].startswith("dask scheduler --port 8786")
    assert services["worker"]["command"].startswith("dask worker tcp://scheduler:8786 --nworkers 1")
    assert services["worker"]["deploy"]["replicas"] == 3
    dockerfile = FOLDER.parents[1] / services["worker"]["build"]["dockerfile"]
    assert dockerfile == FOLDER / "Dockerfile"
    assert dockerfile.exists()
