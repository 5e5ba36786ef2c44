"""A run is played again from its manifest, with the same bytes, or it is said what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.library import request
from arena.tournament.tournament import Tournament
from arena.tournament.versions import version_here
from engine import STANDARD
from tests.conftest import Arena, run_here
from tests.kit import same_files
from tests.rogues import write
from tests.runs.test_verify import RAISES
from tests.tiers import few

BOTS = ["uniform", "greedy", "g=greedy(patience=1.5)", {"bot": "./mine.py", "label": "my own"}]
CONFIGS: dict[str, dict[str, Any]] = {
    "rules": {"rules": {"set_bonus": 0}, "max_faults": 2, "anchor": "greedy=9", "lane": "inproc"},
    "gauntlet": {"format": "gauntlet", "panel": ["denier", "majority"], "limits": {"game": 60.0}},
    "lanes": {"lane": "process"},
    "swiss": {"format": "swiss", "rounds": 2},
    "until": {"until": "resolved", "max_pairs": 12},
}
COMMANDS = {
    **{name: f"run {name}.yaml" for name in CONFIGS},
    "compare": "compare denier greedy --max-pairs 2 --seed 3",
    "against": "compare denier greedy --against uniform,./mine.py --max-pairs 12",
    "play": "play uniform ./mine.py --against greedy --pairs 2 --out results/play",
    "ablate": "ablate rules.yaml --rule set_bonus=5 --out results/ablate",
}
CHEAP = ("rules",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a bot that fails, and with configs."""
    folder = tmp_path_factory.mktemp("again")
    write(folder, "mine", RAISES)
    for name, more in CONFIGS.items():
        config = {"pairs": 2, "seed": 5, "bots": BOTS} | more
        (folder / f"{name}.yaml").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    "kind",
    few(sorted(COMMANDS, key=lambda kind: kind not in CHEAP), 0, len(CHEAP) + 1),
)
def test_every_kind_of_run_is_played_again_with_the_same_bytes(folder: Path, kind: str) -> None:
    """By its manifest alone, which lies elsewhere."""
    before = {*folder.glob("results/*/")}
    assert run_here(folder, *COMMANDS[kind].split()).returncode == 0
    (out,) = {*folder.glob("results/*/")} - before
    out = out / "set_bonus=5" if kind == "ablate" else out
    manifest = folder / f"{kind}.json"
    manifest.write_bytes((out / "manifest.json").read_bytes())
    again = folder / "again" / kind
    done = run_here(folder, "run", manifest.name, "--out", str(again), "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert same_files(again) == same_files(out)
    assert len(same_files(again)) >= 12
    if "compare" in COMMANDS[kind]:
        assert "repeat with: arena compare denier" in done.stdout


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Return the manifest of a run in the folder of the test."""
    write(tmp_path, "mine", RAISES)
    write(tmp_path, "other", RAISES)
    bots = ["uniform", "./mine.py", "./other.py"]
    (tmp_path / "cup.yaml").write_text(json.dumps({"pairs": 1, "bots": bots, "lane": "inproc"}))
    assert run_here(tmp_path, "run", "cup.yaml").returncode == 0
    return tmp_path / "results" / "cup" / "manifest.json"


def change(*place: str | int, value: object) -> Callable[[Path], None]:
    """Return what changes a value of a manifest."""

    def edit(path: Path) -> None:
        data = json.loads(path.read_text())
        part = data
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        path.write_text(json.dumps(data))

    return edit


def remove_and_edit(path: Path) -> None:
    """Remove one bot, and change another one."""
    folder = path.parents[2]
    (folder / "mine.py").unlink()
    (folder / "other.py").write_text("from bots.greedy import bot\n")


MADE_HERE = (
    f"a manifest made by version {version_here()} "
    f"(pip install 'district-noir-arena=={version_here()}')"
)

REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "bots": (
        remove_and_edit,
        "bots are not those of the manifest: mine: bot './mine.py': No such file or directory; "
        "other: its source has changed",
    ),
    "sha256": (
        change("bots", 0, "sha256", value="1f"),
        "bots are not those of the manifest: uniform: its source has changed",
    ),
    "object": (
        change("bots", 0, "bot", value="python:Mine"),
        "bots are not those of the manifest: uniform: bot 'python:Mine': a class or function of a "
        "Python program, which only a program can pass to the arena",
    ),
    "engine": (
        change("versions", "engine", value="1f" * 32),
        f"{MADE_HERE}, whose games may differ: versions.engine: there 1f1f1f1f1f1f..., ",
    ),
    "arena": (
        change("versions", "arena", value="0.0.9"),
        "a manifest made by a development version before 1.0, whose games may differ: "
        "versions.arena: there 0.0, here ",
    ),
    "python": (
        change("versions", "python", value="3.9.1"),
        f"{MADE_HERE}, whose games may differ: versions.python: there 3.9, here ",
    ),
    "no versions": (
        change("versions", value=None),
        "a manifest made by an unknown version, whose games may differ: "
        "versions.arena: there None, here ",
    ),
    "name": (change("name", value="../x"), "name: '../x' cannot name a folder; use"),
    "seed": (change("seed", value="x"), "its manifest cannot be read: Expected `int`, got `str`"),
}


@pytest.mark.slow
def test_what_is_not_as_it_was_is_named(arena: Arena, manifest: Path) -> None:
    """In one line with status 2, and nothing is played."""
    folder = manifest.parents[2]
    paths = (manifest, folder / "mine.py", folder / "other.py")
    whole = {path: path.read_bytes() for path in paths}
    for spoil, message in REFUSED.values():
        spoil(manifest)
        done = arena("run", "results/cup/manifest.json", "--out", "again")
        assert (done.returncode, done.stdout) == (2, "")
        start = f"error: results/cup/manifest.json: {message}"
        assert done.stderr.startswith(start), done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (folder / "again").exists()
        for path, content in whole.items():
            path.write_bytes(content)


@pytest.mark.parametrize(
    "option",
    ["--pairs 3", "--bot greedy", "--against greedy", "--seed 1", "--lane process", "--replace"],
)
def test_a_manifest_is_played_as_it_is(arena: Arena, tmp_path: Path, option: str) -> None:
    """What would change the run is refused; a config can be changed."""
    (tmp_path / "manifest.json").write_text('{"versions": {}}')
    done = arena("run", "manifest.json", *option.split())
    name = option.split()[0]
    assert (done.returncode, done.stderr) == (2, f"error: {name}: a manifest is played as it is\n")


def test_a_manifest_is_played_where_the_call_says() -> None:
    """What the call does not name is as usual."""
    manifest = Tournament("cup", 1, 1, [resolve("greedy"), resolve("uniform")], STANDARD).manifest()
    again, settings = request._repeat(manifest, {"workers": 3, "executor": None})
    assert again.manifest() == manifest
    assert (settings.workers, settings.executor) == (3, None)
