"""The HTTP answer of a server, and the Reply or failure in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

from pytest_fcall.backends.http_answers import REDIRECTS, body_fault, parse_body
from pytest_fcall.backends.openai.endpoint import Endpoint
from pytest_fcall.backends.provider_failures import ProviderFailure, read_failure
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.schema.wire_tools import WireTools


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    """By names in lower case."""

    @property
    def redirects(self) -> bool:
        """Whether the server names another address instead of answering."""
        return self.status in REDIRECTS and "location" in self.headers


def read_answer(answer: ServerAnswer, endpoint: Endpoint, wire_tools: WireTools) -> Reply | ProviderFailure:
    """The reply in an answer, or the failure that the answer reports."""
    succeeded = answer.status < HTTPStatus.BAD_REQUEST
    try:
        body = parse_body(answer.body)
    except ValueError as error:
        if succeeded:
            is_page = answer.body.lstrip().startswith(b"<")  # of a proxy: no model has answered
            return ProviderFailure(body_fault(answer.body, str(error)), billable=not is_page)
        body = answer.body.decode(errors="replace")
    if succeeded and isinstance(body, Mapping) and (reply := endpoint.read_reply(body, wire_tools)) is not None:
        return reply
    failure = read_failure(answer.status, body, answer.headers)
    if not failure.text:
        failure = ProviderFailure("the server's answer is JSON, but not in OpenAI's form")
    return replace(failure, billable=succeeded and not _refuses(body, failure))


def _refuses(body: Json, failure: ProviderFailure) -> bool:
    """Whether a body reports an error and no usage, so that nothing was answered that costs something."""
    if not isinstance(body, Mapping) or body.get("usage"):
        return False
    return bool(body.get("error")) or (failure.status or 0) >= HTTPStatus.BAD_REQUEST
