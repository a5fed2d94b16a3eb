"""Everything that a case file or the command line may name: what is built in, and what other packages add."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pytest_fcall.backends.any import any_backend
from pytest_fcall.backends.apps import http_backend, python_backend
from pytest_fcall.backends.local import local_backend
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.core.operators import OPERATORS
from pytest_fcall.decoding.decoders import DECODERS
from pytest_fcall.session.endings import SettingError
from pytest_fcall.suites.builtin import SUITE_OPERATORS, SUITES, SuiteSettings

if TYPE_CHECKING:
    from pytest_fcall.core.extension import AgentKind, BackendFactory, Comparator, Decoder, Suite, ToolSource
    from pytest_fcall.core.variants import Relation

TOOL_SOURCES = frozenset({"python", "agent", "file", "openapi", "mcp"})

_T = TypeVar("_T")


class Registry(NamedTuple):
    """Backends, tool sources, operators, decoders and suites, by their names."""

    backends: Mapping[str, BackendFactory]
    tool_sources: Mapping[str, ToolSource]
    """Those of other packages."""
    comparators: Mapping[str, Comparator]
    """Those of other packages and of suites."""
    decoders: Mapping[str, Decoder]
    """Those of other packages."""
    suites: Mapping[str, Suite]
    agents: Mapping[str, AgentKind] = MappingProxyType({})
    """Kinds of agents of other packages."""
    relations: Mapping[str, Relation] = MappingProxyType({})
    """Relations of other packages, by which cases can be varied."""

    @classmethod
    def with_added(
        cls,
        backends: Iterable[Mapping[str, BackendFactory]],
        tool_sources: Iterable[Mapping[str, ToolSource]],
        comparators: Iterable[Mapping[str, Comparator]],
        decoders: Iterable[Mapping[str, Decoder]],
        suites: Mapping[str, Suite],
        agents: Iterable[Mapping[str, AgentKind]] = (),
        relations: Iterable[Mapping[str, Relation]] = (),
    ) -> Registry:
        """The registry with what other packages add. Raises SettingError where a name is taken."""
        kinds = _agent_kinds(agents)
        own: Mapping[str, BackendFactory] = {
            "python": partial(python_backend, agents=kinds),
            "http": http_backend,
            "openai": openai_backend,
            "any": any_backend,
            "local": local_backend,
        }
        operators = {*OPERATORS, *SUITE_OPERATORS}
        return cls(
            backends={**own, **merged_names("model kind", own, backends)},
            tool_sources=merged_names("tool source", TOOL_SOURCES, tool_sources),
            comparators={**SUITE_OPERATORS, **merged_names("operator", operators, comparators)},
            decoders=merged_names("decoder", DECODERS, decoders),
            suites=suites,
            agents=kinds,
            relations=_relations(relations),
        )


def suites_with_added(added: Iterable[Mapping[str, Suite]], settings: SuiteSettings) -> Mapping[str, Suite]:
    """The suites with those of other packages. Raises SettingError where a name is taken."""
    return SUITES.with_others(merged_names("suite", SUITES, added), settings)


def _agent_kinds(added: Iterable[Mapping[str, AgentKind]]) -> Mapping[str, AgentKind]:
    """The kinds of agents of other packages, which few runs have."""
    if not any(given := [*added]):
        return {}
    from pytest_fcall.backends.apps.agents.agent import FRAMEWORKS

    return merged_names("kind of agents", FRAMEWORKS, given)


def _relations(added: Iterable[Mapping[str, Relation]]) -> Mapping[str, Relation]:
    """The relations of other packages, which few runs have."""
    if not any(given := [*added]):
        return {}
    from pytest_fcall.core.variants import RELATIONS

    return merged_names("relation", {*RELATIONS, "all", "off", "none"}, given)


def merged_names(kind: str, taken: Container[str], added: Iterable[Mapping[str, _T]]) -> dict[str, _T]:
    """The extensions of other packages, by name. Raises SettingError for a name that is taken."""
    merged: dict[str, _T] = {}
    for mapping in added:
        for name, thing in mapping.items():
            if name in taken or name in merged:
                raise SettingError(f"a plugin or conftest file adds the {kind} {name!r}, which is there already")
            merged[name] = thing
    return merged
