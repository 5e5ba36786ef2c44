"""Commands for writers of bots: which there are, a new one, its check, and this machine.

Nothing that examines the machine raises: an error is a finding.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from arena.check import GAMES, LEAST_GAMES
from arena.cli import options as cli
from arena.cli.starting import find_venue
from arena.errors import InputError, escape
from arena.threads import count_cores, machine_cores
from arena.tournament.versions import DISTRIBUTION, version_here

if TYPE_CHECKING:
    from arena.check.item import Item, Order
    from arena.entries.entry import Entry
    from arena.entries.spec import Lane


@click.command()
@cli.json_option
def bots(as_json: bool) -> None:
    """List the bots available by name: in bots/, and from packages.

    A bot of an installed package is one of its entry points in the group arena.bots.

    \b
    Example:
      arena bots
    """
    from arena.entries.catalogue import catalogue

    known = catalogue()
    if as_json:
        cli.print_json({"bots": [bot._asdict() for bot in known]})
        return
    width = max([len(bot.name) for bot in known], default=0)
    for bot in known:
        origin = f" [{bot.package}]" if bot.package else ""
        cli.say(f"{bot.name:<{width}}  {bot.description}{origin}")


@click.command()
@click.argument("bot", required=False)
@cli.json_option
def doctor(bot: str | None, as_json: bool) -> None:
    """Report what this machine offers to a run, and what to install.

    With BOT, report what this bot can read in the lane jail. The exit status is 1 if something that
    the arena needs is missing.

    \b
    Example:
      arena doctor
    """
    cli.tolerate_any_terminal()
    findings = []
    for finding in examine_bot(bot) if bot else examine():
        findings.append(finding)
        if not as_json:
            cli.say(*format_findings([finding]))
    needed = [finding for finding in findings if finding.what != "bubblewrap"]  # for the jail
    ok = all(finding.ok is not False for finding in needed)
    if as_json:
        cli.print_json({"ok": ok, "findings": [finding._asdict() for finding in findings]})
    sys.exit(0 if ok else 1)


@click.command()
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=cli.PATH,
    default=Path(),
    help="The folder to write to.  [default: the current one]",
)
def new(name: str, folder: Path) -> None:
    """Write NAME.py, a complete bot, and test_NAME.py, its test.

    Existing files are not overwritten.

    \b
    Example:
      arena new my_first_bot && arena play ./my_first_bot.py uniform --pairs 10
    """
    from arena.entries.draft import write_draft

    bot, test = write_draft(name, folder)
    spec = bot if "/" in str(bot) else f"./{bot}"
    cli.say(f"wrote {bot} and {test}; now:")
    next_steps = {
        f"arena play {spec} greedy": "let it play",
        f"arena check {spec}": "does it keep the contract?",
        f"python {test}": "run its test",
    }
    width = max(map(len, next_steps))
    cli.say(*(f"  {command:<{width}}  {what}" for command, what in next_steps.items()))


@click.command(cls=cli.Command)
@click.argument("bot")
@cli.default_option(
    "--games",
    cli.Whole(LEAST_GAMES, 100_000),
    GAMES,
    "Games in its lane; about five times as many in all.",
)
@cli.default_option("--seed", cli.SEED, 0, "Of the deals.")
@click.option(
    "--lane",
    type=click.Choice(["jail", "process"]),
    help="The lane of its processes.  [default: the jail, if there is one]",
)
@cli.LIMITS
@cli.venue_options("workers", *cli.ON_THIS_MACHINE)
@cli.json_option
def check(
    bot: str,
    games: int,
    seed: int,
    lane: Lane | None,
    limits: dict[str, Any],
    as_json: bool,
    **options: Any,
) -> None:
    """Check each item of the contract for BOT, and estimate its rating.

    Its code runs in separate processes, in the jail if this machine has one. Outside the jail a bot
    could forge its report, so it is never accepted there. The exit status is 0 if no item failed, 1
    if one did or the check was cut short, 2 if BOT does not exist.

    \b
    Example:
      arena check ./my_bot.py --games 8
    """
    from arena.check.inspector import run_check
    from arena.check.item import Order, format_item, safest_lane
    from arena.check.sparring import CutShort
    from arena.entries.resolve import resolve
    from arena.lanes.jail_support import find_bubblewrap
    from arena.processes import adopt_orphans

    entry = resolve(bot)
    if entry.lane == "remote":
        raise InputError(f"bot {bot!r}: a check needs its program, and it lives elsewhere")
    if lane == "jail":
        find_bubblewrap()
    venue = find_venue(options)
    order = Order(bot, lane or safest_lane(), games, seed, cli.change_limits(limits), venue)
    adopt_orphans()
    items = []
    try:
        for item in run_check(order, _show):
            items.append(item)
            _show("")
            if not as_json:
                cli.say(*format_item(item))
    except CutShort as error:
        raise CutShort(f"{error}; play fewer games with --games") from None
    finally:
        _show("")
    sys.exit(_say_verdict(order, entry, items, as_json=as_json))


def _say_verdict(order: Order, entry: Entry, items: list[Item], *, as_json: bool) -> int:
    """Print what a check has found, and return its exit status."""
    from arena.check.item import NOT_JAILED, to_data

    refused = [item.name for item in items if item.status == "fail"]
    warning = "" if order.jailed else NOT_JAILED
    accepted = "accepted" if order.jailed else "no verdict: nothing has failed"
    document = {
        "bot": entry.target,
        "params": entry.params,
        "sha256": entry.sha256,
        "games": order.games,
        "seed": order.seed,
        "ok": not refused,
        "jailed": order.jailed,
        "warning": warning,
        "items": [to_data(item) for item in items],
    }
    said = f"refused: {', '.join(refused)}" if refused else accepted
    cli.print_found(document, filter(None, [said, warning]), as_json=as_json)
    return 1 if refused else 0


def _show(what: str) -> None:
    """Show on a terminal which item is being checked, in place of the one before."""
    if sys.stderr.isatty():
        click.echo(f"\r{what:<{_WHAT_WIDTH}}\r{what}", nl=False, err=True)


EXTRAS: Final = {
    "swiss": "format: swiss",
    "table": "arena table",
    "remote": "bots that live elsewhere",
    "dask": "executor dask",
    "mpi": "executor mpi",
    "rl": "arena.addons.rl for learners",
    "openspiel": "the game in OpenSpiel",
    "jail": "bubblewrap, if the system has none",
}
"""The package's extras for users, and the purpose of each."""

