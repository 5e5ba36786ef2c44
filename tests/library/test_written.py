"""A class or function becomes a file by its text and its imports, or plays in this process."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import os.path
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arena
import engine
from arena import InputError
from arena.entries.archive import load_source
from arena.entries.entry import HELD
from arena.library import written
from arena.library.written import bundle
from bots.greedy import bot as greedy
from engine import STANDARD, TAKE, Action, Setup, View
from tests import rogues as beside

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
    find = written._are_installed
    monkeypatch.setattr(
        written, "_are_installed", lambda *names: "tests" not in str(names) and find(*names)
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
        from arena.library.written import bundle

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
    """With the reason, and with a hash of what it uses."""
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
