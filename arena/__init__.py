"""The arena as a library: tournaments, single games, and the results of runs.

>>> import arena
>>> results = arena.run(["greedy", "uniform"], pairs=1, seed=7, progress=False)
>>> results.game("greedy", "uniform", pair=0, seat=1).winner
'greedy'
"""

TYPE_CHECKING = False  # nothing is imported here: `python -m arena` still searches its folder

if TYPE_CHECKING:
    __version__: str

    from arena.addons.learn.probe_bot import probe
    from arena.addons.studies.tuning import Tuning, tune
    from arena.errors import ArenaError, ChangedBots, InputError, NoSites, Unreachable, WorkerDied
    from arena.library.rating import Plan, Ratings, plan, rate
    from arena.library.results import Results
    from arena.library.running import Comparison, Interrupted, compare, play, run
    from arena.library.running import open_run as open
    from arena.replays.finished_game import Game
else:
    _HOMES = {
        "ArenaError": "arena.errors:ArenaError",
        "ChangedBots": "arena.errors:ChangedBots",
        "Comparison": "arena.library.running:Comparison",
        "Game": "arena.replays.finished_game:Game",
        "InputError": "arena.errors:InputError",
        "Interrupted": "arena.library.running:Interrupted",
        "NoSites": "arena.errors:NoSites",
        "Plan": "arena.library.rating:Plan",
        "Ratings": "arena.library.rating:Ratings",
        "Results": "arena.library.results:Results",
        "Unreachable": "arena.errors:Unreachable",
        "WorkerDied": "arena.errors:WorkerDied",
        "compare": "arena.library.running:compare",
        "open": "arena.library.running:open_run",
        "plan": "arena.library.rating:plan",
        "play": "arena.library.running:play",
        "rate": "arena.library.rating:rate",
        "run": "arena.library.running:run",
    }

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used: the command starts without them."""
        if name == "__version__":
            from arena.tournament.versions import version_here

            return version_here()
        if name not in __all__:
            from arena.errors import advise

            unknown = f"module 'arena' has no attribute {name!r}"
            raise AttributeError(advise(f"arena.{name}") or unknown)
        from arena.addons import VERBS, find

        value = globals()[name] = find(_HOMES.get(name) or VERBS[name])
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, "__version__"})


__all__ = [
    "ArenaError",
    "ChangedBots",
    "Comparison",
    "Game",
    "InputError",
    "Interrupted",
    "NoSites",
    "Plan",
    "Ratings",
    "Results",
    "Tuning",
    "Unreachable",
    "WorkerDied",
    "compare",
    "open",
    "plan",
    "play",
    "probe",
    "rate",
    "run",
    "tune",
]
