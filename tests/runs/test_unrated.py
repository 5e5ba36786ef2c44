"""Bots that finish no game have no rating, and the order of a config changes no number."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from arena.differences.run_files import make_files
from arena.entries.resolve import resolve
from arena.executors.log import QUIET, RunLog
from arena.executors.worker import Worker
from arena.lanes.scratch import scratch_folder
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.rogues import FOLDER, write
from tests.tiers import few

ILLEGAL = [f"{label}={FOLDER}/answers.py(what='99')" for label in "abcd"]
TIRES = (
    "    def choose(self, view, /):\n"
    "        assert self.rng.random() < 0.98\n"
    "        return view.legal[0]"
)
TABLES = ("standings", "head_to_head", "win_types", "verdicts", "seats")


class InThisProcess:
    """An executor that plays in this process."""

    def play(self, plan: Plan, tournament: Tournament, _: RunLog) -> Iterator[Played]:
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            while chunk := plan.next():
                yield worker.play(chunk)


def tiring(folder: Path) -> Path:
    """Return the file of a bot that fails now and then."""
    return write(folder, "tires", TIRES, "self.rng = setup.rng")


def tables_of(specs: Sequence[str], pairs: int, max_faults: int) -> dict[str, pd.DataFrame]:
    """Return tables of a round robin between these bots, with their rows in one order."""
    bots = [resolve(spec, lane="inproc") for spec in specs]
    tournament = Tournament("cup", 5, pairs, bots, STANDARD, max_faults=max_faults)
    found = {}
    with closing(Store(None)) as store:
        run(tournament, InThisProcess(), shown=QUIET, store=store)
        writers = make_files(tournament, store).writers
        for name in TABLES:
            file = io.StringIO()
            writers[f"{name}.csv"](file)
            file.seek(0)
            table = pd.read_csv(file)
            keys = [key for key in ("bot", "opponent", "seat") if key in table]
            table = table.sort_values(keys, ignore_index=True)
            found[name] = table[sorted(table)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("max_faults", few([2, 1, 5], 1, 0))
def test_the_order_of_the_config_changes_no_number(tmp_path: Path, max_faults: int) -> None:
    """Of a field in which two bots fail now and then, and two always."""
    tires = tiring(tmp_path)
    bots = ["uniform", "greedy", f"s={tires}", f"e={tires}", *ILLEGAL[:2]]
    first, *others = (
        tables_of([bots[place] for place in order], 12, max_faults)
        for order in ((0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0), (3, 5, 0, 4, 1, 2))
    )
    elo = first["standings"].set_index("bot")["elo"]
    assert elo[["a", "b"]].isna().all()
    assert elo[["uniform", "greedy"]].notna().all()
    assert first["standings"]["forfeits"].min() == 0
    for tables in others:
        for name, table in tables.items():
            pd.testing.assert_frame_equal(table, first[name], obj=name)


@pytest.mark.slow
def test_games_that_were_not_played_change_no_elo(tmp_path: Path) -> None:
    """A bot that is out has the Elo of what it has played, however many games are left."""
    few, many = (
        tables_of(["greedy", f"t={tiring(tmp_path)}"], pairs, 1)["standings"].set_index("bot")
        for pairs in (20, 60)
    )
    assert many.loc["t", "forfeits"] == few.loc["t", "forfeits"] + 80
    columns = ["elo", "elo_low", "elo_high"]
    assert few[columns].notna().all(axis=None)
    pd.testing.assert_frame_equal(many[columns], few[columns])
