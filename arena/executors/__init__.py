"""Who plays chunks, and where. An executor knows no files of a run and no statistics."""
