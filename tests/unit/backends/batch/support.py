"""A project whose requests are submitted to servers on loopback, as `fcall record --engine=batch` submits them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_fcall.backends.batch import batch_service
from pytest_fcall.backends.batch.portion import BatchRequest, Division, Portion, PortionFolder, Selection
from pytest_fcall.backends.batch.progress import BatchWork, Visit
from pytest_fcall.backends.batch.service import LIMITS, BatchService
from pytest_fcall.backends.batch_server import BatchInterface, BatchServer
from pytest_fcall.backends.store import ReplyStore, store_path
from pytest_fcall.core import Json, Reply
from pytest_fcall.core.backend import OfflineBody
from tests.servers import Server
from tests.servers.batch_apis import KEY, AnthropicBatchApi, BatchApi, GeminiBatchApi, OpenAIBatchApi
from tests.unit.backends.store.entries import FILE, MODEL, entry

APIS: Mapping[BatchInterface, type[BatchApi]] = {
    "openai": OpenAIBatchApi,
    "anthropic": AnthropicBatchApi,
    "gemini": GeminiBatchApi,
}
_HEADERS: Mapping[BatchInterface, Mapping[str, str]] = {
    "openai": {"authorization": f"Bearer {KEY}"},
    "anthropic": {"x-api-key": KEY, "anthropic-version": "2023-06-01"},
    "gemini": {"x-goog-api-key": KEY},
}
NOW = 1_800_000_000.0


def name(number: int) -> str:
    return f"{number:064x}"


@dataclass
class Project:
    """Requests of which those in the store are answered."""

    root: Path
    server: Server
    interface: BatchInterface
    requests: int = 3
    limit: int = 100
    now: float = NOW
    visits: list[Visit] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """What is asked, by digest."""
    said: dict[str, str] = field(default_factory=dict)
    """The answers that were kept, by digest."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""

    @property
    def api(self) -> BatchApi:
        assert isinstance(self.server.default, BatchApi)
        return self.server.default

    @property
    def folder(self) -> PortionFolder:
        return PortionFolder(self.root)

    @property
    def portions(self) -> Sequence[Portion]:
        portions, faults = self.folder.portions()
        assert faults == []
        return portions

    @property
    def answered(self) -> list[str]:
        """The digests in the store, each as often as it is there."""
        with closing(ReplyStore(store_path(self.root))) as store:
            return sorted(each.entry.digest for each in store.replies())

    @property
    def batch_server(self) -> BatchServer:
        url = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta"}[self.interface]
        secrets = (KEY,)
        headers = {**_HEADERS[self.interface], **self.extra}
        return BatchServer(
            self.interface, f"http://{self.server.host}{url}", headers, {"api-version": "2026-01"}, secrets, "EXAM_KEY"
        )

    def offline(self, text: str) -> OfflineBody:
        match self.interface:
            case "openai":
                message: Json = [{"role": "user", "content": text}]
                return OfflineBody("/v1/chat/completions", {"model": "exam-1", "messages": message})
            case "anthropic":
                message = [{"role": "user", "content": text}]
                return OfflineBody("/v1/messages", {"model": "exam-1", "max_tokens": 9, "messages": message})
            case "gemini":
                contents: Json = [{"role": "user", "parts": [{"text": text}]}]
                return OfflineBody("/v1beta/models/exam-1:generateContent", {"contents": contents})

    def run(self) -> Visit:
        """What one command does: go on with what is under way, then submit what is open."""
        with self.folder.alone():
            return asyncio.run(self._run())

    async def _run(self) -> Visit:
        service = batch_service(self.batch_server)
        try:
            with closing(ReplyStore(store_path(self.root))) as store:
                return await self._visits(store, service)
        finally:
            await service.client.close()

    async def _visits(self, store: ReplyStore, service: BatchService) -> Visit:
        async def service_of(_: Portion) -> BatchService:
            return service

        async def keep(digest: str, status: int, body: bytes) -> str | None:
            if status != 200:
                return f"HTTP {status}"
            self.said[digest] = body.decode()
            reply = Reply(json.loads(body).get("model", "said"))
            store.put(MODEL, FILE, entry("a")._replace(digest=digest, reply=reply))
            return None

        work = BatchWork(self.folder, service_of, keep, store.flush, lambda: self.now)
        self.folder.remove_remains(self.portions)
        self.folder.remove_strays(self.portions)
        first = await work.visit(self.portions, self.portions)
        under_way = {digest for portion in self.portions for digest in portion.digests if portion.is_under_way}
        failed = {digest for _, results in first.taken for digest in results.failed}
        known = store.load(map(name, range(self.requests)))
        missing = {digest for digest in map(name, range(self.requests)) if digest not in known}
        limits = {self.interface: replace(LIMITS[self.interface], requests=self.limit)}
        division = Division(self.folder, Selection("cases", ("cases",)), limits, lambda: self.now)
        for digest in sorted(missing - under_way - failed):
            division.add(
                BatchRequest(digest, MODEL, self.batch_server, self.offline(self.texts.get(digest, digest[-4:])), 0.01),
                service,
            )
        division.end()
        second = await work.visit(division.portions, self.portions)
        self.visits += [first, second]
        return Visit(
            first.under_way + second.under_way,
            first.left + second.left,
            first.taken + second.taken,
            second.wait or first.wait,
        )
