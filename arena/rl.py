"""`arena.rl` is the add-on `arena.addons.rl`, by a shorter name."""

import sys

from arena.addons import rl

sys.modules[__name__] = rl
