"""What runs inside tests do without: plugins of pytest that serve the tests, and looking up again what never changes.

A run inside a test is over sooner than these plugins are imported. Where a test is about one of them, it says
`-p NAME`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import Distribution, EntryPoints, PackagePath, distribution, distributions
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import pluggy
import pytest
from _pytest.assertion.rewrite import AssertionRewriter, AssertionRewritingHook
from _pytest.config import PytestPluginManager, argparsing
from _pytest.fixtures import FixtureManager
from _pytest.pytester import SysModulesSnapshot

if TYPE_CHECKING:
    from importlib.metadata._meta import PackageMetadata, SimplePath

TOOLS = (
    *("anyio", "asyncio", "hypothesispytest", "platformdirs", "pytest_cov"),
    *("randomly", "rerunfailures", "syrupy", "timeout"),
)
WITHOUT_TOOLS = " ".join(f"-p no:{name}" for name in TOOLS)

NAMES_FIXTURES = pytest.version_tuple >= (8, 4)
"""Whether fixtures have a type of their own, by which they are known without pytest."""

LOOKS_FOR_DESCRIPTORS = hasattr(pluggy._manager, "_static_hook_attr")
"""Whether this version of pluggy does so."""

COMPARES_OPTIONS = hasattr(argparsing, "_get_argparse_dest")
"""Whether this version of pytest compares each option with all that are known."""

Registered: TypeAlias = Callable[[FixtureManager, object, str], None]

Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

Found: TypeAlias = Callable[[object, str], tuple[object, Callable[..., object]] | None]

ADD_OPTION = argparsing.OptionGroup.addoption

# It is asked for in every run, and looked up in the metadata each time.
vars(pluggy).setdefault("__version__", pluggy.__version__)

_NO_FIXTURES = ModuleType("no_fixtures")

_MEMORY = Path("/dev/shm")  # noqa: S108
_ROOM = 4_000_000_000


def keep_files_in_memory() -> None:
    """Have the folders of tests in memory, where the system has such a place and room in it.

    A run inside a test waits six times for a disk, for as long as it computes.
    """
    if not hasattr(os, "statvfs") or not os.access(_MEMORY, os.W_OK):
        return
    place = os.statvfs(_MEMORY)
    if place.f_bavail * place.f_frsize >= _ROOM and not place.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


@cache
def stand_ins() -> Mapping[str, object]:
    """What stands in for functions that look up in every run what never changes, by the names of these functions."""
    with_plugins = distributions_with_plugins()
    found: dict[str, object] = {
        "importlib.metadata.distribution": cache(lambda name: ParsedDistribution(distribution(name))),
        "importlib.metadata.distributions": lambda: with_plugins,
        "_pytest.config.PytestPluginManager.parse_hookimpl_opts": options_of_hooks(),
        "_pytest.assertion.rewrite.AssertionRewritingHook.mark_rewrite": mark_rewrite,
        "_pytest.pytester.SysModulesSnapshot": ModulesSnapshot,
    }
    if NAMES_FIXTURES:
        found["_pytest.fixtures.FixtureManager.pytest_plugin_registered"] = fixtures_found_once()
    if LOOKS_FOR_DESCRIPTORS:
        found["pluggy._manager._static_hook_attr"] = hooks_of_functions()
        found["pluggy._manager.dir"] = names_of_hooks()
        found["pluggy._impl.varnames"] = found["pluggy._decorators.varnames"] = names_of_arguments()
    if COMPARES_OPTIONS:
        found["_pytest.config.argparsing.OptionGroup.addoption"] = add_option
    return found


@cache
def distributions_with_plugins() -> tuple[Distribution, ...]:
    """Stands in for `importlib.metadata.distributions`: pytest reads the files of each one twice, in every run."""
    return tuple(
        ReadDistribution(distribution)
        for distribution in distributions()
        if any(entry.group == "pytest11" for entry in distribution.entry_points)
    )


class ParsedDistribution(Distribution):
    """A distribution whose metadata are parsed once."""

    def __init__(self, original: Distribution) -> None:
        self._original = original
        self._metadata = original.metadata

    @property
    def metadata(self) -> PackageMetadata:
        return self._metadata

    def read_text(self, filename: str) -> str | None:
        return self._original.read_text(filename)

    def locate_file(self, path: str | os.PathLike[str]) -> SimplePath:
        return self._original.locate_file(path)


class ReadDistribution(ParsedDistribution):
    """A distribution of which everything is read and parsed once: what is listed in its folder, name and version."""

    def __init__(self, original: Distribution) -> None:
        super().__init__(original)
        self._entry_points = original.entry_points
        self._files = original.files and [file for file in original.files if len(file.parts) <= 2]

    @property
    def entry_points(self) -> EntryPoints:
        return self._entry_points

    @property
    def files(self) -> list[PackagePath] | None:
        """Those that say which modules there are at the top, which is all that pytest looks for."""
        return self._files


@cache
def names_of_hooks() -> Callable[[object], list[str]]:
    """Stands in for `dir` in pluggy, which looks at all names of each plugin, in every run.

    It is shown those that may be hooks: pytest's begin so, and others are marked.
    """
    known: WeakKeyDictionary[object, list[str]] = WeakKeyDictionary()

    def may_be(name: str, found: object) -> bool:
        if name.startswith("pytest_"):
            return True
        return isinstance(found, (FunctionType, classmethod, staticmethod)) and hasattr(found, "pytest_spec")

    def names(plugin: object) -> list[str]:
        owner = plugin if isinstance(plugin, (ModuleType, type)) else type(plugin)
        if owner not in known:
            known[owner] = [name for name in dir(owner) if may_be(name, inspect.getattr_static(owner, name, None))]
        if owner is plugin:
            return known[owner]
        own = {name for name, found in getattr(plugin, "__dict__", {}).items() if may_be(name, found)}
        return sorted(own.union(known[owner])) if own else known[owner]

    return names


@cache
def hooks_of_functions() -> Found:
    """Stands in for `pluggy._manager._static_hook_attr`, which looks for descriptors behind each hook of each plugin.

    There are none where a function is defined in a module, or in a class whose object has nothing else by its name.
    """
    original: Found = pluggy._manager._static_hook_attr

    def static_hook_attr(plugin: object, name: str) -> tuple[object, Callable[..., object]] | None:
        own = getattr(plugin, "__dict__", {}).get(name)
        if isinstance(plugin, ModuleType):
            return (own, own) if inspect.isfunction(own) else original(plugin, name)
        if own is None and not isinstance(plugin, type):
            owner = type(plugin)
            found = next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)
            if inspect.isfunction(found):
                return found, found.__get__(plugin, owner)
        return original(plugin, name)

    return static_hook_attr


@cache
def names_of_arguments() -> Callable[..., Names]:
    """Stands in for `pluggy._decorators.varnames`, which takes each hook apart, in every run."""
    original: Callable[..., Names] = pluggy._decorators.varnames
    known: WeakKeyDictionary[FunctionType, dict[tuple[bool, bool], Names]] = WeakKeyDictionary()

    def varnames(func: object, *, legacy_noself: bool = False) -> Names:
        bound = isinstance(func, MethodType)
        function = func.__func__ if isinstance(func, MethodType) else func
        if not isinstance(function, FunctionType):
            return original(func, legacy_noself=legacy_noself)
        names = known.setdefault(function, {})
        if (bound, legacy_noself) not in names:
            names[bound, legacy_noself] = original(func, legacy_noself=legacy_noself)
        return names[bound, legacy_noself]

    return varnames


@cache
def options_of_hooks() -> Callable[[PytestPluginManager, object, str], object]:
    """Stands in for `parse_hookimpl_opts` of pytest: a function is a hook of one kind, in every run."""
    original = PytestPluginManager.parse_hookimpl_opts
    known: WeakKeyDictionary[FunctionType, object] = WeakKeyDictionary()

    def parse_hookimpl_opts(self: PytestPluginManager, plugin: object, name: str) -> object:
        own = getattr(plugin, "__dict__", {}).get(name)
        function = own if own is not None or isinstance(plugin, ModuleType) else getattr(type(plugin), name, None)
        if not isinstance(function, FunctionType) or hasattr(function, "pytestmark"):  # of which pytest warns
            return original(self, plugin, name)
        if function not in known:
            known[function] = original(self, plugin, name)
        return known[function]

    return parse_hookimpl_opts


def add_option(self: argparsing.OptionGroup, *opts: str, **attrs: Any) -> None:
    """Stand in for `OptionGroup.addoption`, which compares each option with all others, in every run.

    Where there may be another of its name, it does so.
    """
    known: dict[str, str] = getattr(self.parser, "_opt2dest", {})
    dest = attrs.get("dest") or argparsing._get_argparse_dest(opts)
    if self.parser is None or dest in known.values() or not known.keys().isdisjoint(opts):
        ADD_OPTION(self, *opts, **attrs)
    else:
        self._addoption_inner(opts, attrs, allow_reserved=False)


def mark_rewrite(self: AssertionRewritingHook, *names: str) -> None:
    """Stand in for `AssertionRewritingHook.mark_rewrite`, which looks at all modules, in every run a hundred times."""
    for name in {name for name in names if name in sys.modules and name not in self._rewritten_names}:
        module = sys.modules[name]
        if not AssertionRewriter.is_rewrite_disabled(module.__doc__ or "") and not isinstance(
            module.__loader__, type(self)
        ):
            self._warn_already_imported(name)
    self._must_rewrite.update(names)
    self._marked_for_rewrite_cache.clear()


class ModulesSnapshot(SysModulesSnapshot):
    """Stands in for pytester's, which calls a function for each module; those that a run has imported are enough."""

    def __init__(self, preserve: Callable[[str], bool] | None = None) -> None:
        self._preserve = preserve or (lambda _: False)
        self._before = dict(sys.modules)

    def restore(self) -> None:
        new = sys.modules.keys() - self._before.keys()
        self._before.update((name, sys.modules[name]) for name in new if self._preserve(name))
        sys.modules.clear()
        sys.modules.update(self._before)


