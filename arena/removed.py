"""What version 2.0 took away, and what to use instead: the only trace of what has left."""

from __future__ import annotations

from typing import Final

REMOVED: Final = {
    "arena play --restrict": "`arena compare` the bot with one that wraps it (arena docs ablate)",
    "arena worth": "`arena docs facts` has the effects of cards, cards.csv how often a taker wins",
    "arena league page": "`arena report FOLDER` writes the pages of a league, too",
    "arena league history": "`arena league show FOLDER NAME`",
    "arena evaluate": "`arena play BOT --against ladder`, `arena probe` and `arena analyse`",
    "arena.Evaluation": "what arena.run, arena.probe and Results.analyse return",
    "arena.evaluate": "arena.run with against, arena.probe and Results.analyse",
    "arena analyse --out": "details/analysis.csv of the run has the decisions",
    "arena analyse --agree": "ask bots in a program, at any view",
    "arena ablate --cross": "join rules that change together by +: rounds=3+removed=13",
    "arena probe --minutes": "--learn PAIRS; arena docs training has the training of a network",
    "arena compare --season": "divide --alpha by the number of comparisons",
    "arena view --judge": "first `arena analyse RUN`, then the replay has what each decision lost",
    "arena view --worlds": "first `arena analyse RUN`, then the replay has what each decision lost",
    "arena view --what-if": "in a program, let bots play on from any State (arena docs viewer)",
    "arena view --then": "in a program, let bots play on from any State (arena docs viewer)",
    "arena view --by": "the curve is that of champion; `arena show --by BOT` asks another bot",
    "arena plan --width": "`arena play --until ELO` plays until ratings are so narrow",
    "arena plan --like": "leave it out: the plan supposes that the games of a pair are independent",
    "arena plan --against": "plan a round robin of as many bots",
    "arena doctor --report": "`arena doctor` prints versions and what is missing",
    "arena facts": "docs/facts.md has the figures; `python -m bench.facts` in the repository",
    "arena dataset": "`python -m bench.dataset` in the repository (docs/dataset.md)",
    "arena.facts": "docs/facts.md has the figures",
    "arena.load_dataset": "each line of games.jsonl is JSON (docs/dataset.md)",
    "arena league play": "`arena league host FOLDER --once` plays a round",
    "arena league new --target": "the key target of league.yaml",
    "arena league serve": "`arena league host FOLDER`",
    "arena league web": "`arena league host FOLDER` serves the page with the form, too",
    "arena league copies": "a tool for plagiarism, such as JPlag, on the league's folder bots/",
    "arena.League": "`arena league`; `arena.open` of a league's folder has the tables of its run",
    "arena.league": "`arena league`; `arena.open` of a league's folder has the tables of its run",
    "arena sites": "a machine that differs ends the run, with a line that says what differs there",
    "arena play --games": "`arena human BOT --games N`",
    "arena play --names": "`arena human BOT --names NAMING`",
    "arena play --thoughts": "`arena game BOT BOT --thoughts`",
    "arena view --thoughts": "`arena game BOT BOT --thoughts`, and `arena view` of its record",
    "arena human --thoughts": "`arena game BOT BOT --thoughts`",
    "arena pack": "give the folder, or a zip of it: both are a bot",
    "arena check --seconds": "`--games` says how much is played",
    "key halves": "leave it out: the two games of a pair are played as with halves: together",
    "key private_addresses": "leave it out: only the organiser names the servers of a league",
}
"""What to use instead, by the name: "arena worth", "arena compare --season", "key halves"."""


def advise(name: str) -> str:
    """Return a sentence about a command, option, key or name of the library that has left.

    It is empty if there was never one of that name.

    >>> advise("arena dance")
    ''
    """
    instead = REMOVED.get(name)
    return f"{name} has left with version 2.0: {instead}" if instead else ""
