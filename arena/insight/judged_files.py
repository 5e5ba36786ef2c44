"""Read the files that `arena analyse` left in a run's folder, and check that they are its own.

The files may have been edited, and the run may have been continued since with other bots. A file
that does not match the games is left out, with a line that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from arena.entries.file import read_file
from arena.errors import InputError
from arena.insight.losses import AGREEMENT, DECISIONS, make_losses
from arena.store.csv_files import parse_table
from arena.store.folder import AGREED, ANALYSIS
from arena.store.store import Store
from arena.tournament import keys
from arena.tournament.tournament import Tournament
from engine import STANDARD

_MOST: Final = 1 << 27  # bytes: the decisions of 17,000 games
_OTHER = "not of the games of this run; arena analyse makes it again"
_DECISIONS: Final = {
    **dict.fromkeys(("game", "bot", "opponent", "action"), str),
    **dict.fromkeys(("pair", "seat", "ply", "round", "worlds"), int),
    **dict.fromkeys(("loss", "error"), float),
}
"""The columns of decisions that are read."""
_AGREEMENT: Final = {
    **dict.fromkeys(("bot", "other"), str),
    "positions": int,
    **dict.fromkeys(("share", "share_low", "share_high"), float),
}


def _empty(types: Mapping[str, type]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=of) for name, of in types.items()})


@dataclass(frozen=True)
class JudgedTables:
    """The judged decisions of a run, and which bots choose alike; both may have no rows.

    `left_out` has a line for each file that is not used, with the reason.
    """

    decisions: pd.DataFrame = field(default_factory=lambda: _empty(_DECISIONS))
    agreement: pd.DataFrame = field(default_factory=lambda: _empty(_AGREEMENT))
    left_out: Sequence[str] = ()

    @cached_property
    def losses(self) -> pd.DataFrame:
        """The losses of each bot against each opponent, in all of its decisions."""
        table = make_losses(self.decisions)
        return table[table["part"] == "all"]


def read_judged(folder: Path | None, tournament: Tournament, store: Store) -> JudgedTables:
    """Return the judged tables of a run; they are empty without a folder."""
    left_out: list[str] = []

    def read(
        name: str, types: Mapping[str, type], parse: Callable[[bytes], pd.DataFrame]
    ) -> pd.DataFrame:
        try:
            if folder and (folder / name).exists():
                return parse(_read(folder / name))
        except InputError as error:
            left_out.append(f"{error}")
        return _empty(types)

    decisions = read(ANALYSIS, _DECISIONS, lambda text: parse_decisions(text, tournament, store))
    agreement = read(AGREED, _AGREEMENT, lambda text: parse_agreement(text, tournament.labels))
    return JudgedTables(decisions, agreement, left_out)


def _read(path: Path) -> bytes:
    try:
        return read_file(path, _MOST)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def parse_decisions(content: bytes, tournament: Tournament, store: Store) -> pd.DataFrame:
    """Return the decisions of a file; raises InputError for any that are not of these games."""
    table = parse_table(content, ANALYSIS, DECISIONS.names, _DECISIONS)
    worlds = table["worlds"].unique()
    is_sane = (
        table["loss"].between(-1, 1).all()
        and table["error"].between(0, 1).all()
        and (table["round"] == table["ply"] // STANDARD.round_plies + 1).all()
        and table["ply"].between(0, STANDARD.game_plies - 1).all()
        and len(worlds) <= 1
        and all(keys.LEAST_WORLDS <= number <= keys.MOST_WORLDS for number in worlds)
    )
    if not is_sane:
        raise InputError(f"{ANALYSIS}: a number that is none of an analysis")
    if not _is_of(table, tournament, store):
        raise InputError(f"{ANALYSIS}: {_OTHER}")
    return table


def _is_of(table: pd.DataFrame, tournament: Tournament, store: Store) -> bool:
    """Return whether each decision is of a game of this store, and none is repeated."""
    numbers = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    two = [*zip(table["bot"], table["opponent"], strict=True)]
    own, turned = ([numbers.get(who[::step], -1) for who in two] for step in (1, -1))  # type: ignore[call-overload]
    is_first = np.array(own) >= 0
    number = np.where(is_first, own, turned)
    seat = table["seat"].to_numpy()
    acting = [STANDARD.seat_at(ply) for ply in table["ply"]]
    place = table.assign(number=number, first=np.where(is_first, seat, 1 - seat))
    names = ["number", "pair", "first"]
    if (number < 0).any() or (seat != acting).any() or place.duplicated([*names, "ply"]).any():
        return False
    for _, decisions in place.groupby(names):
        of, pair, first = decisions[names].iloc[0].tolist()
        game = store.game(of, pair, first)
        actions = game.actions if game and game.fault is None else ""
        name = tournament.fixture(of, pair, first).name
        played = [(name, actions[ply : ply + 1]) for ply in decisions["ply"]]
        if played != [*zip(decisions["game"], decisions["action"], strict=True)]:
            return False
    return True


def parse_agreement(content: bytes, labels: Sequence[str]) -> pd.DataFrame:
    """Return the table of a file; raises InputError for other bots and impossible numbers."""
    table = parse_table(content, AGREED, AGREEMENT.names, _AGREEMENT)
    share, low, high = (table[name] for name in ("share", "share_low", "share_high"))
    is_sane = ((low >= 0) & (low <= share) & (share <= high) & (high <= 1)).all()
    if not (is_sane and table["positions"].between(1, keys.MOST_ANALYSED).all()):
        raise InputError(f"{AGREED}: a number that is none of an agreement")
    bots = [*dict.fromkeys(table["bot"])]
    shares = {row[:2]: row[2:] for row in table.itertuples(index=False, name=None)}
    whole = {(one, other) for one in bots for other in bots}
    alike = all(shares.get(two[::-1]) == of for two, of in shares.items())
    if not {*bots} <= {*labels} or len(table) != len(shares) or {*shares} != whole or not alike:
        raise InputError(f"{AGREED}: not of the bots of this run; arena analyse makes it again")
    return table
