"""Handle a person's requests on the web page: begin, watch, resume and review games."""

from __future__ import annotations

import secrets
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, structs
from starlette.requests import Request

from arena.addons.table.interrupted import Interrupted, find_interrupted
from arena.addons.table.looking_up import to_timeline
from arena.addons.table.open_game import Hall
from arena.addons.table.own_games import (
    PERSON,
    count_games,
    describe_rating,
    describe_strength,
    find_line,
    list_own,
    read_games,
    suggest,
)
from arena.addons.table.page_games import BotGame, PersonGame
from arena.addons.table.second_look import judged_timeline, other_timeline, review_game
from arena.addons.table.session import RecordedGame, Records, Session
from arena.addons.table.shelf import Shelf
from arena.entries.catalogue import ELO, catalogue
from arena.entries.resolve import resolve
from arena.errors import InputError, escape
from arena.runs.rerun import find_opponent, start_apart
from arena.store.finished import Game
from arena.tournament.keys import MOST_SEED, Naming
from engine import STANDARD

MOST_BODY = 1 << 14
Text = Annotated[str, Meta(min_length=1, max_length=4000)]

_SEEDS: Final = 1_000_000_000  # short enough to be typed


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """The JSON body of a request."""


class NewGame(Body):
    """A person wants to play against a bot."""

    bot: Text
    begins: Literal["me", "bot", "lot"] = "lot"
    names: Naming = "english"


class NewWatch(Body):
    """A person wants to watch two bots; without a seed, a new one is drawn."""

    bots: tuple[Text, Text]
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)] | None = None


class Act(Body):
    """A person's action for a ply."""

    ply: int
    action: str


class Back(Body):
    """A person takes back the last choice before a ply."""

    ply: int


class OfLine(Body):
    """A request about the game in a line of the records."""

    line: int


class Other(Body):
    """A variation of a recorded game: another action at a ply, and the bot that continues."""

    line: int
    ply: int
    action: str
    strength: int


class Nothing(Body):
    """The empty body of a request whose address says everything."""


AnyBody = TypeVar("AnyBody", bound=Body)


async def read_body(request: Request, wanted: type[AnyBody]) -> AnyBody:
    """Return the body of a request; raises InputError if it is not of the wanted form."""
    if request.headers.get("content-type") != "application/json":
        raise InputError("the request: expected application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY:
            raise InputError(f"the request: more than {MOST_BODY:,} bytes")
    try:
        return msgspec.json.decode(body, type=wanted)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"the request: {error}") from None


