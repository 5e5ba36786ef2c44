"""Tournaments and comparisons from a call: as from a config, and cleanly stopped."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import json
import math
import os.path
import re
import signal
import sys
import tempfile
import textwrap
import types
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import arena
import engine
from arena import InputError
from arena.entries.entry import HELD
from arena.entries.loader import load_source
from arena.library import bot_from_class
from arena.library.bot_from_class import bundle
from arena.store.store import Store
from arena.tournament.plan import Played
from bots.greedy import bot as greedy
from engine import STANDARD, TAKE, Action, Setup, View
from tests import rogues as beside
from tests.conftest import run_here
from tests.kit import refused, run_program, run_python
from tests.test_imports import HEAVY, loaded_by
from tests.tiers import few


@pytest.mark.slow
def test_importing_the_arena_imports_nothing_and_tells_its_version() -> None:
    """Not even msgspec; the version is looked up when it is asked for, as pip does."""
    extra = loaded_by("import arena") - loaded_by("pass")
    assert not extra & (HEAVY | {"msgspec", "yaml", "tqdm", "click", "engine"})
    assert not loaded_by("import arena; arena.run, arena.Results, arena.open") & HEAVY


def test_the_version_is_that_of_the_distribution() -> None:
    """It is looked up when it is asked for, as pip does."""
    assert arena.__version__ == metadata.version("district-noir-arena")
    assert {"__version__", *arena.__all__} <= {*dir(arena)}
    code = "import arena, sys; assert 'importlib.metadata' not in sys.modules"
    assert run_program(sys.executable, "-S", "-c", code).returncode == 0


SETTINGS: dict[str, Any] = {
    "name": "friday",
    "seed": 7,
    "pairs": 3,
    "rules": {"tiebreak": "supports"},
    "limits": {"decision": 2.0},
    "max_faults": 4,
    "lane": "inproc",
}
BOTS: list[Any] = ["greedy", {"bot": "greedy", "label": "hurried", "params": {"patience": 1.0}}]
DETERMINISTIC = ("manifest.json", "games.csv", "standings.csv", "head_to_head.csv", "faults.csv")


class Mine:
    """Plays its last legal action."""

    def __init__(self, _setup: Any, depth: int = 1) -> None:
        self.depth = depth

    def choose(self, view: Any, /) -> int:
        return int(view.legal[-self.depth % len(view.legal)])


class Faulty(Mine):
    """Raises at once."""

    def choose(self, _view: Any, /) -> int:
        raise ValueError("no idea")


def files(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in DETERMINISTIC}


@pytest.mark.slow
def test_keywords_a_mapping_and_a_file_are_one_tournament(tmp_path: Path) -> None:
    """They give the manifest and the games that the command gives, byte by byte."""
    config = tmp_path / "friday.yaml"
    config.write_text(yaml.safe_dump({**SETTINGS, "bots": BOTS}))
    assert run_here(tmp_path, "run", "friday.yaml", "--quiet").returncode == 0
    expected = files(tmp_path / "results" / "friday")
    arena.run(BOTS, **SETTINGS, out=tmp_path / "keywords", progress=False)
    arena.run(config={**SETTINGS, "bots": BOTS}, out=tmp_path / "mapping", progress=False)
    arena.run(config=config, out=tmp_path / "file", progress=False)
    some = {**SETTINGS, "pairs": 1, "bots": BOTS[:1]}
    arena.run(BOTS[1:], config=some, pairs=3, out=tmp_path / "both")
    for way in ("keywords", "mapping", "file", "both"):
        assert files(tmp_path / way) == expected, way


WRONG: list[dict[str, Any]] = [
    {"pairs": 0},
    {"pairs": "many"},
    {"lane": "docker"},
    {"rules": {"rounds": 7}},
    {"limits": {"decision": 0}},
    {"name": "a/b"},
    {"pears": 3},
    *({"bots": bots} for bots in (["greedy", "unifrm"], ["greedy", "greedy"], ["greedy"], 3)),
    {"bots": ["greedy", "uniform(depth=3)"]},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_settings_raise_what_the_command_prints(
    wrong: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = {"pairs": 3, "bots": ["greedy", "uniform"], **wrong}
    Path("wrong.yaml").write_text(yaml.safe_dump({"name": "wrong", **data}))
    printed = refused(run_here(tmp_path, "run", "wrong.yaml"))
    with pytest.raises(InputError) as of_file:
        arena.run(config="wrong.yaml")
    with pytest.raises(InputError) as of_mapping:
        arena.run(config={"name": "wrong", **data})
    assert printed == str(of_file.value)
    without_line = re.sub(r"line \d+: ", "", str(of_file.value))  # which a mapping has not
    assert without_line == f"wrong.yaml: {of_mapping.value}"
    if "pears" not in data:
        with pytest.raises(InputError) as of_keywords:
            arena.run(**data)
        assert str(of_keywords.value) == str(of_mapping.value)


QUIET_PROGRAM = """
import arena, os, tempfile
results = arena.run(["greedy", "uniform"], pairs=2, progress=False)
left = [name for name in os.listdir(tempfile.gettempdir()) if not name.startswith("pymp-")]
print(len(results.games), len(results.timings), left, os.listdir())
"""


@pytest.mark.slow
def test_without_a_folder_nothing_is_left_on_disk(tmp_path: Path) -> None:
    """Neither in the working folder nor in that for temporary files, and the results remain."""
    with tempfile.TemporaryDirectory() as folder:  # a socket's path may have 107 characters
        environment = {"TMPDIR": folder}
        done = run_python("-c", QUIET_PROGRAM, folder=tmp_path, environment=environment)
        assert (done.stdout, done.stderr) == ("4 2 [] []\n", "")
        assert [*Path(folder).iterdir()] == []


@pytest.mark.slow
def test_a_bot_is_named_in_five_ways(tmp_path: Path) -> None:
    """As a spec, a path, a class, a mapping, or a label with one of these."""
    path = tmp_path / "other.py"
    path.write_text("from bots.greedy import bot\n")
    bots: list[Any] = [
        "greedy",
        path,
        Mine,
        ("deep", {"bot": Mine, "params": {"depth": 2}}),
        ("mine", Mine),
    ]
    results = arena.run(bots, pairs=1, progress=False)
    labels = {"greedy", "other", "Mine", "deep", "mine"}
    assert set(results.standings["bot"]) == labels
    assert not results.faults.size
    deep, shallow = results.game("greedy", "deep"), results.game("greedy", "mine")
    assert deep.record.actions != shallow.record.actions


@pytest.fixture
def _interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send Ctrl-C once two chunks are stored."""
    added = []
    add = Store.add

    def add_and_interrupt(store: Store, *chunks: Played) -> None:
        add(store, *chunks)
        added.append(chunks)
        if len(added) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Store, "add", add_and_interrupt)
    monkeypatch.setattr("arena.runs.stored_run._UNSTORED", 0.0)


