"""Make a tournament and its executor of the arguments of a call, checked as a config is."""

from __future__ import annotations

import dataclasses
import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

from msgspec.structs import replace

from arena.entries.resolve import Code
from arena.errors import ChangedBots, InputError
from arena.executors.log import NORMAL, QUIET
from arena.lanes.limits import Limits
from arena.library.bot_from_class import Here, bundle, explain_held, has_held, keep_here
from arena.runs.rerun import find_manifest, play_as, prepare
from arena.runs.run import Playing
from arena.tournament.config import Config, convert, make_tournament, read_data
from arena.tournament.config_keys import HERE, EveryCallKeys, Venue, VenueKeys, Where, choose_venue
from arena.tournament.tournament import Tournament
from arena.tournament.yaml_text import Lines
from engine import Rules

Bot: TypeAlias = "str | os.PathLike[str] | Callable[..., Any] | Mapping[str, Any] | tuple[str, Any]"
"""A spec, a class or function, a mapping as in a config, or a label with one of these."""


def _take(bots: Any, code: dict[str, Code]) -> Any:
    """Return a list of bots without its classes and functions, whose `code` is kept by name.

    Anything but a list is returned as it is: the config refuses it.
    """
    if isinstance(bots, str | bytes | Mapping) or not isinstance(bots, Iterable):
        return bots
    return [_take_one(bot, code) for bot in bots]


def _take_one(bot: Any, code: dict[str, Code]) -> Any:
    if isinstance(bot, tuple) and len(bot) == 2:
        label, rest = bot[0], _take_one(bot[1], code)
        return {**(rest if isinstance(rest, Mapping) else {"bot": rest}), "label": label}
    if isinstance(bot, Mapping):
        return {**bot, "bot": _take_one(bot["bot"], code)} if "bot" in bot else bot
    if callable(bot) and not isinstance(bot, os.PathLike):
        own = bundle(bot)
        bot = f"{own.name} {len(code)}"
        code[bot] = own
    return os.fspath(bot) if isinstance(bot, os.PathLike) else bot


Location: TypeAlias = "str | os.PathLike[str]"


class GameKeys(EveryCallKeys, total=False):
    """Keys of a config that a call for one game takes as keywords."""

    seed: int | None
    rules: Mapping[str, Any] | Rules | None
    lane: str | None
    limits: Mapping[str, Any] | Limits | None


class CompareKeys(GameKeys, VenueKeys, total=False):
    """Those that a comparison takes."""

    max_faults: int | None


class RunKeys(CompareKeys, total=False):
    """Those that a whole tournament takes."""

    pairs: int | None
    until: str | float | None
    max_pairs: int | None
    deals: str | os.PathLike[str] | Sequence[str] | None
    name: str | None
    anchor: str | Mapping[str, float] | None


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_P = ParamSpec("_P")
_R = TypeVar("_R")

_CALLER = 4  # frames from a warning to the program that called the library


def plain(value: Any) -> Any:
    """Return a value in which numbers and texts of numpy are Python's, in lists and dicts, too.

    >>> import numpy as np
    >>> plain({"pairs": np.int64(5), "limits": {"decision": np.float32(0.5)}, "seeds": (np.True_,)})
    {'pairs': 5, 'limits': {'decision': 0.5}, 'seeds': (True,)}
    """
    kind = type(value)
    if kind in (list, tuple):
        return kind(map(plain, value))
    if kind is dict:
        return {plain(key): plain(part) for key, part in value.items()}
    is_scalar = kind.__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_scalar else value