class Table:
    """The open games, the runs below `results`, and the records of a person's games.

    `folder` is a scratch folder for the processes of bots.
    """

    def __init__(self, results: Path, folder: Path) -> None:
        self.hall = Hall(folder)
        self.shelf = Shelf(results)
        self.records = Records(results / "human")
        self._again = threading.Lock()

    def home(self) -> dict[str, Any]:
        """Return the bots that have names, and the games so far."""
        interrupted, problems = find_interrupted(self.records)
        return {
            "bots": [
                {"name": bot.name, "description": bot.description, "elo": ELO.get(bot.name)}
                for bot in sorted(catalogue(), key=lambda bot: (-ELO.get(bot.name, 0), bot.name))
            ],
            "open": self.hall.listing(),
            "interrupted": [*map(_describe, interrupted)],
            "problems": problems,
            "results": str(self.shelf.root),
        }

    def own_games(self) -> dict[str, Any]:
        """Return the last games of the records, and the person's results against each strength."""
        games = read_games(self.records.path)
        tallies = count_games(games)
        return {
            "records": list_own(games),
            "strengths": [
                {**tally._asdict(), "strength": describe_strength(tally.strength)}
                for tally in tallies
            ],
            "suggested": suggest(tallies).number,
            "rating": describe_rating(tallies),
        }

    def review(self, line: int) -> dict[str, Any]:
        """Return the costliest decisions of the person in a recorded game; raises LookupError."""
        return review_game(find_line(self.records.path, line), line)

    def judged(self, line: int) -> dict[str, Any]:
        """Return the timeline of a recorded game with the loss of each decision."""
        return judged_timeline(self.records.path, line)

    def other(self, asked: Other) -> dict[str, Any]:
        """Return the timeline of a recorded game in which another action is played."""
        return other_timeline(self.records.path, **structs.asdict(asked))

    def sit_down(self, asked: NewGame) -> str:
        """Begin a person's game, and return its id; raises InputError for a bad bot."""
        self.hall.check_room()
        entry = find_opponent(PERSON, asked.bot)
        lot = secrets.randbelow(2) == 0
        begins = lot if asked.begins == "lot" else asked.begins == "me"
        seed = _new_seed(person_begins=begins)
        return self._open(Session(PERSON, entry, asked.bot, seed, 1, asked.names, STANDARD))

    def sit_down_again(self, game: PersonGame) -> str:
        """Begin another game with the seats swapped, once; return its id.

        It has a new seed: the page shows a game's seed at its end, and a seed determines the deals.
        """
        with self._again:
            if game.under_way:
                raise InputError("the game has not ended")
            if game.following is None:
                seed = _new_seed(person_begins=game.recorded.seat == 1)
                game.following = self._open(replace(game.session, seed=seed, games=1))
            return game.following

    def _open(self, session: Session) -> str:
        return self._open_game(RecordedGame(session, 0))

    def _open_game(self, recorded: RecordedGame) -> str:
        return self.hall.open(PersonGame(self.hall.new_folder(), recorded, self.records))

    def go_on(self, name: str) -> str:
        """Resume an interrupted game, and return its id.

        Raises LookupError if no interrupted game has this name, InputError for a bot that does not
        load, and what `Interrupted.go_on` raises.
        """
        self.hall.check_room()
        interrupted = self._find_interrupted(name)
        session = interrupted.session
        entry = find_opponent(session.person, session.spec, session.entry.lane, session.rules)
        recorded = interrupted.go_on(entry, self.records)
        try:
            return self._open_game(recorded)
        except InputError:
            recorded.close()
            raise

    def keep(self, name: str) -> int:
        """Record an interrupted game as it stands, and return its line number.

        Raises LookupError if no interrupted game has this name.
        """
        return self._find_interrupted(name).keep(self.records)

    def _find_interrupted(self, name: str) -> Interrupted:
        for one in find_interrupted(self.records)[0]:
            if one.path.name == name:
                return one
        raise LookupError(name)

    def watch(self, asked: NewWatch) -> str:
        """Begin a game of two bots, and return its id; raises InputError for a bad bot."""
        self.hall.check_room()
        first, second = (resolve(spec) for spec in asked.bots)
        if first.label == second.label:
            second = replace(second, label=f"{second.label[:50]} (2)")
        entries = start_apart(first), start_apart(second)
        seed = secrets.randbelow(_SEEDS) if asked.seed is None else asked.seed
        return self.hall.open(BotGame(self.hall.new_folder(), entries, seed))

    def timeline_of_bots(self, game: BotGame) -> dict[str, Any]:
        """Return the whole game of two bots; raises InputError until it has ended."""
        played: Game | None = game.game
        if played is None:
            raise InputError("the game has not been played to its end")
        return to_timeline(played, f"seed {game.seed}")


def _describe(one: Interrupted) -> dict[str, Any]:
    """Return the data of an interrupted game for the page.

    Its spec may be a stranger's, so characters that change the direction of text are escaped.
    """
    return {
        "name": one.path.name,
        "title": "{} against {}".format(*one.session.fixture(one.number).labels),
        "bot": escape(one.session.spec),
        "plies": one.plies,
    }


def _new_seed(*, person_begins: bool) -> int:
    """Draw the seed of a new session, even if the person begins."""
    return 2 * secrets.randbelow(_SEEDS // 2) + (not person_begins)
