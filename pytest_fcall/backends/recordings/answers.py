"""The interface at a path, whether an HTTP answer to an app is whole, the Reply in it, and secrets that it hides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import unquote

from pytest_fcall.backends.http_answers import parse_body
from pytest_fcall.backends.interfaces.anthropic import ANTHROPIC_INTERFACE
from pytest_fcall.backends.interfaces.bedrock import BEDROCK_INTERFACE
from pytest_fcall.backends.interfaces.chat import CHAT_INTERFACE
from pytest_fcall.backends.interfaces.cohere import COHERE_INTERFACE
from pytest_fcall.backends.interfaces.gemini import GEMINI_INTERFACE
from pytest_fcall.backends.interfaces.interface import WireInterface
from pytest_fcall.backends.interfaces.ollama import OLLAMA_CHAT_INTERFACE, OLLAMA_PROMPT_INTERFACE
from pytest_fcall.backends.interfaces.responses import RESPONSES_INTERFACE
from pytest_fcall.backends.interfaces.stream import is_stream, media_type, read_stream, stream_of_array
from pytest_fcall.backends.openai.answer_fields import mapping
from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording, UnreadRecording, reply_to_data
from pytest_fcall.core.json_data import readable_json
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.core.values import Json

_LONGEST_FAULT = 200


class _Place(NamedTuple):
    """The paths at which an interface is served."""

    path: re.Pattern[str]
    """Matches the end of a path. Its group `model` is the name of the model, where no body says it."""
    interface: WireInterface


_PLACES = (
    _Place(re.compile(r"(?:/deployments/(?P<model>[^/]+))?/chat/completions\Z"), CHAT_INTERFACE),
    _Place(re.compile(r"/responses\Z"), RESPONSES_INTERFACE),
    _Place(re.compile(r"\A(?!.*/threads/).*/messages\Z"), ANTHROPIC_INTERFACE),
    _Place(
        re.compile(r"/(?:[a-z]*[mM]odels|endpoints)/(?P<model>[^/]+):(?:streamG|g)enerateContent\Z"), GEMINI_INTERFACE
    ),
    _Place(re.compile(r"/api/chat\Z"), OLLAMA_CHAT_INTERFACE),
    _Place(re.compile(r"/api/generate\Z"), OLLAMA_PROMPT_INTERFACE),
    _Place(re.compile(r"/model/(?P<model>[^/]+)/converse(?:-stream)?\Z"), BEDROCK_INTERFACE),
    _Place(re.compile(r"/v2/chat\Z"), COHERE_INTERFACE),
)
_WITHOUT_CALLS = re.compile(
    r"/(?:embeddings|embed|embeddings?/.*|models(?:/[^:]*)?|moderations|files(?:/.*)?|uploads(?:/.*)?|audio/.*|images/.*"
    r"|rerank|tokenize|detokenize|count_tokens|input_tokens|vector_stores(?:/.*)?|traces/ingest|ocr|cachedContents(?:/.*)?"
    r"|conversations(?:/.*)?|assistants(?:/.*)?|threads(?:/[^/]+(?:/messages(?:/.*)?)?)?|containers(?:/.*)?|fine_tuning/.*"
    r"|api/(?:tags|show|ps|version|pull|blobs/.*|create|copy|delete|push))\Z"
    r"|:(?:countTokens|embedContent|batchEmbedContents|computeTokens|predict)\Z"
)
"""Paths of which no answer makes a call: embeddings, lists of models, files, speech and the like."""


def interface_of(path: str) -> WireInterface | None:
    """The interface that is served at this path; None if none that is read."""
    return next((interface for place, interface in _PLACES if place.search(_bare(path))), None)


def model_of(path: str) -> str:
    """The model that a path names; empty where bodies name it."""
    matches = (place.path.search(_bare(path)) for place in _PLACES if "model" in place.path.groupindex)
    return next((unquote(match["model"]) for match in matches if match and match["model"]), "")


def may_hold_calls(path: str) -> bool:
    """Whether an answer at this path, at which no interface is read, may come from a model that makes calls."""
    bare = _bare(path)
    return bool(bare) and _WITHOUT_CALLS.search(bare) is None


def _bare(path: str) -> str:
    return path.partition("?")[0].rstrip("/")


def answer_fault(interface: WireInterface | None, answer: HttpAnswer) -> str:
    """The reason why an answer with a status below 400 is not a whole one of its interface; empty for one that is.

    Without an interface, JSON must be whole, and any other body passes.
    """
    if interface is None:
        is_json = _is_json(answer.content_type) and answer.status not in (202, 204, 205, 304)
        fault = _json_fault(answer.body) if is_json else ""
    elif is_stream(answer.content_type):
        fault = interface.whole_stream_fault(read_stream(answer.content_type, answer.body))
    else:
        fault = _json_fault(answer.body) or _type_fault(answer.content_type) or _fault_of(interface, answer.body)
    return fault if len(fault) <= _LONGEST_FAULT else f"{fault[:_LONGEST_FAULT]}…"


def _fault_of(interface: WireInterface, body: bytes) -> str:
    data = parse_body(body)
    if isinstance(data, list) and interface is GEMINI_INTERFACE:
        return interface.whole_stream_fault(stream_of_array(data))
    return interface.answer_fault(data)


def _type_fault(content_type: str) -> str:
    if _is_json(content_type):
        return ""
    return f"has the Content-Type {media_type(content_type) or '(none)'}, which is not that of its interface"


def _is_json(content_type: str) -> bool:
    media = media_type(content_type)
    return media == "application/json" or media.endswith("+json")


def _json_fault(body: bytes) -> str:
    """The reason why a body is not whole JSON; empty for one that is."""
    if not body.strip():
        return "is empty"
    try:
        parse_body(body)
    except ValueError as error:
        return "is a web page" if body.lstrip().startswith(b"<") else f"is {error}"
    return ""


def read_recording(unread: UnreadRecording) -> Recording:
    """Read the Reply in a recorded answer. An answer that cannot be read becomes a malformed Reply."""
    reply = replace(_reply(interface_of(unread.path), unread.http_answer), seconds=unread.seconds)
    return Recording(unread.case, unread.digest, unread.request, reply, unread.recorded, unread.http_answer)


def _reply(interface: WireInterface | None, answer: HttpAnswer) -> Reply:
    if interface is None:
        return Reply()
    if is_stream(answer.content_type):
        data = interface.join_stream(read_stream(answer.content_type, answer.body).events)
    else:
        value = _lenient_json(answer.body)
        data = interface.join_stream(stream_of_array(value).events) if isinstance(value, list) else mapping(value)
    reply = interface.reply(data) if answer.status < 400 else None
    return reply or Reply(malformed=f"The provider's answer (HTTP {answer.status}) holds no reply.", finish="unknown")


def _lenient_json(body: bytes) -> Json:
    try:
        value: Json = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value


WHY_NOT_KEPT: Final = "it holds a secret in pieces or in binary data, of which it cannot be freed"
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\/")


def hides_secret(entry: UnreadRecording, secrets: Secrets) -> bool:
    """Whether an answer would hold a secret even after all that can be found in its bytes is left out."""
    answer = entry.http_answer
    try:
        text = secrets.redacted(answer.body.decode())
    except UnicodeDecodeError:
        return secrets.may_be_in(answer.body.decode("latin-1")) or _says_secret(entry, answer, secrets)
    if _ESCAPE.search(text) and secrets.may_be_in(_ESCAPE.sub(_unescaped, text)):
        return True
    return is_stream(answer.content_type) and _says_secret(entry, answer._replace(body=text.encode()), secrets)


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else "/"


def _says_secret(entry: UnreadRecording, answer: HttpAnswer, secrets: Secrets) -> bool:
    """Whether the reply that is read from an answer holds a secret."""

    reply = read_recording(entry._replace(http_answer=answer)).reply
    try:
        return secrets.may_be_in(readable_json(reply_to_data(reply)))
    except (TypeError, ValueError, RecursionError):  # who writes it says so
        return False
