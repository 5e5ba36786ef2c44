"""The commands that vary a tournament's rules or a bot's parameters, or judge its decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from arena.cli import options as cli
from arena.cli import starting
from arena.cli.records import note_extent
from arena.errors import InputError, arena_command, counted, escape, naming, wrapped
from arena.store.folder import ANALYSIS, locate
from arena.tables.summary import Names, short_names
from arena.tournament import config_keys as keys

if TYPE_CHECKING:
    import pandas as pd

    from arena.addons.studies.tuning import Tuning
    from arena.tables.losses import Analysis, Asked
    from arena.tournament.config_keys import Venue

_LABEL: Final = 14  # columns of a name at least
_OTHERS: Final = 66  # columns beside it
_WORST: Final = (
    *("bot", "game", "ply", "round", "action", "chance", "best", "best_chance"),
    *("loss", "error", "worlds", "first_loss", "mistake"),
)


@click.command(cls=cli.Command)
@click.argument("config", type=cli.PATH)
@click.option(
    "--rule",
    "variants",
    multiple=True,
    required=True,
    metavar="NAME=VALUE,...",
    help="A rule and the values to try (see `arena docs rules`); repeatable.",
)
@cli.key_option("pairs", "the config's")
@cli.MORE_BOTS
@cli.AGAINST
@cli.REPLACE
@cli.add_config_options("results/NAME-ablate")
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
    from arena.tournament.rules_and_deals import make_variants
    from arena.tournament.yaml_text import find_config

    tournament, how = starting.read_tournament(config, find_config(config), options)
    tried = make_variants(tournament.rules, variants)
    out = how.out or Path("results") / f"{tournament.name}-ablate"
    problems = prepare_variants(tournament, tried, None if how.fresh or how.replace else out)
    starting.report_problems(problems, options)
    with starting.stoppable(out):
        ablation = play_variants(tournament, tried, out, how)
    if options["as_json"]:
        run = {"run": tournament.name, "folder": str(out)}
        cli.print_json(run | ablation.document() | {"warnings": [*problems]})
    elif not options["quiet"]:
        cli.say(describe_base(tournament), *wrapped(ablation.sentence))
        cli.say(*ablation.lines(), *ablation.notes(), starting.describe_folder(out))


@click.command(cls=cli.Command)
@click.argument("bot")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    required=True,
    metavar="NAME=VALUES",
    help="A parameter to tune: patience=0..5, weight=0.1..10:log, mode=a,b; repeatable.",
)
@cli.AGAINST
@cli.default_option(
    "--budget",
    cli.PAIRS,
    keys.TUNED_PAIRS,
    "Pairs of the search, for all settings and opponents together.",
)
@click.option(
    "--proof", type=cli.PAIRS, help="Most pairs of the comparison.  [default: the budget]"
)
@cli.add_run_options("results/tune-BOT")
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
    from arena.addons.studies.tuning import make_tuning, search_parameters
    from arena.tournament.config import Config, make_tournament

    how, against = starting.make_playing(options), options["against"]
    if not against:
        raise InputError("--against: name the bots that the settings meet, A,B,C or ladder")
    settings = cli.with_options(Config([], 1, name="tune"), options)
    base = make_tournament(settings, (bot,), against, options["lane"])
    tuning = make_tuning(base, parameters, budget, proof)
    out = how.out or Path("results") / tuning.folder_name
    with starting.stoppable(out):
        tuned = search_parameters(tuning, out, how)
    if options["as_json"]:
        cli.print_json({"folder": str(out)} | tuned.document())
    else:
        _print_tuned(tuned, out, quiet=options["quiet"])


def _print_tuned(tuned: Tuning, out: Path, *, quiet: bool) -> None:
    """Print the finding, the warnings, and the spec of the best bot."""
    lines = str(tuned).splitlines()
    if quiet:
        cli.say(lines[0])
        return
    cli.say(*lines)
    cli.say(*(f"warning: {warning}" for warning in tuned.warnings), err=True)
    cli.say(f"{tuned.played:,} games played, {tuned.kept:,} kept from before")
    if tuned.is_better:
        cli.say(f"use it: {tuned.spec}")
    cli.say(starting.describe_folder(out))


@click.command(cls=cli.Command)
@click.argument("target", type=cli.PATH, metavar="RUN")
@click.argument("bots", nargs=-1, metavar="[GAME | BOT [OPPONENT]]")
@cli.default_option("--by", str, keys.JUDGE, "The bot that judges.", metavar="BOT")
@cli.default_option(
    "--games", cli.Whole(2, keys.MOST_ANALYSED), keys.ANALYSED, "Games at most, both of each pair."
)
@cli.default_option(
    "--worlds",
    cli.Whole(keys.LEAST_WORLDS, keys.MOST_WORLDS),
    keys.WORLDS,
    "Opponent's hands on which each action is tried; an even number.",
)
@click.option("--opponent", metavar="BOT", help="The opponent in the table.  [default: most met]")
@cli.default_option(
    "--worst",
    cli.Whole(0, keys.MOST_ANALYSED - 1),
    keys.WORST,
    "Worst decisions of each bot to show; twice as many are judged by a second judge.",
)
@cli.default_option("--seed", cli.SEED, 0, "Draws the worlds.")
@cli.venue_options()
@cli.json_option
@cli.QUIET
def analyse(
    target: Path, bots: Sequence[str], by: str, worlds: int, worst: int, seed: int, **options: Any
) -> None:
    """Estimate what each decision was worth, and what bots gave away.

    For each decision of recorded games, hands of the opponent are drawn from the cards that the
    seat did not know. In each of these worlds every action is tried, and the bot of --by plays both
    seats to the end of the round. The loss of an action is the chance to win that it gave away. RUN
    is the folder of a run. The last round is solved with all cards open. An interrupted analysis
    continues. Of one BOT it says which kind of mistake costs it most, and what curing it is worth.

    Compare losses against the same opponent only: they are not ratings.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/losses &&
        arena analyse results/losses
    """
    from arena.tables.losses import Asked

    venue = starting.find_venue(options)
    analysis = _analyse_run(target, bots, Asked(by, worlds, seed, worst), venue, options)
    against = _choose(analysis, options["opponent"])
    lines = _format(target, bots, analysis, against)
    if options["quiet"]:
        lines = _format_losses(analysis, against, _name_bots(analysis))
    cli.print_found(_make_document(target, analysis, against), lines, as_json=options["as_json"])


def _analyse_run(
    path: Path, bots: Sequence[str], asked: Asked, venue: Venue, options: Mapping[str, Any]
) -> Analysis:
    from arena.addons.studies.analysis import analyse_run
    from arena.store.reader import choose, read_run

    tournament, store = read_run(path)
    with closing(store), starting.stoppable(path), naming(path):
        choice = choose(tournament, bots) if bots else None
        note_extent(path, tournament, store)
        return analyse_run(
            tournament,
            store,
            path,
            venue,
            asked,
            games=options["games"],
            choice=choice,
            progress=not options["quiet"],
        )


def _choose(analysis: Analysis, against: str | None) -> str:
    """Return the opponent of the table; raises InputError for one without a game."""
    known = [*dict.fromkeys(analysis.decisions["opponent"])]
    if against is not None and against not in known:
        raise InputError(f"--opponent: no game against {against!r}; there are {', '.join(known)}")
    return against or str(analysis.opponent)


def _list_worst(target: Path, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the worst decisions as plain data, each with the command that shows its game."""
    from arena.tables.summary import plain_rows

    rows = plain_rows(table[[*_WORST]])
    for row in rows:
        row["command"] = arena_command("view", [target, row["game"]])
    return rows


