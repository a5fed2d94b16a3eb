"""The suites that are built in, by the names that `suite:` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Suite


class LateSuites(Mapping[str, "Suite"]):
    """Suites by name, those of other packages among them.

    Where one of ours is, `module:class` says; it is imported when it is first asked for.
    """

    __slots__ = ("_added", "_places")

    def __init__(self, places: Mapping[str, str], added: Mapping[str, Suite]) -> None:
        self._places = places
        self._added = added

    def beside(self, added: Mapping[str, Suite]) -> LateSuites:
        """The same, with those of other packages."""
        return LateSuites(self._places, added)

    def __getitem__(self, name: str) -> Suite:
        if name in self._added:
            return self._added[name]
        module, _, attribute = self._places[name].partition(":")
        suite: Suite = getattr(import_module(f"pytest_fcall.suites.{module}"), attribute)()
        return suite

    def __iter__(self) -> Iterator[str]:
        return iter((*self._places, *self._added))

    def __len__(self) -> int:
        return len(self._places) + len(self._added)

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._added


SUITES = LateSuites(
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
)
