"""Describe the games of `arena tune`: the rounds of a search, and the final comparison."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.addons.studies.search import Point, Search, Setting, Space, least_budget
from arena.entries.entry import Entry
from arena.entries.spec import default_label
from arena.errors import InputError, counted
from arena.tournament import keys
from arena.tournament.sprt_rounds import as_comparison, folder_word
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine.seeds import stream

_MOST_LABEL = 60


@dataclass
class Candidate:
    """A setting that was tried: its rounds, number of pairs, and total score.

    `fault` is the text of its first fault, empty without one.
    """

    label: str
    point: Point
    setting: Setting
    rounds: list[int] = field(default_factory=list)
    pairs: int = 0
    total: float = 0.0
    fault: str = ""


class Tuning(NamedTuple):
    """A tuning: the bot and its panel, the search space, and the numbers of pairs.

    `base` is a gauntlet whose only challenger is the present bot. `budget` is the number of pairs
    of the search, over all candidates and opponents; `proof` is the most pairs of the comparison.
    """

    base: Tournament
    space: Space
    budget: int
    proof: int

    @property
    def bot(self) -> Entry:
        """The present bot."""
        return self.base.entries[0]

    @property
    def folder_name(self) -> str:
        """The default name of its folder."""
        return f"tune-{folder_word(self.bot.label)}"

    def search(self) -> Search:
        """Return a new search, before its first round."""
        return Search(self.space, self.budget, self.base.panel, self.base.seed)

    def candidate(self, setting: Setting, label: str) -> Entry:
        """Return the bot with a setting."""
        return dataclasses.replace(self.bot, label=label, params={**self.bot.params, **setting})

    def round(self, number: int, candidates: Mapping[str, Setting], deals: int) -> Tournament:
        """Return the tournament of a round, in which candidates, by label, meet the panel.

        Every round has its own seed, and therefore fresh deals.
        """
        entries = [self.candidate(setting, label) for label, setting in candidates.items()]
        return dataclasses.replace(
            self.base,
            name=f"round-{number:03}",
            seed=stream(self.base.seed, "tune", "round", number).getrandbits(63),
            pairs=deals,
            entries=[*entries, *self.base.entries[1:]],
            paired=len(entries) > 1,
        )

    def comparison(self, best: Point) -> Tournament:
        """Return the comparison of the best setting with the present bot, on fresh deals."""
        setting = self.space.setting(best)
        label = default_label(self.bot.target, {**self.bot.params, **setting})
        if len(label) > _MOST_LABEL or label in self.base.labels:
            label = f"tuned {self.bot.label}"[:_MOST_LABEL]
        two = dataclasses.replace(
            self.base, entries=[self.candidate(setting, label), *self.base.entries]
        )
        made = as_comparison(
            two, make_sprt(keys.ELO0, keys.ELO1, keys.ERROR_RATE, keys.ERROR_RATE, self.proof)
        )
        return dataclasses.replace(made, name="proof")

    def manifest(self) -> dict[str, Any]:
        """Return the settings of the tuning as plain data: enough to repeat it."""
        asked = self.base.manifest()
        del asked["pairs"]
        parameters = [str(one) for one in self.space.parameters]
        return asked | {"parameters": parameters, "budget": self.budget, "proof": self.proof}


def make_tuning(base: Tournament, space: Space, budget: int, proof: int | None = None) -> Tuning:
    """Return a tuning of the first bot of a gauntlet; raises InputError.

    Without `proof`, the comparison may have as many pairs as the search.
    """
    least = least_budget(space, base.panel)
    if budget < least:
        raise InputError(
            f"budget: {counted(budget, 'pair')} for {counted(len(space.parameters), 'parameter')} "
            f"and {counted(base.panel, 'opponent')}, which need {least:,} at least"
        )
    proof = budget if proof is None else proof
    if proof < base.panel:
        raise InputError(f"proof: at least a pair for each of {counted(base.panel, 'opponent')}")
    return Tuning(base, space, budget, proof)
