"""Answers something that is not a legal action."""


class Chameleon:
    """Is equal to everything, and so also to legal actions."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __index__(self):
        return 99


class Answers:
    """`what` names the answer."""

    def __init__(self, _setup, what: str):
        self.what = what

    def choose(self, view, /):
        """Return the answer."""
        answers = {
            "99": 99,
            "minus_one": -1,
            "none": None,
            "float": float(view.legal[0]),
            "text": "T",
            "true": True,
            "list": [view.legal[0]],
            "chameleon": Chameleon(),
        }
        return answers[self.what]


bot = Answers
