"""Make the section of a report on single bots: the profile of one, and two side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from arena.differences.profiles import MOST_BESIDE, make_profiles
from arena.differences.run_files import Files
from arena.insight.judged_files import JudgedTables
from arena.reports.agreement_blocks import agreement_blocks
from arena.reports.blocks import Block, Profiles, Section, Text
from arena.reports.key_figures import key_figures
from arena.reports.profile_data import Games, make_data
from arena.tournament.schedule import Pairing

MOST_PROFILES: Final = 200
"""How many bots, the first of the standings, have a profile."""


def profile_links(labels: Sequence[str]) -> list[str | None]:
    """Return the fragments of the profiles of bots in the order of the standings.

    >>> profile_links(["majority", "greedy"])
    ['profile-1', 'profile-2']
    """
    return [f"profile-{place}" for place, _ in enumerate(labels[:MOST_PROFILES], 1)]


def profiles_section(
    pairings: Sequence[Pairing], files: Files, judged: JudgedTables, games: Mapping[str, Games]
) -> Section:
    """Return the section on single bots; `games` are the games to look at, by bot."""
    blocks = [*_blocks(pairings, files, judged, games)]
    return Section("profiles", "Bots", blocks)


def _blocks(
    pairings: Sequence[Pairing], files: Files, judged: JudgedTables, games: Mapping[str, Games]
) -> Iterator[Block]:
    labels: list[str] = files.tables.standings["bot"].tolist()
    text = "The page shows the profile of the bot that is chosen, and of two how they differ."
    if len(labels) > MOST_BESIDE:
        text += f" The first {MOST_BESIDE} bots of the standings can be set side by side."
    if len(labels) > MOST_PROFILES:
        text += f" The first {MOST_PROFILES} of {len(labels):,} bots have a profile."
    yield Text([text])
    if judged.left_out:
        yield Text([f"Left out: {line}." for line in judged.left_out], warning=True)
    profiles = make_profiles(pairings, files, judged, MOST_PROFILES)
    figures = key_figures(profiles, files, judged)
    yield Profiles(figures, make_data(profiles, files, judged, games))
    yield from agreement_blocks(judged.agreement, labels)
