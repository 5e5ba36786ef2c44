"""By how much pairings of the ladder differ from what its Elo says.

`python -m bench.ladder FOLDER` writes this from a run of `configs/ladder.yaml`; a test finds the
same from the counts of its pairs (`bench/ladder.csv`).
"""

from arena.statistics.intervals import Estimate

LADDER_SPREAD = Estimate(20.0, 0.0, 34.0)
"""Elo points: the standard deviation, with its 95 % interval."""
