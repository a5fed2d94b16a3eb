"""What other packages and conftest files add through the hooks, gathered once a session."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import pytest

from pytest_fcall.backends.any import any_backend
from pytest_fcall.backends.apps import http_backend, python_backend
from pytest_fcall.backends.local import local_backend
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.core import OPERATORS
from pytest_fcall.core.extension import BackendFactory, Comparator, Decoder, Suite, ToolSource
from pytest_fcall.decoding import DECODERS
from pytest_fcall.plugin.suite_options import suite_settings
from pytest_fcall.suites.builtin import SUITE_OPERATORS, SUITES

SOURCES = frozenset({"python", "file", "openapi", "mcp"})

Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class Registry:
    """Everything that can be named in a case file or on the command line, by its name."""

    backends: Mapping[str, BackendFactory]
    tool_sources: Mapping[str, ToolSource]
    comparators: Mapping[str, Comparator]
    decoders: Mapping[str, Decoder]
    suites: Mapping[str, Suite]


REGISTRY = pytest.StashKey[Registry]()


def registry(config: pytest.Config) -> Registry:
    """Ask the hooks, once. Raises UsageError where a name is claimed twice."""
    if REGISTRY not in config.stash:
        hook = config.hook
        ours: Mapping[str, BackendFactory] = {
            "python": python_backend,
            "http": http_backend,
            "openai": openai_backend,
            "any": any_backend,
            "local": local_backend,
        }
        operators = {*OPERATORS, *SUITE_OPERATORS}
        config.stash[REGISTRY] = Registry(
            backends={**ours, **_merged("model kind", ours, hook.pytest_fcall_backends(config=config))},
            tool_sources=_merged("tool source", SOURCES, hook.pytest_fcall_tool_sources(config=config)),
            comparators={
                **SUITE_OPERATORS,
                **_merged("operator", operators, hook.pytest_fcall_comparators(config=config)),
            },
            decoders=_merged("decoder", DECODERS, hook.pytest_fcall_decoders(config=config)),
            suites=known_suites(config),
        )
    return config.stash[REGISTRY]


def known_suites(config: pytest.Config) -> Mapping[str, Suite]:
    """The suites so far: before collection some conftest files are not there yet."""
    added = _merged("suite", SUITES, config.hook.pytest_fcall_suites(config=config))
    return SUITES.beside(added, suite_settings(config))


def _merged(what: str, taken: Container[str], answers: Iterable[Mapping[str, Named]]) -> dict[str, Named]:
    merged: dict[str, Named] = {}
    for answer in answers:
        for name, thing in answer.items():
            if name in taken or name in merged:
                raise pytest.UsageError(f"a plugin or conftest file adds the {what} {name!r}, which is there already")
            merged[name] = thing
    return merged
