"""The built-in suites and the operators they bring, by name. A suite's modules are imported when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator, Suite


def _api_call(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
    from pytest_fcall.suites.apibench.strict_rule import api_call

    return api_call(operand, options, got)


def _toolbench(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
    from pytest_fcall.suites.toolbench.judge import toolbench

    return toolbench(operand, options, got)


SUITE_OPERATORS: Mapping[str, Comparator] = MappingProxyType({"api_call": _api_call, "toolbench": _toolbench})


SuiteSettings: TypeAlias = Mapping[str, Mapping[str, object]]
"""By the name of a suite, what it is made with."""


class LazySuites(Mapping[str, "Suite"]):
    """Suites by name, those of other packages among them.

    Where one of ours is, `module:class` says; it is imported when it is first asked for.
    """

    __slots__ = ("_added", "_places", "_settings")

    def __init__(self, places: Mapping[str, str], added: Mapping[str, Suite], settings: SuiteSettings) -> None:
        self._places = places
        self._added = added
        self._settings = settings

    def beside(self, added: Mapping[str, Suite], settings: SuiteSettings = MappingProxyType({})) -> LazySuites:
        """The same, with those of other packages; ours are made with the settings under their names."""
        return LazySuites(self._places, added, settings)

    def __getitem__(self, name: str) -> Suite:
        if name in self._added:
            return self._added[name]
        module, _, attribute = self._places[name].partition(":")
        make = getattr(import_module(f"pytest_fcall.suites.{module}"), attribute)
        suite: Suite = make(**self._settings.get(name, {}))
        return suite

    def __iter__(self) -> Iterator[str]:
        return iter((*self._places, *self._added))

    def __len__(self) -> int:
        return len(self._places) + len(self._added)

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._added


SUITES = LazySuites(
    MappingProxyType(
        {
            "api_blend": "api_blend.suite:ApiBlendSuite",
            "apibench": "apibench.suite:ApiBenchSuite",
            "bfcl": "bfcl.suite:BfclSuite",
            "mannheim": "mannheim.suite:MannheimSuite",
            "toolbench": "toolbench.suite:ToolBenchSuite",
        }
    ),
    MappingProxyType({}),
    MappingProxyType({}),
)
