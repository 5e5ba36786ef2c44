"""A league of 1,000 versions with two million games: its ratings, the next round, its table."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from arena.addons.league.league import League, make_league
from arena.addons.league.league_settings import check_settings
from arena.addons.league.league_tables import ACTIVE, Pairs, Version
from arena.statistics.distributions import expit
from arena.statistics.ratings import ELO
from bench.engine import Row
from bench.timing import peak

_VERSIONS = 994  # beside the six of the panel
_ROUNDS = 3340
_MEETINGS = 30  # of ten pairs
_PAIRS = 10
_SEED = 1
_SPREAD = 250.0
_AT = "2026-11-24T00:00:00+00:00"


def rows() -> Iterator[Row]:
    """Yield what takes how long, and the memory of all of it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "league")
        make_league(folder, check_settings({"lane": "process"}))
        with closing(League(folder)) as league:
            _fill(league)
            seconds = _time(lambda: league._rate(league.number))
            games = 2 * sum(sum(pairs.by_score) for pairs in league.ledger.pairs())
            what = f"1,000 versions, {games / 1e6:.1f} million games"
            yield Row(f"ratings after a round, {what}", f"{seconds:.1f} s", "", "")
            seconds = _time(lambda: league._plan(300))
            yield Row("the next round is planned", f"{seconds:.2f} s", "", "1 s")
        words = [sys.executable, "-m", "arena", "league", "show", str(folder)]
        seconds = _time(lambda: subprocess.run(words, check=True, capture_output=True))
        yield Row("`arena league show`", f"{seconds:.2f} s", "", "1 s")
        yield Row("memory of the process that rated and planned", f"{peak():.0f} MB", "", "500 MB")


def _time(work: object) -> float:
    began = time.perf_counter()
    assert callable(work)
    work()
    return time.perf_counter() - began


def _fill(league: League) -> None:
    """Put versions and results into a league, as if they had been played."""
    random = np.random.default_rng(_SEED)
    ledger = league.ledger
    with ledger.changing():
        for number in range(_VERSIONS):
            name = f"bot{number}"
            ledger.add_version(Version(0, name, 0, name, name, name, 0.1, False, ACTIVE, "", _AT))
    ids = [version.id for version in ledger.versions()]
    strengths = random.normal(0, _SPREAD / ELO, len(ids))
    plan = json.dumps({"versions": {}, "meetings": []})
    with ledger.changing():
        for number in range(1, _ROUNDS + 1):
            met = {
                tuple(sorted(random.choice(len(ids), 2, replace=False).tolist()))
                for _ in range(_MEETINGS)
            }
            for one, two in sorted(met):
                share = float(expit(strengths[one] - strengths[two]))
                halves = 2 * random.binomial(1, share, (2, _PAIRS)).sum(axis=0)
                by_score = tuple(np.bincount(halves, minlength=5).tolist())
                pairs = Pairs(ids[one], ids[two], by_score)
                ledger.add_result(number, pairs, 0, [0] * 15, "".join(map(str, halves)))
            ledger.connection.execute("INSERT INTO rounds VALUES (?, ?, 1, ?)", (number, plan, _AT))
