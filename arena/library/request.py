"""Request: a tournament from the arguments of a call, checked as a config is."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, TypeAlias

from arena.errors import InputError
from arena.library.bots import Bot, Bots
from arena.runs.prepare import prepare
from arena.tournament.config import Config, convert, make_tournament, read_data
from arena.tournament.document import Lines
from arena.tournament.tournament import Tournament
from engine import Rules

Location: TypeAlias = "str | os.PathLike[str]"

_CALLER = 3  # frames from a warning to the program that called the library


def request(
    bots: Sequence[Bot] | None,
    config: Mapping[str, Any] | Location | None,
    given: Mapping[str, Any],
    default: Mapping[str, Any],
) -> tuple[Tournament, Config]:
    """Return a tournament that can be played, and the config that it is made of.

    What is `given` and not None comes before a config's values; `default` stands for a config
    where there is none. Warns of bots that do not load. Raises InputError.
    """
    place = os.fspath(config) if isinstance(config, str | os.PathLike) else ""
    name = Path(place).stem if place else str(default["name"])
    data: Any = default if config is None else read_data(Path(place)) if place else config
    objects = Bots()
    try:
        if isinstance(data, Mapping):
            data = _merge(data, bots, given, objects)
        settings = convert(data, name)
        tournament = make_tournament(settings, objects=objects.code)
        for problem in prepare(tournament):
            warnings.warn(f"{problem}; its games are forfeits", stacklevel=_CALLER)
    except InputError as error:
        raise InputError(f"{place}: {error}" if place else str(error)) from None
    return tournament, settings


def _merge(
    data: Mapping[str, Any], bots: Sequence[Bot] | None, given: Mapping[str, Any], objects: Bots
) -> dict[str, Any]:
    """Return a config's data with the arguments of a call, and no classes and functions."""
    merged: dict[str, Any] = copy(data) if isinstance(data, Lines) else {**data}
    merged |= {key: value for key, value in given.items() if value is not None}
    if isinstance(merged.get("rules"), Rules):
        merged["rules"] = merged["rules"].changes()
    if "panel" in merged:
        merged["panel"] = objects.take(merged["panel"])
    lists = [objects.take(part) for part in (data.get("bots"), bots) if part is not None]
    wrong = [part for part in lists if not isinstance(part, list)]
    if lists:
        merged["bots"] = wrong[0] if wrong else [bot for part in lists for bot in part]
    return merged
