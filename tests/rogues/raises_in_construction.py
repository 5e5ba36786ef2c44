"""Raises when a game begins."""


class RaisesInConstruction:
    """Cannot be constructed."""

    def __init__(self, _setup):
        raise SystemExit(3)


bot = RaisesInConstruction
