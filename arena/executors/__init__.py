"""Play chunks of games with worker processes, on this machine or on a cluster.

An executor knows no files of a run and no statistics.
"""
