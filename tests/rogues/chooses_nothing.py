"""Has no `choose`."""


class ChoosesNothing:
    """Only begins."""

    def __init__(self, _setup):
        pass


bot = ChoosesNothing
