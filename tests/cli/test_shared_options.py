"""Options that several commands have do the same in each of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.entries import catalogue
from tests.conftest import Arena
from tests.tiers import few

CUP = "name: cup\npairs: 1\nbots: [uniform, {bot: greedy, label: g}]\n"
CUP += "rules: {set_bonus: 4}\nlimits: {decision: 3.0}\n"
START = {
    "run": ("run", "cup.yaml"),
    "play": ("play", "greedy", "g=greedy", "--pairs", "1"),
    "compare": ("compare", "greedy", "g=greedy", "--max-pairs", "8"),
    "ablate": ("ablate", "cup.yaml", "--rule", "set_bonus=5"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cup.yaml").write_text(CUP)
    return tmp_path


def manifest(folder: Path) -> dict[str, object]:
    """Return the manifest of the run in out/, of the base where it is an ablation."""
    (path, *_) = sorted((folder / "out").rglob("manifest.json"))
    data: dict[str, object] = json.loads(path.read_text())
    return data


def played(arena: Arena, folder: Path, command: str, *words: str) -> dict[str, object]:
    done = arena(*START[command], *words, "--out", "out", "-q")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert ("\n" in done.stdout) == (command == "compare")
    return manifest(folder)


@pytest.mark.parametrize("command", few(START))
def test_rules_and_limits_change_those_of_the_config(
    arena: Arena, folder: Path, command: str
) -> None:
    """Only what is named is changed; where there is no config, the published rules are."""
    words = ("--rules", '{"take_size": 4}', "--limits", '{"memory": 512}')
    found = played(arena, folder, command, *words)
    has_config = command in ("run", "ablate")
    base = {"set_bonus": 4} if has_config else {}
    assert found["rules"] == {**base, "take_size": 4}
    limits = found["limits"]
    assert isinstance(limits, dict)
    assert (limits["memory"], limits["decision"]) == (512, 3.0 if has_config else 10.0)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["play", "run"])
def test_changed_rules_are_said_below_the_standings(arena: Arena, command: str) -> None:
    """Where the published ones are played nothing is said of them."""
    said = "Played under changed rules: set_bonus=3 (published: 5)."
    lines = arena(*START[command], "--rules", '{"set_bonus": 3}').stdout.splitlines()
    assert lines.count(said) == 1
    plain = arena(*START[command], "--rules", '{"set_bonus": 5}', "--fresh").stdout
    assert "rules" not in plain


@pytest.mark.parametrize("command", START)
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--rules", '{"colour": 1}'), "--rules: unknown rule 'colour'; "),
        (("--rules", "{"), "--rules: Input data was truncated"),
        (
            ("--limits", '{"decison": 1}'),
            "--limits: unknown key 'decison'; did you mean",
        ),
        (("--limits", '{"memory": 1}'), "--limits: Expected `int` >= 64"),
        (("--limits", "3"), "--limits: Expected `object`, got `int`"),
        (("--against", "denier,,timing"), "--against: 'denier,,timing' has an empty place"),
    ],
)
def test_they_are_refused_alike(
    arena: Arena, folder: Path, command: str, words: tuple[str, str], line: str
) -> None:
    """One line, status 2, and nothing is played."""
    done = arena(*START[command], *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {line}")
    assert not (folder / "results").exists()


LADDER = ("uniform", "greedy", "denier")


@pytest.fixture
def short_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the bots that search."""
    monkeypatch.setattr(catalogue, "ELO", {name: catalogue.ELO[name] for name in LADDER})


@pytest.mark.usefixtures("short_ladder")
@pytest.mark.parametrize("command", few(START, 0, 2))
def test_against_takes_several_bots_and_the_ladder(
    arena: Arena, folder: Path, command: str
) -> None:
    """Those that are compared or play anyway are left out of the ladder."""
    words = ("--against", "ladder,again=uniform", "--lane", "inproc")
    words += ("--max-pairs", "9") if command == "compare" else ()
    bots = played(arena, folder, command, *words)["bots"]
    assert isinstance(bots, list)
    met = [bot["label"] for bot in bots[2:]]
    own = {bot["label"] for bot in bots[:2]}
    assert met == [*(name for name in LADDER if name not in own), "again"]
