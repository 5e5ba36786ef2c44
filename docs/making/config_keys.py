"""Make the page of all keys of the YAML files from the types that read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import inspect

from arena.addons.league.league_settings import Settings
from arena.lanes.limits import Limits
from arena.tournament.config import BotEntry, Config
from arena.tournament.config_keys import ExecutorChoice
from arena.tournament.rules_and_deals import list_published

NAME: Final = "config-keys.md"
FILES: Final[tuple[tuple[str, type[msgspec.Struct], str], ...]] = (
    ("A tournament", Config, "The keys of the file that `arena run` plays."),
    ("A bot", BotEntry, "An entry of `bots` or `panel`, where the spec by itself is not enough."),
    (
        "Limits",
        Limits,
        "The keys of `limits`; [more of them](../tournaments.md#limits-of-time-and-memory).",
    ),
    ("An executor", ExecutorChoice, "The keys of `executor`, where its kind is not enough."),
    ("A league", Settings, "The keys of `league.yaml`; [leagues](../league.md) has more."),
)
"""The tables of the page: heading, type and introduction."""

_PLACES: Final = {of: heading.lower().replace(" ", "-") for heading, of, _ in FILES}
_SIMPLE: Final = {
    inspect.StrType: "text",
    inspect.BoolType: "true or false",
    inspect.AnyType: "any value",
}
_BOUNDS: Final = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def pages() -> dict[str, str]:
    """Return the page by its file name."""
    parts = ["# Keys of configs", *(_part(*one) for one in FILES), _rules()]
    return {NAME: "\n\n".join([*parts, ""])}


def listing(folder: str) -> str:
    """Return the part of the page `reference` for configs, with a link into a folder."""
    text = "every key of a tournament and of a league: type, bounds, default and meaning."
    return f"## Data\n\n- [Keys of configs]({folder}{NAME}): {text}"


def _part(heading: str, of: type[msgspec.Struct], introduction: str) -> str:
    rows = ["| key | what | type | default |", "|---|---|---|---|", *_rows(of)]
    return "\n".join([f"## {heading}", "", introduction, "", *rows])


def _rows(of: type[msgspec.Struct]) -> Iterator[str]:
    """Yield a row for each key of a type."""
    found = inspect.type_info(of)
    assert isinstance(found, inspect.StructType)
    for key in found.fields:
        yield f"| `{key.name}` | {meaning(key.type)} | {describe(key.type)} | {_default(key)} |"


def _rules() -> str:
    """Return the table of the rules, which are no type of a config, with the published values."""
    introduction = "The keys of `rules`; [rules](../rules.md#variants) says what each does."
    rows = [f"| `{name}` | `{value}` |" for name, value in list_published().items()]
    return "\n".join(["## Rules", "", introduction, "", "| key | published |", "|---|---|", *rows])


def meaning(of: inspect.Type) -> str:
    """Return the sentence of a type, which is empty if it has none."""
    extra = of.extra_json_schema if isinstance(of, inspect.Metadata) else None
    return str((extra or {}).get("description", ""))


def describe(of: inspect.Type) -> str:
    """Return what a value is, with its bounds.

    >>> describe(inspect.type_info(int | None)), describe(inspect.type_info(list[str]))
    ('whole number', 'list of texts')
    """
    match of:
        case inspect.Metadata():
            return describe(of.type)
        case inspect.UnionType():
            return " or ".join(
                describe(one) for one in of.types if not isinstance(one, inspect.NoneType)
            )
        case inspect.LiteralType():
            return " or ".join(f"`{value}`" for value in of.values)
        case inspect.StructType():
            return f"mapping ([{_heading(of.cls)}](#{_PLACES[of.cls]}))"
        case inspect.DictType():
            return "mapping"
        case inspect.ListType() | inspect.VarTupleType():
            each = describe(of.item_type)
            most = f"up to {of.max_length:,} " if of.max_length else ""
            return f"list of {most}{each.replace('text', 'texts').replace('mapping', 'mappings')}"
        case inspect.IntType() | inspect.FloatType():
            whole = "whole number" if isinstance(of, inspect.IntType) else "number"
            return whole + _bounds(of)
    return _SIMPLE[type(of)]


def _heading(of: type) -> str:
    return next(heading for heading, one, _ in FILES if one is of).lower()


def _bounds(of: inspect.IntType | inspect.FloatType) -> str:
    """Return the bounds of a number."""
    if of.ge is not None and of.le is not None:
        return f", {of.ge:,} to {of.le:,}"
    found = [(word, getattr(of, name)) for name, word in _BOUNDS.items()]
    text = " and ".join(f"{word} {bound:,}" for word, bound in found if bound is not None)
    return f", {text}" if text else ""


def _default(key: inspect.Field) -> str:
    """Return the default of a key as it is written in YAML."""
    if key.required:
        return "required"
    value = key.default
    if value is msgspec.NODEFAULT:
        value = key.default_factory() if callable(key.default_factory) else None
    if isinstance(value, msgspec.Struct):
        plain = type(value)()
        changes = {
            name: getattr(value, name)
            for name in value.__struct_fields__
            if getattr(value, name) != getattr(plain, name)
        }
        return ", ".join(f"`{name}: {one}`" for name, one in changes.items()) or "as below"
    return "" if value in (None, "", [], {}) else f"`{_text(value)}`"


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else f"{value}"
