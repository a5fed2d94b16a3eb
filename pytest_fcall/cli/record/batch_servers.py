"""The servers that take the batches of a plan's models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol, cast

from pytest_fcall.backends.any import any_backend
from pytest_fcall.backends.batch import batch_service
from pytest_fcall.backends.batch.portion import Portion, server_digest
from pytest_fcall.backends.batch.progress import NotHere
from pytest_fcall.backends.batch.service import BatchService
from pytest_fcall.backends.batch_server import BatchServer
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.backends.wrapper import innermost
from pytest_fcall.core.backend import CaseRefused, Model, ModelUnavailable, OfflineBackend
from pytest_fcall.core.request import Request

if TYPE_CHECKING:
    from pytest_fcall.cli.record.plan_run import PlanRun
    from pytest_fcall.session.ask.types import Question

_MAKERS: Final = {"openai": openai_backend, "any": any_backend}
_SAMPLE: Final = Request(({"role": "user", "content": "Hello."},))


class BatchBackend(OfflineBackend, Protocol):
    """A backend whose requests go into batches."""

    async def batch_server(self, request: Request) -> BatchServer:
        """The server that would get the request. Raises CaseRefused and ModelUnavailable."""
        ...


def batch_backend(question: Question) -> BatchBackend:
    """The backend of a question. Raises ModelUnavailable where no requests of its models go into batches."""
    inner = innermost(question.source.backend) if question.source.backend else None
    if inner is None or not hasattr(inner, "batch_server"):
        raise ModelUnavailable(f"{question.source.id}: there are no batches for models of this kind")
    return cast("BatchBackend", inner)


class Servers:
    """Finds servers, and speaks with each in one event loop."""

    def __init__(self, plan: PlanRun) -> None:
        self._plan = plan
        self._found: dict[tuple[str, str], BatchServer] = {}
        self._services: dict[str, BatchService] = {}

    async def of(self, question: Question) -> BatchServer:
        """The server that would get the request. Raises CaseRefused and ModelUnavailable."""
        key = question.source.id, json.dumps(question.request.settings.get("headers"), sort_keys=True, default=str)
        if key not in self._found:
            self._found[key] = await batch_backend(question).batch_server(question.request)
        return self._found[key]

    async def service_of(self, portion: Portion) -> BatchService:
        """The batches of the server that has a portion. Raises NotHere."""
        try:
            server = await self._of_portion(portion)
        except (CaseRefused, ModelUnavailable) as error:
            raise NotHere(str(error)) from None
        if server_digest(server) != portion.server:
            raise NotHere(
                f"it was made for {portion.host}, and its model is asked elsewhere, or with other headers, now"
            )
        return self.service(server)

    def service(self, server: BatchServer) -> BatchService:
        """The batches of a server."""
        key = server_digest(server)
        if key not in self._services:
            self._services[key] = batch_service(server)
        return self._services[key]

    async def close(self) -> None:
        """Close all connections."""
        for service in self._services.values():
            await service.client.close()

    async def _of_portion(self, portion: Portion) -> BatchServer:
        """The server that gets the requests of a portion now, or another request to its model."""
        for digest in portion.digests:
            if found := self._plan.requests.get(digest):
                return await self.of(found.first)
        models = self._models()
        if portion.model not in models:
            raise NotHere(f"it is of {portion.model}, which this command does not name")
        model = models[portion.model]
        if model.kind not in _MAKERS:
            raise NotHere(f"{portion.model}: there are no batches for models of this kind")
        backend = cast("BatchBackend", _MAKERS[model.kind](model, self._plan.settings.root))
        return await backend.batch_server(_SAMPLE)

    def _models(self) -> Mapping[str, Model]:
        settings = self._plan.settings
        named = [*settings.models, *([settings.judge] if settings.judge else [])]
        return {each.model.id: each.model for each in named}
