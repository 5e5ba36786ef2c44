"""A class or function becomes a file that stands alone, or is refused with the reason."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import random
import sys
import textwrap
import types
import xml.etree.ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from arena import InputError
from arena.entries.archive import load_source
from arena.entries.entry import HELD
from arena.library import closure as importable
from arena.library.closure import bundle
from bots.greedy import bot as greedy
from engine import STANDARD, TAKE, Action, Setup, View

WEIGHTS = {"take": [1.5, float("inf")], "kinds": {3, 1, 2}, "names": ("a",)}
ARRAY = np.zeros(3)
GENERATOR = random.Random(7)
_SHARED = 2
helper = types.ModuleType("beside")


def factorial(number: int) -> int:
    return math.factorial(number) + _SHARED


@functools.cache
def table(number: int) -> int:
    return factorial(number)


class First:
    """Plays its first legal action."""

    def __init__(self, setup: Setup, depth: int = 1) -> None:
        self.rng = setup.rng
        self.depth = depth

    def choose(self, view: View, /) -> Action:
        return view.legal[0]


class Second(First):
    """Is built on another class."""

    def choose(self, view: View, /) -> Action:
        return view.legal[1 % len(view.legal)] if view.rules == STANDARD else super().choose(view)


class Thinker:
    """Uses constants, functions, a cached function, modules, a submodule and a later class."""

    kinds = [weight for weight in WEIGHTS["take"] if weight < 2]  # type: ignore  # noqa: RUF012

    def __init__(self, setup: Setup) -> None:
        assert WEIGHTS["kinds"] == {1, 2, 3}
        assert WEIGHTS["take"] == [1.5, math.inf]
        assert (table(3), self.kinds) == (8, [1.5])
        assert xml.etree.ElementTree.Element("a").tag == "a"
        self.strategy = Later(setup)

    def choose(self, view: View, /) -> Action:
        return self.strategy.choose(view) if TAKE in view.legal else view.legal[0]


class Later(Second):
    """Is defined below the class that uses it."""


@dataclasses.dataclass
class Data:
    """Has an `__init__` that a decorator has made."""

    setup: Setup
    depth: int = 3

    def choose(self, view: View, /) -> Action:
        return view.legal[-1]


def make(setup: Setup) -> First:
    """Is a function that returns a strategy."""
    return First(setup)


class Outer:
    """Holds a class inside."""

    class Inner(greedy):  # type: ignore[misc, valid-type]
        """Is built on a bot that is installed."""

        text = """
  a text that is
not indented
"""


def make_local() -> Callable[..., Any]:
    class Local(First):
        """Is in a function, and uses nothing of it."""

    return Local


@pytest.fixture(autouse=True)
def _tests_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a program of a user, also where the repository's folder is on the path."""
    monkeypatch.setitem(importable._places, "tests", ())


def load(source: bytes) -> Any:
    """Return the bot of a file that knows nothing of this module."""
    return load_source("alone", "<alone>", source)


@pytest.mark.parametrize(
    "thing",
    [First, Second, Thinker, Data, make, Outer.Inner, make_local(), greedy],
    ids=lambda thing: thing.__name__,
)
def test_the_file_of_a_class_or_function_plays_the_same_game(thing: Callable[..., Any]) -> None:
    """It brings all that it uses, and nothing of this module is needed."""
    code = bundle(thing)
    alone = load(code.source)
    assert code.name == thing.__name__
    assert engine.play_game(alone, greedy, seed=3) == engine.play_game(thing, greedy, seed=3)
    assert b"ARRAY" not in code.source
    assert bundle(thing) == code


def test_a_method_may_be_the_last_line_of_its_class() -> None:
    """It is one of the class statement, as those on the lines before are."""

    class Brief:
        def __init__(self, setup: Setup) -> None: ...

        choose = lambda self, view: view.legal[0]  # noqa: ARG005, E731

    assert "choose = lambda" in bundle(Brief).source.decode()


@pytest.mark.parametrize("first", ["", "from __future__ import annotations\n"])
def test_annotations_are_texts_where_they_have_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """A file has that line only if the module of the bot has it."""
    text = (
        "class Eager:\n    def choose(self, view: object) -> int:\n        return view.legal[0]\n"
    )
    name = f"eager_{bool(first)}"
    (tmp_path / f"{name}.py").write_text(first + text)
    monkeypatch.syspath_prepend(tmp_path)
    source = bundle(importlib.import_module(name).Eager).source.decode()
    assert source.startswith(first or "class Eager")


