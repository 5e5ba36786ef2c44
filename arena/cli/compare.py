"""The commands that compare two bots, and that look for an opponent to which a bot loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.completion import complete_bots
from arena.cli.options import (
    AGAINST,
    NO_REPEAT,
    PAIRS,
    PATH,
    QUIET,
    REPLACE,
    SEED,
    add_run_options,
    json_option,
    key_option,
    print_json,
    say,
    with_options,
)
from arena.cli.starting import How, count_games, say_where
from arena.errors import arena_command
from arena.tournament import keys

if TYPE_CHECKING:
    from arena.differences.comparison import SprtResult
    from arena.runs.probe_bot import Probed
    from arena.runs.run import Outcome
    from arena.tournament.keys import ExecutorChoice
    from arena.tournament.tournament import Tournament

_SHOWN = 5  # games in which the change decided


@click.command()
@click.argument("new", shell_complete=complete_bots)
@click.argument("old", shell_complete=complete_bots)
@AGAINST
@click.option(
    "--elo0", type=float, default=keys.ELO0, show_default=True, help="Elo difference under H0."
)
@click.option(
    "--elo1", type=float, default=keys.ELO1, show_default=True, help="Elo difference under H1."
)
@click.option(
    "--alpha",
    type=float,
    default=keys.ERROR_RATE,
    show_default=True,
    help="Wrong verdicts under H0, at most.",
)
@click.option(
    "--beta",
    type=float,
    default=keys.ERROR_RATE,
    show_default=True,
    help="Wrong verdicts under H1, at most.",
)
@click.option(
    "--max-pairs",
    type=PAIRS,
    default=keys.COMPARED_PAIRS,
    show_default=True,
    help="Stop, undecided, after this many pairs.",
)
@click.option(
    "--season",
    metavar="NAME",
    help="Spend 5 % of errors over all comparisons of this season.  [default: none]",
)
@REPLACE
@NO_REPEAT
@add_run_options(
    seed="0",
    workers="all cores",
    lane="as fits the bot",
    out="results/compare-NEW-OLD",
)
def compare(
    new: str,
    old: str,
    against: Sequence[str],
    lane: str | None,
    out: Path | None,
    elo0: float,
    elo1: float,
    alpha: float,
    beta: float,
    max_pairs: int,
    season: str | None,
    **options: Any,
) -> None:
    """Say whether NEW is stronger than OLD, with as few games as needed.

    The two play each other until a sequential probability ratio test decides for H1, that NEW
    leads by elo1 Elo points, or for H0, that it leads by elo0. With --against both meet other
    bots on the same deals, and the difference by deal is tested. A comparison that was stopped
    goes on from where it was.

    \b
    Example:
      arena compare denier uniform --against greedy --max-pairs 32
    """
    from arena.tournament.config import Config, make_tournament
    from arena.tournament.sprt_rounds import as_comparison
    from arena.tournament.stop import make_sprt

    asked = How.of(options)
    choice = asked.choose()
    stop = make_sprt(elo0, elo1, alpha, beta, max_pairs)
    settings = with_options(Config([], max_pairs, name="compare"), options)
    tournament = as_comparison(make_tournament(settings, (new, old), against, lane), stop)
    play_comparison(tournament, out, asked, choice, season=season)


def play_comparison(
    tournament: Tournament,
    out: Path | None,
    how: How,
    choice: ExecutorChoice,
    place: Path | None = None,
    season: str | None = None,
) -> None:
    """Play a comparison, which is from this place, and print what it came to."""
    from arena.runs.season import keep_result, take_place

    where = out or Path("results") / tournament.name
    how, problems = how.prepare(tournament, where if season is None else out, place)
    if season is not None:
        tournament, where = placed = take_place(season, tournament, out)
    outcome = how.play(tournament, where, choice)
    comparison = outcome.comparison
    assert comparison is not None
    if season is not None:
        keep_result(placed, comparison.sentence)
    if how.as_json:
        played = {"folder": str(where), "played": outcome.played, "kept": outcome.kept}
        print_json(comparison.document() | played | {"warnings": [*problems]})
    else:
        print_comparison(comparison, outcome, where, quiet=how.quiet)


def print_comparison(comparison: SprtResult, outcome: Outcome, out: Path, *, quiet: bool) -> None:
    """Print the verdict, the lead, the counts, what differs, and the command that repeats it."""
    from arena.differences.comparison import describe, describe_differences

    lines = list(describe(comparison))
    if quiet:
        say(lines[0])
        return
    say(*lines)
    say(*(f"{label} was out after {outcome.out[label]}" for label in comparison.out))
    say(*describe_differences(comparison))
    if paired := comparison.paired:
        for row in paired.decided.head(_SHOWN).to_dict("records"):
            command = arena_command("show", [out, row["game"]])
            scores = f"{row['new_score']:g}, not {row['old_score']:g}"
            say(f"  {command}   from ply {row['ply']} on: {scores}")
    say(count_games(outcome))
    if comparison.command:
        say(f"repeat with: {comparison.command}")
    say(say_where(out))


def _check_minutes(
    _context: click.Context, _option: click.Parameter, minutes: float | None
) -> float | None:
    if minutes is not None and not 0 < minutes < float("inf"):
        raise click.BadParameter(f"{minutes:g} is not a number above 0")
    return minutes


@click.command()
@click.argument("bot", shell_complete=complete_bots)
@key_option("pairs", f"{keys.PROBED_PAIRS}")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Draws the deals.")
@click.option(
    "--minutes",
    type=float,
    metavar="M",
    callback=_check_minutes,
    help="Learn to beat BOT for so long; without scores, to play as BOT.  [default: none]",
)
@click.option(
    "--learn",
    type=PAIRS,
    metavar="PAIRS",
    help="The same, from so many pairs of games.  [default: none]",
)
@key_option("workers", "all cores")
@click.option(
    "--out", "-o", type=PATH, metavar="FILE.py", help="The opponent.  [default: probe-BOT.py]"
)
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@json_option
@QUIET
def probe(bot: str, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Say how much BOT loses at least, to an opponent that knows it.

    The opponent weighs the hands that BOT may hold by what BOT plays, and tries its own actions
    against the likeliest of them. It asks BOT's method scores(games). With --minutes a network
    learns to beat BOT, too, and the better opponent is kept; if BOT has no scores, a network learns
    to play as BOT, and is asked instead. Then the opponent meets BOT itself in fresh pairs, and is
    kept as a bot. Another opponent may win more: see docs/probe.md.

    \b
    Example:
      arena probe greedy --pairs 10 --out responds.py &&
        arena play ./responds.py greedy --pairs 10
    """
    found = _probe(bot, options, quiet=quiet)
    if as_json:
        print_json(found.document())
        return
    say(*([found.sentence] if quiet else found.lines()))


def _probe(bot: str, options: Mapping[str, Any], *, quiet: bool) -> Probed:
    """Return what a probe came to; at Ctrl-C say what is kept."""
    from arena.entries.resolve import resolve
    from arena.executors import log
    from arena.executors.local import LocalExecutor, count_cores
    from arena.lanes.cleanup import adopt_orphans
    from arena.runs.probe_bot import find_opponent, probe
    from arena.runs.run import Interrupted

    victim, seed, how = resolve(bot), options["seed"], (options["learn"], options["minutes"])
    executor = LocalExecutor(options["workers"] or count_cores())
    shown = log.QUIET if quiet else log.NORMAL
    adopt_orphans()
    kept = "nothing is kept"
    if any(how):
        kept = "what was learned or played is kept in results/, and the same command goes on"
    try:
        pairs = options["pairs"] or keys.PROBED_PAIRS
        opponent = find_opponent(
            victim, executor, options["out"], *how, pairs, seed, shown, force=options["force"]
        )
        kept = f"the opponent is kept in {opponent.file}"
        return probe(victim, opponent, pairs, seed, executor, shown)
    except Interrupted:
        raise click.Abort(kept) from None


COMMANDS: list[click.Command] = [compare, probe]
