"""Fields of answers in OpenAI's form, read leniently: a value of the wanted type, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.core import Finish, Json, Usage

_EMPTY: Mapping[str, Json] = {}
_MAPPING = (dict, Mapping)
"""Nearly all are of the first kind, and the second takes ten times as long to tell."""
_FINISH: Mapping[str, Finish] = MappingProxyType(
    {
        **dict.fromkeys(("stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed"), "stop"),
        **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool_calls"),
        **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens"), "length"),
        **dict.fromkeys(("content_filter", "content_filtered", "guardrail_intervened"), "content_filter"),
        **dict.fromkeys(("safety", "recitation", "prohibited_content", "blocklist", "spii"), "content_filter"),
        "refusal": "refusal",
    }
)


def mapping(value: Json) -> Mapping[str, Json]:
    """The value, if it is a mapping, else an empty one."""
    return value if value and isinstance(value, _MAPPING) else _EMPTY


def items(value: Json) -> Sequence[Json]:
    """The value, if it is a list; one thing that is no list stands for a list of it."""
    if not value:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def text(value: Json) -> str | None:
    """The value, if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def count(*values: Json) -> int | None:
    """The first of the values that is a count."""
    return next((each for each in values if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)


def text_and_refusal(content: Json) -> tuple[str, str | None]:
    """The text of a content, and the refusal in it. A content is a text or a list of parts; thinking is left out."""
    if isinstance(content, str):
        return content, None
    parts = [each if isinstance(each, Mapping) else {"type": "text", "text": each} for each in items(content)]
    texts = [text(part.get("text")) or "" for part in parts if part.get("type") in ("text", "output_text", None)]
    refusals = (text(part.get("refusal")) for part in parts if part.get("type") == "refusal")
    return "".join(texts), next(filter(None, refusals), None)


def finish(reason: str | None) -> Finish:
    """Why the model ended, by whichever name a provider has for it."""
    return _FINISH.get((reason or "").lower(), "unknown")


def engine(body: Mapping[str, Json]) -> dict[str, Json]:
    """What answered, as far as it says."""
    named = {name: text(body.get(name)) for name in ("model", "system_fingerprint", "provider")}
    return {name: value for name, value in named.items() if value is not None}


def usage(told: Json) -> Usage | None:
    """Tokens, by the names that Chat Completions and Responses have for them; some servers have their own."""
    if not isinstance(told, Mapping):
        return None
    read = mapping(told.get("prompt_tokens_details")) or mapping(told.get("input_tokens_details"))
    written = mapping(told.get("completion_tokens_details")) or mapping(told.get("output_tokens_details"))
    return Usage(
        input_tokens=count(told.get("prompt_tokens"), told.get("input_tokens")),
        output_tokens=count(told.get("completion_tokens"), told.get("output_tokens")),
        cached_tokens=count(read.get("cached_tokens"), told.get("prompt_cache_hit_tokens"), told.get("cached_tokens")),
        reasoning_tokens=count(written.get("reasoning_tokens"), told.get("reasoning_tokens")),
    )
