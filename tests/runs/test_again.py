"""A run is played again from its manifest, or extended: the same bytes, or what has changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import ChangedBots
from arena.executors.local import LocalExecutor
from arena.library import request
from arena.tournament.tournament import Tournament
from arena.tournament.versions import version_here
from engine import STANDARD
from tests import rogues
from tests.conftest import Arena, Done, run_here
from tests.console import Console
from tests.kit import Stops, forge, refused, same_files
from tests.rogues import write
from tests.runs import test_resume
from tests.runs.test_resume import games_in
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
    write(folder, "mine", "raise ValueError('boom')")
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
    write(tmp_path, "mine", "raise ValueError('boom')")
    write(tmp_path, "other", "raise ValueError('boom')")
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


def digests(folder: Path) -> dict[str, str]:
    """Return the hashes of the files of a run that do not depend on how often one has looked."""
    looked = ("manifest.json", "standings.csv", "verdicts.csv")
    return {name: one for name, one in test_resume.digests(folder).items() if name not in looked}


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


@pytest.mark.slow
def test_bots_that_join_step_by_step_are_as_all_at_once(
    arena: Arena, cup: Path, tmp_path: Path
) -> None:
    """Only new pairings are played; files and store are the same; nothing is left to verify."""
    write_config(tmp_path, JOINING)
    arena("run", "cup.yaml", "--out", "once")
    joining = Random(5).sample(JOINING, len(JOINING))
    for size in (2, 4, 6):
        before = len(games_in(cup))
        write_config(tmp_path, [bot for bot in JOINING if bot in joining[:size]])
        done = arena("run", "cup.yaml", "--workers", "1")
        assert played(done) <= len(games_in(cup)) - before
    assert digests(cup) == digests(tmp_path / "once")
    assert rows(cup) == rows(tmp_path / "once")
    assert played(arena("run", "cup.yaml")) == 0
    assert arena("verify", "results/cup").returncode == 0


@pytest.mark.study
def test_a_run_that_is_extended_pays_for_looking_again(arena: Arena, tmp_path: Path) -> None:
    """Its manifest says so, and another run of the manifest has the same verdicts."""
    write_config(tmp_path, ["greedy", "uniform", "majority"])
    for pairs in ("2", "20"):
        played(arena("run", "cup.yaml", "--pairs", pairs))
    played(arena("run", "cup.yaml", "--pairs", "20", "--out", "once"))
    played(arena("run", "results/cup/manifest.json", "--out", "again"))
    extended, once, again = (
        library.open(tmp_path / place).verdicts for place in ("results/cup", "once", "again")
    )
    assert extended.equals(again)
    assert (extended["lead"] == once["lead"]).all()
    assert (extended["lead_high"] > once["lead_high"]).all()


@pytest.mark.slow
def test_more_pairs_are_only_those(arena: Arena, cup: Path, tmp_path: Path) -> None:
    """And fewer pairs leave the tables, and stay in the store."""
    bots = ["uniform", "greedy", "majority"]
    write_config(tmp_path, bots, pairs=7)
    arena("run", "cup.yaml", "--out", "once")
    for pairs, new in ((4, 24), (7, 18), (2, 0), (7, 0)):
        write_config(tmp_path, bots, pairs=pairs)
        assert played(arena("run", "cup.yaml")) == new
        assert len((cup / "games.csv").read_text().splitlines()) == 1 + 6 * pairs
    assert digests(cup) == digests(tmp_path / "once")
    assert rows(cup) == rows(tmp_path / "once")


@pytest.mark.slow
def test_a_bot_that_is_left_out_comes_back_with_its_games(
    arena: Arena, cup: Path, tmp_path: Path
) -> None:
    """The tables are those of a run without it; nothing is played again."""
    bots = ["uniform", "greedy", "majority"]
    write_config(tmp_path, bots)
    assert played(arena("run", "cup.yaml")) == 18
    whole = digests(cup)
    write_config(tmp_path, bots[1:])
    arena("run", "cup.yaml", "--out", "once")
    done = arena("run", "cup.yaml", "-v")
    assert played(done) == 0
    assert digests(cup) == digests(tmp_path / "once")
    assert "uniform: left out: its games stay in the store" in (cup / "run.log").read_text()
    assert arena("verify", "results/cup").returncode == 0
    write_config(tmp_path, bots)
    assert played(arena("run", "cup.yaml")) == 0
    assert digests(cup) == whole


MINE = "from bots.greedy import bot\n"


@pytest.mark.study
def test_a_changed_bot_is_replaced_when_asked_for(arena: Arena, cup: Path, tmp_path: Path) -> None:
    """Only its own games are played again; until then nothing is changed."""
    (tmp_path / "mine.py").write_text(MINE)
    write_config(tmp_path, ["uniform", "./mine.py", "majority"])
    arena("run", "cup.yaml")
    before, kept = digests(cup), rows(cup)
    (tmp_path / "mine.py").write_text(MINE + "bot = __import__('bots.uniform').uniform.bot\n")
    line = refused(arena("run", "cup.yaml"))
    assert line.startswith("results/cup: changed since their games were played: mine: sha256")
    assert "; --replace plays the games of mine again and keeps those of before until then;" in line
    assert "without mine the others go on" in line
    assert (digests(cup), rows(cup)) == (before, kept)
    arena("run", "cup.yaml", "--out", "once")
    assert played(arena("run", "cup.yaml", "--replace")) == 12
    assert digests(cup) == digests(tmp_path / "once")
    assert rows(cup) == rows(tmp_path / "once")
    assert not (cup / "replaced.sqlite").exists()


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


@pytest.mark.slow
def test_what_is_replaced_is_there_until_the_new_games_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replacement that was stopped is undone by the bot of before; nothing is played again."""
    mine, out = tmp_path / "mine.py", tmp_path / "out"
    mine.write_text(MINE)
    bots = ["uniform", "majority", str(mine)]
    before = library.run(bots, pairs=2, out=out, progress=False).games
    mine.write_text("# better\n" + MINE)
    with monkeypatch.context() as patched:
        patched.setattr(LocalExecutor, "play", Stops(0).play)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                library.run(bots, pairs=2, out=out, replace=True, progress=False)
            assert len(games_in(out)) == 4
        mine.write_text(MINE)
        again = library.run(bots, pairs=2, out=out, progress=False)
    assert again.games.equals(before)
    assert not (out / "replaced.sqlite").exists()
    mine.write_text("# best\n" + MINE)
    library.run(bots, pairs=2, out=out, replace=True, progress=False)
    assert not (out / "replaced.sqlite").exists()
    mine.write_text(MINE)
    with pytest.raises(ChangedBots):
        library.run(bots, pairs=2, out=out, progress=False)