@pytest.mark.slow
@pytest.mark.usefixtures("_interrupted")
@pytest.mark.parametrize("keep", few([True, False], 0, 1), ids=["with out", "without out"])
def test_ctrl_c_keeps_what_was_played(tmp_path: Path, keep: bool) -> None:
    """In the folder, where the same call goes on, and always in the exception's results."""
    bots, out = ["greedy", Mine], tmp_path / "run" if keep else None
    settings: dict[str, Any] = {"pairs": 60, "seed": 7, "lane": "inproc", "progress": False}
    with pytest.raises(arena.Interrupted) as caught:
        arena.run(bots, **settings, out=out)
    results = caught.value.results
    assert 0 < results.played < results.total == 120
    assert len(results.games) == results.played
    assert f"{results.played} of 120 games are" in str(caught.value)
    if keep:
        finished = arena.run(bots, **settings, out=out)
        assert finished.played == 120
        at_once = arena.run(bots, **settings, out=tmp_path / "at once")
        assert files(tmp_path / "run") == files(tmp_path / "at once")
        assert at_once.games.equals(finished.games)


SECOND = ("Mine", {"bot": Mine, "params": {"depth": -1}})
"""A bot that plays as the class of PROGRAM."""

PROGRAM = """
import arena

class Mine:
    depth = 1

    def __init__(self, setup):
        self.rng = setup.rng

    def choose(self, view):
        return view.legal[self.depth % len(view.legal)]

def play():
    results = arena.run(["greedy", Mine], pairs=2, seed=7, progress=False)
    print(*results.games["plies"], *results.faults["message"])
"""


