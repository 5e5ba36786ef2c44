"""A good server of a bot for every test of this room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.addons.remote import remote_bot
from tests.addons.remote.servers import Server, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Yield a good server; this process does not wait between its tries."""
    monkeypatch.setattr(remote_bot.RemoteBot, "pauses", (0.0, 0.0, 0.0))
    with serving() as made:
        yield made
