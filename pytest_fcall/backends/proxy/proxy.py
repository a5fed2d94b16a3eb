"""The proxy: a request is answered from a recording, or forwarded to the provider and recorded."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from socket import socket
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import ClientError, ClientResponse, ClientSession, web

from pytest_fcall.backends.budget import Bill
from pytest_fcall.backends.dispatch.group_writer import GroupWriter
from pytest_fcall.backends.http_answers import (
    LONGEST_BODY,
    LONGEST_FILE,
    REDIRECTS,
    RedirectError,
    UnreadableBody,
    pieces_of,
    redirect_target,
    whole_body,
)
from pytest_fcall.backends.interfaces.stream import is_stream
from pytest_fcall.backends.known_secrets import secrets_of_app_request
from pytest_fcall.backends.proxy.app_run import AppRun, NumberedRequest
from pytest_fcall.backends.proxy.case_lookup import AppRuns, UnknownCase, case_tokens
from pytest_fcall.backends.proxy.forwarded_request import UnknownSecret, read_forwarded_request, signed_for
from pytest_fcall.backends.proxy.http import (
    PROVE,
    UNKNOWN_CASE_HEADER,
    ProxyAddress,
    break_off,
    error_answer,
    forward,
    http_server,
    new_client_session,
    proof,
    provider_headers,
    stream_on,
)
from pytest_fcall.backends.recordings.answers import read_recording
from pytest_fcall.backends.recordings.entry import HttpAnswer
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.backends.spans.variables import SPANS_VARIABLE
from pytest_fcall.backends.store import NewReply, StoreError
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.bounded_text import VolatileError
from pytest_fcall.core.provider_variables import PLACEHOLDER_KEY

if TYPE_CHECKING:
    from pytest_fcall.backends.spans.inbox import SpanInbox

_RECORDED_STATUSES = (
    *(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE),
    *(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY),
)
"""Errors of the request itself, which a provider would repeat. Other errors may pass, and are not recorded."""
_LONGEST_END = 64
"""Bytes of earlier pieces that may belong to the mark at the end of a stream."""
_GATHER_SECONDS = 0.0
"""Replies do not wait for others to be written with: the app waits, too, and in busy moments they meet anyway."""
_ARRAY_STREAM = ":stream"
"""In the path of a request whose answer is a stream whatever its type says: Gemini's may be one JSON array."""
_UNKNOWN_ADDRESS = "unknown proxy address; it may be from an earlier run"
_NO_KEY = (
    "no key is set. So that a client could be made at import although no model may be asked, pytest-fcall has set one "
    "that is none; set the provider's own to let this test ask it"
)
_WEBSOCKET = "WebSockets are not recorded; give this client its provider's own address, or set fc_proxy = off"


