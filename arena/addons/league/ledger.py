"""Store a league in league.sqlite: versions of bots, refusals, rounds and results.

Each event is one transaction: a submission, the plan of a round, its results. Readers never wait,
and the unfinished changes of a killed process are rolled back.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from arena.addons.league.league_tables import (
    ACTIVE,
    GROWN,
    LEFT,
    REPLACED,
    SCHEMA,
    SUSPENDED,
    Event,
    Pairs,
    Plan,
    RatingRow,
    Refusal,
    Result,
    Version,
    simplify_name,
)
from arena.errors import InputError
from arena.statistics.counts import RESULTS
from arena.store.database import SqliteFile
from arena.store.folder import LEAGUE
from arena.tournament.schedule import Meeting
from arena.tournament.versions import maker_of, version_here

NAME: Final = LEAGUE
FORMAT: Final = 4
"""The format of league.sqlite, which changes with its tables and with the deals of a seed."""

_OLDEST: Final = 2  # it and those after it are brought to the present one

_APPLICATION = 0x444E4C47  # DNLG
_PATIENCE = 60.0  # seconds to wait while another process is writing

_OTHERS = str.maketrans("01234", "43210")  # half points of a pair, from the opponent's side
_TURNED = (1, 0, 2)  # won, lost and drawn, from the opponent's side
_RATINGS = """
SELECT round, version, pairs, elo, low, high, shrunk, letters, played FROM ratings
"""


def _turn(endings: Sequence[int]) -> list[int]:
    """Return games by win type and result from the opponent's side."""
    return [
        endings[place - place % RESULTS + _TURNED[place % RESULTS]] for place in range(len(endings))
    ]


def _read_rating(row: Sequence[Any]) -> RatingRow:
    return RatingRow(*row[1:])._replace(played=bool(row[-1]))


