"""Again: the tournament of a run's manifest, with bots that are still the same."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.entries.file import read_file
from arena.errors import InputError
from arena.runs.rerun import resolve_same
from arena.store.folder import MANIFEST
from arena.store.manifest import MOST_BYTES, make_tournament, other_versions
from arena.tournament.config import check_name
from arena.tournament.tournament import Tournament


def find_manifest(config: object) -> Mapping[str, Any] | None:
    """Return the manifest that a file or a mapping is, None for anything else.

    Raises InputError for the folder of a run, which says where its manifest is.
    """
    if isinstance(config, Path):
        if os.path.isfile(path := config / MANIFEST):
            command = f"arena run {path} --out FOLDER"
            raise InputError(f"{config}: a folder; to play its run again: {command}")
        try:
            config = json.loads(read_file(config, MOST_BYTES))
        except (InputError, ValueError, RecursionError):
            return None
    return config if isinstance(config, Mapping) and "versions" in config else None


def play_as(manifest: Mapping[str, Any]) -> Tournament:
    """Return the tournament that plays the games of a manifest.

    Raises InputError, which names what is not as it was: the arena, the engine, Python's minor
    version, or the bots that have changed or are gone.
    """
    if differs := other_versions(manifest):
        why = "; ".join(differs)
        raise InputError(f"the manifest of another version of the arena: {why}")
    tournament = make_tournament(manifest)
    check_name(tournament.name)
    entries, changed = [], []
    for entry in tournament.entries:
        try:
            entries.append(resolve_same(entry))
        except InputError as error:
            changed.append(f"{entry.label}: {error}")
    if changed:
        raise InputError(f"bots are not those of the manifest: {'; '.join(changed)}")
    return replace(tournament, entries=entries)