class Proxy:
    """Answers the requests of all runs in `runs`. `keep` is called with new replies in the thread of the event loop.

    `providers_of_others` gives the addresses that may be asked by what belongs to no case and is not recorded, such as
    a plain test, none while there is nothing of the kind; it raises UnknownCase where that may ask nobody.
    `inbox` gives what takes the spans of apps, None while none are wanted.
    """

    def __init__(
        self,
        runs: AppRuns,
        keep: Callable[[Sequence[NewReply]], object],
        providers_of_others: Callable[[], Mapping[str, str]] = dict,
        inbox: Callable[[], SpanInbox | None] = lambda: None,
    ) -> None:
        self._runs = runs
        self._providers_of_others = providers_of_others
        self._inbox = inbox
        self._writer: GroupWriter[NewReply] = GroupWriter(keep, _GATHER_SECONDS)

    async def serve(self, listening: socket, end: Coroutine[None, None, object]) -> None:
        """Serve a listening socket until `end` returns."""
        async with new_client_session() as session:

            async def answer(request: web.BaseRequest, address: ProxyAddress) -> web.StreamResponse:
                return await self._answer(session, request, address)

            try:
                async with http_server(listening, answer, unread=(SPANS_VARIABLE,)):
                    await end
            finally:
                self._writer.flush()

    async def _answer(
        self, session: ClientSession, request: web.BaseRequest, address: ProxyAddress
    ) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return error_answer(_WEBSOCKET)
        if address.token == PROVE:
            return web.Response(text=proof(self._runs.by_hand, address.variable))
        if address.variable == SPANS_VARIABLE and (inbox := self._inbox()):
            return await self._take_spans(inbox, request, address.token)
        unknown_case = ""
        try:
            run = self._runs.find(address.token, request.headers)
        except KeyError:
            return error_answer(_UNKNOWN_ADDRESS)
        except UnknownCase as unknown:
            if answered := await self._answer_others(session, request, address):
                return answered
            unknown_case = str(unknown)
            if unknown.in_process and self._runs.nobody:
                run = self._runs.nobody()
            else:
                self._runs.count_refused(address.token)
                return error_answer(unknown_case, {UNKNOWN_CASE_HEADER: "1"})
        if (provider := run.providers.get(address.variable)) is None:
            return error_answer(_UNKNOWN_ADDRESS)
        content = await request.read()
        path = _path_with_query(address.path.removeprefix(urlsplit(provider).path.rstrip("/")), address.query)
        try:
            numbered = run.number(read_forwarded_request(request.method, path, content, run.volatile))
        except VolatileError as too_slow:
            run.not_keyed.append(str(too_slow))
            return error_answer(str(too_slow))
        exchange = ProxyExchange(request, run, numbered, session, self._writer, unknown_case)
        return await exchange.answer(provider, address.at_provider(provider), content)

    async def _take_spans(self, inbox: SpanInbox, request: web.BaseRequest, token: str) -> web.StreamResponse:
        if not (self._runs.is_group(token) or inbox.knows(token)):
            return error_answer(_UNKNOWN_ADDRESS)
        from pytest_fcall.backends.spans.receiver import receive_spans

        return await receive_spans(inbox, request, token, may_be_others=token == self._runs.by_hand)

    async def _answer_others(
        self, session: ClientSession, request: web.BaseRequest, address: ProxyAddress
    ) -> web.StreamResponse | None:
        """Hand a request on as if there were no proxy, where it is a plain test's or the like; None where it is not."""
        if address.token != self._runs.in_process or case_tokens(request.headers):
            return None
        try:
            provider = self._providers_of_others().get(address.variable)
        except UnknownCase as refused:
            return error_answer(str(refused))
        if provider is None:
            return None
        if _has_no_key(request):
            return error_answer(_NO_KEY)
        try:
            async with forward(session, request, address.at_provider(provider), await request.read()) as answer:
                return await stream_on(request, answer, provider_headers(answer.headers.items()))
        except (ClientError, OSError, TimeoutError, UnreadableBody):
            return break_off(request)


def _has_no_key(request: web.BaseRequest) -> bool:
    """Whether its key is the placeholder."""
    return PLACEHOLDER_KEY in request.raw_path or any(PLACEHOLDER_KEY in value for value in request.headers.values())


def _path_with_query(path: str, query: str) -> str:
    """The path with its query, without possible keys."""
    fields = without_secrets(dict(parse_qsl(query))) if query else {}
    return f"{path}?{urlencode(sorted(fields.items()))}" if fields else path


