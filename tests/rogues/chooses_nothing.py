"""Has no `choose`."""


class ChoosesNothing:
    """Can only be constructed."""

    def __init__(self, _setup):
        pass


bot = ChoosesNothing
