"""Server-sent events, as providers stream their answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress

from pytest_fcall.core import Json


def events(body: bytes) -> Iterator[Mapping[str, Json]]:
    """The JSON objects among the events of a stream. What is none, such as `[DONE]`, is passed over."""
    for block in body.decode(errors="replace").replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:"))
        with suppress(ValueError, RecursionError):
            event: Json = json.loads(data)
            if isinstance(event, Mapping):
                yield event
