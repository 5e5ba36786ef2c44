"""Options that several commands have, and the numbers in them with their bounds."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from arena.entries.spec import HERE
from arena.errors import InputError, escape_lines, naming
from arena.tokens import hide_secrets
from arena.tournament import config_keys as keys
from arena.tournament.config_keys import NAMINGS

if TYPE_CHECKING:
    from arena.lanes.limits import Limits
    from arena.tournament.config import Config
    from engine import Rules

if TYPE_CHECKING:
    _Type = click.ParamType[int]
    _TargetType = click.ParamType[str | float]
else:  # generic only in newer versions
    _Type = _TargetType = click.ParamType


class Whole(_Type):
    """A whole number within bounds."""

    name = "number"

    def __init__(self, least: int, most: int) -> None:
        self.range = click.IntRange(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; raises click.BadParameter, which names the bounds."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number; {keys.advise_whole(value)}", param, ctx)
        number: int = self.range.convert(value, param, ctx)
        return number


class Target(_TargetType):
    """The target that ends a run: a word of `keys.TARGETS`, or half the width of the intervals."""

    name = "|".join((*keys.TARGETS, "ELO"))

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | float:
        """Return the word or the number; raises click.BadParameter."""
        import msgspec

        with suppress(ValueError):
            value = float(value)
        try:
            return msgspec.convert(value, keys.TargetWord | keys.Width)
        except msgspec.ValidationError:
            words = ", ".join(keys.TARGETS)
            why = f"is none of {words}, nor a number of Elo points from 1 to {keys.MOST_WIDTH:,}"
            self.fail(f"{value!r} {why}", param, ctx)


TARGET = Target()
SEED = Whole(*keys.BOUNDS["seed"])
PAIRS = Whole(*keys.BOUNDS["pairs"])
PAIR = Whole(0, keys.MOST_PAIRS - 1)
SEAT = Whole(0, 1)
GAMES = Whole(1, 1_000)


LANE: Final = click.Choice(HERE)
NAMES: Final = click.Choice(NAMINGS)
PATH: Final = click.Path(path_type=Path)

RARE: Final = {
    *("deals", "executor", "limits", "no_repeat", "replace", "rules", "scheduler"),
    *("scheduler_file", "strict"),
}
"""Options that few need, by their parameters."""


class Command(click.Command):
    """A command in whose help the options that few need stand last, under their own heading."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of the options for each heading."""
        records = [
            (param.name in RARE, param.get_help_record(ctx)) for param in self.get_params(ctx)
        ]
        for title, is_rare in ("Options", False), ("Options that few need", True):
            rows = [record for rare, record in records if record and rare is is_rare]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


_Command = Callable[..., Any]

REPLACE: Final = click.option(
    "--replace", is_flag=True, help="Play the games of bots that have changed again."
)
NO_REPEAT: Final = click.option(
    "--no-repeat",
    is_flag=True,
    help="Do not play a hundredth of the games again to see whether moves differ.",
)
QUIET: Final = click.option(
    "--quiet", "-q", is_flag=True, help="Show only errors, a verdict, and a table that no file has."
)


def default_option(
    name: str, form: Any, default: Any, text: str, **more: Any
) -> Callable[[_Command], _Command]:
    """Return an option whose default is said at the end of its help."""
    return click.option(name, type=form, default=default, show_default=True, help=text, **more)


json_option: Final = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document."
)
names_option: Final = default_option(
    "--names", NAMES, "english", "What the cards are called; deck is a standard deck of 52."
)

MORE_BOTS: Final = click.option(
    "--bot", "more", multiple=True, metavar="BOT", help="One more bot; repeatable."
)

_T = TypeVar("_T")


def split_bots(text: str, option: str = "--against") -> list[str]:
    """Return the specs in a text with commas between them; those in brackets are a spec's own.

    >>> split_bots("greedy,a=./mine.py(depth=3,width=2)")
    ['greedy', 'a=./mine.py(depth=3,width=2)']
    >>> split_bots("cmd:node bot.js 1,2")
    ['cmd:node bot.js 1,2']
    """
    if text.partition("=")[2].startswith("cmd:") or text.startswith("cmd:"):
        return [text]
    depth, parts = 0, [""]
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    if "" in (words := [part.strip() for part in parts]):
        raise InputError(f"{option}: {text!r} has an empty place")
    return words


def _split_all(
    _context: click.Context, _option: click.Parameter, texts: Sequence[str]
) -> list[str]:
    return [bot for text in texts for bot in split_bots(text)]


AGAINST: Final = click.option(
    "--against",
    multiple=True,
    metavar="BOTS",
    callback=_split_all,
    help="Play only against these bots, A,B,C or ladder, and not one another; repeatable.",
)


def _read_changes(
    _context: click.Context, option: click.Parameter, text: str | None
) -> dict[str, Any]:
    """Return the JSON object of an option, empty if it is not given; raises InputError."""
    name = option.opts[0]
    try:
        return parse_json(name, text, dict[str, Any]) if text else {}
    except InputError as error:
        example = '{"set_bonus": 3}' if name == "--rules" else '{"decision": 2}'
        raise InputError(f"{error}; write {name} '{example}'") from None


_FORMS: Final[dict[str, dict[str, Any]]] = {
    "until": {"type": TARGET, "metavar": TARGET.name},
    "max_pairs": {"type": PAIRS},
    "deals": {"metavar": "FILE"},
    "anchor": {"metavar": "BOT=ELO[+-ERROR]"},
    "executor": {"type": click.Choice(keys.EXECUTORS)},
    "scheduler": {"metavar": "ADDRESS"},
    "scheduler_file": {"metavar": "FILE"},
    "lane": {"type": LANE},
    "rules": {"metavar": "JSON", "callback": _read_changes},
    "limits": {"metavar": "JSON", "callback": _read_changes},
}


