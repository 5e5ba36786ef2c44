"""A run is played again from its manifest, or extended: the same bytes, or what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import ChangedBots, InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, logger
from arena.library import request
from arena.runs import rerun, stored_run
from arena.runs.run import Interrupted, play_games, run
from arena.store.folder import RunFolder, locate
from arena.tournament.tournament import Tournament
from arena.tournament.versions import version_here
from engine import STANDARD
from tests import rogues
from tests.conftest import Arena, Done, run_here
from tests.kit import Stops, content, count_games, refused, same_files
from tests.rogues import write
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a bot that fails, and with configs."""
    folder = tmp_path_factory.mktemp("again")
    write(folder, "mine", "raise ValueError('boom')")
    for name, more in CONFIGS.items():
        config = {"pairs": 2, "seed": 5, "bots": BOTS} | more
        (folder / f"{name}.yaml").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("kind", few(COMMANDS, 0, 2))
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


MADE_HERE = (
    f"a manifest made by version {version_here()} "
    f"(pip install 'district-noir-arena=={version_here()}')"
)
CHANGED: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda data: data["bots"][0].update(bot="python:Mine"),
        "bots are not those of the manifest: uniform: bot 'python:Mine': a class or function of a "
        "Python program, which only a program can pass to the arena",
    ),
    (
        lambda data: data["versions"].update(engine="1f" * 32),
        f"{MADE_HERE}, whose games may differ: versions.engine: there 1f1f1f1f1f1f..., ",
    ),
    (
        lambda data: data["versions"].update(arena="0.0.9"),
        "a manifest made by a development version before 1.0, whose games may differ: "
        "versions.arena: there 0.0, here ",
    ),
    (
        lambda data: data["versions"].update(python="3.9.1"),
        f"{MADE_HERE}, whose games may differ: versions.python: there 3.9, here ",
    ),
    (
        lambda data: data.update(versions=None),
        "a manifest made by an unknown version, whose games may differ: "
        "versions.arena: there None, here ",
    ),
    (lambda data: data.update(name="../x"), "name: '../x' cannot name a folder; use"),
    (lambda data: data.update(seed="x"), "its manifest cannot be read: Expected `int`, got `str`"),
]


@pytest.mark.slow
def test_what_is_not_as_it_was_is_named(arena: Arena, tmp_path: Path) -> None:
    for name in ("mine", "other"):
        write(tmp_path, name, "raise ValueError('boom')")
    (tmp_path / "cup.yaml").write_text("pairs: 1\nbots: [uniform, ./mine.py, ./other.py]\n")
    assert arena("run", "cup.yaml").returncode == 0
    manifest = tmp_path / "results" / "cup" / "manifest.json"
    whole = manifest.read_text()

    def said() -> str:
        line = refused(arena("run", "results/cup/manifest.json", "--out", "again"))
        return line.removeprefix("results/cup/manifest.json: ")

    for change, message in CHANGED:
        data = json.loads(whole)
        change(data)
        manifest.write_text(json.dumps(data))
        assert said().startswith(message)
    manifest.write_text(whole)
    (tmp_path / "mine.py").unlink()
    (tmp_path / "other.py").write_text(MINE)
    assert said().startswith(
        "bots are not those of the manifest: mine: bot './mine.py': No such file or directory; "
        "other: its source has changed"
    )
    assert not (tmp_path / "again").exists()


def test_a_manifest_is_played_as_it_is(arena: Arena, tmp_path: Path) -> None:
    """What would change the run is refused; a config can be changed."""
    (tmp_path / "manifest.json").write_text('{"versions": {}}')
    options = ["--pairs 3", "--bot greedy", "--against greedy", "--seed 1", "--lane process"]
    for option in [*options, "--replace"]:
        said = refused(arena("run", "manifest.json", *option.split()))
        assert said == f"{option.split()[0]}: a manifest is played as it is"


