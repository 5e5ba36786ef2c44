"""Parse and check the JSON bodies of requests."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request

from arena.errors import InputError
from arena.records.naming import Naming
from arena.tournament.keys import MOST_SEED

MOST_BODY = 1 << 14
Text = Annotated[str, Meta(min_length=1, max_length=4000)]


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """The JSON body of a request."""


class NewGame(Body):
    """A person wants to play against a bot."""

    bot: Text
    begins: Literal["me", "bot", "lot"] = "lot"
    names: Naming = "english"


class NewWatch(Body):
    """A person wants to watch two bots; without a seed it is a new one."""

    bots: tuple[Text, Text]
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)] | None = None


class Act(Body):
    """A person's action for a ply."""

    ply: int
    action: str


class Nothing(Body):
    """A request that says everything by its address."""


AnyBody = TypeVar("AnyBody", bound=Body)


async def read_body(request: Request, wanted: type[AnyBody]) -> AnyBody:
    """Return the body of a request; raises InputError for one that is not as wanted."""
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
