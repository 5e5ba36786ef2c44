"""Tables from a store: standings, how games were won; nothing that is compared with another."""
