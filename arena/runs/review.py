"""Judge the decisions of one game, or play it on from a ply at which another action is played."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

from arena.entries.entry import Entry
from arena.errors import InputError, counted
from arena.executors.judge_chunk import judge_here
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.runs.judge_games import check_rules, find_judge
from arena.store.folder import JUDGED
from arena.store.judged_games import JudgedGames
from arena.tournament import keys
from arena.tournament.judged import Judged, Recorded
from arena.tournament.thinking import Asked, asked
from engine import EngineError, Record, State
from engine.errors import show
from engine.notation import parse_actions, parse_deal
from engine.seeds import address, digest
from engine.view import view


def describe_judge(by: str = keys.JUDGE, worlds: int = keys.WORLDS) -> str:
    """Return the judge and its number of worlds, as text for a timeline.

    >>> describe_judge()
    'apprentice, 8 worlds'
    """
    return f"{by}, {counted(worlds, 'world')}"


def review_record(
    record: Record,
    *,
    name: str = "",
    by: str = keys.JUDGE,
    worlds: int = keys.WORLDS,
    seed: int = 0,
    plies: Collection[int] | None = None,
    folder: Path | None = None,
) -> list[Judged]:
    """Return the decisions of a game, judged as `arena analyse` does, in the order of the plies.

    Forced decisions are left out; with `plies`, only decisions at these plies are judged. With the
    `name` of a game, its numbers are equal to those of `arena analyse`; if that has kept them in
    the `folder` of a run, they are read from there. The game may be unfinished: then its decisions
    so far are judged. The numbers of a decision depend only on what its seat knew. The function can
    be called in any thread. Raises InputError for other rules than the published ones, an invalid
    record, and a bot that cannot judge.

    >>> import arena
    >>> record = arena.play("greedy", "uniform", seed=7).record
    >>> judged = review_record(record, plies=range(12))
    >>> [one.ply for one in judged][:3]
    [0, 1, 2]
    """
    check_rules(record.rules)
    try:
        record.replay()
    except EngineError as error:
        raise InputError(f"a record that cannot be played: {error}") from None
    judge = find_judge(by, worlds, seed)
    wanted = (
        None if plies is None else tuple(ply for ply in range(len(record.actions)) if ply in plies)
    )
    game = Recorded(name, record.deal, record.actions, wanted)
    if folder and (folder / JUDGED).is_file():
        (key,) = judge.keys([game])
        with closing(JudgedGames(folder / JUDGED)) as kept:
            if known := kept.find([key]):
                return known[key]
    try:
        (found,) = judge_here([game], judge.bots, worlds, seed)
    except InputError as error:
        raise InputError(f"bot {judge.entry.target!r}: {error}") from None
    return found


Player: TypeAlias = tuple[Entry, int]
"""The bot that plays on in a seat, and the seed of its generator."""


def draw_players(entry: Entry, seed: int = 0) -> tuple[Player, Player]:
    """Return players for both seats with the same bot; equal seeds give equal games."""
    lucks = [digest(address(seed, "what if", seat)) for seat in (0, 1)]
    return (entry, lucks[0]), (entry, lucks[1])


def what_if(
    record: Record,
    ply: int,
    action: str,
    players: Sequence[Player],
    limits: Limits | None = None,
) -> Record:
    """Return the game with another action at a ply, from which bots play on in both seats.

    Each bot gets only the views of its seat. It also chooses at its seat's earlier decisions, as if
    it had played from the start, but these choices are ignored. Cards dealt later are those of the
    game. Raises InputError for a ply outside the game, an action that is illegal there or was
    played there, an invalid record, and a bot that fails.

    >>> import arena
    >>> from arena.entries.resolve import resolve
    >>> record = arena.play("greedy", "uniform", seed=7).record
    >>> other = what_if(record, 6, "T", draw_players(resolve("greedy")))
    >>> record.actions[:7], other.actions[:7], other.replay().over
    ('zx877T6', 'zx877TT', True)
    """
    until = _change(record, ply, action)
    state = State(parse_deal(record.deal, record.rules), record.rules)
    seat = 0
    actions: list[str] = []
    try:
        with ExitStack() as stack:
            bots: list[Asked] = []
            for seat, (entry, luck) in enumerate(players):
                bots.append(stack.enter_context(asked(entry, seat, luck, record.rules, limits)))
            while not state.over:
                seat = state.to_act
                chosen = bots[seat].choose(view(state, seat))
                actions.append(until[len(actions)] if len(actions) < len(until) else chosen)
                state.apply(*parse_actions(actions[-1]))
    except Forfeit as forfeit:
        raise InputError(f"bot {players[seat][0].target!r}: {forfeit.fault.message}") from None
    return Record(record.deal, "".join(actions), record.rules)


def _change(record: Record, ply: int, action: str) -> str:
    """Return the actions up to and including the changed one; raises InputError."""
    try:
        record.replay()
    except EngineError as error:
        raise InputError(f"a record that cannot be played: {error}") from None
    if not 0 <= ply < len(record.actions):
        plies = len(record.actions)
        raise InputError(f"ply {ply}: the game has {plies} plies, the first one is ply 0")
    if len(action) != 1:
        raise InputError(f"ply {ply}: {show(action)} is not an action, which has one character")
    if action == record.actions[ply]:
        raise InputError(f"ply {ply}: {action} is what was played there")
    changed = record.actions[:ply] + action
    try:
        Record(record.deal, changed, record.rules).replay()
    except EngineError as error:
        raise InputError(f"ply {ply}: {error}") from None
    return changed
