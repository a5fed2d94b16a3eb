"""The places of an answer in which a server, or the model behind it, can say what it wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tests.servers import Answer, chat, not_openai, provider_error


def in_header(said: str) -> str:
    """As much of it as a header can hold."""
    return "".join(letter for letter in said if (letter.isascii() and letter.isalnum()) or letter in "-_")[:200]


CALL = {"type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
ECHOES: Mapping[str, Callable[[str], Answer]] = {
    **{f"HTTP {each}": partial(provider_error, each) for each in (400, 401, 403, 404, 413, 422, 429, 500, 503)},
    "the filter": lambda said: provider_error(400, said, code="content_filter"),
    "too long a context": lambda said: provider_error(400, said, code="context_length_exceeded"),
    "an unreadable call": lambda said: provider_error(400, said, code="tool_use_failed", failed_generation=said),
    "another code": lambda said: provider_error(400, "no", code=said, type=said, param=said),
    "plain text": lambda said: Answer(said.encode(errors="surrogatepass"), 400, "text/plain"),
    "a page": lambda said: Answer(f"<title>{said}</title>".encode(errors="surrogatepass"), 422, "text/html"),
    "another shape": lambda said: not_openai({"detail": said}, 400),
    "200 of another shape": lambda said: not_openai({"detail": said}),
    "200 with an error": lambda said: not_openai({"error": {"message": said}}),
    "a header": lambda said: Answer(b"{}", 400, headers={"X-Echo": in_header(said)}),
    "a redirect": lambda said: Answer(b"", 302, headers={"Location": f"http://{in_header(said)}.test/"}),
    "the answer's text": chat,
    "a refusal": lambda said: chat(None, message={"refusal": said}),
    "reasoning": lambda said: chat("Hi.", message={"reasoning_content": said}),
    "an argument": lambda said: chat(None, [("get_weather", {"city": said})]),
    "a name of an argument": lambda said: chat(None, [("get_weather", {said: "Oslo"})]),
    "broken arguments": lambda said: chat(None, [("get_weather", '{"city": "' + said)]),
    "a tool's name": lambda said: chat(None, [(said, {"city": "Oslo"})]),
    "the id of a call": lambda said: chat(None, message={"tool_calls": [{"id": said, **CALL}]}),
    "the model's name": lambda said: chat("Hi.", model=said, system_fingerprint=said, provider=said),
    "metadata": lambda said: chat("Hi.", metadata={"said": said}, id=said, service_tier=said),
    "the reason for the end": lambda said: chat("Hi.", finish_reason=said),
}  # fmt: skip
