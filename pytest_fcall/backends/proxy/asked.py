"""A request that an app sent."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex

from pytest_fcall.backends.forms.form import Form, cut
from pytest_fcall.backends.forms.offered import NOTHING, Offered, offered
from pytest_fcall.backends.forms.reading import form_of
from pytest_fcall.backends.openai.fields import mapping, text
from pytest_fcall.backends.secrets import public
from pytest_fcall.core import Json, Request, canonical, digest

_BOUNDARY = re.compile(rb"--[^\r\n]{1,70}(?=\r\n)")
_IDLE = ("metadata", "user", "safety_identifier", "prompt_cache_key")
"""What is sent for the provider's books, often another value each time. No answer depends on it."""
_TOOLS = token_hex(16)
"""Holds their place. Nobody can have written it, since nobody is told."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, whatever interface it is for."""

    method: str
    path: str
    """Below the address of the provider, with what stands behind a question mark."""
    digest: str
    """Tells it from others; address, headers and keys are no part of it."""
    body: Json
    """What is asked; how much, where that is no JSON."""
    model: str = ""
    """The name of the model, where one is asked for an answer."""
    form: Form | None = None
    """The interface, where a model is asked for an answer."""
    offered: Offered = NOTHING
    """The tools of such a request, which `body` is without."""

    def request(self, sample: int = 0) -> Request:
        """What is asked, as it is shown and judged; `sample` is its number among its equals."""
        try:
            if self.form is not None:
                return self.form.request(mapping(self.body), self.offered, sample)
            return _plain(self.method, self.path, cut(self.body), sample)
        except RecursionError:
            return _plain(self.method, self.path, "a body that nests too deeply", sample)

    @property
    def priced_as(self) -> str:
        """By which name prices know the model."""
        return f"{self.form.prices}{self.model}" if self.form else ""

    def has_ended(self, stream: bytes) -> bool:
        """Whether the end of an answer is in these bytes of a stream; of what is no answer, it may be anywhere."""
        return self.form is None or self.form.end.search(stream) is not None


def read_asked(method: str, path: str, content: bytes) -> Asked:
    """Read a request, whatever it is. What is no JSON is known again by its bytes, of a form by those of its fields."""
    form = form_of(path)
    try:
        body: Json = _STRICT.decode(content.decode(json.detect_encoding(content))) if content else None
        if not isinstance(body, dict):
            return Asked(method, path, digest([method, path, body]), body)
        told = {key: value for key, value in body.items() if key not in _IDLE}
        if form is None:
            return Asked(method, path, digest([method, path, told]), body)
        tools = offered(body.pop("tools", None))
        name = _digest_with_tools(method, path, told, tools)
    except (ValueError, RecursionError):
        name = digest([method, path, sha256(_without_boundary(content)).hexdigest()])
        return Asked(method, path, name, f"{len(content)} bytes")
    return Asked(method, path, name, body, text(body.get("model")) or "", form, tools)


def _digest_with_tools(method: str, path: str, told: dict[str, Json], tools: Offered) -> str:
    """`digest([method, path, told])`, without writing down again what is known of the tools."""
    if "tools" in told:
        told["tools"] = _TOOLS
    written = canonical([method, path, told]).replace(f'"{_TOOLS}"', tools.text, 1)
    return sha256(written.encode("ascii")).hexdigest()


def _without_boundary(content: bytes) -> bytes:
    """A form with files, without what its parts are told apart by: that is another each time."""
    boundary = _BOUNDARY.match(content)
    return content.replace(boundary[0], b"--") if boundary else content


def _plain(method: str, path: str, body: Json, sample: int) -> Request:
    return Request(({"role": "user", "content": f"{method} {path}"},), (), public({"body": body}), sample)


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}")


_STRICT = json.JSONDecoder(parse_constant=_refuse)
"""`json.loads` would make one for each request."""
