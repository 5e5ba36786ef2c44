"""Command: the line that plays one game of a run again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from arena.entries.spec import default_label
from arena.lanes.limits import Limits
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament

Command: TypeAlias = Callable[[Fixture], str]


def replay_commands(tournament: Tournament) -> Command:
    """Return a function that returns the command which plays a game again.

    The command works in the folder where the run was started. It holds everything that
    decides the game, and nothing of the run's folder.
    """
    entries = tournament.by_label
    own = {e.label for e in tournament.entries if e.label != default_label(e.target, e.params)}
    common = ["--seed", str(tournament.seed)]
    if changes := tournament.rules.changes():
        common += ["--rules", json.dumps(changes)]
    if tournament.limits != Limits():
        common += ["--limits", json.dumps(msgspec.structs.asdict(tournament.limits))]

    def command(fixture: Fixture) -> str:
        labels = fixture.pairing
        words = ["arena", "game", *(entries[label].spec for label in labels), *common]
        words += ["--pair", str(fixture.pair), "--seat", str(fixture.seat)]
        words += [word for label in labels for word in ("--lane", entries[label].lane)]
        if any(entries[label].needs for label in labels):
            needs = [json.dumps(entries[label].needs) for label in labels]
            words += [word for text in needs for word in ("--needs", text)]
        if own & {*labels}:
            words += [word for label in labels for word in ("--label", label)]
        return shlex.join(words)

    return command