_OLDEST_PYTHON = (3, 11)
_GIB = 2**30
_LEAST_FREE = 2**28  # bytes in the temporary folder
_SYSTEM = Path("/proc/sys")
_SWITCHES = (  # a setting, and its value that forbids user namespaces
    ("user/max_user_namespaces", "0", "10000"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
)
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_OF_EXTRA = re.compile(r"([\w.-]+).*\bextra *== *['\"]([\w-]+)['\"]")
_WIDTH, _WHAT_WIDTH = 80, 16
_SIGNS = {True: "ok", False: "bad", None: "-"}


class Finding(NamedTuple):
    """One thing that was examined; `ok` is None if it is only information."""

    what: str
    ok: bool | None
    detail: str
    advice: str = ""


def format_findings(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the findings for a terminal of 80 columns, each with its advice below.

    >>> findings = [Finding("cores", None, "2"), Finding("sea", False, "dry", "wait")]
    >>> for line in format_findings(findings):
    ...     print(line)
    -    cores            2
    bad  sea              dry
                          -> wait
    """
    indent = " " * (_WHAT_WIDTH + 6)
    for one in findings:
        text = f"{_SIGNS[one.ok]:<4} {one.what:<{_WHAT_WIDTH}} {one.detail}"
        texts = [text, f"{indent}-> {one.advice}"] if one.advice else [text]
        for line, more in zip(texts, ("", "   "), strict=False):
            yield from textwrap.wrap(
                escape(line), _WIDTH, subsequent_indent=indent + more, break_on_hyphens=False
            )


def examine() -> Iterator[Finding]:
    """Yield all findings about this machine, each as soon as it is known."""
    for what, look in CHECKS.items():
        try:
            yield look()
        except Exception as error:  # a doctor survives whatever it finds
            yield Finding(what, False, f"could not be examined: {error!r}")


def examine_python() -> Finding:
    """Return the versions of the arena and of Python, and whether both can play here."""
    try:
        version = version_here()
    except InputError:
        version = "that is not installed"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    detail = f"{python} on {platform.system()}, with arena {version}"
    if sys.version_info < _OLDEST_PYTHON:
        oldest = ".".join(map(str, _OLDEST_PYTHON))
        return Finding("python", False, detail, f"install Python {oldest} or newer")
    if not hasattr(os, "fork"):
        return Finding("python", False, f"{detail}; workers cannot be forked", "play on Linux")
    return Finding("python", True, detail)


def examine_cores() -> Finding:
    """Return how many of the machine's cores this process may use."""
    total, usable = machine_cores(), count_cores()
    return Finding("cores", None, str(usable) if usable == total else f"{usable} of {total}")


def examine_memory() -> Finding:
    """Return the size of the memory, or the limit of a container if that is less."""
    if not hasattr(os, "sysconf"):
        return Finding("memory", None, "unknown")
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [int(text) for text in map(_text, map(Path, _LIMITS)) if text.isdecimal()]
    return Finding("memory", None, f"{min([total, *limits]) / _GIB:.1f} GiB")


def _text(path: Path) -> str:
    """Return the content of a small file, "" if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def examine_folder() -> Finding:
    """Return the folder of temporary files, after a test that one can be written."""
    what, advice = "temporary folder", "set TMPDIR to a folder with room that can be written"
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"arena")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding(what, False, f"cannot be written: {error}", advice)
    ok = free >= _LEAST_FREE
    return Finding(what, ok, f"{folder}, {free / _GIB:.1f} GiB free", "" if ok else advice)


def examine_bubblewrap() -> Finding:
    """Return whether bubblewrap can make a jail here, in which bots of strangers play."""
    from arena.lanes.jail_support import find_bubblewrap, find_program

    try:
        return Finding("bubblewrap", True, f"{find_bubblewrap()} makes the lane jail")
    except InputError as error:
        detail = str(error).removeprefix("lane jail: ").partition("; see ")[0]
    if not find_program():
        advice = f"apt-get install bubblewrap, or pip install '{DISTRIBUTION}[jail]' (Linux only)"
        return Finding("bubblewrap", False, f"{detail}: no lane jail", advice)
    for name, forbidden, allowed in _SWITCHES:
        if _text(_SYSTEM / name) == forbidden:
            remedy = f"as root: sysctl -w {name.replace('/', '.')}={allowed}"
            return Finding("bubblewrap", False, detail, f"user namespaces are off; {remedy}")
    advice = "have user namespaces allowed; for Docker --security-opt seccomp=unconfined"
    return Finding("bubblewrap", False, detail, advice)


def examine_extras() -> Finding:
    """Return which extras are installed, and how to install the others."""
    missing = find_missing()
    here = ", ".join(extra for extra in EXTRAS if extra not in missing) or "none"
    if not missing:
        return Finding("extras", None, here)
    lacking = ", ".join(f"{extra} ({EXTRAS[extra]})" for extra in missing)
    advice = f"pip install '{DISTRIBUTION}[{missing[0]}]', and so with the others"
    return Finding("extras", None, f"{here}; not {lacking}", advice)


def find_missing() -> list[str]:
    """Return the extras of which a library is not installed, in their order."""
    missing = set()
    for match in map(_OF_EXTRA.match, metadata.requires(DISTRIBUTION) or []):
        if match and not _is_installed(match[1]):
            missing.add(match[2])
    return [extra for extra in EXTRAS if extra in missing]


def _is_installed(distribution: str) -> bool:
    try:
        return bool(metadata.distribution(distribution))
    except metadata.PackageNotFoundError:
        return False


CHECKS: Final[Mapping[str, Callable[[], Finding]]] = {
    "python": examine_python,
    "cores": examine_cores,
    "memory": examine_memory,
    "temporary folder": examine_folder,
    "extras": examine_extras,
    "bubblewrap": examine_bubblewrap,
}


def examine_bot(spec: str) -> Iterator[Finding]:
    """Yield what a bot can read in the lane jail; raises InputError for a bad spec."""
    from arena.entries.resolve import resolve
    from arena.lanes.jail import describe_shown

    entry = resolve(spec, lane="jail")
    entry = entry.at(entry.home)
    for path in describe_shown(entry):
        yield Finding("can be read", None, path)
    if entry.command and Path(entry.command[0]).read_bytes()[:2] == b"#!":
        detail = f"{entry.command[0]} is a script, which may start what a jail does not show"
        advice = "name the program that it starts, or add it to needs in a config"
        yield Finding("command", None, detail, advice)
