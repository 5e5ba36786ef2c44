"""Compiled: the definition of a class or function whose source is lost.

A program that is read from standard input has no source that could be read again. What is sent
is then the code that Python has made of it.
"""

from __future__ import annotations

import dis
import marshal
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType

from arena.library.definition import Definition, Thing, namespace_of, own_functions
from arena.library.literal import write_literal
from arena.library.unshippable import Unshippable, closure

_VERSION = 2  # of marshal: the last one that writes the same bytes for equal code
_OPTIMIZED = 1  # in a code's flags: a function's, and not a class's
_READS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_AT_ONCE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")
_IMPORTS = "import marshal as _marshal, types as _types"


def rebuild_definition(thing: Thing) -> Definition:
    """Return a definition that makes a class or function of its code.

    Raises Unshippable for a closure, and for what is not in the code alone.
    """
    code = thing.__code__ if isinstance(thing, FunctionType) else _find_body(thing)
    if code.co_freevars:
        raise closure(" and ".join(map(repr, code.co_freevars)))
    at_once, later = _reads(code)
    if isinstance(thing, FunctionType):
        text, eager = _rebuild_function(thing), set[str]()
    else:
        text, bases = _rebuild_class(thing, code)
        eager = at_once | bases
    return Definition(
        f"{_IMPORTS}\n{text}\n",
        frozenset(eager),
        frozenset((at_once | later) - eager),
        attributes=frozenset(name for part in _all_codes(code) for name in part.co_names),
        values={i.argval: ... for i in dis.get_instructions(code) if i.opname == "STORE_NAME"},
    )


def _rebuild_function(function: FunctionType) -> str:
    name = function.__name__
    words = f"globals(), {name!r}, {write_literal(function.__defaults__)}"
    text = f"{name} = _types.FunctionType({_load(function.__code__)}, {words})"
    if function.__kwdefaults__:
        text += f"\n{name}.__kwdefaults__ = {write_literal(function.__kwdefaults__)}"
    return text


def _rebuild_class(thing: type, body: CodeType) -> tuple[str, set[str]]:
    if type(thing) not in {type, *map(type, thing.__bases__)}:
        raise _lost(thing, "a metaclass")
    if any(function.__code__ not in body.co_consts for function in own_functions(thing)):
        raise _lost(thing, "functions that are not in the class statement")
    namespace = namespace_of(thing)
    names = []
    for base in thing.__bases__:
        known = [name for name, value in namespace.items() if value is base]
        if base is not object and not known:
            raise _lost(thing, "a base class without a name")
        names += known[:1]
    function = f"_types.FunctionType({_load(body)}, globals())"
    words = ", ".join([function, repr(thing.__name__), *names])
    return f"{thing.__name__} = __build_class__({words})", set(names)


def _lost(thing: Thing, reason: str = "") -> Unshippable:
    has = f", and it has {reason}" if reason else ""
    return Unshippable(
        f"the source of {thing.__name__} cannot be found{has}; write it into a file, or run the "
        f"program from one"
    )


def _load(code: CodeType) -> str:
    return f"_marshal.loads({marshal.dumps(code, _VERSION)!r})"


def _find_body(thing: type) -> CodeType:
    """Return the code of a class statement, from that of the module, which is still running."""
    namespace = namespace_of(thing)
    functions = [function.__code__ for function in own_functions(thing)]
    for frame in _frames():
        if frame.f_globals is namespace and frame.f_code.co_name == "<module>":
            for code in _all_codes(frame.f_code):
                is_class = not code.co_flags & _OPTIMIZED and code.co_qualname == thing.__qualname__
                if is_class and (not functions or {*functions} & {*code.co_consts}):
                    return code
    raise _lost(thing)


def _frames() -> Iterator[FrameType]:
    """Yield the frames of all threads."""
    for top in sys._current_frames().values():
        frame: FrameType | None = top
        while frame is not None:
            yield frame
            frame = frame.f_back


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code, and all codes inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_codes(constant)


def _reads(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the names that a code reads of its module itself, and those that its functions do."""
    at_once = {i.argval for i in dis.get_instructions(code) if i.opname in _READS}
    later: set[str] = set()
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names, names_later = _reads(inner)
            is_class = not inner.co_flags & _OPTIMIZED
            (at_once if is_class or inner.co_name in _AT_ONCE else later).update(names)
            later |= names_later
    return at_once - {*code.co_varnames}, later
