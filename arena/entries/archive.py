"""Load a bot: import its module from the folder of its files, and return the module's `bot`.

A bot is sent to other processes as an archive: an uncompressed zip file of its modules and data
files, whose first file defines `bot`. A bot's process imports this module, so it uses the standard
library only.
"""

from __future__ import annotations

import builtins
import importlib
import io
import linecache
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

MAGIC = b"PK\x03\x04"
"""The first bytes of an archive; no Python source begins with them."""

MOST_DATA = 45 << 20
"""The most bytes of all files of a bot together."""

MOST_ZIP = 64 << 20
"""The most bytes of a zip that is a bot."""

MOST_FILES = 1000
"""The most files and folders of a bot."""

_MOST_LISTED = 1 << 22  # bytes of an archive's directory of files
_LIST, _LIST_64 = b"PK\x05\x06", b"PK\x06\x07"  # signatures of the records with its place
_PERMISSIONS = 0o644 << 16
_SYSTEM = 3  # Unix, whatever the system: the same bytes everywhere
_MAIN = re.compile(r"[^./]+")
_CODE = (".py", *EXTENSION_SUFFIXES)
_import = builtins.__import__


class _Loader(SourceFileLoader):
    """Runs a module's source with its bot's own `__import__`; reads and writes no .pyc files."""

    def __init__(self, fullname: str, path: str, builtins: Mapping[str, Any]) -> None:
        super().__init__(fullname, path)
        self.builtins = builtins

    def get_code(self, _fullname: str) -> CodeType:
        """Return the compiled code of the module."""
        source = self.get_data(self.path)
        keep_lines(self.path, source)
        code: CodeType = compile(source, self.path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Run the source of a module; a folder without `__init__.py` has no source to run."""
        if module.__spec__ and module.__spec__.has_location:
            module.__dict__["__builtins__"] = self.builtins
            super().exec_module(module)


class Importer:
    """Imports modules from a bot's folder, as submodules of the package `name`.

    In these modules `import other` finds the bot's own module before any other of that name.
    Imports by other code are not affected.
    """

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        self.folder = folder
        self.tops = {file.partition("/")[0].partition(".")[0] for file in _find_code(folder)}
        self.builtins = {**vars(builtins), "__import__": self.import_}

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return the spec of a module of this bot, None for any other module."""
        package, *rest = fullname.split(".")
        if package != self.name:
            return None
        stem = os.path.join(self.folder, *rest)
        for file, is_package in ((f"{stem}/__init__.py", True), (f"{stem}.py", False)):
            if os.path.isfile(file):
                return self._spec(fullname, file, is_package=is_package)
        if any(True for _ in _find_code(stem)):
            return self._spec(fullname, f"{stem}/__init__.py", is_package=True)
        return None

    def _spec(self, fullname: str, file: str, *, is_package: bool) -> ModuleSpec:
        loader = _Loader(fullname, file, self.builtins)
        spec = ModuleSpec(fullname, loader, origin=file, is_package=is_package)
        spec.has_location = os.path.isfile(file)
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(file)]
        return spec

    def import_(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import a module for one of the bot's modules, in place of `__import__`."""
        top = name.partition(".")[0]
        if level or top not in self.tops:
            return _import(name, globals, locals, fromlist or (), level)
        module = _import(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.name}.{top}"]


def _find_code(folder: str) -> Iterator[str]:
    """Yield the modules below a folder, by their paths relative to it."""
    for place, _, files in os.walk(folder):
        for file in files:
            if file.endswith(_CODE):
                yield os.path.relpath(os.path.join(place, file), folder)


def _load(name: str, folder: str, file: str) -> ModuleType:
    """Import a file of a bot's folder, and return the module."""
    main = file.removesuffix(".py")
    if not _MAIN.fullmatch(main):
        raise ImportError(f"a bot's archive whose first file {main!r} is not beside the others")
    sys.meta_path.insert(0, Importer(name, folder))
    return importlib.import_module(name if main == "__init__" else f"{name}.{main}")


def make_archive(files: Mapping[str, bytes], main: str) -> bytes:
    """Return the archive of a bot's files, `main` first; the same files give the same bytes."""
    import zipfile  # here, because it takes 10 ms and few bots need it

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in (main, *sorted(files.keys() - {main})):
            item = zipfile.ZipInfo(name)  # dated 1980: independent of the clock
            item.create_system = _SYSTEM
            item.external_attr = _PERMISSIONS
            archive.writestr(item, files[name])
    return buffer.getvalue()


def name_of_first(archive: bytes) -> str:
    """Return the name of the first file of an archive, which defines `bot`."""
    size = int.from_bytes(archive[26:28], "little")
    return archive[30 : 30 + size].decode(errors="replace")


def read_archive(
    archive: bytes, most_files: int = MOST_FILES, most_data: int = MOST_DATA
) -> dict[str, bytes]:
    """Return the files of an archive by name, in its order.

    Raises ImportError if it is damaged, too large or compressed.
    """
    import zipfile  # here, because it takes 10 ms and few bots need it

    end = archive[-22:]  # the end record, which has no comment
    listed = int.from_bytes(end[12:16], "little")
    if not end.startswith(_LIST) or archive[-42:].startswith(_LIST_64) or listed > _MOST_LISTED:
        raise ImportError("a bot's archive that is damaged: its list of files cannot be read")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            items = file.infolist()
            if not items or len(items) > most_files:
                raise ImportError(f"a bot's archive has 1 to {most_files:,} files")
            if any(item.compress_type != zipfile.ZIP_STORED for item in items):
                raise ImportError("a bot's archive has no compressed files")
            if sum(item.file_size for item in items) > most_data:
                raise ImportError(f"a bot's archive has at most {most_data:,} bytes")
            return {item.filename: file.read(item) for item in items}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ImportError(f"a bot's archive that is damaged: {error}") from None


def keep_lines(filename: str, source: bytes) -> None:
    """Register the lines of a source for tracebacks, even if a file of that name exists."""
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)


