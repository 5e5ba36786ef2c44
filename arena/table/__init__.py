"""A page on this machine to play, watch and look things up; no rule and no result is made here."""
