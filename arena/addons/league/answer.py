"""Answer what an owner asks after a loss: which decisions cost most.

It is for the owner of the bot and for the organiser; nothing is published.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from arena.addons import hook
from arena.addons.league.league import League
from arena.errors import InputError, arena_command, counted, naming
from arena.store.reader import Choice
from arena.tables.losses import Asked
from arena.tables.summary import plain_rows
from arena.tournament.config_keys import Venue

_MOST_COSTLY: Final = 10  # decisions
_COSTLY: Final = ("opponent", "game", "ply", "action", "best", "loss", "mistake")


def why(league: League, name: str, venue: Venue, *, progress: bool = False) -> dict[str, Any]:
    """Return why the newest version of a name lost, as plain data.

    Games that were judged are kept. Raises InputError for an unknown name and without a game
    that can be judged, and Interrupted at Ctrl-C.
    """
    versions, games = league.find(name), league.games
    label = versions[-1].label
    if label not in games.totals or games.tournament is None:
        raise InputError(f"{name}: its newest version has not played yet")
    run, asked = (games.tournament, games.store, league.folder, venue), Asked(worst=_MOST_COSTLY)
    with naming(name):
        choice = Choice((label,))
        analysis = hook("analyse_run")(*run, asked, choice=choice, progress=progress)
    worst = plain_rows(analysis.worst[analysis.worst["bot"] == label])
    shown = [(row, arena_command("show", [league.folder, row["game"]])) for row in worst]
    return {
        "bot": name,
        "version": versions[-1].number,
        "judged": int(analysis.decisions["game"].nunique()),
        "costly": [{key: row[key] for key in _COSTLY} | {"show": show} for row, show in shown],
    }


def format_why(found: dict[str, Any]) -> Iterator[str]:
    """Yield the reasons of a bot's losses for a terminal of 80 columns."""
    yield f"{found['bot']} {found['version']}: {counted(found['judged'], 'game')} judged"
    if found["costly"]:
        yield "the decisions that cost most of the chance to win:"
    for one in found["costly"]:
        played = f"played {one['action']}, best {one['best']}, {one['mistake']}"
        yield f"  {100 * one['loss']:>3.0f} %  ply {one['ply']:>2}, {played}:"
        yield f"    `{one['show']}`"
