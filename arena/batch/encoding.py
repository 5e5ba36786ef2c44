"""Encode views as numpy arrays of zeros and ones, as `engine.encoding` defines them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from arena.errors import InputError
from engine import STANDARD, Rules, View
from engine import encoding as bits
from engine.encoding import VERSION, encoder_of

Bits: TypeAlias = npt.NDArray[np.int8]


class Encoding:
    """Makes arrays of views under given rules.

    `fields`, and for an information state also `history_fields`, list the fields in order. Raises
    InputError for a version that is not this arena's.

    >>> encoding = Encoding()
    >>> [field.name for field in encoding.fields][:5]
    ['hand', 'own pile', 'other pile', 'row', 'unseen']
    >>> seen = View.from_text("0 5678C xy")
    >>> encoding.observation(seen).shape, encoding.information_state(seen).shape
    ((354,), (952,))
    >>> Encoding(version=2)
    Traceback (most recent call last):
        ...
    arena.errors.InputError: encoding: version 2; this arena has version 1
    """

    def __init__(self, rules: Rules = STANDARD, version: int = VERSION) -> None:
        if version != VERSION:
            raise InputError(f"encoding: version {version}; this arena has version {VERSION}")
        self.rules = rules
        self._encoder = encoder_of(rules)
        self.fields = self._encoder.fields
        self.history_fields = self._encoder.history_fields
        self.size = self._encoder.size
        self.information_size = self._encoder.information_size

    def __reduce__(self) -> tuple[type[Encoding], tuple[Rules]]:
        """Pickle only the rules: a process makes one encoder for them."""
        return Encoding, (self.rules,)

    def observation(self, view: View) -> Bits:
        """Return a view without its history as `size` bits; raises RulesError."""
        return np.frombuffer(self._encoder.observation(view), np.int8)

    def information_state(self, view: View) -> Bits:
        """Return a view with its history as `information_size` bits; raises RulesError."""
        return np.frombuffer(self._encoder.information_state(view), np.int8)


def mask(view: View) -> Bits:
    """Return which of the 12 actions are legal.

    >>> mask(View.from_text("0 5678C xy"))
    array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1], dtype=int8)
    """
    return np.frombuffer(bits.mask(view), np.int8)
