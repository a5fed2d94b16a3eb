"""What a process of the cluster is told: the models, how to make their backends, and what rows of plans leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.backends.recordings.line import tool_of
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core import Backend, Json, Model, Request
from pytest_fcall.core.json_data import as_mapping, read_json, required_field

if TYPE_CHECKING:
    from pytest_fcall.backends.costs.prices import Price
    from pytest_fcall.core.extension import BackendFactory


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model, and what makes its backend."""

    model: Model
    make: BackendFactory
    metered: bool = False
    """Whether its requests are paid from the budget of the run."""
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """What each process of the cluster is told. It travels from memory to memory, and is never written."""

    root: Path | None
    """The folder of the project; None where the process's own folder is a copy of it."""
    checkpoint: str
    models: Mapping[str, AskedModel]
    concurrency: int
    """Requests that one process may have in flight."""
    counts_tokens: bool
    version: str
    """The version of this package where the plan was made."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the environment that are handed on."""
    whole: Mapping[str, Request] = field(default_factory=dict, repr=False)
    """Requests of which a row of a plan does not say everything, by digest."""

    def backend(self, model: str) -> Backend:
        """Make the backend of a model. Raises ModelUnavailable."""
        asked = self.models[model]
        return asked.make(asked.model, self.root or Path.cwd())

    def request(self, row: Mapping[str, Json]) -> Request:
        """The request in a row of a plan in columns. Raises DamagedData."""
        digest = required_field(row, "digest", str)
        return self.whole.get(digest) or request_of_columns(row)


def says_everything(request: Request) -> bool:
    """Whether a row of a plan says everything about a request."""
    plain = request.wording is None and request.now is None and not request.proposed
    return plain and dict(without_secrets(request.settings)) == dict(request.settings)


def request_of_columns(row: Mapping[str, Json]) -> Request:
    """The request in a row of a plan, whose columns hold JSON as text. Raises DamagedData."""

    def value(name: str) -> Json:
        return read_json(required_field(row, name, str))

    messages, tools = value("messages"), value("tools")
    if not isinstance(messages, list) or not isinstance(tools, list):
        raise TypeError("`messages` and `tools` must be lists")
    return Request(
        tuple(as_mapping(each, "a message") for each in messages),
        tuple(tool_of(as_mapping(each, "a tool")) for each in tools),
        as_mapping(value("settings"), "`settings`"),
        required_field(row, "sample", int),
    )


def without_origins(request: Request) -> Request:
    """The request without what only the machine of the case can use of its tools."""
    return replace(request, tools=tuple(replace(tool, origin=None) for tool in request.tools))
