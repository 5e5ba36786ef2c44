"""Golden playthroughs in OpenSpiel's own format, of random games.

`python -m tests.addons.rl.spiel_playthroughs` writes the files in playthroughs/ again: read the
diff.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "playthroughs"
GAMES = {
    "python_district_noir": ("python_district_noir", 7),
    "two_rounds": (
        "python_district_noir(copies=2 2 0 0 0 0 0 0 0 0 2,removed=0,hand_size=1,opening_row=2,"
        "take_size=1,rounds=2,cities_needed=2)",
        4,
    ),
    "city": (
        "python_district_noir(copies=2 2 1 0 0 0 0 0 0 0 1,removed=1,hand_size=2,opening_row=1,"
        "take_size=2,rounds=1,cities_needed=1)",
        1,
    ),
}
"""By file: the game with its parameters, and the seed of what is played."""


def playthrough(name: str) -> str:
    """Return the playthrough of a file as OpenSpiel writes it."""
    from open_spiel.python.algorithms import generate_playthrough

    import arena.addons.rl.spiel  # noqa: F401, it registers the game

    game, seed = GAMES[name]
    return str(generate_playthrough.playthrough(game, None, seed=seed))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in GAMES:
        (FOLDER / f"{name}.txt").write_text(playthrough(name), encoding="utf-8")


if __name__ == "__main__":
    main()
