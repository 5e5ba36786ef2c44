"""How games were won: tables from the records of a run. Rows come in; no files, no processes."""
