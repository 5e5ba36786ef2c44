"""`python -m bench.dataset [BOT ...] --games 20000` makes judged games of strong bots.

The folder gets games.jsonl, a game a line as docs/dataset.md says, and the run of the games, in
which analysis.csv has a row for each decision. The same command continues what was stopped.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import arena
from arena.entries.catalogue import ELO
from arena.files import replacing
from arena.store.reader import Choice, chosen_games, read_run
from engine.cards import CHARS

STRONG = tuple(reversed(ELO))[:5]
"""The five strongest bots of the ladder."""


def describe(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a decision: what was played, and the chance to win after each legal action."""
    chances = {char: row[f"chance_{char}"] for char in CHARS if row[f"chance_{char}"] >= 0}
    own = {key: row[key] for key in ("ply", "action", "loss", "error")}
    return {**own, "chances": chances}


def main() -> None:
    """Play the games, judge their decisions, and write both."""
    parser = ArgumentParser(prog="python -m bench.dataset", description=__doc__)
    parser.add_argument("bots", nargs="*", default=STRONG)
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--worlds", type=int, default=8, help="In which each action is tried.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=Path("data"))
    args = parser.parse_args()
    pairs, rest = divmod(args.games, len(args.bots) * (len(args.bots) - 1))
    if rest:
        parser.error("--games: every two bots play the same number of pairs of games")
    run = args.out / "run"
    played = arena.run(args.bots, pairs=pairs, seed=args.seed, workers=args.workers, out=run)
    how = {"worlds": args.worlds, "worst": 0, "seed": args.seed, "workers": args.workers}
    judged = played.analyse(games=args.games, **how).decisions.groupby("game", sort=False)
    tournament, store = read_run(run)
    with closing(store), replacing(args.out / "games.jsonl") as part, part.open("w") as file:
        for fixture, game in chosen_games(tournament, store, Choice()):
            if not game.fault:
                rows = judged.get_group(fixture.name).to_dict("records")
                decisions = json.dumps([describe(row) for row in rows])
                line = f'{game.to_json(game=fixture.name)[:-1]}, "decisions": {decisions}}}'
                file.write(f"{line}\n")
    print(f"{sum(map(len, judged.groups.values())):,} decisions: {args.out / 'games.jsonl'}")


if __name__ == "__main__":
    main()
