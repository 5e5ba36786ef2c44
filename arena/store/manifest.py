"""Write the settings of a run as its manifest, and read it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from arena.entries.entry import Entry, check_labels
from arena.entries.spec import Lane, check_label
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.tournament.config_keys import Bots, check_anchor, converted
from arena.tournament.fixed_deals import check_deals
from arena.tournament.stop import Until, check_target
from arena.tournament.tournament import Tournament, find_wrong_meeting
from arena.tournament.versions import check_made_by, maker_of, minor, versions
from engine import EngineError, Rules
from engine.errors import show_start

MOST_BYTES: Final = 1 << 24
"""The most bytes of a manifest; with a thousand bots it has at most two million."""

_MOST_DIFFERENCES = 3
_MOST_SHOWN = 30
_ENGINE = "versions.engine: "
_MAY_CHANGE = ("bots", "panel", "pairs", "rounds", "stop", "anchor", "meetings", "extended")


class _Bot(msgspec.Struct):
    """One bot of a manifest."""

    label: str
    bot: str
    params: dict[str, Any]
    lane: Lane
    sha256: str
    needs: tuple[str, ...] = ()
    program: str = ""


class _Manifest(msgspec.Struct):
    """The keys that a manifest must have, or that differ from the fields of `Tournament`."""

    rules: dict[str, Any]
    limits: Limits
    max_faults: int
    bots: Bots[_Bot]
    panel: list[str] = []


def manifest_text(manifest: dict[str, Any]) -> str:
    """Return the text of a manifest, as it is stored and written to a file."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def read_manifest(text: str | bytes) -> dict[str, Any]:
    """Return a stored manifest as data.

    Raises InputError, whose message does not name the file, for a text that is not a manifest, and
    for the manifest of a later version.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = f"{error}, in {show_start(text)}"
        raise InputError(f"its manifest cannot be read: {reason}") from None
    if not isinstance(data, dict):
        raise InputError("its manifest cannot be read: not a JSON object")
    check_made_by(data)
    return data


def read_tournament(text: str) -> Tournament:
    """Return the tournament of a stored manifest; its bots have no sources.

    Raises InputError, whose message does not name the file, for a text that is not a manifest.
    """
    return make_tournament(read_manifest(text))


def make_tournament(data: Mapping[str, Any]) -> Tournament:
    """Return the tournament of a manifest's data, as `read_tournament` does."""
    try:
        manifest = converted(data, _Manifest)
        entries = [_entry(bot) for bot in manifest.bots]
        made = {"rules": Rules.from_changes(manifest.rules), "entries": entries}
        made["panel"] = len(manifest.panel)
        tournament = converted({**data, **made}, Tournament)
        for entry in entries:
            check_label(entry.target, entry.label)
        check_labels(entries)
        if tournament.deals:
            check_deals(tournament.deals, tournament.rules)
        if tournament.anchor:
            check_anchor(tournament.anchor, tournament.labels)
        if isinstance(tournament.stop, Until):
            check_target(tournament.stop.target, tournament.labels)
    except (msgspec.ValidationError, EngineError, UnicodeEncodeError) as error:
        raise InputError(f"its manifest cannot be read: {error}") from None
    if problem := _find_problem(tournament, manifest.panel):
        raise InputError(f"its manifest cannot be read: {problem}")
    return tournament


def _entry(bot: _Bot) -> Entry:
    fields = msgspec.structs.asdict(bot)
    return Entry(target=fields.pop("bot"), **fields)


def _find_problem(tournament: Tournament, panel: list[str]) -> str:
    """Return why a tournament's bots are invalid, empty if they are valid."""
    labels = tournament.labels
    if len(labels) < 2:
        return "a tournament needs two bots"
    if len(panel) >= len(labels) or panel != labels[len(labels) - len(panel) :]:
        return "the panel is not the last of its bots"
    if tournament.paired and (not panel or len(labels) - len(panel) < 2):
        return "versions of a bot have a panel"
    return find_wrong_meeting(tournament)


def obstacles(stored: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return the differences that prevent a run from continuing as another, as `differences` does.

    Bots, panel, number of pairs and rounds, stopping rule and anchor may differ, because these
    change no game of the remaining bots. The patch release of Python may differ, and so may the
    release of the arena if the engine is the same.
    """
    found = differences(_select_fixed(stored), _select_fixed(wanted))
    return [f"{text}, {maker_of(stored)}" if _ENGINE in text else text for text in found]


def _select_fixed(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a manifest that must not change."""
    fixed = {key: value for key, value in manifest.items() if key not in _MAY_CHANGE}
    if manifest.get("paired") and isinstance(bots := manifest.get("bots"), list):
        # the label of the old version determines the deals of the new version
        challengers = bots[: -len(manifest.get("panel", [])) or None]
        fixed["compared"] = [bot.get("label") for bot in challengers if isinstance(bot, dict)]
    if isinstance(played_by := fixed.get("versions"), dict):
        fixed["versions"] = _minors(played_by)
        fixed["versions"].pop("arena", None)
    return fixed


def _minors(played_by: Mapping[str, Any]) -> dict[str, Any]:
    """Return versions without the patch release, which changes no game and no file."""
    return {
        name: minor(value) if name != "engine" and isinstance(value, str) else value
        for name, value in played_by.items()
    }


def other_versions(manifest: Mapping[str, Any], *, python: bool = True) -> list[str]:
    """Return how the arena and engine that wrote a manifest differ from the present ones.

    The form is that of `differences`; a version that the manifest lacks counts as different.
    Compared are the minor releases of the arena and, with `python`, of Python.
    """
    played_by = manifest.get("versions")
    there = _minors(played_by) if isinstance(played_by, dict) else {}
    found = differences(there, _minors(versions()), "versions")
    return [text for text in found if python or not text.startswith("versions.python")]


def differences(stored: Any, wanted: Any, place: str = "") -> list[str]:
    """Return the differences between two manifests, as "place: there 1, here 2"."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        pairs = [(f"{place}.{key}", stored.get(key), wanted.get(key)) for key in stored | wanted]
    elif isinstance(stored, list) and isinstance(wanted, list) and len(stored) == len(wanted):
        pairs = [(f"{place}[{n}]", *two) for n, two in enumerate(zip(stored, wanted, strict=True))]
    elif stored != wanted:
        return [f"{place.lstrip('.')}: there {_short(stored)}, here {_short(wanted)}"]
    else:
        return []
    found = [text for name, one, other in pairs for text in differences(one, other, name)]
    return found[:_MOST_DIFFERENCES]


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} of them"
    try:
        text = str(value)
    except (ValueError, RecursionError):  # an int of thousands of digits, or nested too deeplyly
        return "a value too long to print"
    return text if len(text) <= _MOST_SHOWN else f"{text[:12]}..."