def _advise_binding(loaded: ModuleType) -> str:
    """Suggest the missing line `bot = ...` if the module defines exactly one suitable class."""
    own = (
        one.__name__
        for one in vars(loaded).values()
        if isinstance(one, type) and one.__module__ == loaded.__name__ and hasattr(one, "choose")
    )
    names = {*own}
    return f": write `bot = {names.pop()}`" if len(names) == 1 else ""


@cache
def load_bot(module: str, filename: str, file: str | None, folder: str = "") -> Any:
    """Return the `bot` of a module; without a file the module is imported by name.

    With a `folder`, the file can import the other modules in it; else it is a single file. A
    process loads each module once. Raises whatever the module raises, and ImportError if it does
    not define `bot`.
    """
    if file is None:
        loaded = importlib.import_module(module)
    elif folder:
        loaded = _load(module, folder, os.path.relpath(file, folder))
    else:
        loaded = _execute(module, file)
    return _bound(loaded, filename)


@cache
def load_source(module: str, filename: str, source: bytes) -> Any:
    """Return the `bot` of a source in memory, as `load_bot` does for a file."""
    return _bound(_execute(module, filename, source), filename)


def _bound(loaded: ModuleType, filename: str) -> Any:
    if not hasattr(loaded, "bot"):
        raise ImportError(f"{filename} does not bind `bot`{_advise_binding(loaded)}")
    if not callable(loaded.bot):
        raise ImportError(
            f"{filename} binds `bot` to {type(loaded.bot).__name__}, which is not callable"
        )
    return loaded.bot


def checked_strategy(strategy: Any) -> Any:
    """Return a bot's strategy for a game; raise TypeError if the bot returned None."""
    if strategy is None:
        raise TypeError("bot(setup) returned None, and not a strategy")
    return strategy


def _execute(name: str, file: str, source: bytes | None = None) -> ModuleType:
    """Run a single file as a module, register it in `sys.modules`, and return it."""
    loader = _Loader(name, file, vars(builtins))
    module = ModuleType(name)
    module.__file__ = file
    module.__spec__ = ModuleSpec(name, loader, origin=file)
    sys.modules[name] = module
    source = loader.get_data(file) if source is None else source
    keep_lines(file, source)
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    return module