@pytest.mark.study
def test_at_a_terminal_somebody_is_asked(tmp_path: Path, arena: Arena, cup: Path) -> None:
    """Without a yes nothing is deleted; with one it is as with --replace."""
    (tmp_path / "mine.py").write_text(MINE)
    write_config(tmp_path, ["uniform", "./mine.py"])
    arena("run", "cup.yaml")
    before = rows(cup)
    (tmp_path / "mine.py").write_text(MINE + "# better\n")
    for answer, status in (("n\n", 2), ("y\n", 0)):
        console = Console(tmp_path, "run", "cup.yaml")
        asked = console.until("Those of before are kept until then [y/N]")
        assert "mine: sha256: there " in asked
        console.type(answer)
        assert console.end()[0] == status
        console.close()
        assert (rows(cup) == before) == (status == 2)


@pytest.mark.slow
def test_verify_says_that_a_run_has_not_finished(arena: Arena, cup: Path, tmp_path: Path) -> None:
    """Of an extension, which has the files of the smaller run."""
    write_config(tmp_path, ["uniform", "greedy"])
    arena("run", "cup.yaml")
    change = "UPDATE run SET value = replace(value, ?, ?)"
    forge(cup / "run.sqlite", change, '"pairs": 3', '"pairs": 4')
    said = refused(arena("verify", "results/cup"))
    assert said == "results/cup: the run has not finished; start it again to go on"


def content(folder: Path) -> list[list[tuple[Any, ...]]]:
    """Return all rows of all tables of a store."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        tables = database.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
        return [database.execute(f"SELECT * FROM {name}").fetchall() for (name,) in tables]