def key_option(key: str, default: str = "", **more: Any) -> Callable[[_Command], _Command]:
    """Return the option of a config's key; `default` is said at the end of its help."""
    text = keys.TEXTS[key] + (f"  [default: {default}]" if default else "")
    form = _FORMS.get(key) or {"type": Whole(*keys.BOUNDS[key])}
    return click.option(f"--{key.replace('_', '-')}", help=text, **form, **more)


def venue_options(
    *without: str, workers: str = "all cores", executor: str = "local"
) -> Callable[[_Command], _Command]:
    """Return a decorator that adds the options of where games are played, with these defaults.

    Those without which a command does are named; `choose_venue` reads the others.
    """
    defaults = {"workers": workers, "executor": executor}
    defaults |= {"scheduler": "that of Dask's config", "scheduler_file": "none"}
    return _adds([key_option(key, said) for key, said in defaults.items() if key not in without])


ON_THIS_MACHINE: Final = ("executor", "scheduler", "scheduler_file")
"""The options of a venue without which a command does that plays on this machine only."""


def _adds(options: Sequence[_Command]) -> Callable[[_Command], _Command]:
    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


RULES: Final = key_option("rules", "none")
LIMITS: Final = key_option("limits", "none")


def change_rules(changes: dict[str, Any], base: Mapping[str, Any] | None = None) -> Rules:
    """Return the rules with changes of a config, and then those of `--rules`.

    Raises InputError.
    """
    from engine import Rules
    from engine.errors import RulesError

    with naming("--rules", RulesError):
        return Rules.from_changes({**(base or {}), **changes})


def change_limits(changes: dict[str, Any], base: Limits | None = None) -> Limits:
    """Return limits with the changes of `--limits`; raises InputError."""
    import msgspec

    from arena.lanes.limits import Limits

    try:
        return keys.converted({**msgspec.to_builtins(base or Limits()), **changes}, Limits)
    except msgspec.ValidationError as error:
        from arena.tournament.yaml_text import explain

        why = explain(str(error), changes, {"": Limits.__struct_fields__}, {})
        raise InputError(f"--limits: {why}") from None


ANCHOR: Final = key_option("anchor", "the config's, or the mean is 1500")


def with_options(settings: Config, options: Mapping[str, Any]) -> Config:
    """Return a config with the values of the options of its keys; raises InputError.

    An option that was not given leaves the config's value; `lane` and where games are played
    are not looked at.
    """
    from arena.tournament.config import override

    keys_of_all = ("pairs", "until", "max_pairs", "deals", "anchor", "seed")
    given: dict[str, Any] = {key: options.get(key) for key in keys_of_all}
    rules = change_rules(options["rules"], settings.rules).changes()
    limits = change_limits(options["limits"], settings.limits)
    return override(settings, **given, rules=rules, limits=limits)


def add_run_options(
    out: str,
    *,
    seed: str = "0",
    workers: str = "all cores",
    executor: str = "local",
    lane: str = "as fits the bot",
) -> Callable[[_Command], _Command]:
    """Return a decorator that adds the options of what plays a tournament, with these defaults."""
    options: list[_Command] = [
        venue_options(workers=workers, executor=executor),
        key_option("seed", seed),
        key_option("lane", lane),
        RULES,
        LIMITS,
        click.option("--out", "-o", type=PATH, help=f"Folder for the results.  [default: {out}]"),
        click.option("--fresh", is_flag=True, help="Remove what is there, and start over."),
        click.option("--strict", is_flag=True, help="Play nothing if a bot does not load."),
        json_option,
        click.option("--verbose", "-v", is_flag=True, help="Show the log."),
        QUIET,
    ]
    return _adds(options)


def add_config_options(out: str) -> Callable[[_Command], _Command]:
    """Return a decorator as `add_run_options` does, for a command whose defaults a config has."""
    return add_run_options(
        out,
        seed="the config's",
        workers="the config's, or all cores",
        executor="the config's, or local",
        lane="the config's",
    )


def print_json(document: Any) -> None:
    """Print a document; what is not a number in a table becomes null."""
    say_json(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_found(document: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print what a command has found: one document with --json, else lines."""
    if as_json:
        print_json(document)
    else:
        say(*lines)


def say_json(text: str) -> None:
    """Print JSON in which every character but the ends of its lines is printable."""
    text = hide_secrets(text)
    shown = (c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    click.echo("".join(shown))


def say(*texts: str, err: bool = False) -> None:
    """Print lines, escaped: names, messages and paths in them may hold anything."""
    for text in texts:
        click.echo(escape_lines(hide_secrets(text)), err=err)


def terminal_room() -> int | None:
    """Return the columns of the terminal that is printed to, None where it is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def refuse_options(*names: str, why: str) -> None:
    """Raise InputError if one of these options, by their parameters, was given."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
        if given and option.name in names:
            raise InputError(f"{option.opts[0]}: {why}")


def parse_json(option: str, text: str, wanted: type[_T]) -> _T:
    """Return the value of an option that is JSON; raises InputError."""
    import msgspec

    with naming(option, msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return msgspec.json.decode(text, type=wanted)


def warn(problems: Iterable[str]) -> None:
    """Print a line for each bot that does not load."""
    say(*(f"warning: {problem}; its games are forfeits" for problem in problems), err=True)


def tolerate_any_terminal() -> None:
    """Let a terminal without suits or umlauts show something else in their place."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
