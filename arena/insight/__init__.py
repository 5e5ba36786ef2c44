"""Tables from a store: standings, how games were won, differences between runs."""