@pytest.mark.slow
def test_a_class_plays_from_a_program_without_a_main_guard(tmp_path: Path) -> None:
    in_thread = "t = threading.Thread(target=play)\nt.start()\nt.join()\n"
    (tmp_path / "script.py").write_text(f"{PROGRAM}\nimport threading\n{in_thread}")
    done = run_python("script.py", folder=tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    expected = arena.run(["greedy", SECOND], pairs=2, seed=7, progress=False)
    assert done.stdout.split() == [str(plies) for plies in expected.games["plies"]]


@pytest.mark.slow
@pytest.mark.parametrize("how", few(["input", "-c", "prompt"], 0, 1))
def test_a_class_without_a_source_plays_in_the_calling_process(tmp_path: Path, how: str) -> None:
    """One line says so; the games are those of the same class in a file."""
    program = f"{PROGRAM}\nplay()\n"
    if how == "-c":
        done = run_python("-c", program, folder=tmp_path)
    elif how == "prompt":
        done = run_python("-i", "-q", folder=tmp_path, text=re.sub(r"\n\n(?=    )", "\n", program))
    else:
        done = run_python(folder=tmp_path, text=program)
    lines = [line for line in done.stderr.splitlines() if line.strip("> .")]
    assert done.returncode == 0
    assert [line.partition(" UserWarning: ")[2] for line in lines] == [
        "bot 'Mine': its source cannot be found, so all games are played in this process, "
        "without workers"
    ]
    expected = arena.run(["greedy", SECOND], pairs=2, seed=7, progress=False)
    assert done.stdout.split() == [str(plies) for plies in expected.games["plies"]]


@pytest.mark.slow
def test_one_game_is_that_of_a_run() -> None:
    """`play` gives the game of the same seed, labels, pair and seat, and says what went wrong."""
    results = arena.run(["greedy", Mine], pairs=3, seed=7, lane="inproc", progress=False)
    again = arena.play(Mine, "greedy", seed=7, pair=2, seat=1)
    assert again == results.game("Mine", "greedy", pair=2, seat=1)
    assert again.seats == ("greedy", "Mine")
    fault = arena.play(Faulty, "greedy", seed=7).fault
    assert fault is not None
    assert (fault.kind, fault.message) == ("exception", "ValueError: no idea")
    for wrong in ({"pair": -1}, {"seat": 2}, {"seed": "x"}, {"pair": True}):
        with pytest.raises(arena.InputError, match=f"^{next(iter(wrong))}: "):
            arena.play(Mine, "greedy", **wrong)  # type: ignore[arg-type]


def compare(*bots: Any, **arguments: Any) -> arena.Comparison:
    return arena.compare(*bots, max_pairs=16, progress=False, **arguments)


def test_it_is_the_comparison_of_the_command(tmp_path: Path) -> None:
    """The numbers of comparison.json, rounded there; the games of `results`."""
    comparison = compare("greedy", "uniform", seed=3, out=tmp_path)
    document = json.loads((tmp_path / "details" / "comparison.json").read_text())
    assert comparison.document() == document
    assert comparison.verdict == document["verdict"]
    assert [*comparison.counts] == document["counts"]
    assert round(comparison.llr, 4) == document["llr"]
    assert [round(n, 1) for n in (comparison.elo, comparison.elo_low, comparison.elo_high)] == [
        document[key] for key in ("elo", "elo_low", "elo_high")
    ]
    assert len(comparison.results.games) == 2 * comparison.pairs == 32
    assert comparison.differences is None
    assert str(comparison).startswith("greedy is stronger than uniform: it scored ")
    assert comparison.verdict == "undecided"
    assert comparison.sentence.startswith("better: greedy is stronger than uniform, by about ")
    assert "<table" not in comparison._repr_html_()


@pytest.mark.parametrize("call", [arena.run, arena.compare, arena.Results.analyse])
def test_a_call_shows_its_progress_unless_it_is_told_not_to(call: Callable[..., Any]) -> None:
    assert inspect.signature(call).parameters["progress"].default is True


def test_what_cannot_be_compared_is_an_input_error() -> None:
    wrong: dict[str, dict[str, Any]] = {
        "elo1: -1 is not above elo0": {"elo1": -1},
        "beta: expected `float` < 0.5": {"beta": 1},
        "a gauntlet needs a panel": {"against": []},
        "nobody": {"against": ["nobody"]},
        "seed": {"seed": -1},
    }
    for message, arguments in wrong.items():
        with pytest.raises(arena.InputError, match=message):
            compare("greedy", "uniform", **arguments)


WEIGHTS = {"take": 1.5}


class First:
    """Plays its first legal action."""

    depth = 1

    def __init__(self, setup: Setup, depth: int = 1) -> None:
        self.rng = setup.rng
        self.found = os.path.join("a", str(math.inf)), np.zeros(depth)

    def choose(self, view: View, /) -> Action:
        good = [action for action in view.legal if action != TAKE or view.rules != STANDARD]
        return good[0] if good else view.legal[0]


@dataclasses.dataclass
class Data:
    """Has an `__init__` that a decorator has made."""

    setup: Setup
    depth: int = 3

    def choose(self, view: View, /) -> Action:
        return view.legal[-1]


class Outer:
    """Holds a class inside."""

    class Inner(types.SimpleNamespace):
        """Is built on a class that is installed."""

        text = """
  a text that is
not indented
"""

        def __init__(self, setup: Setup) -> None:
            super().__init__(seat=setup.seat)

        def choose(self, view: View, /) -> Action:
            return view.legal[len(self.text) % len(view.legal)]


def make(setup: Setup) -> Any:
    """Is a function that returns a strategy."""
    return types.SimpleNamespace(choose=lambda view: view.legal[setup.seat])


@pytest.fixture(autouse=True)
def _tests_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a program of a user, although these tests lie beside the arena."""
    find = bot_from_class._are_installed
    monkeypatch.setattr(
        bot_from_class, "_are_installed", lambda *names: "tests" not in str(names) and find(*names)
    )


@pytest.mark.parametrize(
    "thing", [First, Data, Outer.Inner, make], ids=lambda thing: str(thing.__name__)
)
def test_the_file_of_a_class_or_function_plays_the_same_game(thing: Callable[..., Any]) -> None:
    """Nothing of this module is needed, and the same text is the same bot."""
    code = bundle(thing)
    assert not code.source.startswith(HELD)
    assert (code.name, b"WEIGHTS" in code.source) == (thing.__name__, False)
    alone = load_source("alone", "<alone>", code.source)
    assert engine.play_game(alone, greedy, seed=3) == engine.play_game(thing, greedy, seed=3)
    assert bundle(thing) == code


def test_what_is_installed_is_imported_and_what_has_no_source_is_held() -> None:
    """As a bot of the arena; of a program on standard input Python keeps no text."""
    installed = importlib.import_module("bots.greedy").bot
    assert bundle(installed).source == b"from bots.greedy import Greedy as bot\n"
    program = textwrap.dedent(
        """
        from arena.library.bot_from_class import bundle

        def pick(view):
            return view.legal[0]

        class Mine:
            def __init__(self, setup): pass
            def choose(self, view): return pick(view)

        code = bundle(Mine)
        """
    )
    codes = [run_without_source(text)["code"] for text in (program, program.replace("[0]", "[1:]"))]
    assert [code.name for code in codes] == ["Mine", "Mine"]
    assert all(b"# its source cannot be found\n" in code.source for code in codes)
    assert codes[0] != codes[1]


class Second(First):
    def choose(self, view: View, /) -> Action:
        return view.legal[0]


class Weighs(Data):
    def choose(self, view: View, /) -> Action:
        return view.legal[int(WEIGHTS["take"]) % len(view.legal)]


class UsesModule:
    def __init__(self, setup: Setup) -> None: ...

    def choose(self, view: View, /) -> Action:
        return view.legal[len(beside.__name__) % len(view.legal)]


class UsesNothing:
    def __init__(self, setup: Setup) -> None: ...

    def choose(self, view: View, /) -> Action:
        return undefined(view)  # type: ignore[name-defined]  # noqa: F821


class Patched:
    def __init__(self, setup: Setup) -> None: ...


Patched.choose = lambda self, view: view.legal[-1]  # type: ignore[attr-defined]  # noqa: ARG005


class Changed:
    depth = 1

    def __init__(self, setup: Setup) -> None: ...

    def choose(self, view: View, /) -> Action:
        return view.legal[self.depth % len(view.legal)]


Changed.depth = 9


class Filled:
    def __init__(self, setup: Setup) -> None: ...

    def choose(self, view: View, /) -> Action:
        return view.legal[0]


Filled.more = "x"  # type: ignore[attr-defined]


def closure(number: int) -> type:
    class Closed:
        def __init__(self, setup: Setup) -> None: ...

        def choose(self, view: View, /) -> Action:
            return view.legal[number % len(view.legal)]

    return Closed


HELD_BY: list[tuple[Any, str]] = [
    (Second, "it uses 'First' of its module"),
    (Weighs, "it uses 'Data' of its module"),
    (UsesModule, "it uses 'beside' of a module that is not installed"),
    (UsesNothing, "it uses 'undefined', which its module does not define"),
    (Patched, "its source cannot be found, or a method was set after its statement"),
    (Changed, "its 'depth' was set after its statement"),
    (Filled, "its 'more' was set after its statement"),
    (closure(1), "it is in a function"),
]


@pytest.mark.parametrize(("thing", "reason"), HELD_BY, ids=lambda one: getattr(one, "__name__", ""))
def test_what_needs_more_is_held(thing: Any, reason: str) -> None:
    code = bundle(thing)
    assert code.source.startswith(HELD + f"# {reason}\n".encode())
    assert bundle(thing) == code


def test_what_is_used_of_a_module_is_part_of_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another value, another bot, also in a closure; what is no class or function is refused."""
    before = bundle(Weighs)
    monkeypatch.setitem(WEIGHTS, "take", 2.5)
    assert bundle(Weighs) != before
    assert bundle(closure(1)) != bundle(closure(2))
    for thing, reason in (
        (lambda setup: First(setup), "a lambda has no name; write it with def"),
        (functools.partial(First, depth=2), "'partial': an object; only a class or a function"),
    ):
        with pytest.raises(InputError, match=reason):
            bundle(thing)


def test_a_module_beside_the_program_is_not_imported_by_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has found it: a bot's process has another path. Nor is one of an installed name."""
    (tmp_path / "mine_beside.py").write_text("import this\nclass Mine:\n  pass\n")
    (tmp_path / "this.py").write_text("VALUE = 1\n")
    (tmp_path / "uses_them.py").write_text(
        "import mine_beside\nimport this\n"
        "class One:\n    def __init__(self, setup): mine_beside\n"
        "class Two:\n    def __init__(self, setup): this\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "this", raising=False)
    module = importlib.import_module("uses_them")
    for thing, name in ((module.One, b"mine_beside"), (module.Two, b"this")):
        assert b"it uses '%s' of a module that is not installed" % name in bundle(thing).source
    monkeypatch.delitem(sys.modules, "this")


def test_a_held_bot_plays_here_and_a_line_says_so(tmp_path: Path) -> None:
    """With the reason; its games have the bytes of any other run."""
    reason = "bot 'Weighs': it uses 'Data' of its module, so all games are played in this process"
    with pytest.warns(UserWarning, match=reason):
        results = arena.run([Weighs, "greedy"], pairs=1, seed=3, progress=False, out=tmp_path)
    assert len(results.faults) == 0
    file = tmp_path / "weighs.py"
    file.write_text(
        "class bot:\n    def __init__(self, setup): pass\n"
        "    def choose(self, view): return view.legal[1 % len(view.legal)]\n"
    )
    alone = arena.run([("Weighs", file), "greedy"], pairs=1, seed=3, progress=False)
    assert results.games.equals(alone.games)


def run_without_source(program: str) -> dict[str, Any]:
    """Run a program as Python runs one from standard input, and return what it binds."""
    module = types.ModuleType("standard_input")
    sys.modules[module.__name__] = module
    try:
        exec(compile(program, "<stdin>", "exec"), vars(module))
    finally:
        del sys.modules[module.__name__]
    return vars(module)
