"""Tries to change its view, the view's rules and its setup, and plays on."""

from contextlib import suppress


class Mutates:
    """Raises if the view has changed."""

    def __init__(self, setup):
        self.setup = setup

    def choose(self, view, /):
        """Try to change every part, and return the first legal action."""
        before = repr(view), tuple(view), view.legal[0]
        for thing in (view, view.rules, self.setup):
            for name in ("hand", "legal", "piles", "cities_needed", "seat"):
                with suppress(AttributeError, TypeError):
                    setattr(thing, name, 0)
                with suppress(AttributeError, TypeError):
                    vars(thing)[name] = 0
        for part in view:
            with suppress(AttributeError, TypeError):
                part[0] = 0
            with suppress(AttributeError, TypeError):
                part.append(0)
        if (repr(view), tuple(view), view.legal[0]) != before:
            raise RuntimeError("the view can be changed")
        return view.legal[0]


bot = Mutates
