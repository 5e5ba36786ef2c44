"""List what is public: names with their signatures, options, config keys, columns, messages.

A line is one fact, so a line that is gone is something that was taken away or has changed.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import click
import msgspec

import arena
import arena.addons.studies
import arena.differences
import arena.store
import arena.tables
import engine
from arena.addons.league.league_settings import Settings
from arena.cli import cli, find_commands
from arena.lanes import messages
from arena.store.column_titles import TableColumns
from arena.tournament.config import Config

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_TO_BOTS = {
    "hello": messages.Hello,
    "new": messages.New,
    "choose": messages.Choose,
    "end": messages.End,
    "answer": messages.Answer,
}
_OF_OUR_HOST = {"python", "chance", "thoughts", "output"}
"""Fields that docs/protocol.md does not have: only our own host of Python bots has them."""

_CODES = (property, cached_property, classmethod, staticmethod)


def public() -> Iterator[str]:
    """Yield the lines of all that is public and known without playing a game."""
    for module in (arena, engine):
        for name in sorted(module.__all__):
            yield from _name(module, name)
    yield from _keys("config", Config)
    yield from _keys("league", Settings)
    yield from _columns()
    for kind, message in _TO_BOTS.items():
        yield from _message(kind, message)
    find_commands()  # those of add-ons are loaded when they are looked up
    yield from _command("arena", cli)


def _name(module: ModuleType, name: str) -> Iterator[str]:
    """Yield the lines of a name in `__all__`."""
    thing, place = getattr(module, name), f"{module.__name__}.{name}"
    if inspect.isclass(thing) and thing.__module__.split(".")[0] == module.__name__:
        yield f"{place}: class"
        yield from _class(place, thing)
    elif inspect.isfunction(thing):
        yield f"{place}: function"
        yield from _signature(place, thing)
    elif isinstance(thing, int | str | tuple) and not hasattr(thing, "_fields"):
        yield f"{place} = {thing!r}"
    else:
        yield f"{place}: value or type"


def _class(place: str, kind: type) -> Iterator[str]:
    """Yield the bases that are errors, the fields or the constructor, and what else is public."""
    yield from (
        f"{place} is a {base.__name__}"
        for base in kind.__mro__[1:]
        if issubclass(base, Exception) and base is not Exception
    )
    if hasattr(kind, "_fields"):
        types = kind.__annotations__
        for number, field in enumerate(kind._fields):
            default = kind._field_defaults.get(field, inspect.Parameter.empty)  # type: ignore[attr-defined]
            yield f"{place} field {number} {field}{_typed(types[field], default)}"
    elif "__init__" in vars(kind) and _is_made_by_users(place, kind):
        yield from _signature(place, kind.__init__, skip=1)
    for member in sorted(dir(kind)):
        code = inspect.getattr_static(kind, member)
        if not member.startswith("_") and (inspect.isfunction(code) or isinstance(code, _CODES)):
            yield from _member(f"{place}.{member}", code)


def _is_made_by_users(place: str, kind: type) -> bool:
    """Return whether a constructor is public, or its arguments are the fields of a dataclass."""
    is_protocol = getattr(kind, "_is_protocol", False)
    return is_dataclass(kind) or (place.startswith("engine.") and not is_protocol)


def _member(place: str, code: Any) -> Iterator[str]:
    """Yield the lines of a method or a property."""
    if isinstance(code, property | cached_property):
        function = code.fget if isinstance(code, property) else code.func
        yield f"{place}: property"
    else:
        function = code if inspect.isfunction(code) else code.__func__
        yield f"{place}: method"
    skip = 0 if isinstance(code, staticmethod) else 1
    yield from _signature(place, function, skip)


def _signature(place: str, function: Any, skip: int = 0) -> Iterator[str]:
    """Yield a line for each parameter, and one for what is returned."""
    signature = inspect.signature(function)
    for number, one in enumerate([*signature.parameters.values()][skip:]):
        by_name = one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD, one.VAR_POSITIONAL)
        stars = {one.VAR_KEYWORD: "**", one.VAR_POSITIONAL: "*"}.get(one.kind, "")
        how = "keyword" if by_name else f"argument {number}"
        how += ", unnamed," if one.kind == one.POSITIONAL_ONLY else ""
        yield f"{place} {how} {stars}{one.name}{_typed(one.annotation, one.default)}"
    if signature.return_annotation not in (signature.empty, "None", None):
        yield f"{place} -> {_type(signature.return_annotation)}"


def _typed(annotation: Any, default: Any) -> str:
    """Return how a parameter goes on after its name."""
    text = "" if annotation is inspect.Parameter.empty else f": {_type(annotation)}"
    return text if default is inspect.Parameter.empty else f"{text} = {_value(default)}"


def _type(annotation: Any) -> str:
    """Return an annotation as it is written: every Python has another text for the object."""
    if not isinstance(annotation, str):
        annotation = getattr(annotation, "__forward_arg__", None) or annotation.__name__
    return " ".join(annotation.split())


def _value(default: Any) -> str:
    if inspect.isfunction(default) or inspect.isclass(default):
        return str(default.__name__)
    return _ADDRESS.sub("", repr(default))


def _keys(place: str, kind: type) -> Iterator[str]:
    """Yield the keys of a file with their types, bounds and defaults."""
    for name, schema in sorted(msgspec.json.schema(kind)["$defs"].items()):
        for key, of_key in schema["properties"].items():
            needed = " required" if key in schema.get("required", ()) else ""
            yield f"{place} {name}.{key}{needed} {_schema(of_key)}"


def _schema(schema: Any) -> str:
    """Return a schema as text, without its sentences, which may change."""
    return json.dumps(_without_sentences(schema), sort_keys=True)


def _without_sentences(schema: Any) -> Any:
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if key != "description"}
        return {key: _without_sentences(value) for key, value in kept.items()}
    return [*map(_without_sentences, schema)] if isinstance(schema, list) else schema


def _columns() -> Iterator[str]:
    """Yield the columns of every CSV file, each with its file."""
    files: dict[str, list[str]] = {}
    named = [
        module.name
        for room in (arena.store, arena.tables, arena.differences, arena.addons.studies)
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    ]
    for name in named:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, TableColumns) and value.file:
                files.setdefault(value.file, value.names)
    for file, names in sorted(files.items()):
        yield from (f"{file} column {name}" for name in names)


def _message(kind: str, message: type[msgspec.Struct]) -> Iterator[str]:
    """Yield the fields of a message between the arena and a program."""
    schema = msgspec.json.schema(message)["$defs"][message.__name__]
    for field, of_field in schema["properties"].items():
        if field == "type":  # a tag, which msgspec describes as a list of one value
            of_field = {"default": of_field["enum"][0], "type": "string"}
        if field not in _OF_OUR_HOST:
            yield f"protocol {kind}.{field} {_schema(of_field)}"


def _command(name: str, command: click.Command) -> Iterator[str]:
    """Yield a command with its arguments and options, and those below it."""
    yield f"{name}: command"
    for one in command.params:
        if not getattr(one, "hidden", False):
            yield f"{name} {_option(one)}"
    below: Mapping[str, click.Command] = getattr(command, "commands", {})
    for word, other in sorted(below.items()):
        yield from _command(f"{name} {word}", other)


def _option(one: click.Parameter) -> str:
    """Return an argument or option, and what it takes."""
    facts = [f"argument {one.name}" if isinstance(one, click.Argument) else ", ".join(one.opts)]
    if isinstance(one.type, click.Choice):
        facts.append("|".join(map(str, one.type.choices)))
    elif not getattr(one, "is_flag", False):
        facts.append("VALUE")
    facts += ["required"] * one.required + ["repeatable"] * one.multiple
    return " ".join(facts)