def test_a_manifest_is_played_where_the_call_says() -> None:
    manifest = Tournament("cup", 1, 1, [resolve("greedy"), resolve("uniform")], STANDARD).manifest()
    again, settings = request._repeat(manifest, {"workers": 3, "executor": None})
    assert again.manifest() == manifest
    assert (settings.workers, settings.executor) == (3, None)


def test_an_opponent_of_a_person_has_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the jail; what does not load, or has the person's name, is refused."""
    problems: list[str] = []
    monkeypatch.setattr(rerun, "find_problems", lambda *_: problems)
    assert rerun.find_opponent("Ann", "greedy").lane == "process"
    assert rerun.find_opponent("Ann", "greedy", "jail").lane == "jail"
    problems.append("bot 'greedy': no")
    for person, lane, why in (
        ("Ann", "inproc", "--lane inproc: against a person a bot plays in a process or a jail"),
        ("greedy", None, "bot 'greedy': has the person's label 'greedy'; name one of them"),
        ("Ann", None, "bot 'greedy': no"),
    ):
        with pytest.raises(InputError, match=f"^{why}"):
            rerun.find_opponent(person, "greedy", lane)


def test_a_league_has_its_bots_beside_it_wherever_one_stands(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    write(tmp_path / "bots", "mine", "raise ValueError('boom')")
    entry = resolve(str(tmp_path / "bots" / "mine.py"))
    stored = replace(entry, target="./bots/mine.py")
    assert rerun.resolve_same(stored, tmp_path).sha256 == entry.sha256
    with pytest.raises(InputError, match=r"bots/mine\.py"):
        rerun.resolve_same(stored)


MINE = "from bots.greedy import bot\n"
JOINING: list[Any] = [
    "uniform",
    {"bot": rogues.spec("raises_boom"), "label": "m"},
    "city_hunter",
    "a=uniform",
    "z=greedy",
    "b=greedy(patience=2.0)",
]
"""The last ones have labels between those of the first, and one is out after three faults."""


def write_config(folder: Path, bots: Sequence[Any], **changes: Any) -> None:
    """Write cup.yaml with these bots."""
    config = {"pairs": 3, "seed": 3, "max_faults": 3, "bots": list(bots)} | changes
    (folder / "cup.yaml").write_text(json.dumps(config))


def tables(folder: Path) -> dict[str, bytes]:
    """Return the tables of a run that do not depend on how often one has looked."""
    names = ("games", "head_to_head", "win_types", "faults")
    return {name: locate(folder, f"{name}.csv").read_bytes() for name in names}


def rows(folder: Path) -> list[list[tuple[Any, ...]]]:
    """Return all rows of a store but those with its manifest."""
    return [table for table in content(folder) if not any("manifest" in row for row in table)]


def played(done: Done) -> int:
    """Return how many games a command has played."""
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("nothing was left to play"):
        return 0
    return int(done.stdout.split(" games in ")[0].replace(",", ""))


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    return tmp_path / "results" / "cup"


THREE = ["uniform", "greedy", "majority"]
STEPS: dict[str, list[tuple[list[Any], int, int]]] = {
    # bots, pairs, and how many games are new: some of them may be forfeits by rule
    "bots join": [(JOINING[::3], 3, 6), ([*JOINING[:2], *JOINING[3::2]], 3, 30), (JOINING, 3, 54)],
    "more pairs and fewer": [(THREE, 4, 24), (THREE, 7, 18), (THREE, 2, 0), (THREE, 7, 0)],
    "a bot is left out": [(THREE, 3, 18), (THREE[1:], 3, 0), (THREE, 3, 0)],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STEPS)
def test_a_run_that_changes_plays_only_what_is_new(
    arena: Arena, cup: Path, tmp_path: Path, kind: str
) -> None:
    """The tables are always those of a run at once, and in the end the store is, too."""
    for bots, pairs, new in STEPS[kind]:
        write_config(tmp_path, bots, pairs=pairs)
        assert played(arena("run", "cup.yaml", "--workers", "1", "-v")) <= new
        assert arena("run", "cup.yaml", "--out", "once", "--fresh").returncode == 0
        assert tables(cup) == tables(tmp_path / "once")
    assert rows(cup) == rows(tmp_path / "once")
    assert played(arena("run", "cup.yaml")) == 0
    assert arena("verify", "results/cup").returncode == 0


@pytest.mark.slow
def test_a_run_that_is_extended_pays_for_looking_again(tmp_path: Path) -> None:
    """Its leads are those of a run at once, with wider intervals; its manifest says so."""

    def play(pairs: int, place: str) -> Any:
        how: dict[str, Any] = {"pairs": pairs, "workers": 1, "progress": False}
        return library.run(["greedy", "denier", "majority"], **how, out=tmp_path / place).verdicts

    play(2, "cup")
    extended, once = play(20, "cup"), play(20, "once")
    assert (extended["lead"] == once["lead"]).all()
    assert (extended["lead_high"] > once["lead_high"]).all()
    for place, is_extended in (("cup", True), ("once", False)):
        text = (tmp_path / place / "manifest.json").read_text()
        assert ('"extended": true' in text) == is_extended


def test_bots_that_join_change_or_leave_are_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(logger, "info", lambda text, *words: lines.append(text % words))
    stored_run._log_bots(["a", "b"], ["b", "c"], ["b"])
    assert lines == [
        "c: a new bot",
        "b: replaced: its games are played again",
        "a: left out: its games stay in the store",
    ]


@pytest.mark.slow
def test_no_bot_is_started_to_find_that_one_has_changed(tmp_path: Path) -> None:
    """So the answer comes at once, however many bots there are, and however slowly they start."""
    mine, slow = tmp_path / "mine.py", tmp_path / "slow.py"
    mark, out = tmp_path / "started", tmp_path / "out"
    mine.write_text(MINE)
    library.run(["uniform", str(mine)], pairs=1, out=out, progress=False)
    mine.write_text("# better\n" + MINE)
    slow.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n{MINE}")
    with pytest.raises(ChangedBots) as caught:
        library.run(["uniform", str(mine), str(slow)], pairs=1, out=out, progress=False)
    assert caught.value.labels == ["mine"]
    assert not mark.exists()


def test_what_is_replaced_is_there_until_the_new_games_are(tmp_path: Path) -> None:
    """A replacement that was stopped is undone by the bot of before; nothing is played again."""
    folder, here = RunFolder(tmp_path / "out"), LocalExecutor(1)

    def cup(text: str) -> Tournament:
        (tmp_path / "mine.py").write_text(text)
        bots = resolve("uniform"), resolve("majority"), resolve(str(tmp_path / "mine.py"))
        return Tournament("cup", 3, 2, bots, STANDARD)

    before, better = cup(MINE), cup("# better\n" + MINE)
    assert play_games(before, here, folder, QUIET) == (12, 0)
    (*_, games) = rows(folder.path)
    for _ in range(2):
        with pytest.raises(Interrupted):
            run(better, Stops(0), folder, QUIET, replace=True)
        assert (count_games(folder.path), folder.replaced.exists()) == (4, True)
    assert play_games(before, here, folder, QUIET) == (0, 12)
    assert (rows(folder.path)[-1], folder.replaced.exists()) == (games, False)
    run(other := cup("from bots.uniform import bot\n"), here, folder, QUIET, replace=True)
    run(other, here, once := RunFolder(tmp_path / "once"), QUIET)
    assert tables(folder.path) == tables(once.path)
    assert not folder.replaced.exists()
    wanted = "mine: sha256: .*; --replace plays the games of mine again and keeps those of before"
    with pytest.raises(ChangedBots, match=wanted):
        play_games(before, here, folder, QUIET)
