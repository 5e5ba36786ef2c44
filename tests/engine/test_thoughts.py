"""What a strategy says that it thought of its actions: what is accepted, and in which form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from math import inf, nan
from typing import Any

import pytest

from engine import Action, IllegalAction, Thinker, Thought, View
from engine.thoughts import checked_thoughts, said_thoughts

SEEN = View.from_text("0 5678C xy")


class Says:
    """Says what it was made to say."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def choose(self, view: View, /) -> Action:
        return view.legal[0]

    def thoughts(self) -> Iterable[Thought]:
        said: Iterable[Thought] = self.said
        return said


class Silent:
    """Has no such method."""

    def choose(self, view: View, /) -> Action:
        return view.legal[0]


def some() -> Iterator[Thought]:
    yield Thought(10, 1, 5)
    yield Thought(0, 0.0)


def test_thoughts_are_said_in_any_form_and_kept_in_one() -> None:
    """Of a list, a generator or plain tuples: in order of action, the values as floats."""
    wanted = (Thought(0, 0.0), Thought(10, 1.0, 5))
    for said in ([*wanted], some(), [(10, 1.0, 5), (0, 0.0)]):
        assert said_thoughts(Says(said), SEEN) == wanted
    noted = (Thought(0, 0.5, note="812 tokens, 1.4 s"),)
    assert said_thoughts(Says(noted), SEEN) == noted
    assert said_thoughts(Says([]), SEEN) == ()


def test_a_strategy_without_the_method_has_nothing_to_say() -> None:
    """That is no fault: the method is optional."""
    assert isinstance(Says([]), Thinker)
    assert not isinstance(Silent(), Thinker)
    assert said_thoughts(Silent(), SEEN) is None


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ([Thought(4, 0.5)], IllegalAction, "illegal action 4 (2); legal: 5 6 7 8 C T"),
        ([Thought(12, 0.5)], IllegalAction, "illegal action 12; legal"),
        ([Thought(True, 0.5)], IllegalAction, "illegal action True"),
        ([(0, 0.5), (0, 0.5)], ValueError, "names action 0 twice at ply 0"),
        (repeat(Thought(0, 0.5)), ValueError, "names action 0 twice"),
        ([(0, 1.25)], ValueError, "has the value 1.25 at ply 0: not 0 to 1"),
        ([(0, -0.25)], ValueError, "has the value -0.25 at ply 0: not 0 to 1"),
        ([(0, nan)], ValueError, "has the value nan"),
        ([(0, -inf)], ValueError, "has the value -inf"),
        ([(0, 10**400)], TypeError, "in place of an action, a value and visits"),
        ([(0, 0.5, -1)], ValueError, "has -1 visits at ply 0"),
        ([(0, 0.5, 2.5)], ValueError, "has 2.5 visits"),
        ([(0, 0.5, 1 << 60)], ValueError, "visits"),
        ([(0, 0.5, None, "x" * 201)], ValueError, "not a line of text"),
        ([(0, 0.5, None, "two\nlines")], ValueError, r"the note 'two\nlines' at ply 0"),
        ([(0, 0.5, None, 7)], ValueError, "has the note 7 at ply 0: not a line of text"),
        ([(0,)], TypeError, "in place of"),
        ([0], TypeError, "`thoughts` has 0 in place of"),
        ([(0, None)], TypeError, "in place of"),
        (None, TypeError, "not iterable"),
    ],
)
def test_what_is_no_thought_is_refused(said: Any, kind: type[Exception], message: str) -> None:
    """In one line that names it; an endless one, too."""
    with pytest.raises(kind) as refused:
        checked_thoughts(said, SEEN)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