def test_a_class_goes_with_the_values_that_it_has_now() -> None:
    """Also those of a class and of its module that were set after its statement."""

    class Changing:
        depth = 1
        width: int = 2
        same = (1, 2)

    Changing.depth = 9
    Changing.more = "x"  # type: ignore[attr-defined]
    source = bundle(Changing).source.decode()
    assert source.endswith("\nChanging.depth = 9\nChanging.more = 'x'\nbot = Changing\n")
    other = load(source.encode())
    assert (other.depth, other.width, other.same, other.more) == (9, 2, (1, 2), "x")


@pytest.mark.slow
def test_the_source_of_a_bot_is_its_identity() -> None:
    """What it does not use is not in it, and what it uses is."""
    source = bundle(First).source.decode()
    assert "Second" not in source
    assert "STANDARD" not in source
    assert "class First" in bundle(Second).source.decode()
    assert "_SHARED = 2" in bundle(Thinker).source.decode()


def closure(number: int) -> type:
    class Closed(First):
        def choose(self, view: View, /) -> Action:
            return view.legal[number % len(view.legal)]

    return Closed


def body_closure(number: int) -> type:
    class Closed(First):
        level = number

    return Closed


def base_closure(base: Any) -> type:
    class Closed(base):  # type: ignore[misc]
        pass

    return Closed


class UsesArray(First):
    def choose(self, view: View, /) -> Action:
        return view.legal[int(ARRAY[0])]


class UsesGenerator(First):
    def choose(self, view: View, /) -> Action:
        return GENERATOR.choice(view.legal)


class UsesModule(First):
    def choose(self, view: View, /) -> Action:
        return helper.choose(view)


class UsesNothing(First):
    def choose(self, view: View, /) -> Action:
        return undefined(view)  # type: ignore[name-defined]  # noqa: F821


class Patched(First):
    pass


Patched.choose = lambda self, view: view.legal[-1]  # type: ignore[method-assign]  # noqa: ARG005


class Filled(First):
    pass


Filled.array = ARRAY  # type: ignore[attr-defined]

CLOSURE = "it uses {!r} of the function around it, and a closure has no source of its own"
REFUSED: dict[str, tuple[Any, str]] = {
    "closure": (closure(1), CLOSURE.format("number")),
    "closure of a class's body": (body_closure(1), CLOSURE.format("number")),
    "closure of a base class": (base_closure(First), CLOSURE.format("base")),
    "array": (UsesArray, "UsesArray uses 'ARRAY', a value of the type ndarray; only imports"),
    "generator": (UsesGenerator, "UsesGenerator uses 'GENERATOR', a value of the type Random"),
    "undefined": (UsesNothing, "uses 'undefined', which its module does not define"),
    "module": (UsesModule, "the module 'beside', which is not installed"),
    "patched": (Patched, "Patched.<lambda> is not in the class statement, but was set after it"),
    "filled": (Filled, "Filled.array was set to a value of the type ndarray"),
    "lambda": (lambda setup: First(setup), "a lambda has no name; write it with def"),
    "partial": (functools.partial(First, depth=2), "it is an object of the type partial"),
    "object": (First(Setup(GENERATOR, 0, STANDARD)), "it is an object of the type First"),
}


@pytest.mark.parametrize(("thing", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_sent_is_refused_with_the_reason(thing: Any, reason: str) -> None:
    """Before a game is played, and with the name of the bot."""
    with pytest.raises(InputError) as caught:
        bundle(thing)
    name = getattr(thing, "__name__", type(thing).__name__)
    assert str(caught.value).startswith(f"bot {name!r}: it cannot be sent to a worker: ")
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["Mine", "pick"])
def test_what_has_no_source_is_held(name: str) -> None:
    """A program on standard input: Python keeps no text of it that could be sent."""
    program = textwrap.dedent(
        f"""
        from arena.library.closure import bundle

        def pick(view):
            return view.legal[0]

        class Mine:
            def __init__(self, setup): pass
            def choose(self, view): return pick(view)

        code = bundle({name})
        """
    )
    codes = [run_without_source(text)["code"] for text in (program, program.replace("[0]", "[1:]"))]
    assert [code.name for code in codes] == [name, name]
    assert all(code.source.startswith(HELD) for code in codes)
    assert (codes[0] == codes[1]) == (name == "Mine")


def run_without_source(program: str) -> dict[str, Any]:
    """Run a program as Python runs one from standard input, and return what it binds."""
    module = types.ModuleType("standard_input")
    sys.modules[module.__name__] = module
    try:
        exec(compile(program, "<stdin>", "exec"), vars(module))
    finally:
        del sys.modules[module.__name__]
    return vars(module)
