"""Read the config of a tournament from YAML or from data, with strict validation."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta

from arena.entries.catalogue import expand_ladder
from arena.entries.entry import Entry
from arena.entries.resolve import Code, resolve
from arena.entries.spec import HERE, LANES, Here, Lane, is_address, is_file
from arena.entries.spec import parse as parse_spec
from arena.errors import InputError, naming, not_installed
from arena.files import read_file
from arena.lanes.limits import Limits
from arena.tournament import config_keys as keys
from arena.tournament.config_keys import read_anchor
from arena.tournament.fixed_deals import read_deals
from arena.tournament.rounds import default_rounds
from arena.tournament.stop import check_target, make_until
from arena.tournament.tournament import Tournament
from engine import Rules
from engine.errors import RulesError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


Format = Literal["round_robin", "gauntlet", "swiss"]


class BotEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One bot of a tournament: its spec, and settings of its own."""

    bot: Annotated[
        str, Meta(description="A bot's name, file, package, command (`cmd:`) or address.")
    ]
    label: Annotated[
        str | None, Meta(description="Its name in the tables, by default that of its spec.")
    ] = None
    params: Annotated[dict[str, Any], Meta(description="Values of its parameters by name.")] = {}
    lane: Annotated[
        Lane | None, Meta(description="How it is executed, by default as all bots are.")
    ] = None
    needs: Annotated[
        list[str], Meta(description="Files, folders and packages that it may read in the jail.")
    ] = []


