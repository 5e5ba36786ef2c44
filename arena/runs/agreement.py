"""Let all bots of a run choose at the same positions, and compute how often two choose alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from arena.entries.entry import Entry
from arena.errors import InputError
from arena.games.judged import Recorded
from arena.games.thinking import asked
from arena.insight.losses import make_agreement
from arena.lanes.faults import Forfeit
from arena.runs.progress_bar import show_progress
from arena.runs.rerun import resolve_same
from arena.tournament.tournament import Tournament
from engine import STANDARD, State, View
from engine.notation import parse_actions, parse_deal
from engine.seeds import stream
from engine.view import view


def find_agreement(
    tournament: Tournament,
    games: Sequence[Recorded],
    decisions: pd.DataFrame,
    positions: int,
    seed: int,
    *,
    progress: bool = True,
) -> tuple[pd.DataFrame, str]:
    """Return the shares of equal choices of every two bots, and a note about bots that failed.

    The number of `positions` is drawn from the `decisions`, by the seed. At each of them a new
    strategy of the bot gets the view of the seat to act.
    """
    rng = stream(seed, "agreement")
    drawn = sorted(rng.sample(range(len(decisions)), min(positions, len(decisions))))
    some = decisions.iloc[drawn]
    by_name = {game.name: game for game in games}
    seen = [
        _view(by_name[str(name)], int(ply))
        for name, ply in zip(some["game"], some["ply"], strict=True)
    ]
    choices, left_out = {}, []
    with show_progress(len(seen) * len(tournament.entries), shown=progress) as bar:
        for entry in tournament.entries:
            try:
                choices[entry.label] = _ask(entry, seen, seed)
            except (InputError, Forfeit) as error:
                what = error.fault.message if isinstance(error, Forfeit) else str(error)
                left_out.append(f"{entry.label} is not asked: {what}")
            bar.add(len(seen))
    of_pair = [*zip(some[["bot", "opponent"]].min(axis=1), some["pair"], strict=True)]
    return make_agreement(choices, of_pair), "; ".join(left_out)


def _view(game: Recorded, ply: int) -> View:
    """Return the view of the seat to act."""
    state = State(parse_deal(game.deal, STANDARD), STANDARD)
    state.follow(parse_actions(game.actions[:ply]))
    return view(state, state.to_act)


def _ask(entry: Entry, seen: Sequence[View], seed: int) -> list[str]:
    """Return a bot's choice for each of these views; raises Forfeit or InputError."""
    bot = entry if entry.module else resolve_same(entry)
    if bot.is_ours:
        bot = replace(bot, lane="inproc")
    chosen = []
    for number, one in enumerate(seen):
        luck = stream(seed, "agreement", number).getrandbits(62)
        with asked(bot, one.seat, luck, STANDARD) as strategy:
            chosen.append(strategy.choose(one))
    return chosen
