"""Analyse the decisions of recorded games: what actions were worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import groupby, islice
from pathlib import Path

import numpy as np

from arena.errors import InputError, naming
from arena.executors.local import open_executor
from arena.replays.finished_game import Game
from arena.replays.timeline import describe_decision
from arena.runs import judge_games
from arena.runs.costliest_mistake import Seen, teach
from arena.runs.rerun import home_of
from arena.store.csv_files import replace_table
from arena.store.database import NAME
from arena.store.folder import ANALYSIS, STORE, check_names, make_place
from arena.store.reader import Choice, chosen_games
from arena.store.store import Store
from arena.tables.losses import Analysis, Asked, PlayedGame, add_second, find_costly, make_decisions
from arena.tables.win_tables import count_pairs, share_out
from arena.tournament import config_keys as keys
from arena.tournament.asking import PARTS, Judged
from arena.tournament.config_keys import Venue
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import STANDARD, EngineError

_CANDIDATES = 2  # candidates for each of the worst decisions


def analyse_run(
    tournament: Tournament,
    store: Store,
    folder: Path | None,
    venue: Venue,
    asked: Asked,
    *,
    games: int = keys.ANALYSED,
    choice: Choice | None = None,
    teaches: bool = True,
    progress: bool = True,
) -> Analysis:
    """Return the analysis of a run, and write its decisions to the folder, if there is one.

    Without a `choice` the first pairs of each pairing are judged, `games` games at most. Judged
    games are kept in the run's store at once. With `teaches` a choice of one bot gets a lesson.
    Raises InputError if nothing can be judged, and Interrupted at Ctrl-C.
    """
    most = keys.MOST_ANALYSED
    judge_games.check_bounds(games=(games, 2, most), worst=(asked.worst, 0, most))
    judge_games.check_numbers(asked.worlds, asked.seed)
    judge_games.check_rules(tournament.rules)
    found = [*_read(tournament, store, games, choice or Choice())]
    if not found:
        raise InputError("no game has been played to its end")
    if folder:
        check_names(folder, STORE)
    pupil = choice.bots[0] if teaches and choice and len(choice.bots) == 1 else None
    kept = folder and folder / NAME
    analysis = _analyse(tournament, found, kept, venue, asked, pupil, progress=progress)
    if folder and choice is None:
        replace_table(make_place(folder, ANALYSIS), analysis.decisions)
    return analysis


def _analyse(
    tournament: Tournament,
    games: Sequence[tuple[Fixture, Game]],
    path: Path | None,
    venue: Venue,
    asked: Asked,
    pupil: str | None,
    *,
    progress: bool,
) -> Analysis:
    recorded = [judge_games.record_of(*one) for one in games]
    played = [PlayedGame(one.name, one.pair, game.seats, game.winner) for one, game in games]

    def bot_of(place: int, one: Judged) -> str:
        return played[place].seats[STANDARD.seat_at(one.ply)]

    store = judge_games.JudgedGames(path, checked=True)  # its games have just been read
    with closing(store) as kept, open_executor(venue) as executor:
        ask = partial(judge_games.judge_games, kept=kept, executor=executor, progress=progress)
        judged = ask(judge_games.find_judge(asked.by, asked.worlds, asked.seed), recorded)
        most = _CANDIDATES * asked.worst
        modelled = recorded
        if most or pupil is not None:  # else no decision is judged again
            models = judge_games.fit_models(recorded, [game.seats for game in played])
            modelled = [
                one._replace(models=[models[label] for label in game.seats])
                for one, game in zip(recorded, played, strict=True)
            ]
        again = judge_games.judge_again(modelled, judged, most, bot_of, ask, asked.seed)
        lesson = None
        if pupil is not None:
            every = zip(games, judged, modelled, strict=True)
            seen = [Seen(*game, rows, one.models) for game, rows, one in every]
            at = pupil, tournament, seen, ask, executor
            home = home_of(path and path.parent)
            lesson = teach(*at, seed=asked.seed, home=home, progress=progress)
    second = make_decisions(played, again, keys.LEAST_WORLDS)
    rows = [(game, one) for game, of_game in zip(recorded, again, strict=True) for one in of_game]
    second["mistake"] = [describe_decision(game.deal, game.actions, one) for game, one in rows]
    second["first_loss"] = [(one.first or 0) / PARTS for _, one in rows]
    decisions = add_second(make_decisions(played, judged, asked.worlds), second)
    return Analysis(asked, decisions, find_costly(second, asked.worst), lesson)


def _read(
    tournament: Tournament, store: Store, games: int, choice: Choice
) -> Iterator[tuple[Fixture, Game]]:
    """Yield the chosen games of a run that were played to their end; raises InputError."""
    chosen = chosen_games(tournament, store, choice)
    if choice.pair is None:
        chosen = _choose(tournament, store, games, choice.bots)
    for fixture, game in chosen:
        if game.fault is None:
            with naming(f"game {fixture.name}: its record cannot be played", EngineError):
                is_over = game.record.replay().over
            if not is_over:
                raise InputError(f"game {fixture.name}: its record has no end")
            yield fixture, game


def _choose(
    tournament: Tournament, store: Store, games: int, bots: Sequence[str]
) -> Iterator[tuple[Fixture, Game]]:
    """Yield the first pairs of each pairing of some bots, so many games at most."""
    pairs = count_pairs(store.count(), len(tournament.pairings))
    wanted = [{*bots} <= {*pairing} for pairing in tournament.pairings]
    quota = share_out(pairs * np.array(wanted), games // 2).tolist()
    for pairing, most in zip(tournament.pairings, quota, strict=True):
        of_pairing = chosen_games(tournament, store, Choice((pairing.bot, pairing.opponent)))
        by_pair = groupby(of_pairing, key=lambda one: one[0].pair)
        for _, of_pair in islice(by_pair, most):
            yield from of_pair
