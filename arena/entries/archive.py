"""Load what a bot's module binds to `bot`, from its source text or from an archive in memory.

An archive is a zip without compression of a bot's modules and data files, whose first file
binds `bot`. Nothing is unpacked to a disk. The process of a bot imports this module: standard
library only.
"""

from __future__ import annotations

import builtins
import errno
import importlib
import io
import linecache
import os
import re
import sys
import types
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MAGIC = b"PK\x03\x04"
"""The first bytes of an archive, which no Python source begins with."""

MOST_DATA = 45 << 20
"""Bytes of all files of a bot together; in a packed file they take a third more."""

MOST_FILES = 1000
"""Files and folders of a bot."""

_MAIN = re.compile(r"[^./]+")
_import = builtins.__import__


class Importer:
    """Imports modules from files in memory, as submodules of the package `name`.

    In these modules `import other` finds a module of the bot before any other of that
    name; no code outside does. `place` is what stands before a file's name in `__file__` and in
    tracebacks.
    """

    def __init__(self, name: str, place: str, files: Mapping[str, bytes]) -> None:
        self.name = name
        self.place = place
        self.files = files
        self.tops = {file.partition("/")[0].removesuffix(".py") for file in files if _is_code(file)}
        self.builtins = {**vars(builtins), "__import__": self.import_}

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return the spec of a module of this bot, None for any other module."""
        package, *rest = fullname.split(".")
        if package != self.name:
            return None
        stem = "/".join(rest)
        folder = f"{stem}/" if stem else ""
        for file, is_package in ((f"{folder}__init__.py", True), (f"{stem}.py", False)):
            if file in self.files:
                return self._spec(fullname, file, is_package=is_package)
        if any(file.startswith(folder) for file in filter(_is_code, self.files)):
            return self._spec(fullname, "", is_package=True)
        return None

    def _spec(self, fullname: str, file: str, *, is_package: bool) -> ModuleSpec:
        place = f"{self.place}/{file}" if file else self.place
        spec = ModuleSpec(fullname, self, origin=place, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = bool(file)
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the making of a module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the source of a module; a folder without `__init__.py` has none."""
        if module.__spec__ is None or not module.__spec__.has_location:
            return
        place = str(module.__spec__.origin)
        source = self.get_data(place)
        keep_lines(place, source)
        module.__dict__["__builtins__"] = self.builtins
        exec(compile(source, place, "exec", dont_inherit=True), module.__dict__)

    def get_data(self, path: str) -> bytes:
        """Return the content of a file, as `pkgutil.get_data(__name__, "file")` asks for it.

        Raises FileNotFoundError for a file that did not come with the bot.
        """
        name = os.path.normpath(path).removeprefix(f"{os.path.normpath(self.place)}/")
        if name in self.files:
            return self.files[name]
        raise FileNotFoundError(errno.ENOENT, "not one of the bot's files", name)

    def import_(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import a module for a module of the bot: what `__import__` is there."""
        top = name.partition(".")[0]
        if level or top not in self.tops:
            return _import(name, globals, locals, fromlist or (), level)
        module = _import(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.name}.{top}"]


class Alone:
    """The loader of a bot that is one file, and has no file beside it."""

    def get_data(self, path: str) -> bytes:
        """Raise FileNotFoundError, which says how a file gets into a bot."""
        how = "a bot's file stands alone; `arena pack` puts others into it"
        raise FileNotFoundError(errno.ENOENT, how, os.path.basename(path))


def load(name: str, place: str, archive: bytes) -> ModuleType:
    """Return the module of an archive that binds `bot`, imported below the package `name`.

    Raises ImportError for an archive that `arena pack` would not write, and whatever the
    modules raise.
    """
    files = read_archive(archive)
    main = next(iter(files)).removesuffix(".py")
    if not _MAIN.fullmatch(main):
        raise ImportError(f"a packed bot whose first file {main!r} is not beside the others")
    sys.meta_path.insert(0, Importer(name, place, files))
    return importlib.import_module(name if main == "__init__" else f"{name}.{main}")


def read_archive(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive by name, in its order.

    Raises ImportError where it is damaged, too large or compressed.
    """
    import zipfile  # 10 ms, which other bots need not wait

    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            items = file.infolist()
            if not items or len(items) > MOST_FILES:
                raise ImportError(f"a packed bot has 1 to {MOST_FILES:,} files")
            if any(item.compress_type != zipfile.ZIP_STORED for item in items):
                raise ImportError("a packed bot has no compressed files")
            if sum(item.file_size for item in items) > MOST_DATA:
                raise ImportError(f"a packed bot has at most {MOST_DATA:,} bytes")
            return {item.filename: file.read(item) for item in items}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ImportError(f"a packed bot that is damaged: {error}") from None


def _is_code(file: str) -> bool:
    return file.endswith(".py")


def keep_lines(filename: str, source: bytes) -> None:
    """Keep the lines of a source for tracebacks, whatever file of that name there is."""
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)


def _advise_binding(loaded: ModuleType) -> str:
    """Return what to write, where one class of a module can be meant."""
    own = (
        one.__name__
        for one in vars(loaded).values()
        if isinstance(one, type) and one.__module__ == loaded.__name__ and hasattr(one, "choose")
    )
    names = {*own}
    return f": write `bot = {names.pop()}`" if len(names) == 1 else ""


@cache
def load_bot(module: str, filename: str, source: bytes | None) -> Any:
    """Return what a module binds to `bot`; without a source the module is imported by name.

    The source is a Python text, or an archive of a bot with further files. A process loads
    each module once. Raises whatever the module raises, and ImportError where it binds no bot.
    """
    if source is None:
        loaded = importlib.import_module(module)
    elif source.startswith(MAGIC):
        loaded = load(module, filename, source)
    else:
        loaded = _execute(module, filename, source)
    if not hasattr(loaded, "bot"):
        raise ImportError(f"{filename} does not bind `bot`{_advise_binding(loaded)}")
    if not callable(loaded.bot):
        raise ImportError(
            f"{filename} binds `bot` to {type(loaded.bot).__name__}, which is not callable"
        )
    return loaded.bot


def checked_strategy(strategy: Any) -> Any:
    """Return what a bot returned for a game; raise TypeError if it forgot to return anything."""
    if strategy is None:
        raise TypeError("bot(setup) returned None, and not a strategy")
    return strategy


def _execute(name: str, filename: str, source: bytes) -> types.ModuleType:
    """Return the module of a source, registered by its name as an import would."""
    module = types.ModuleType(name)
    module.__file__ = filename
    module.__spec__ = ModuleSpec(name, Alone(), origin=filename)  # type: ignore[arg-type]
    sys.modules[name] = module
    keep_lines(filename, source)
    exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    return module
