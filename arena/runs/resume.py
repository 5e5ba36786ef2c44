"""Opening: the store of a run, with the games that are already there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext

from arena.errors import ChangedBots, InputError
from arena.executors.log import logger
from arena.runs.saving import copy_store
from arena.store.database import FRESH
from arena.store.folder import REPLACED, RunFolder
from arena.store.manifest import read_tournament
from arena.store.store import Store
from arena.tournament.tournament import Tournament


@contextmanager
def open_store(
    tournament: Tournament,
    folder: RunFolder | None,
    store: Store | None = None,
    *,
    replace: bool = False,
) -> Iterator[Store]:
    """Yield the folder's store, which belongs to this tournament and is locked until the end.

    A store that is passed is used in place of it, and stays open. Without a folder the store is
    deleted when it is closed.
    """
    with folder.locked() if folder else nullcontext():
        owned = store is None
        if folder and folder.replaced.exists() and folder.store.exists():
            _take_back(folder, tournament)
        store = store or Store(folder.store if folder else None)
        try:
            if folder:
                folder.check(tournament.manifest(), store.manifest)
            _adapt(store, tournament, folder, replace=replace)
            yield store
        finally:
            if owned:
                store.close()


def _take_back(folder: RunFolder, tournament: Tournament) -> None:
    """Go on from the games of before, where the bots are those of before again."""
    manifest = tournament.manifest()
    with closing(Store(folder.replaced, copied=True)) as before:
        if before.find_changed(manifest):
            return
    with closing(Store(folder.store)) as now:
        if not now.find_changed(manifest):
            return
        now.copy_from(folder.replaced)
    folder.replaced.unlink()
    logger.info("the bots are those of before: their games are taken from %s", REPLACED)


def _adapt(
    store: Store, tournament: Tournament, folder: RunFolder | None, *, replace: bool
) -> None:
    """Make it the store of this tournament, with the games that it has of it."""
    manifest = tournament.manifest()
    stored = store.manifest
    if stored is None:
        store.check_games(0, 0)
        store.begin(manifest)
        return
    try:
        before = read_tournament(stored)
    except InputError as error:
        raise InputError(f"{store.path}: {error}{FRESH}") from None
    store.check_games(len(before.pairings), before.most_pairs)
    changed = store.find_changed(manifest)
    if changed and not replace:
        raise ChangedBots(folder.path if folder else store.path, changed)
    if changed and folder and not folder.replaced.exists():
        copy_store(store, folder.replaced)
    if changed or _schedule(before) != _schedule(tournament):
        pairings = before.pairings, tournament.pairings
        store.extend(manifest, *pairings, tournament.most_pairs, changed)
        _log_bots(before.labels, tournament.labels, changed)
    else:
        store.begin(manifest)


def _schedule(tournament: Tournament) -> tuple[object, ...]:
    """Return what decides which games a run has."""
    size = tournament.pairs, tournament.rounds, tournament.stop
    return tournament.pairings, *size


def _log_bots(before: Sequence[str], after: Sequence[str], replaced: Iterable[str]) -> None:
    """Log which bots the store's new run has, and the one before did not, and so on."""
    for what, labels in (
        ("a new bot", [label for label in after if label not in before]),
        ("replaced: its games are played again", replaced),
        ("left out: its games stay in the store", [one for one in before if one not in after]),
    ):
        for label in labels:
            logger.info("%s: %s", label, what)