class NoRecorder:
    """Stands in for `HookRecorder`, which notes each call of a hook in a run: these tests read what a person sees."""

    def __init__(self, plugins: pytest.PytestPluginManager) -> None:
        self.ret = pytest.ExitCode.OK

    def getcalls(self, names: str) -> list[object]:
        return []


@cache
def fixtures_found_once() -> Registered:
    """Stands in for `FixtureManager.pytest_plugin_registered`: in every run, it looks at all names of all plugins.

    Of a module it is shown nothing but the fixtures, and of other plugins only those whose class has one.
    """
    original: Registered = FixtureManager.pytest_plugin_registered
    known: WeakKeyDictionary[object, ModuleType] = WeakKeyDictionary()

    def pytest_plugin_registered(self: FixtureManager, plugin: object, plugin_name: str) -> None:
        if not plugin_name.endswith("conftest.py"):
            owner = plugin if isinstance(plugin, ModuleType) else type(plugin)
            if owner not in known:
                known[owner] = _only_fixtures(owner)
            if owner is plugin or known[owner] is _NO_FIXTURES:
                plugin = known[owner]
        original(self, plugin, plugin_name)

    return pytest_plugin_registered


def _only_fixtures(owner: ModuleType | type) -> ModuleType:
    owners = reversed(owner.__mro__) if isinstance(owner, type) else (owner,)
    members = {name: each for part in owners for name, each in vars(part).items()}
    fixtures = {name: each for name, each in members.items() if type(each).__name__ == "FixtureFunctionDefinition"}
    if not fixtures:
        return _NO_FIXTURES
    found = ModuleType(owner.__name__)
    vars(found).update(fixtures)
    return found