@dataclass(frozen=True, slots=True)
class ProxyExchange:
    """One request of an app, and its answer."""

    request: web.BaseRequest
    run: AppRun
    numbered: NumberedRequest
    session: ClientSession
    writer: GroupWriter[NewReply]
    unknown_case: str = ""
    """The reason why the case of the request is not known; empty where it is."""

    async def answer(self, provider: str, url: str, content: bytes) -> web.StreamResponse:
        """Answer from a recording or, in a live run, from `url`, which is at the provider."""
        if recorded := self.run.replay(self.numbered):
            headers = {"Content-Type": recorded.content_type}
            return web.Response(status=recorded.status, body=recorded.body, headers=headers)
        if not self.run.live:
            return error_answer("\n".join(filter(None, (self.unknown_case, self.run.note_not_recorded(self.numbered)))))
        try:
            self.run.recordings.check()
        except StoreError as error:
            self.run.release(self.numbered)
            self.run.not_stored.append(str(error))
            return error_answer(str(error))
        self.run.secrets.add(secrets_of_app_request(self.request.headers, self.request.query_string))
        started = time.perf_counter()
        try:
            own = provider_headers(self.request.headers.items())
            signed = signed_for(url, self.request.method, own, content, os.environ)
        except UnknownSecret as unknown:
            self.run.note_failed(self.numbered, "was refused, as it cannot be signed")
            return error_answer(str(unknown))
        if _has_no_key(self.request):
            self.run.note_failed(self.numbered, "was refused, as no key is set")
            return error_answer(_NO_KEY)
        try:
            async with self.run.paying(self.numbered, provider) as bill:
                with self.run.forwarding(self.numbered, bill):
                    async with forward(self.session, self.request, url, content, signed) as answer:
                        bill.begun = answer.status < HTTPStatus.BAD_REQUEST
                        return await self._pass_on(answer, started, bill)
        except ModelUnavailable as unavailable:
            self.run.release(self.numbered)
            self.run.note_not_paid(str(unavailable))
            return error_answer(str(unavailable))
        except (ClientError, OSError, TimeoutError):
            self.run.note_failed(self.numbered, "was not answered: the connection failed")
            return break_off(self.request)
        except BaseException:  # cancellation, too
            self.run.release(self.numbered)
            raise

    async def _pass_on(self, answer: ClientResponse, started: float, bill: Bill) -> web.StreamResponse:
        """Pass the answer on to the app. Its end follows after it is stored, because the app may exit then.

        A redirect to another server is none for the app, whose library may follow it, with the prompt and around the
        proxy.
        """
        if answer.status in REDIRECTS and "Location" in answer.headers:
            try:
                redirect_target(answer.url, answer.headers["Location"])
            except RedirectError as lost:
                self.run.note_broken(self.numbered, f"is none: {lost}")
                return error_answer(str(lost))
        headers = provider_headers(answer.headers.items())
        longest = LONGEST_BODY if self.numbered.request.interface else LONGEST_FILE
        if is_stream(answer.headers.get("Content-Type", "")) or _ARRAY_STREAM in self.numbered.request.path:
            response = web.StreamResponse(status=answer.status, headers=headers)
            try:
                return await self._pass_on_stream(answer, response, longest, started, bill)
            except UnreadableBody as fault:
                self.run.note_broken(self.numbered, str(fault))
                return break_off(self.request)
        try:
            body = await whole_body(answer, longest)
        except UnreadableBody as fault:
            self.run.note_broken(self.numbered, str(fault))
            return error_answer(f"the provider's answer {fault}")
        await self._record(answer, body, started, bill)
        return web.Response(status=answer.status, headers=headers, body=body)

    async def _pass_on_stream(
        self, answer: ClientResponse, response: web.StreamResponse, longest: int, started: float, bill: Bill
    ) -> web.StreamResponse:
        """Pass on each piece as it arrives. From the mark of the end on, each waits for the next, or for the store.

        Raises UnreadableBody.
        """
        await self._write(response, b"")
        tail = held = b""
        may_end = False
        body = bytearray()
        async for piece in pieces_of(answer, longest):
            await self._write(response, held)
            tail = tail[-_LONGEST_END:] + piece
            may_end = may_end or self.numbered.request.may_end(tail)
            held = piece if may_end else b""
            if not held:
                await self._write(response, piece)
            body += piece
        await self._record(answer, bytes(body), started, bill)
        await self._write(response, held)
        with suppress(ConnectionError):
            await response.write_eof()
        return response

    async def _write(self, response: web.StreamResponse, piece: bytes) -> None:
        """Write a piece to the app. An app that has gone away made its request nevertheless."""
        with suppress(ConnectionError):
            if not response.prepared:
                await response.prepare(self.request)
            if piece:
                await response.write(piece)

    async def _record(self, answer: ClientResponse, body: bytes, started: float, bill: Bill) -> None:
        """Store the answer if it may be replayed."""
        seconds = time.perf_counter() - started
        http_answer = HttpAnswer(answer.status, answer.headers.get("Content-Type", ""), body)
        bill.free = http_answer.status >= HTTPStatus.BAD_REQUEST
        if http_answer.status >= HTTPStatus.BAD_REQUEST:
            if http_answer.status not in _RECORDED_STATUSES:  # it may pass
                self.run.note_failed(self.numbered, f"was answered with HTTP {http_answer.status}")
                return
        elif fault := self.numbered.request.answer_fault(http_answer):
            self.run.note_broken(self.numbered, fault)
            return
        bill.whole = True
        unread = self.run.record(self.numbered, http_answer, seconds)
        if self.run.budget:
            bill.usage = read_recording(unread).reply.usage
        origin = self.run.origin
        await self.writer.write(NewReply(origin.model, origin.file, unread))
