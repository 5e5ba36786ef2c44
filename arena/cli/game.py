"""`arena game`: one game of a run, played again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from arena.cli.completion import complete_bots
from arena.cli.options import (
    LANE,
    LIMITS,
    RULES,
    THOUGHTS,
    change_limits,
    change_rules,
    parse_json,
    warn,
)
from arena.cli.whole import PAIR, SEAT, SEED
from arena.errors import InputError

if TYPE_CHECKING:
    from arena.entries.entry import Entry


@click.command()
@click.argument("bot", shell_complete=complete_bots)
@click.argument("opponent", shell_complete=complete_bots)
@click.option("--seed", type=SEED, default=0, show_default=True, help="The run's seed.")
@click.option("--pair", type=PAIR, default=0, show_default=True, help="Which deal.")
@click.option(
    "--seat", type=SEAT, default=0, show_default=True, help="Where BOT sits; seat 0 begins."
)
@click.option(
    "--lane",
    "lanes",
    type=LANE,
    multiple=True,
    help="For both, or for each.  [default: as fits the bot]",
)
@click.option("--needs", multiple=True, help="A JSON list of paths, for both or for each.")
@click.option(
    "--label", "labels", multiple=True, help="Label of BOT, then of OPPONENT, as in the run."
)
@RULES
@LIMITS
@THOUGHTS
def game(
    bot: str,
    opponent: str,
    seed: int,
    pair: int,
    seat: int,
    lanes: Sequence[str],
    needs: Sequence[str],
    labels: Sequence[str],
    rules: dict[str, Any],
    limits: dict[str, Any],
    thoughts: bool,
) -> None:
    """Play one game of a run again, and print its record.

    A fault is printed with its evidence. The labels of the bots, the seed, the pair and the
    seat decide the deal. The record goes to standard output, ready for `arena show -`. With
    --thoughts the bots are asked afterwards what they thought; the game stays the same.

    \b
    Example:
      arena game greedy uniform --seed 7 --pair 3 --seat 1 | arena show -
    """
    from arena.executors.local import LocalExecutor
    from arena.runs.prepare import prepare
    from arena.runs.rerun import add_thoughts, play_again
    from arena.tournament.tournament import Tournament

    entries = _resolve((bot, opponent), labels, lanes, needs)
    numbers, allowed = change_rules(rules), change_limits(limits)
    tournament = Tournament("game", seed, pair + 1, entries, numbers, allowed)
    warn(prepare(tournament))
    again = play_again(tournament, pair, seat, LocalExecutor(1))
    for line in again.evidence():
        click.echo(line, err=True)
    if thoughts:
        again, note = add_thoughts(tournament, tournament.fixture(0, pair, seat), again)
        if note:
            click.echo(f"note: {note}", err=True)
    click.echo(again.to_json())


def _resolve(
    specs: Sequence[str], labels: Sequence[str], lanes: Sequence[str], needs: Sequence[str]
) -> list[Entry]:
    """Return the two bots, with what is said of both or of each."""
    from arena.entries.resolve import resolve

    both = zip(
        specs,
        _for_each("label", labels),
        _for_each("lane", lanes),
        (parse_json("--needs", text or "[]", list[str]) for text in _for_each("needs", needs)),
        strict=True,
    )
    return [resolve(spec, label, None, lane, paths) for spec, label, lane, paths in both]


def _for_each(name: str, values: Sequence[str]) -> Sequence[str | None]:
    """Return one value for each of two bots; no value is None for both."""
    if len(values) > 2 or (name == "label" and len(values) == 1):
        raise InputError(f"--{name}: give it twice, once for each bot")
    return (*values, *values)[:2] if values else (None, None)


COMMANDS: list[click.Command] = [game]
