"""Imports point one way, and heavy libraries are imported only where they are used."""

from __future__ import annotations

import ast
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests import ROOT, house
from tests.kit import run_python

ENGINE_ORDER = [
    *("errors", "cards", "rules", "notation", "state", "scoring", "words", "view"),
    *("strategy", "encoding", "thoughts", "worlds", "seeds", "record", "play"),
]
ROOMS = [
    *("__main__", "cli", "library", "check", "runs", "reports", "differences", "tables"),
    *("store", "replays", "executors", "batch", "tournament", "statistics", "lanes", "entries"),
    *("addons", "processes", "files", "errors", "threads", "tokens"),
]
"""The rooms of the core: each may import itself and those below it; `addons` is only its table."""

ADDONS = {"cluster", "league", "learn", "programs", "remote", "rl", "studies", "table"}
"""The add-ons: each may import the core."""

HEAVY = {
    *("pandas", "scipy", "numpy", "jinja2", "starlette", "uvicorn", "httpcore", "httpx", "dask"),
    *("distributed", "mpi4py", "pyarrow", "gymnasium", "pettingzoo", "pyspiel", "open_spiel"),
}

BATCH = sorted(path.stem for path in (ROOT / "arena" / "batch").glob("[!_]*.py"))
"""The modules of `arena.batch`, which need only the engine and numpy: a bot may use them."""


