"""The command that plays the same deals under changed rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.completion import complete_configs, complete_rules
from arena.cli.options import (
    AGAINST,
    MORE_BOTS,
    PATH,
    REPLACE,
    add_config_options,
    key_option,
    print_json,
    with_options,
)
from arena.cli.starting import How, stoppable
from arena.errors import counted, naming

if TYPE_CHECKING:
    from arena.insight.ablation import Ablation
    from arena.tournament.keys import ExecutorChoice
    from arena.tournament.rule_changes import Variant
    from arena.tournament.tournament import Tournament


@click.command()
@click.argument("config", type=PATH, shell_complete=complete_configs)
@click.option(
    "--rule",
    "variants",
    multiple=True,
    required=True,
    metavar="NAME=VALUE,...",
    shell_complete=complete_rules,
    help="A rule and the values to try; repeatable.",
)
@click.option("--cross", is_flag=True, help="Try changes of several rules together, too.")
@key_option("pairs", "the config's")
@MORE_BOTS
@AGAINST
@REPLACE
@add_config_options("results/NAME-ablate")
def ablate(
    config: Path,
    variants: Sequence[str],
    cross: bool,
    more: Sequence[str],
    against: Sequence[str],
    lane: str | None,
    out: Path | None,
    **options: Any,
) -> None:
    """Show what a change of the rules changes in the games.

    The bots of a CONFIG play the same deals under its rules, which are the published ones unless
    it changes some, and under each change. Changes are made one at a time, with --cross also
    together. A list stands in brackets, and rules that must change together are joined by +:
    hand_size=4+removed=11. Every change is a run in a folder of its own, and goes on where it
    was stopped; ablation.csv has the table.

    \b
    Example:
      arena ablate quickstart --rule set_bonus=0,3,8 --pairs 50
    """
    from arena.tournament.config import make_tournament, read
    from arena.tournament.rule_changes import make_variants
    from arena.tournament.shipped import find_config

    settings = with_options(read(find_config(config)), options)
    asked = How.of(options, settings.workers)
    choice = asked.choose(settings.executor)
    with naming(config):
        tournament = make_tournament(settings, more, against, lane)
    tried = make_variants(tournament.rules, variants, cross=cross)
    out = out or Path("results") / f"{settings.name}-ablate"
    _ablate(tournament, tried, out, asked, choice)


def _ablate(
    tournament: Tournament, variants: Sequence[Variant], out: Path, how: How, choice: ExecutorChoice
) -> None:
    """Play the variants, and print how they differ."""
    from arena.runs.ablate_rules import ablate as play_variants
    from arena.runs.ablate_rules import clear, prepare_variants

    kept = None if how.fresh or how.replace else out
    problems = prepare_variants(tournament, variants, kept)
    how.say(problems)

    def announce(variant: Variant) -> None:
        if not how.quiet:
            number = 1 + variants.index(variant)
            click.echo(f"{number} of {len(variants)}: {variant.name}", err=True)

    with stoppable(out, choice, how.workers) as executor:
        if how.fresh:
            clear(out, variants)
        ablation = play_variants(
            tournament, variants, executor, out, announce, how.shown, replace=how.replace
        )
    if how.as_json:
        _print_document(ablation, tournament, out, problems)
    elif not how.quiet:
        _print_table(ablation, tournament, out)


def _print_document(
    ablation: Ablation, tournament: Tournament, out: Path, problems: Sequence[str]
) -> None:
    from arena.insight.ablation import to_document

    run = {"run": tournament.name, "folder": str(out)}
    print_json(run | to_document(ablation) | {"warnings": [*problems]})


def _print_table(ablation: Ablation, tournament: Tournament, out: Path) -> None:
    """Print the table, what must be known to read it, and the folder."""
    from arena.insight.ablation import format_table

    changes = ablation.variants[0].rules.changes()
    rules = f"the config's rules, {changes}" if changes else "the published rules"
    click.echo(f"{tournament.games:,} games of {tournament.name} under each; base: {rules}")
    for line in format_table(ablation):
        click.echo(line)
    for variant in ablation.variants:
        if not variant.same_deals:
            click.echo(f"{variant.name}: other deals than the base, so less is common to both")
        if variant.forfeits:
            place = out / variant.name / "faults.csv"
            click.echo(
                f"{variant.name}: {counted(variant.forfeits, 'forfeit')}, not counted: see {place}"
            )
        for label, faults in variant.out.items():
            click.echo(f"{variant.name}: {label} was out after {faults}")
    click.echo(f"results in {out}/")


COMMANDS: list[click.Command] = [ablate]