class Ledger(SqliteFile):
    """The database of a league."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the file, or create it with `create`; raises InputError."""
        self.path = path
        if not create and not path.is_file():
            raise InputError(f"{path}: no such file; the league's folder is not whole")
        with self.errors():
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE)
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.execute("PRAGMA foreign_keys = ON")
            if create:
                self._create()
            else:
                foreign = "not the database of a league"
                advice = "; another league needs a new folder"
                self.check(_APPLICATION, FORMAT, foreign, advice, _OLDEST)
                if self.one("PRAGMA user_version") < FORMAT:
                    with self.changing():
                        self._grow()

    def _create(self) -> None:
        self.connection.execute("PRAGMA journal_mode = WAL")
        with self.changing():
            if self.one("SELECT count(*) FROM sqlite_master"):
                raise InputError(f"{self.path}: there is a database already")
            self._run(SCHEMA, GROWN)

    def _grow(self) -> None:
        """Bring an older format to the present one, unless another process has just done so."""
        number = self.one("PRAGMA user_version")
        if number == _OLDEST:
            self._run(GROWN)
            for name, owner in self.rows("SELECT name, owner FROM versions WHERE number = 1"):
                self._insert("names", simplify_name(name), name, owner)
        if number < FORMAT:
            self._run(LEFT)

    def _run(self, *scripts: str) -> None:
        for statement in ";".join(scripts).split(";"):
            self.connection.execute(statement)
        self.mark(_APPLICATION, FORMAT)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.errors():
            return self.connection.execute(query, values).fetchall()

    def _insert(self, table: str, *row: Any) -> int:
        """Add a row, and return its number."""
        marks = ", ".join("?" * len(row))
        query = f"INSERT INTO {table} VALUES ({marks})"
        return int(self.connection.execute(query, row).lastrowid or 0)

    # fixed values

    def fixed(self) -> dict[str, Any]:
        """Return the values that were fixed when the league began, as plain data."""
        text = self.rows("SELECT value FROM fixed WHERE key = 'settings'")
        return json.loads(text[0][0]) if text else {}

    def fix(self, values: dict[str, Any]) -> None:
        """Store the values that must not change, and the arena's version that began the league."""
        for row in ("settings", json.dumps(values)), ("arena", version_here()):
            self._insert("fixed", *row)

    def maker(self) -> str:
        """Return the version of the arena that began the league."""
        version = self.one("SELECT value FROM fixed WHERE key = 'arena'")
        return maker_of({"versions": {"arena": version}})

    # versions and refusals

    def versions(self, where: str = "1", *values: Any) -> list[Version]:
        """Return versions in the order of their submission."""
        rows = self.rows(f"SELECT * FROM versions WHERE {where} ORDER BY id", *values)
        return [Version._make((*row[:7], bool(row[7]), *row[8:])) for row in rows]

    def refusals(self, where: str = "1", *values: Any) -> list[Refusal]:
        """Return refused submissions in the order of their submission."""
        return [
            Refusal(*row)
            for row in self.rows(f"SELECT * FROM refusals WHERE {where} ORDER BY id", *values)
        ]

    def count_submissions(self) -> tuple[int, int]:
        """Return how many submissions were accepted, and how many were refused."""
        accepted, refused = (
            int(self.one(f"SELECT count(*) FROM {table}")) for table in ("versions", "refusals")
        )
        return accepted, refused

    def holder(self, name: str) -> tuple[str, str] | None:
        """Return the name that looks like this one or is it, and its owner; None if there is none.

        The first owner of a name keeps it.
        """
        query = "SELECT name, owner FROM names WHERE alike = ?"
        rows = self.rows(query, simplify_name(name))
        return (rows[0][0], rows[0][1]) if rows else None

    def add_version(self, version: Version) -> Version:
        """Store a new version and return it with its id and number; it replaces the one before."""
        number = 1 + (
            self.one("SELECT max(number) FROM versions WHERE name = ?", version.name) or 0
        )
        self.connection.execute(
            "UPDATE versions SET state = ? WHERE name = ? AND state IN (?, ?)",
            (REPLACED, version.name, ACTIVE, SUSPENDED),
        )
        row = version._replace(id=None, number=number)  # type: ignore[arg-type]
        id = self._insert("versions", *row)
        if number == 1:
            self._insert("names", simplify_name(row.name), row.name, row.owner)
        what = "joins the league" if number == 1 else "is a new version"
        self.tell(version.at, version.name, f"{row.title}, by {version.owner}, {what}")
        return row._replace(id=id)

    def set_state(self, version: Version, state: str, why: str, at: str) -> None:
        """Change the state of a version, which is whether it plays, and record the event."""
        change = "UPDATE versions SET state = ?, why = ? WHERE id = ?"
        self.connection.execute(change, (state, why, version.id))
        self.tell(at, version.name, f"{version.title} is {state}")

    def tell(self, at: str, name: str, text: str) -> None:
        """Record an event."""
        self._insert("events", None, at, name, text)

    def events(self, since: str = "", most: int = 1000) -> list[Event]:
        """Return the events since a time, the newest first."""
        query = "SELECT * FROM events WHERE at >= ? ORDER BY id DESC LIMIT ?"
        return [Event(*row) for row in self.rows(query, since, most)]

    def refuse(self, refusal: Refusal) -> None:
        """Record a refusal; an invalid name, which has no owner, is not published."""
        self._insert("refusals", None, *refusal[1:])
        name = refusal.name if refusal.owner else ""
        why = f": {refusal.public}" if name and refusal.public else ""
        self.tell(refusal.at, name, f"a submission for {name or 'a wrong name'} was refused{why}")

    def freeze(self, at: str, text: str) -> None:
        """Accept no submission from now on; an empty time accepts them again."""
        self.connection.execute("INSERT OR REPLACE INTO fixed VALUES ('frozen', ?)", (at,))
        self.tell(at, "", text)

    def frozen(self) -> str:
        """Return the time from which on no submission counts, empty while they do."""
        return self.one("SELECT value FROM fixed WHERE key = 'frozen'") or ""

    # rounds

    def last_round(self) -> tuple[int, bool]:
        """Return the number of the last round, 0 for none, and whether it is finished."""
        rows = self.rows("SELECT number, finished FROM rounds ORDER BY number DESC LIMIT 1")
        return (rows[0][0], bool(rows[0][1])) if rows else (0, True)

    def plan(self, number: int) -> Plan:
        """Return the plan of a round."""
        ((text,),) = self.rows("SELECT plan FROM rounds WHERE number = ?", number)
        data = json.loads(text)
        return Plan(data["versions"], [Meeting(*meeting) for meeting in data["meetings"]])

    def add_round(self, number: int, plan: Plan, at: str) -> None:
        """Store the plan of a new round."""
        text = json.dumps({"versions": plan.versions, "meetings": plan.meetings})
        self._insert("rounds", number, text, 0, at)

    def change_plan(self, number: int, plan: Plan) -> None:
        """Change the plan of a round that is not finished."""
        text = json.dumps({"versions": plan.versions, "meetings": plan.meetings})
        self.connection.execute("UPDATE rounds SET plan = ? WHERE number = ?", (text, number))

    def finish_round(self, number: int, at: str) -> None:
        """Mark a round as finished; its results are stored in the same transaction."""
        change = "UPDATE rounds SET finished = 1, at = ? WHERE number = ?"
        self.connection.execute(change, (at, number))

    def round_times(self) -> dict[int, str]:
        """Return the time at which each finished round ended, by its number."""
        return dict(self.rows("SELECT number, at FROM rounds WHERE finished ORDER BY number"))

    # results

    def add_result(
        self, number: int, pairs: Pairs, first: int, endings: Sequence[int], scores: str
    ) -> None:
        """Store the result of a meeting from the first version's side (see `Result`)."""
        row = (number, *pairs[:2], first, sum(pairs.by_score), *pairs.by_score)
        self._insert("results", *row, json.dumps([*endings]), scores)

    def pairs(self) -> list[Pairs]:
        """Return the pairs of each two versions that met, from the first one's side."""
        query = (
            "SELECT bot, opponent, sum(s0), sum(s1), sum(s2), sum(s3), sum(s4) "
            "FROM results GROUP BY bot, opponent ORDER BY bot, opponent"
        )
        return [Pairs(bot, opponent, tuple(counts)) for bot, opponent, *counts in self.rows(query)]

    def add_faults(self, number: int, version: int, strikes: int, first: str) -> None:
        """Store the number of a version's faults in a round, and the text of the first one."""
        self._insert("faults", number, version, strikes, first)

    def strikes(self, version: int) -> tuple[int, str]:
        """Return the number of a version's faults in all rounds, and the text of the first one."""
        query = "SELECT strikes, first FROM faults WHERE version = ? ORDER BY round"
        rows = self.rows(query, version)
        return sum(row[0] for row in rows), rows[0][1] if rows else ""

    def add_ratings(self, number: int, rows: Sequence[RatingRow], spread: Sequence[Any]) -> None:
        """Store the ratings after a round; of earlier rounds, only versions that played remain."""
        drop = "DELETE FROM ratings WHERE round = ? OR (round < ? AND NOT played)"
        self.connection.execute(drop, (number, number))
        for row in rows:
            self._insert("ratings", number, *row)
        self.connection.execute(
            "INSERT OR REPLACE INTO spreads VALUES (?, ?, ?, ?, ?)", (number, *spread)
        )

    def days_and_faults(self) -> dict[str, tuple[int, int]]:
        """Return on how many days each name was submitted, and the faults of all its versions."""
        strikes = "SELECT version, sum(strikes) AS faults FROM faults GROUP BY version"
        query = (
            "SELECT name, count(DISTINCT substr(at, 1, 10)), coalesce(sum(faults), 0) "
            f"FROM versions LEFT JOIN ({strikes}) ON version = id GROUP BY name"
        )
        return {name: (days, faults) for name, days, faults in self.rows(query)}

    def best_versions(self, number: int) -> dict[str, int]:
        """Return the number of each name's version with the highest Elo after a round."""
        query = (
            "SELECT name, number, max(round(elo, 1)) FROM ratings JOIN versions ON id = version "
            "WHERE round = ? GROUP BY name"
        )
        return {name: best for name, best, _ in self.rows(query, number)}

    def ratings(self, number: int) -> dict[int, RatingRow]:
        """Return the ratings after a round, by version."""
        rows = self.rows(f"{_RATINGS} WHERE round = ? ORDER BY version", number)
        return {row[1]: _read_rating(row) for row in rows}

    def elos_at(self, number: int) -> dict[int, float]:
        """Return the Elo of each version after a round, or after its last one before that."""
        query = "SELECT version, elo, max(round) FROM ratings WHERE round <= ? GROUP BY version"
        return {version: elo for version, elo, _ in self.rows(query, number)}

    def results_of(self, version: int) -> list[Result]:
        """Return the results of a version's meetings, from its own side, in order."""
        query = (
            "SELECT round, bot, opponent, endings, scores, first, s0, s1, s2, s3, s4 FROM results "
            "WHERE bot = ?1 OR opponent = ?1 ORDER BY round, bot, opponent"
        )
        found = []
        for number, bot, opponent, text, scores, first, *counts in self.rows(query, version):
            endings = json.loads(text)
            if bot == version:
                row = first, tuple(counts), tuple(endings), scores
                found.append(Result(number, opponent, *row))
            else:
                turned = _turn(endings)
                row = first, tuple(counts[::-1]), tuple(turned), scores.translate(_OTHERS)
                found.append(Result(number, bot, *row))
        return found

    def endings(self) -> dict[int, list[int]]:
        """Return the games of each version by win type and result, in the order of `Result`."""
        found: dict[int, list[int]] = {}
        for bot, opponent, text in self.rows("SELECT bot, opponent, endings FROM results"):
            games = json.loads(text)
            for version, of_one in (bot, games), (opponent, _turn(games)):
                so_far = found.setdefault(version, [0] * len(of_one))
                found[version] = [a + b for a, b in zip(so_far, of_one, strict=True)]
        return found

    def courses(self, first: int) -> list[tuple[str, int, int, float]]:
        """Return name, number of the version, round and Elo of each rating from a round on."""
        query = (
            "SELECT name, number, round, elo FROM ratings JOIN versions ON id = version "
            "WHERE round >= ? ORDER BY name, round, number"
        )
        return [(*row,) for row in self.rows(query, first)]

    def rating_history(self, version: int) -> list[tuple[int, RatingRow]]:
        """Return the ratings of a version by round."""
        rows = self.rows(f"{_RATINGS} WHERE version = ? ORDER BY round", version)
        return [(row[0], _read_rating(row)) for row in rows]

    def spread(self, number: int) -> tuple[float, float, float, bool] | None:
        """Return the spread of results about the Elo after a round, with its interval."""
        rows = self.rows("SELECT elo, low, high, measured FROM spreads WHERE round = ?", number)
        return (*rows[0][:3], bool(rows[0][3])) if rows else None
