"""The game itself, measured: its figures by strength of the players, and a set of judged games."""
