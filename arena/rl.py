"""`arena.rl` is the add-on `arena.addons.rl`, by the name that it had in 1.0; so are its modules.

`arena.rl.env` is the module `arena.addons.rl.env` itself: a second one of the same file would
have classes of its own, and register the environments again.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from arena.addons import rl


class _Same(MetaPathFinder, Loader):
    """Finds the modules of the add-on by the shorter name, too."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return what leads to `exec_module`, for a module below `arena.rl`."""
        return ModuleSpec(fullname, self) if fullname.startswith("arena.rl.") else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the add-on in the place of the new, empty one."""
        name = module.__name__.removeprefix("arena.")
        sys.modules[module.__name__] = import_module(f"arena.addons.{name}")


sys.meta_path.insert(0, _Same())
sys.modules[__name__] = rl
