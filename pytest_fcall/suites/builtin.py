"""The built-in suites and their operators, by name. The modules of a suite are imported with its first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator, Suite

SuiteSettings: TypeAlias = Mapping[str, Mapping[str, object]]
"""The keyword arguments of suites, by the name of the suite."""


class LazySuites(Mapping[str, "Suite"]):
    """The built-in suites, and suites of other packages, by name.

    A built-in suite is given as `module:class`, and imported when it is looked up.
    """

    __slots__ = ("_built_in", "_others", "_settings")

    def __init__(self, built_in: Mapping[str, str], others: Mapping[str, Suite], settings: SuiteSettings) -> None:
        self._built_in = built_in
        self._others = others
        self._settings = settings

    def with_others(self, others: Mapping[str, Suite], settings: SuiteSettings = MappingProxyType({})) -> LazySuites:
        """Return the built-in suites, made with these settings, and the suites of other packages."""
        return LazySuites(self._built_in, others, settings)

    def __getitem__(self, name: str) -> Suite:
        if name in self._others:
            return self._others[name]
        suite: Suite = _imported(self._built_in[name])(**self._settings.get(name, {}))
        return suite

    def __iter__(self) -> Iterator[str]:
        return iter((*self._built_in, *self._others))

    def __len__(self) -> int:
        return len(self._built_in) + len(self._others)

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._others


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"pytest_fcall.suites.{module}"), attribute)


def _lazy_operator(name: str) -> Comparator:
    def compare(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        compared: Comparator = _imported(name)
        return compared(operand, options, got)

    return compare


SUITES = LazySuites(
    MappingProxyType(
        {
            "acebench": "acebench.suite:AceBenchSuite",
            "api_blend": "api_blend.suite:ApiBlendSuite",
            "apibench": "apibench.suite:ApiBenchSuite",
            "bfcl": "bfcl.suite:BfclSuite",
            "mannheim": "mannheim.suite:MannheimSuite",
            "nestful": "nestful.suite:NestfulSuite",
            "toolbench": "toolbench.suite:ToolBenchSuite",
        }
    ),
    MappingProxyType({}),
    MappingProxyType({}),
)

SUITE_OPERATORS: Mapping[str, Comparator] = MappingProxyType(
    {
        "api_call": _lazy_operator("apibench.strict_rule:api_call"),
        "toolbench": _lazy_operator("toolbench.judge:toolbench"),
    }
)