class Config(keys.Venue, msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tournament: every two bots play `pairs` deals twice, with the seats swapped.

    In a gauntlet each of the `bots` plays only against each of the `panel`. A Swiss tournament has
    `rounds`, in each of which a bot plays `pairs` deals against one opponent. With `until`, a round
    robin or a gauntlet continues until this target is reached, with at most `max_pairs` deals in a
    pairing.
    """

    bots: Annotated[
        keys.Bots[str | BotEntry],
        Meta(description="The bots: every two of them meet in a round robin."),
    ]
    pairs: Annotated[keys.Pairs, keys.told("pairs")]
    format: Annotated[Format, Meta(description="Who meets whom.")] = "round_robin"
    panel: Annotated[
        keys.Bots[str | BotEntry],
        Meta(description="In a gauntlet, the opponents of each of `bots`."),
    ] = []
    rounds: Annotated[
        keys.SwissRounds | None,
        Meta(description="Of a Swiss tournament, by default twice log2 of the number of bots."),
    ] = None
    until: Annotated[keys.TargetWord | keys.Width | None, keys.told("until")] = None
    max_pairs: Annotated[keys.Pairs | None, keys.told("max_pairs")] = None
    deals: Annotated[str | list[str], keys.told("deals")] = ""
    seed: Annotated[keys.Seed, keys.told("seed")] = 0
    name: Annotated[
        str, Meta(description="The folder in `results/`, by default the file's without .yaml.")
    ] = ""
    rules: Annotated[dict[str, Any], keys.told("rules")] = {}
    lane: Annotated[Here | None, keys.told("lane")] = None
    limits: Annotated[Limits, keys.told("limits")] = Limits()
    max_faults: Annotated[
        keys.Positive,
        Meta(description="After so many faults a bot's other games are forfeits by rule."),
    ] = keys.MAX_FAULTS
    anchor: Annotated[str | dict[str, float], keys.told("anchor")] = ""

    def __post_init__(self) -> None:
        if self.panel and self.format != "gauntlet":
            raise ValueError("panel: only a gauntlet has one; write format: gauntlet")
        if self.format == "gauntlet" and not self.panel:
            raise ValueError("format: a gauntlet needs a panel, a list of bots")
        if self.rounds and self.format != "swiss":
            raise ValueError("rounds: only a Swiss tournament has them; write format: swiss")

    def game_rules(self) -> Rules:
        """Return the rules with the config's changes.

        Raises RulesError.
        """
        return Rules.from_changes(self.rules)


_SHARED: Final = sorted({*Config.__struct_fields__} & {one.name for one in fields(Tournament)})
"""Keys of a config that are also fields of a tournament."""

_KEYS: Final = {
    "": Config.__struct_fields__,
    "bots": BotEntry.__struct_fields__,
    "panel": BotEntry.__struct_fields__,
    "limits": Limits.__struct_fields__,
    "executor": keys.ExecutorChoice.__struct_fields__,
}
_CHOICES: Final = {
    "lane": LANES,
    "format": get_args(Format),
    "executor": keys.EXECUTORS,
    "kind": keys.EXECUTORS,
    "until": (*keys.TARGETS, "a number of Elo points"),
}


def read(path: Path, **given: Any) -> Config:
    """Return the config in a YAML file; without the key `name`, its name is the file's stem.

    A key that the file lacks has the value that is `given` and not None. Raises InputError, which
    names the file and the place of the error in it.
    """
    data = read_data(path)
    with naming(path):
        if isinstance(data, dict) and "versions" in data:
            raise InputError("the manifest of a run, which only `arena run` takes")
        for key, value in given.items() if isinstance(data, dict) else ():
            if value is not None:
                data.setdefault(key, value)
        return convert(data, path.stem)


def read_data(path: Path) -> Any:
    """Return the data of a YAML file without validating its keys.

    Raises InputError, which names the file.
    """
    from arena.tournament.yaml_text import MOST_BYTES, explain_no_config, parse

    with naming(path):
        if why := explain_no_config(path):
            raise InputError(why)
        if (data := parse(read_file(path, MOST_BYTES))) is None:
            raise InputError("the file is empty")
        return data


def convert(data: Any, name: str) -> Config:
    """Convert plain data to a config, with this name unless the data has a name.

    Raises InputError, which names the place of the error in the data.
    """
    from arena.tournament.yaml_text import explain, line_of  # takes 30 ms, and no bot needs it

    try:
        config = keys.converted(data, Config)
        config.game_rules()
    except msgspec.ValidationError as error:
        raise InputError(explain(str(error), data, _KEYS, _CHOICES)) from None
    except RulesError as error:
        found = re.search(r"\b|\b".join(map(re.escape, config.rules)) or "$", str(error))
        place = line_of(data, ["rules", *([found[0]] if found else [])])
        raise InputError(f"{place}rules: {error}") from None
    name = config.name if isinstance(data, dict) and "name" in data else name
    try:
        check_name(name)
    except InputError as error:
        of_file = "" if isinstance(data, dict) and "name" in data else ", or write name: NAME"
        raise InputError(f"{line_of(data, ['name'])}{error}{of_file}") from None
    return msgspec.structs.replace(config, name=name)


def check_name(name: str) -> None:
    """Raise InputError for a run's name that cannot be the name of its folder."""
    if not _NAME.fullmatch(name):
        raise InputError(f"name: {name!r} cannot name a folder; use A-Z a-z 0-9 . _ -")


def override(config: Config, **given: Any) -> Config:
    """Return a config with the `given` values in place of its own; None keeps the own value."""
    values = {name: value for name, value in given.items() if value is not None}
    return msgspec.structs.replace(config, **values)


def make_tournament(
    config: Config,
    more: Sequence[str | BotEntry] = (),
    against: Sequence[str] = (),
    lane: str | None = None,
    objects: Mapping[str, Code] | None = None,
) -> Tournament:
    """Return the tournament of a config, with some more bots, all in `lane` if it is given.

    `against` are more members of the panel; with a panel, any tournament is a gauntlet. In a panel,
    `ladder` stands for the ladder's bots that are not in the tournament otherwise. `objects` are
    the classes and functions to which specs of the config refer. Raises InputError, which names the
    place in the config of a bot that cannot be found.
    """
    bots = resolve_bots(config, more, lane, objects)
    labels = [entry.label for entry in bots]
    listed, named = (expand_ladder(part, labels) for part in (config.panel, against))
    panel = _resolve("panel", listed, named, (lane, config.lane), objects or {})
    if config.until is not None:
        check_target(config.until, [entry.label for entry in bots + panel])
    rounds = 0
    if config.format == "swiss":
        _check_swiss(panel, config.until)
        rounds = config.rounds or default_rounds(len(bots))
    rules = config.game_rules()
    made = {
        "entries": bots + panel,
        "rules": rules,
        "deals": read_deals(config.deals, rules),
        "panel": len(panel),
        "rounds": rounds,
        "stop": make_until(config.until, config.pairs, config.max_pairs),
        "anchor": read_anchor(config.anchor, [entry.label for entry in bots + panel]),
    }
    return Tournament(**{name: getattr(config, name) for name in _SHARED} | made)


def _check_swiss(panel: Sequence[object], until: object) -> None:
    """Raise InputError for keys that exclude a Swiss tournament, and if networkx is missing."""
    if panel:
        raise InputError("format: a Swiss tournament has no panel")
    if until is not None:
        raise InputError("until: a Swiss tournament stops after its rounds")
    if not find_spec("networkx"):
        raise InputError(f"format: swiss: {not_installed('networkx', 'swiss')}")


@contextmanager
def made_from(config: Config, path: Path) -> Iterator[None]:
    """Add a hint to an InputError if a missing bot's file is in the folder of the config's file."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error}{_explain_beside(config, path)}") from None


def _explain_beside(config: Config, path: Path) -> str:
    for bot in (*config.bots, *config.panel):
        target = parse_spec(bot if isinstance(bot, str) else bot.bot).target
        beside = path.parent / target
        if is_file(target) and not os.path.exists(target) and os.path.exists(beside):
            return f"; {target} is looked for in {os.getcwd()}, and is beside the config: {beside}"
    return ""


def resolve_bots(
    config: Config,
    more: Sequence[str | BotEntry] = (),
    lane: str | None = None,
    objects: Mapping[str, Code] | None = None,
) -> list[Entry]:
    """Return the config's bots, and then the bots of some more specs.

    A bot's lane is the one passed here, or else its own, or else the config's. Raises InputError,
    which names the place in the config of a bot that cannot be found.
    """
    return _resolve("bots", config.bots, more, (lane, config.lane), objects or {})


def _resolve(
    place: str,
    bots: Sequence[str | BotEntry],
    more: Sequence[str | BotEntry],
    lanes: tuple[str | None, str | None],
    objects: Mapping[str, Code],
) -> list[Entry]:
    """Return the entries of bots; the first of `lanes` overrides a bot's own, the second does not.

    `place` is the key of `bots` in the config; `more` are not in the config.
    """
    first, last = lanes

    def find(bot: str | BotEntry) -> Entry:
        one = BotEntry(bot) if isinstance(bot, str) else bot
        lane, code = first or one.lane or last, objects.get(one.bot)
        if lane in HERE and is_address(parse_spec(one.bot).target):
            lane = one.lane  # the lane of all bots is that of those that run here
        return resolve(one.bot, one.label, one.params, lane, one.needs, code)

    entries = []
    for index, bot in enumerate(bots):
        with naming(f"{place}[{index}]"):
            entries.append(find(bot))
    return entries + [find(bot) for bot in more]
