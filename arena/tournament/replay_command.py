"""Write the command, or the call of the library, that replays one game of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeAlias

from arena.entries.entry import Entry
from arena.entries.resolve import default_lane
from arena.entries.spec import OBJECT, default_label, parse
from arena.errors import InputError, arena_command
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament

Command: TypeAlias = Callable[[Fixture], str]


def replay_commands(tournament: Tournament) -> Command:
    """Return a function that returns the command to replay a game.

    The command works in the folder where the run was started. It contains everything that
    determines the game, and does not need the run's folder. For a game with a class or function of
    a program, it is a call of the library in that program.
    """
    entries = tournament.by_label
    own = {e.label for e in tournament.entries if e.label != default_label(e.target, e.params)}
    common = common_options(tournament)

    def command(fixture: Fixture) -> str:
        labels = fixture.pairing
        if any(entries[label].is_code for label in labels):
            return _call(tournament, fixture)
        drawn = tournament.drawn(fixture)
        words = [*common, "--pair", str(drawn.pair), "--seat", str(drawn.seat)]
        if tournament.deals:
            words += ["--deal", tournament.deals[fixture.pair]]
        words += [word for label in labels for word in ("--lane", entries[label].lane)]
        if any(entries[label].needs for label in labels):
            needs = [json.dumps(entries[label].needs) for label in labels]
            words += [word for text in needs for word in ("--needs", text)]
        seeded = drawn.pairing  # labels determine the deals
        if own & {*labels} or seeded != labels:
            words += [word for label in seeded for word in ("--label", label)]
        return arena_command("game", [entries[label].spec for label in labels], words)

    return command


def name_bots(entries: Sequence[Entry]) -> tuple[list[str], list[str]] | None:
    """Return the specs of some bots and the options of their lane, None where no words name them.

    A bot of the calling program has no words, nor has one with other files that it needs.
    """
    if any(entry.is_code or entry.needs for entry in entries):
        return None
    named = [(entry.target, entry.params) for entry in entries]
    specs = [
        entry.spec
        if entry.label == default_label(entry.target, entry.params)
        else f"{entry.label}={entry.spec}"
        for entry in entries
    ]
    try:
        if [parse(spec)[1:] for spec in specs] != named:
            return None
    except InputError:  # a config can give other labels, such as =1+1
        return None
    lanes = [entry.lane for entry in entries]
    if lanes == [default_lane(entry.target) for entry in entries]:
        return specs, []
    return (specs, ["--lane", lanes[0]]) if len({*lanes}) == 1 else None


def common_options(tournament: Tournament) -> list[str]:
    """Return the options of a command for the tournament's seed, rules and limits."""
    options = ["--seed", str(tournament.seed)]
    if changes := tournament.rules.changes():
        options += ["--rules", json.dumps(changes)]
    if limits := tournament.limits.changes():
        options += ["--limits", json.dumps(limits)]
    return options


def _call(tournament: Tournament, fixture: Fixture) -> str:
    """Return the call of the library that replays a game."""
    seeded = tournament.drawn(fixture)
    bots = [
        _bot(tournament.by_label[label], as_label)
        for label, as_label in zip(fixture.pairing, seeded.pairing, strict=True)
    ]
    words = [f"seed={tournament.seed}", f"pair={seeded.pair}", f"seat={seeded.seat}"]
    if tournament.deals:
        words.append(f"deal={tournament.deals[fixture.pair]!r}")
    if changes := tournament.rules.changes():
        words.append(f"rules={changes!r}")
    if limits := tournament.limits.changes():
        words.append(f"limits={limits!r}")
    return f"arena.play({', '.join([*bots, *words])})"


def _bot(entry: Entry, label: str) -> str:
    """Return a bot as an argument of the library, with the label that determines its deals."""
    target = entry.target.removeprefix(OBJECT)
    parts = {"label": label, "params": entry.params, "lane": entry.lane}
    parts |= {"needs": [*entry.needs]} if entry.needs else {}
    bot = repr(target) if target == entry.target else target
    return f"{{'bot': {bot}, {repr(parts)[1:]}"