def _make_document(target: Path, analysis: Analysis, against: str) -> dict[str, Any]:
    """Return an analysis as plain data."""
    from arena.replays.timeline import DISPUTED
    from arena.tables.summary import plain_rows

    asked, decisions = analysis.asked, analysis.decisions
    return {
        "run": str(target),
        **asked._asdict(),
        "games": int(decisions["game"].nunique()),
        "decisions": len(decisions),
        "opponent": against,
        "losses": plain_rows(analysis.losses),
        "worst": _list_worst(target, analysis.worst),
        "mistakes": plain_rows(analysis.mistakes),
        "judged_again": int(decisions["again"].notna().sum()),
        "disputed": int((decisions["mistake"] == DISPUTED).sum()),
        "lesson": analysis.lesson and analysis.lesson.document(),
    }


def _format(target: Path, bots: Sequence[str], analysis: Analysis, against: str) -> Iterator[str]:
    """Yield the lines of an analysis; chances are in per cent."""
    decisions, asked = analysis.decisions, analysis.asked
    games = decisions["game"].nunique()
    yield (
        f"{counted(games, 'game')}, {counted(len(decisions), 'decision')} with a choice, "
        f"{asked.worlds} worlds each, judged by {asked.by}"
    )
    names = _name_bots(analysis)
    if games == 1:
        yield from _format_game(decisions, names)
        return
    yield ""
    yield from _format_losses(analysis, against, names)
    yield from _format_worst(target, bots, analysis, names)
    if analysis.lesson:
        yield ""
        yield from chain.from_iterable(map(wrapped, analysis.lesson.lines()))
    if not bots:
        yield ""
        yield f"decisions in {locate(target, ANALYSIS)}"


