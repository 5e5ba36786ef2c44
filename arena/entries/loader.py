"""Load a bot: import its module from the folder of its files, and check the module's `bot`.

A bot is sent to other processes as an archive: an uncompressed zip file of its modules and data
files, whose first file defines `bot`. A bot's process imports this module, so it uses the standard
library only.
"""

from __future__ import annotations

import builtins
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder, SourceFileLoader
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

_PERMISSIONS = 0o644 << 16
_SYSTEM = 3  # Unix, whatever the system: the same bytes everywhere
_CODE = (".py", *EXTENSION_SUFFIXES)
_import = builtins.__import__


class _Loader(SourceFileLoader):
    """Runs a module's source with its bot's own `__import__`; reads and writes no .pyc files."""

    def __init__(self, fullname: str, path: str, builtins: Mapping[str, Any]) -> None:
        super().__init__(fullname, path)
        self.builtins = builtins

    def get_code(self, _fullname: str) -> CodeType:
        """Return the compiled code of the module."""
        return compile_lines(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the source of a module; a folder without `__init__.py` has no source to run."""
        if os.path.isfile(self.path):
            module.__dict__["__builtins__"] = self.builtins
            super().exec_module(module)


class Importer:
    """Imports modules from a bot's folder, as submodules of the package `name`.

    In these modules `import other` finds the bot's own module before any other of that name.
    Imports by other code are not affected: the folder is not on `sys.path`.
    """

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        self.folder = folder
        self.tops = {
            os.path.relpath(os.path.join(place, file), folder).partition("/")[0].partition(".")[0]
            for place, _, files in os.walk(folder)
            for file in files
            if file.endswith(_CODE)
        }
        self.builtins = {**vars(builtins), "__import__": self.import_}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, _target: object = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of this bot, None for any other module."""
        if fullname == self.name:
            file = os.path.join(self.folder, "__init__.py")
            spec = ModuleSpec(fullname, _Loader(fullname, file, self.builtins), origin=file)
            spec.submodule_search_locations = [self.folder]
            spec.has_location = os.path.isfile(file)
            return spec
        if not fullname.startswith(f"{self.name}."):
            return None
        found = PathFinder.find_spec(fullname, path)
        if found and found.origin and found.origin.endswith(".py"):
            found.loader = _Loader(fullname, found.origin, self.builtins)
        return found

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


def _load(name: str, folder: str, file: str) -> ModuleType:
    """Import a file of a bot's folder, and return the module."""
    sys.meta_path.insert(0, Importer(name, folder))
    main = file.removesuffix(".py")
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


def read_archive(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive that `make_archive` has made, by name, in its order."""
    import zipfile  # here, because it takes 10 ms and few bots need it

    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return {item.filename: file.read(item) for item in file.infolist()}


def compile_lines(source: bytes, filename: str) -> CodeType:
    """Compile a source; unless it is a bot's own file, keep its lines for tracebacks.

    So they are shown whatever file has that name then.
    """
    if not os.path.isabs(filename):
        import linecache  # here: it takes 1 ms, and a bot's process needs it for a fault only

        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
    code: CodeType = compile(source, filename, "exec", dont_inherit=True)
    return code


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
        kind = type(loaded.bot).__name__
        raise ImportError(f"{filename} binds `bot` to {kind}, which is not callable")
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
    exec(compile_lines(loader.get_data(file) if source is None else source, file), module.__dict__)
    return module


def find_parameter_error(bot: Any, params: dict[str, Any]) -> str | None:
    """Return the error in a bot's parameters as one line, None if they are valid.

    They are checked against the names and the type annotations of the bot's signature; `inspect`
    takes 10 ms, and few bots have parameters.
    """
    import inspect

    try:
        signature = inspect.signature(bot)
    except (TypeError, ValueError):
        return None  # a callable without a signature: its first game shows an error
    if error := find_missing_setup(bot):
        return error
    takes = list(signature.parameters)[1:]
    try:
        signature.bind(None, **params)
    except TypeError as error:
        known = f"takes {', '.join(takes)}" if takes else "takes no parameters"
        return f"{error}; the bot {known}"
    return _find_wrong_type(params, _hints(bot))


def find_missing_setup(bot: Any) -> str | None:
    """Return a suggestion if a bot has no parameter for the setup, else None."""
    import inspect

    for value in inspect.signature(bot).parameters.values():
        if value.kind not in (value.KEYWORD_ONLY, value.VAR_KEYWORD):
            return None
    name = getattr(bot, "__name__", type(bot).__name__)
    if not inspect.isclass(bot):
        return f"{name} takes no setup; write `def {name}(setup)`"
    if bot.__init__ is object.__init__:
        return f"class {name} has no __init__; write `__init__(self, setup)`"
    return f"the __init__ of class {name} takes no setup; write `__init__(self, setup)`"


def _find_wrong_type(params: dict[str, Any], hints: dict[str, Any]) -> str | None:
    if not params:
        return None
    import msgspec  # a jail shows it to bots with parameters

    for name, value in params.items():
        try:
            msgspec.convert(value, hints.get(name, Any))
        except msgspec.ValidationError as error:
            return f"parameter {name}={value!r}: {error}"
        except TypeError:
            continue  # a type that only the bot understands
    return None


def _hints(bot: Any) -> dict[str, Any]:
    import inspect
    import typing

    try:
        return typing.get_type_hints(
            inspect.unwrap(bot) if inspect.isfunction(bot) else bot.__init__
        )
    except (NameError, TypeError, AttributeError):
        return {}
