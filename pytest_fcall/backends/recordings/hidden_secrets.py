"""Secrets in answers to apps that cannot be cut out of the bytes: split over a stream, in binary data, in escapes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from pytest_fcall.backends.interfaces.stream import is_stream
from pytest_fcall.backends.recordings.entry import HttpAnswer, UnreadRecording, reply_to_data
from pytest_fcall.core.json_data import readable_json
from pytest_fcall.core.secrets import Secrets

WHY_NOT_KEPT: Final = "it holds a secret in pieces or in binary data, of which it cannot be freed"
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


def hides_secret(entry: UnreadRecording, secrets: Secrets) -> bool:
    """Whether an answer would hold a secret even after all that can be found in its bytes is left out."""
    answer = entry.http_answer
    try:
        text = secrets.redacted(answer.body.decode())
    except UnicodeDecodeError:
        return secrets.may_be_in(answer.body.decode("latin-1")) or _says_secret(entry, answer, secrets)
    if "\\u" in text and secrets.may_be_in(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)):
        return True
    return is_stream(answer.content_type) and _says_secret(entry, replace(answer, body=text.encode()), secrets)


def _says_secret(entry: UnreadRecording, answer: HttpAnswer, secrets: Secrets) -> bool:
    """Whether the reply that is read from an answer holds a secret."""
    from pytest_fcall.backends.recordings.answers import read_recording

    reply = read_recording(replace(entry, http_answer=answer)).reply
    try:
        return secrets.may_be_in(readable_json(reply_to_data(reply)))
    except (TypeError, ValueError, RecursionError):  # who writes it says so
        return False
