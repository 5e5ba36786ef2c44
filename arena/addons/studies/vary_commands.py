"""The commands that vary a tournament: its rules, or a bot's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import (
    AGAINST,
    MORE_BOTS,
    PAIRS,
    PATH,
    REPLACE,
    Command,
    add_config_options,
    add_run_options,
    key_option,
    print_json,
    say,
    with_options,
)
from arena.cli.starting import (
    describe_folder,
    make_playing,
    read_tournament,
    report_problems,
    stoppable,
)
from arena.errors import InputError, wrapped
from arena.tournament import keys

if TYPE_CHECKING:
    from arena.addons.studies.tuning import Tuning


class _RuleOption(click.Option):
    """An option whose help ends with the published rules, which are loaded only for the help."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        from arena.tournament.rule_changes import list_published

        rules = ", ".join(f"{name}={value}" for name, value in list_published().items())
        found = super().get_help_record(ctx)
        return found and (found[0], f"{found[1]}  [published: {rules}]")


@click.command(cls=Command)
@click.argument("config", type=PATH)
@click.option(
    "--rule",
    "variants",
    cls=_RuleOption,
    multiple=True,
    required=True,
    metavar="NAME=VALUE,...",
    help="A rule and the values to try; repeatable.",
)
@key_option("pairs", "the config's")
@MORE_BOTS
@AGAINST
@REPLACE
@add_config_options("results/NAME-ablate")
def ablate(config: Path, variants: Sequence[str], **options: Any) -> None:
    """Measure what a change of the rules changes in the games.

    The bots of a CONFIG play the same deals under its rules, which are the published ones unless it
    changes some, and under each change, one at a time.
    A list is written in brackets, and rules that must change together are joined by +:
    hand_size=4+removed=11. Every change is a run in a folder of its own. An interrupted ablation
    continues; ablation.csv has the table.

    \b
    Example:
      arena ablate quickstart --rule set_bonus=0,3,8 --pairs 50
    """
    from arena.addons.studies.ablation import ablate as play_variants
    from arena.addons.studies.ablation import describe_base, prepare_variants
    from arena.tournament.rule_changes import make_variants
    from arena.tournament.yaml_text import find_config

    tournament, how = read_tournament(config, find_config(config), options)
    tried = make_variants(tournament.rules, variants)
    out = how.out or Path("results") / f"{tournament.name}-ablate"
    problems = prepare_variants(tournament, tried, None if how.fresh or how.replace else out)
    report_problems(problems, options)
    with stoppable(out):
        ablation = play_variants(tournament, tried, out, how)
    if options["as_json"]:
        run = {"run": tournament.name, "folder": str(out)}
        print_json(run | ablation.document() | {"warnings": [*problems]})
    elif not options["quiet"]:
        say(describe_base(tournament), *wrapped(ablation.sentence))
        say(*ablation.lines(), *ablation.notes(), describe_folder(out))


@click.command(cls=Command)
@click.argument("bot")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    required=True,
    metavar="NAME=VALUES",
    help="A parameter to tune: patience=0..5, weight=0.1..10:log, mode=a,b; repeatable.",
)
@AGAINST
@click.option(
    "--budget",
    type=PAIRS,
    default=keys.TUNED_PAIRS,
    show_default=True,
    help="Pairs of the search, for all settings and opponents together.",
)
@click.option("--proof", type=PAIRS, help="Most pairs of the comparison.  [default: the budget]")
@add_run_options("results/tune-BOT")
def tune(
    bot: str, parameters: Sequence[str], budget: int, proof: int | None, **options: Any
) -> None:
    """Find good parameters of BOT by games on common deals.

    Settings of one to three parameters play against the bots of --against, all on the same deals
    with the same luck; the better half plays twice as many deals, until one is left. It is compared
    with the unchanged BOT on fresh deals. If both ends of a range are whole numbers, so are all its
    values; 0.0..5 has fractions, too. An interrupted search continues.

    \b
    Example:
      arena tune greedy --param patience=0..20 --against majority --budget 400
    """
    from arena.addons.studies.tuning import make_tuning, prepare_tuning, search_parameters
    from arena.tournament.config import Config, make_tournament

    how, against = make_playing(options), options["against"]
    if not against:
        raise InputError("--against: name the bots that the settings meet, A,B,C or ladder")
    settings = with_options(Config([], 1, name="tune"), options)
    base = make_tournament(settings, (bot,), against, options["lane"])
    tuning = make_tuning(base, parameters, budget, proof)
    prepare_tuning(tuning)
    out = how.out or Path("results") / tuning.folder_name
    with stoppable(out):
        tuned = search_parameters(tuning, out, how)
    if options["as_json"]:
        print_json({"folder": str(out)} | tuned.document())
    else:
        _print_tuned(tuned, out, quiet=options["quiet"])


def _print_tuned(tuned: Tuning, out: Path, *, quiet: bool) -> None:
    """Print the finding, the warnings, and the spec of the best bot."""
    lines = str(tuned).splitlines()
    if quiet:
        say(lines[0])
        return
    say(*lines)
    say(*(f"warning: {warning}" for warning in tuned.warnings), err=True)
    say(f"{tuned.played:,} games played, {tuned.kept:,} kept from before")
    if tuned.is_better:
        say(f"use it: {tuned.spec}")
    say(describe_folder(out))