def takes(keys: type[EveryCallKeys]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator of a function whose last keywords are these keys of a config.

    Its signature shows each of them, and any other one is a TypeError, as of every function.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(function)
        own = [*signature.parameters.values()][:-1]
        more = [
            inspect.Parameter(name, _KEYWORD, default=None, annotation=of_key.__forward_arg__)
            for name, of_key in keys.__annotations__.items()
        ]

        @wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            shown.bind(*args, **kwargs)
            return function(*plain(args), **plain(kwargs))

        shown = signature.replace(parameters=own + more)
        checked.__signature__ = shown  # type: ignore[attr-defined]
        return checked

    return decorate


def request(
    bots: Sequence[Bot] | None,
    config: Mapping[str, Any] | Location | None,
    given: Mapping[str, Any],
    default: Mapping[str, Any],
    how: Playing,
) -> tuple[Tournament, Playing]:
    """Return a tournament that can be played, and how, with the venue.

    What is `given` and not None comes before a config's values; `default` is used without
    a config. A config that is a manifest is played as it is. Where only this
    process has a bot, all games are played in it. Warns of bots that do not load. Raises
    ChangedBots, and InputError, also for a class or function that does not load in a process of its
    own, with the traceback from there as a note.
    """
    place = os.fspath(config) if isinstance(config, str | os.PathLike) else ""
    data = find_manifest(Path(place)) or read_data(Path(place)) if place else config
    name = Path(place).stem if place else str(default["name"])
    where = given.get("executor")
    given = {**given, "executor": _read_executor(where)}
    try:
        if manifest := find_manifest(data):
            tournament, settings = _repeat(manifest, {"bots": bots, **given})
        else:
            data = default if data is None else data
            tournament, settings = _make(bots, data, given, name)
        for problem in prepare(tournament, how.kept):
            warnings.warn(f"{problem}; its games are forfeits", stacklevel=_CALLER)
        for line in explain_held(tournament):
            warnings.warn(line, stacklevel=_CALLER)
    except ChangedBots:
        raise
    except InputError as error:
        named = InputError(f"{place}: {error}" if place else str(error))
        for note in getattr(error, "__notes__", ()):
            named.add_note(note)
        raise named from None
    venue = _choose_at(settings, Here() if has_held(tournament) else where)
    return tournament, dataclasses.replace(how, venue=venue)


def make_playing(out: Location | None, *, progress: bool, **more: Any) -> Playing:
    """Return how a call plays, by its arguments; raises InputError unless `out` is a path."""
    path = None if out is None else folder_path(out, "out")
    return Playing(HERE, path, shown=NORMAL if progress else QUIET, **more)


def _make(
    bots: Sequence[Bot] | None, data: Any, given: Mapping[str, Any], name: str
) -> tuple[Tournament, Config]:
    """Return the tournament of a config, and the config with the arguments of a call."""
    code: dict[str, Code] = {}
    if isinstance(data, Mapping):
        data = _merge(data, bots, given, code)
    settings = convert(data, name)
    return keep_here(make_tournament(settings, objects=code)), settings


def _repeat(manifest: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[Tournament, Config]:
    """Return the tournament of a manifest, and a config that says where it is played."""
    where = {name: given.get(name) for name in Venue.__struct_fields__}
    for name, value in given.items():
        if value is not None and name not in where:
            raise InputError(f"{name}: a manifest is played as it is")
    tournament = play_as(manifest)
    return tournament, _convert(where)


def _merge(
    data: Mapping[str, Any],
    bots: Sequence[Bot] | None,
    given: Mapping[str, Any],
    code: dict[str, Code],
) -> dict[str, Any]:
    """Return a config's data with the arguments of a call, and no classes and functions."""
    merged: dict[str, Any] = copy(data) if isinstance(data, Lines) else {**data}
    merged |= {key: value for key, value in given.items() if value is not None}
    if isinstance(merged.get("rules"), Rules):
        merged["rules"] = merged["rules"].changes()
    if isinstance(merged.get("deals"), os.PathLike):
        merged["deals"] = os.fspath(merged["deals"])
    if "panel" in merged:
        merged["panel"] = _take(merged["panel"], code)
    lists = [_take(part, code) for part in (data.get("bots"), bots) if part is not None]
    wrong = [part for part in lists if not isinstance(part, list)]
    if lists:
        merged["bots"] = wrong[0] if wrong else [bot for part in lists for bot in part]
    return merged


def folder_path(folder: object, name: str) -> Path:
    """Return the path of an argument; raises InputError for anything else."""
    if not isinstance(folder, str | os.PathLike):
        raise InputError(f"{name}: expected a path, got {type(folder).__name__}")
    return Path(folder)


def find_venue(**keys: Any) -> Venue:
    """Return where a call plays that has only the keywords of a venue; raises InputError."""
    where = keys.get("executor")
    return _choose_at(_convert(keys | {"executor": _read_executor(where)}), where)


def _convert(keys: Mapping[str, Any]) -> Config:
    """Return a config that says only where is played."""
    given = {name: value for name, value in keys.items() if value is not None}
    return convert({"bots": [], "pairs": 1} | given, "call")


def _read_executor(where: Where | None) -> Any:
    """Return what of an executor can stand in a config, None for a client."""
    return where if isinstance(where, str | Mapping) else None


def _choose_at(settings: Config, where: Any) -> Venue:
    """Return the venue of a config, whose executor may be one that is there already."""
    venue = choose_venue({}, settings)
    is_live = where is not None and _read_executor(where) is None
    return replace(venue, executor=where) if is_live else venue


def list_bots(against: Any) -> list[Any]:
    """Return the opponents that were named, as a list or a single one."""
    is_list = isinstance(against, Sequence) and not isinstance(against, str)
    return [*against] if is_list else [against]
