"""Studies: what the statistics get right in simulation. A module is a study.

`lines()` of a module yields its section of `bench/STUDIES.md`, below the title. Every random
number is from a seed that the module names, so the figures are the same each time.
"""
