"""Reads what a server answered, whatever it is."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from pytest_fcall.backends.error_bodies import parsed, read_failure
from pytest_fcall.backends.errors import Failure
from pytest_fcall.backends.openai.client import Answered
from pytest_fcall.backends.openai.question import Form
from pytest_fcall.core import Reply
from pytest_fcall.schema.wires import Outgoing


def read_answer(came: Answered, form: Form, out: Outgoing) -> Reply | Failure:
    """The reply, or why there is none."""
    good = came.status < HTTPStatus.BAD_REQUEST
    try:
        body = parsed(came.body)
    except ValueError as error:
        if good:
            return Failure(_strange(came.body, str(error)))
        body = came.body.decode(errors="replace")
    if good and isinstance(body, Mapping):
        reply = form.read(body, out)
        if reply is not None:
            return reply
    failure = read_failure(came.status, body, came.headers)
    return failure if failure.text else Failure("the server's answer is JSON, but none of OpenAI's forms of an answer")


def _strange(body: bytes, fault: str) -> str:
    """What came instead of JSON, in words."""
    start = body.lstrip()[:10]
    if not start:
        return "the server's answer is empty"
    if start.startswith(b"<"):
        return "the server answered with a web page; `base_url` mostly ends in /v1, or is there a proxy in between?"
    if start.startswith((b"data:", b"event:")):
        return "the server streams its answer, which nobody asked for"
    return f"the server's answer is {fault}"
