"""Games of a run, to be looked at again: which, how they ended, what decided them, their page."""
