"""Say what an owner alone reads: what became of each upload, and how the bots of this owner do.

What needs the games of a round is written by the process that plays, as each page of a bot is; the
web server only reads it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from arena.addons.league.league import League
from arena.addons.league.league_tables import check_name
from arena.addons.league.post import TAKEN, WAITING, Post, Upload
from arena.addons.league.shown import Standing, standings, surely_beats
from arena.addons.league.sources import open_web, store
from arena.addons.league.submission import TooMany
from arena.entries.file import read_file
from arena.errors import ArenaError, InputError, name_some
from arena.reports.blocks import Report, Text
from arena.store.folder import write_text

_MOST_UPLOADS: Final = 20
_MOST_BOTS: Final = 50
_TOLD: Final = "told"  # the folder of what is read here, by bot
_LOST: Final = ("A loss", "Ply ")  # the beginnings of reasons for showing a game that was lost
_MOST_TOLD: Final = 1 << 20  # bytes
_MOST_BYTES: Final = 4 << 30  # of all uploads that wait


class Full(ArenaError):
    """Too much waits already: no upload can be received for now."""


class Reception:
    """Receives the uploads of a league, and describes what became of them.

    All calls come from one thread. The league itself is only read.
    """

    def __init__(self, folder: Path) -> None:
        """Open a league; raises InputError."""
        self.league = League(folder)
        self.post = Post(folder)
        self.folder = open_web(folder)
        self._seen: tuple[int, list[Standing]] | None = None

    def close(self) -> None:
        """Close its files."""
        self.post.close()
        self.league.close()

    def receive(self, owner: str, name: str, ending: str, sha256: str, content: bytes) -> int:
        """Put an upload into the queue, and return its number.

        Raises InputError for a name that this owner cannot have, TooMany at the limit of a day, and
        Full.
        """
        self.league.desk.check_right(name, owner)
        a_day = self.league.settings.a_day
        if self.post.size() + len(content) > _MOST_BYTES:
            raise Full("too many uploads wait already; send it again in an hour")

        def keep(id: int) -> None:
            if self.post.count_today(owner) > a_day:  # with this one
                raise TooMany(f"owner {owner}: {a_day} uploads today, and a_day is {a_day}")
            store(self.folder, id, content)

        return self.post.receive((owner, name, ending), sha256, len(content), keep).id

    def describe(self, owner: str) -> dict[str, Any]:
        """Return what the page of an owner says, as plain data."""
        uploads = self.post.uploads_of(owner, _MOST_UPLOADS)
        places = self.post.places() if any(one.state == WAITING for one in uploads) else {}
        found = self._standings()
        own = [one for one in found if one.owner == owner][:_MOST_BOTS]
        a_day = self.league.settings.a_day
        return {
            "league": self.league.folder.resolve().name,
            "owner": owner,
            "left": max(0, a_day - self.post.count_today(owner)),
            "a_day": a_day,
            "megabytes": self.league.settings.most_megabytes,
            "uploads": [_describe(one, places) for one in uploads],
            "bots": [self._describe_bot(one, found) for one in own],
        }

    def _standings(self) -> list[Standing]:
        """Return the standings, found again only after the league's database has changed."""
        version = self.league.ledger.one("PRAGMA data_version")
        if self._seen is None or self._seen[0] != version:
            self._seen = version, standings(self.league)
        return self._seen[1]

    def _describe_bot(self, one: Standing, found: Sequence[Standing]) -> dict[str, Any]:
        beaten = [other.bot for other in found if surely_beats(one, other)]
        return {
            "bot": one.bot,
            "version": one.version,
            "state": one.state,
            "rank": one.rank,
            "elo": one.elo,
            "elo_low": one.elo_low,
            "elo_high": one.elo_high,
            "note": one.note,
            "beats": len(beaten),
            "surely_beats": name_some(beaten) if beaten else "",
            "page": f"site/bots/{one.bot}.html",
            **read_told(self.folder, one.bot),
        }


def _describe(upload: Upload, places: dict[int, int]) -> dict[str, Any]:
    """Return an upload with its place in the queue, None once it is looked at."""
    return {
        "receipt": upload.id,
        "bot": upload.name,
        "sha256": upload.sha256,
        "at": upload.at,
        "state": "being checked" if upload.state == TAKEN else upload.state,
        "place": places.get(upload.id) if upload.state == WAITING else None,
        "answer": upload.answer,
        "answered": upload.answered,
    }


def name_upload(file: str, name: str) -> tuple[str, str]:
    """Return the name of a bot and the ending of its file; raises InputError.

    Without a name it is that of the file.

    >>> name_upload("mine.py", ""), name_upload("Downloads/x (1).zip", "mine")
    (('mine', '.py'), ('mine', '.zip'))
    """
    stem, dot, ending = file.replace("\\", "/").rpartition("/")[2].rpartition(".")
    if not dot or not (ending.isascii() and ending.isalnum()) or len(ending) > 8:
        raise InputError("the file: its name has no ending such as .py or .zip")
    name = name or stem
    check_name(name)
    return name, f".{ending.lower()}"


def keep_told(league: Path, name: str, report: Report) -> None:
    """Write what the owner of a bot reads of its page: what to do next, and its worst game.

    Raises InputError if it cannot be written.
    """
    texts = [block for one in report.sections if one.name == "next" for block in one.blocks]
    advice = [part for block in texts if isinstance(block, Text) for part in block.paragraphs]
    lost = (game for game in report.replays() if game.reason.startswith(_LOST))
    worst = next(({"title": one.title, "why": one.reason, "id": one.id} for one in lost), None)
    told = {"about": report.summary[0], "next": advice, "worst": worst}
    write_text(open_web(league) / _TOLD / f"{name}.json", json.dumps(told))


def read_told(folder: Path, name: str) -> dict[str, Any]:
    """Return what `keep_told` wrote; before that, there is nothing to say."""
    told: dict[str, Any] = {"about": "", "next": [], "worst": None}
    with suppress(InputError, ValueError):
        told |= json.loads(read_file(folder / _TOLD / f"{name}.json", _MOST_TOLD, links=False))
    return told
