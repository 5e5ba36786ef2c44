"""What a bot is told that does not find a file: its message is the bot's own word."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.entries.needs import explain_missing


def missing(name: str) -> str:
    """Return the message of a bot that has not found a file."""
    return f"FileNotFoundError: [Errno 2] No such file or directory: '{name}'"


def test_an_installed_package_is_to_be_named() -> None:
    """Else a jail does not show it; what is not installed, or is a part of it, brings no advice."""
    message = "ModuleNotFoundError: No module named '{}'"
    for target in ("./mine.py", "club.mine", "cmd:python3 mine.py"):
        assert "`needs: [numpy]`" in explain_missing(target, message.format("numpy"))
        for name in ("nothing", "numpy.nothing"):
            assert "needs" not in explain_missing(target, message.format(name))


def test_a_file_of_its_own_is_to_be_packed(tmp_path: Path) -> None:
    """One beside it, or below."""
    (tmp_path / "weights.txt").touch()
    advice = explain_missing(str(tmp_path / "mine.py"), missing("weights.txt"))
    assert 'read it with Path(__file__).parent / "weights.txt"' in advice
    assert "arena pack " in advice


@pytest.mark.parametrize("name", ["{}/secret", "../secret", "below/../../secret", "x" * 300])
def test_a_name_that_leads_elsewhere_or_nowhere_brings_no_advice(tmp_path: Path, name: str) -> None:
    """Else a stranger's bot would have its user pack what it names, or end the run."""
    (tmp_path / "secret").touch()
    (tmp_path / "bot" / "below").mkdir(parents=True)
    assert not explain_missing(str(tmp_path / "bot" / "mine.py"), missing(name.format(tmp_path)))
