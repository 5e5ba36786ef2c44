"""Asks Python to exit when it is imported."""

import sys

sys.exit(0)
