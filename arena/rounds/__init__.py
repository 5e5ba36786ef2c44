"""Who decides, between two rounds of a run, which pairs are played next. Pure functions of counts.

No files and no processes live here.
"""