@cache
def imported(path: Path) -> frozenset[str]:
    """Return every module that a file imports, at any place in it."""
    names: set[str] = set()
    for node in ast.walk(house.syntax(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return frozenset(names)


def tops(path: Path) -> set[str]:
    """Return the first parts of their names."""
    return {name.partition(".")[0] for name in imported(path)}


def test_the_engine_imports_the_standard_library_and_earlier_modules() -> None:
    """`cards <- rules <- state <- view <- play`, and nothing from bots, arena or PyPI."""
    for path in sorted((ROOT / "engine").glob("*.py")):
        if path.stem in ENGINE_ORDER:
            allowed = {f"engine.{name}" for name in ENGINE_ORDER[: ENGINE_ORDER.index(path.stem)]}
        else:
            assert path.stem == "__init__", f"{path.stem} has no place in the order"
            allowed = {f"engine.{name}" for name in ENGINE_ORDER}
        for name in imported(path):
            inside = name in allowed or name.partition(".")[0] in sys.stdlib_module_names
            assert inside, f"{path.stem} imports {name}"


BOTS = {path.stem: path for path in sorted((ROOT / "bots").glob("*.py"))}


def test_bots_import_the_engine_and_one_another_in_an_order() -> None:
    """Also numpy, and of the arena the room of many games, where a function needs it."""
    allowed = {"engine", "numpy", *sys.stdlib_module_names}
    builders = {}
    for bot, path in BOTS.items():
        others = {name for name in imported(path) if name.partition(".")[0] not in allowed}
        of_many_games = {f"arena.batch.{module}" for module in BATCH}
        builders[bot] = {name.removeprefix("bots.") for name in others - of_many_games}
        assert builders[bot] <= BOTS.keys() - {"__init__"}, bot
    assert {"ismcts", "majority"} <= builders["champion"] | builders["ismcts"]
    TopologicalSorter(builders).prepare()


ARENA = [*house.modules().values()]


def room_of(path: Path) -> str:
    """Return the room of a module of the arena; an add-on is one."""
    parts = path.relative_to(ROOT / "arena").with_suffix("").parts
    return parts[1] if parts[0] == "addons" and parts[1] != "__init__" else parts[0]


FACE = {"__init__", "rl"}
"""The modules that give what add-ons bring to `import arena`: for types, and by a short name."""


def test_imports_run_one_way_through_the_rooms() -> None:
    """Down the list, also for types and for imports inside functions; an add-on is above them."""
    for path in ARENA:
        room = room_of(path)
        if room in FACE and path.parent == ROOT / "arena":
            continue
        assert room in ADDONS or room in ROOMS, f"{room} has no place in the order"
        below = {*ROOMS[1:]} if room in ADDONS else {*ROOMS[ROOMS.index(room) :]}
        for name in imported(path):
            if name.startswith("arena."):
                assert name.split(".")[1] in below | {"addons"}, f"{path} imports {name}"


def test_an_addon_imports_the_core_and_is_in_the_tables() -> None:
    """The core imports none, also not for types; what the tables name is there."""
    for path in ARENA:
        room = room_of(path)
        for name in imported(path):
            if name.startswith("arena.addons.") and room not in FACE:
                assert name.split(".")[2] == room, f"{path} imports {name}"
    from arena import addons

    folders = {path.parent.name for path in (ROOT / "arena" / "addons").glob("*/__init__.py")}
    commands = [one.place for one in addons.COMMANDS.values()]
    places = [*commands, *addons.VERBS.values(), *addons.HOOKS.values()]
    assert folders == ADDONS == {place.split(".")[2] for place in places}
    for place in places:
        assert callable(addons.find(place)), place


def test_the_room_of_many_games_imports_the_engine_and_numpy() -> None:
    """And neither bots and rooms nor the libraries of the learners."""
    allowed = {"engine", "numpy", "arena.errors", *sys.stdlib_module_names}
    allowed |= {f"arena.batch.{name}" for name in BATCH}
    for name in BATCH:
        for module in imported(ROOT / "arena" / "batch" / f"{name}.py"):
            inside = module in allowed or module.partition(".")[0] in allowed
            assert inside, f"{name} imports {module}"


def test_a_bot_that_imports_rl_imports_no_room() -> None:
    """What reads runs comes when it is asked for."""
    core = {"arena.addons", "arena.addons.rl", "arena.batch", "arena.errors", "arena.tokens"}
    found = {name for name in modules_of("import arena.addons.rl") if name.startswith("arena.")}
    assert found <= core | {f"arena.batch.{name}" for name in BATCH}


def test_every_room_says_what_is_in_it_and_one_reaches_bots() -> None:
    """Beside the rooms there are only these modules; `entries.resolve` imports the bots."""
    folders = {path.parent for path in ARENA}
    for folder in folders - {ROOT / "arena"}:
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert text, folder
        assert text.partition("\n")[0].endswith("."), folder
    flat = {path.stem for path in ARENA if path.parent == ROOT / "arena"}
    assert flat == {"__init__", "__main__", "rl", *ROOMS[-5:]}
    for path in ARENA:
        assert "bots" not in tops(path) or path.stem == "resolve", path


def modules_of(statement: str) -> set[str]:
    """Return the modules that a Python has after a statement."""
    done = run_python("-c", f"{statement}; import sys; print(*sys.modules)", folder=ROOT)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def loaded_by(statement: str) -> set[str]:
    """Return the packages and other modules at the top that it has."""
    return {name.partition(".")[0] for name in modules_of(statement)}


LIGHT = {
    f"import {', '.join(f'bots.{name}' for name in BOTS)}": {"arena"},
    "import bots.greedy, bots.city_hunter, bots.denier, bots.timing": HEAVY,
    "import arena.cli": HEAVY | {"yaml", "tqdm"},
    "import arena.executors.worker, arena.executors.local, arena.runs.run": HEAVY,
    "import arena.addons.table.table_commands": HEAVY,
    "import arena.addons.rl": HEAVY - {"numpy"},
    "import arena.lanes.host, arena.check.trial": HEAVY | {"multiprocessing", "msgspec"},
}
"""What begins quickly, and what it does not load: a bot, `--help`, a worker, the first board."""


@pytest.mark.parametrize("statement", LIGHT, ids=lambda one: one[:40])
def test_what_begins_quickly_loads_no_heavy_library(statement: str) -> None:
    """What takes long comes when it is asked for."""
    assert not loaded_by(statement) & LIGHT[statement]


@pytest.mark.parametrize(
    ("statement", "ours"),
    [
        ("import engine, engine.play", {"engine"}),
        ("import arena.lanes.host, arena.check.trial", {"arena", "engine"}),
    ],
)
def test_the_engine_and_a_bots_process_load_only_the_standard_library(
    statement: str, ours: set[str]
) -> None:
    """A library without dependencies, and a process that has nothing of a run."""
    assert loaded_by(statement) - loaded_by("pass") <= {*sys.stdlib_module_names, *ours}


@pytest.mark.slow
def test_a_small_run_without_a_folder_imports_no_tables_and_no_pages() -> None:
    """numpy rates the bots; pandas, jinja2 and the log of workers take longer than the games."""
    play = (
        "import sys; sys.argv = 'arena play greedy uniform --pairs 2 --workers 1'.split()\n"
        "from contextlib import redirect_stdout, suppress; import io, arena.cli\n"
        "with suppress(SystemExit), redirect_stdout(io.StringIO()) as said: arena.cli.main()\n"
        "assert '4 games in' in said.getvalue(), said.getvalue()\n"
        "assert 'numpy.ma' not in sys.modules"
    )
    found = loaded_by(play)
    assert "numpy" in found
    assert not found & ((HEAVY - {"numpy"}) | {"yaml", "tqdm", "multiprocessing"})


@pytest.mark.slow
def test_the_files_of_a_run_are_made_without_pandas(tmp_path: Path) -> None:
    """Its import takes as long as all files of ten games; a DataFrame is made where it is read."""
    entry = "arena.run(['greedy', 'uniform'], pairs=1, workers=1, progress=False, out={!r})"
    play = f"import arena; results = {entry.format(str(tmp_path / 'run'))}"
    found = loaded_by(play)
    assert (tmp_path / "run" / "report.md").exists()
    assert "pandas" not in found
    assert "pandas" in loaded_by(f"{play}; results.standings")


OPTIONAL = {"httpx": {"remote"}, "networkx": {"tournament"}, "scipy": {"rl"}}
"""Libraries of extras, and the rooms that use them: elsewhere their lack is noticed too late."""


def test_a_library_of_an_extra_is_used_in_one_room_and_one_module_opens_sqlite() -> None:
    """So that each file is opened in one way, and errors name it."""
    for library, rooms in OPTIONAL.items():
        assert {room_of(path) for path in ARENA if library in tops(path)} == rooms
    users = [path.name for path in ARENA if "sqlite3.connect(" in path.read_text()]
    assert users == ["database.py"]


@pytest.mark.slow
def test_the_house_stays_within_its_budget() -> None:
    """Of the whole: a room may grow where another one shrinks."""
    sizes = house.sizes()
    assert sizes.keys() == house.BUDGET.keys()
    assert not {what: size for what, size in sizes.items() if size > house.BUDGET[what]}


def test_no_file_name_occurs_in_two_rooms_and_no_module_imports_itself() -> None:
    """So a name means one thing, also in a traceback; nor by an import inside a function."""
    assert not house.find_shared_names()
    assert not house.find_circle()