def _format_game(decisions: pd.DataFrame, names: Names) -> Iterator[str]:
    """Yield a line for each decision of a game."""
    from arena.tables.summary import plain_rows

    width, write = names.column(_LABEL)
    yield f"{'ply':>3} {'bot':<{width}} {'played':>7} {'chance':>7} {'best':>5} {'chance':>7} loss"
    for row in plain_rows(decisions):
        played = f"{row['action']:>7} {row['chance']:>7.1%}"
        best = f"{row['best']:>5} {row['best_chance']:>7.1%}"
        yield f"{row['ply']:>3} {write(row['bot'])} {played} {best} {_format_loss(row)}"


def _format_losses(analysis: Analysis, against: str, names: Names) -> Iterator[str]:
    """Yield the losses against one opponent, the smallest first."""
    from arena.tables.losses import PARTS_OF
    from arena.tables.summary import plain_rows, write_row

    table = analysis.losses
    table = table[table["opponent"] == against]
    worlds = analysis.asked.worlds
    yield f"points of 100 given away against {against} ({worlds} worlds); not a rating"
    heads = ("r1", "r2", "r3", "r4", "play", "take")
    parts = "".join(f"{head:>5}" for head in heads)
    width, write = names.column(_LABEL)
    yield f"{'bot':<{width}} {'each':>5} {'95 %':>11} {'a game':>6}{parts} blunder"
    for row in plain_rows(table[table["part"] == "all"].sort_values("loss", kind="stable")):
        own = table[table["bot"] == row["bot"]].set_index("part")["loss"]
        cells = "".join(
            f"{100 * own[part]:>5.1f}" if part in own else f"{'-':>5}" for part in PARTS_OF[1:]
        )
        each, between = write_row(row, "loss", ".2%")
        share = row["blunders"] / row["decisions"]
        yield (
            f"{write(row['bot'])} {each:>5} {between:>11}"
            f" {100 * row['game_loss']:>6.1f}{cells} {share:>7.1%}"
        )


def _format_worst(
    target: Path, bots: Sequence[str], analysis: Analysis, names: Names
) -> Iterator[str]:
    """Yield the worst decision of each bot, or all the worst decisions of the bots named."""
    from arena.replays.timeline import DISPUTED
    from arena.tables.summary import plain_rows

    worst, again = analysis.worst, analysis.decisions["mistake"].dropna()
    if len(bots) == 1 and bots[0] in {*worst["bot"]}:
        worst = worst[worst["bot"] == bots[0]]
    else:
        worst = worst.groupby("bot", sort=False).head(1)
    if worst.empty:
        return
    _, write = names.column(_LABEL)
    yield ""
    yield f"the worst decisions, by two judges; arena view {target} GAME shows one"
    disputed = (again == DISPUTED).sum()
    yield f"of {len(again)} that {keys.SECOND} judged again, it disputes {disputed}"
    for row in plain_rows(worst):
        what = f"ply {row['ply']}: {row['action']}, and {row['best']} is {_format_loss(row)} better"
        yield f"{write(row['bot'])} {row['game']} {what}"
        first = f" ({analysis.asked.by} said {100 * row['first_loss']:.1f})"
        yield f"  {row['mistake']}{first if row['mistake'] == DISPUTED else ''}"


def _format_loss(row: Mapping[str, Any]) -> str:
    return f"{100 * row['loss']:.1f} +- {100 * row['error']:.1f}"


def _name_bots(analysis: Analysis) -> Names:
    """Return the names of the bots for the terminal, whole labels for a file or a pipe."""
    room = cli.terminal_room()
    return short_names(
        map(escape, {*analysis.decisions["bot"]}), room and max(room - _OTHERS, _LABEL)
    )
