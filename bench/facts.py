"""`python -m bench.facts [BOT ...] [--percent 1]` measures the game: the table of docs/facts.md.

Each bot meets its twin, which plays alike with luck of its own. The runs are in `--out`, where the
same command continues what was stopped.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev

import arena
from arena.statistics.intervals import Z95, score_interval
from arena.statistics.sequential_test import elo_of

BOTS = ("uniform", "timing", "apprentice", "champion", "journeyman")
PAIRS = dict.fromkeys(("uniform", "timing", "denier", "apprentice", "journeyman"), 3000)
FEW = 80  # pairs of any other bot: a search takes a second for a game
RIVALS = {"timing": "denier", "apprentice": "champion", "journeyman": "grandmaster"}
"""For bots that use no luck, another one that is about as strong."""
OF_STANDARD = ("apprentice", "journeyman")  # which play as timing under other rules
TWIN = """from bots.{0} import bot as own


def bot(setup):
    setup.rng.seed(setup.rng.getrandbits(64))
    return own(setup)
"""


def share(pairs: Sequence[float]) -> str:
    """Return the mean per game of the sums of pairs of games, in percent, with half its interval.

    >>> share([1, 2, 0, 1])
    '50.0 ±35.7'
    """
    low, high = score_interval(len(pairs), sum(pairs), sum(one * one for one in pairs))
    return f"{50 * mean(pairs):.1f} ±{50 * (high - low):.1f}"


def play(args: Namespace, *bots: str, cities: int = 3, name: str) -> arena.Results:
    """Play what is left of a run of two bots in its folder, under rules with so many cities."""
    pairs = min(PAIRS.get(bot, FEW) for bot in bots if "=" not in bot)
    return arena.run(
        bots,
        pairs=max(2, pairs * args.percent // 100),
        seed=args.seed,
        workers=args.workers,
        rules={"cities_needed": cities},
        lane="inproc",
        out=args.out / name,
    )


def sums(found: arena.Results, what: str) -> list[float]:
    """Return the sum of a pair's two games for each pair: seat 0's score, draws, City, plies."""
    games, values = found.games, {}
    won = games["winner"].map({games["bot"][0]: 1.0, games["opponent"][0]: 0.0}).fillna(0.5)
    values["seat_0"] = won.where(games["seat"] == 0, 1 - won)
    values["drawn"] = games["winner"].isna().astype(float)
    values["city"] = (games["win_type"] == "city").astype(float)
    values["plies"] = games["plies"].astype(float)
    return [float(one) for one in values[what].groupby(games["pair"]).sum()]


def measure(args: Namespace, bot: str) -> Iterator[tuple[str, str]]:
    """Yield the figures of a bot: the text of a row, and its cell."""
    twin = args.out / "twins" / f"{bot}.py"
    twin.parent.mkdir(parents=True, exist_ok=True)
    twin.write_text(TWIN.format(bot), encoding="utf-8")
    for cities in (3,) if bot in OF_STANDARD else (3, 2, 4):
        found = play(args, bot, f"twin={twin}", cities=cities, name=f"{bot}/{cities}")
        rule = f", {cities} cities needed" * (cities != 3)
        for what, text in (("seat_0", "score of seat 0"), ("drawn", "drawn"), ("city", "City")):
            yield f"{text}{rule}", share(sums(found, what))
        plies = [total / 2 for total in sums(found, "plies")]
        half = Z95 * stdev(plies) / len(plies) ** 0.5
        yield f"actions in a game{rule}", f"{mean(plies):.1f} ±{half:.1f}"
        if cities == 3:
            wins = found.wins[found.wins["bot"].isna() & (found.wins["source"] == "total")]
            for row in wins.to_dict("records")[:-1]:
                half = 50 * (row["won_high"] - row["won_low"])
                won = f"{100 * row['won']:.1f} ±{half:.1f}"
                yield f"leader after round {row['round']} wins", won
            if rival := RIVALS.get(bot):
                found = play(args, bot, rival, name=f"{bot}/{rival}")
            same = [2 * (score != 1) for score in sums(found, "seat_0")]
            value, half = share(same).split(" ±")
            if not all(same):  # else it is a bot without luck, which has played each game twice
                yield (
                    "fixed by deal and seat",
                    f"{2 * float(value) - 100:.1f} ±{2 * float(half):.1f}",
                )


def main() -> None:
    """Print the table, a column for each bot."""
    parser = ArgumentParser(prog="python -m bench.facts", description=__doc__)
    parser.add_argument("bots", nargs="*", default=BOTS)
    parser.add_argument("--percent", type=int, default=100, help="Part of the games.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=Path("results/facts"))
    args = parser.parse_args()
    table = {bot: dict(measure(args, bot)) for bot in args.bots}
    for weaker, bot in pairwise(args.bots):
        both = play(args, weaker, bot, name=f"elo/{weaker}-{bot}").head_to_head
        row = both.set_index("bot").loc[bot]
        if row["score_low"] > 0 and row["score_high"] < 1:
            elo, low, high = map(elo_of, row[["score", "score_low", "score_high"]])
            table[bot]["Elo above the bot before it"] = f"{elo:+.0f} ±{(high - low) / 2:.0f}"
    print(f"| % of the games | {' | '.join(table)} |\n|---|{'---|' * len(table)}")
    for text in dict.fromkeys(text for column in table.values() for text in column):
        print(f"| {text} | {' | '.join(column.get(text, '') for column in table.values())} |")


if __name__ == "__main__":
    main()
