"""Fields of answers in OpenAI's form, read leniently: a value of the expected type, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from pytest_fcall.core.reply import MAX_CALLS, Finish, Usage
from pytest_fcall.core.values import Json

_EMPTY: Mapping[str, Json] = {}
_MAPPING_TYPES = (dict, Mapping)
"""The first is checked first: nearly all mappings are dicts, and the other check takes ten times as long."""
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
    """The value if it is a mapping, else an empty one."""
    return value if value and isinstance(value, _MAPPING_TYPES) else _EMPTY


def items(value: Json) -> Sequence[Json]:
    """The value if it is a list, else a list of the value alone; empty for an empty value."""
    if not value:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def first_calls(calls: Iterable[Json]) -> list[Json]:
    """The calls of a reply that are read, and one more where there are too many, so that this is known."""
    return [*islice(calls, MAX_CALLS + 1)]


def text(value: Json) -> str | None:
    """The value if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def count(*values: Json) -> int | None:
    """The first of the values that is a count."""
    return next((each for each in values if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)


def text_and_refusal(content: Json) -> tuple[str, str | None]:
    """The text of a content, which is a text or a list of parts, and the refusal in it. Reasoning is left out."""
    if isinstance(content, str):
        return content, None
    parts = [each if isinstance(each, Mapping) else {"type": "text", "text": each} for each in items(content)]
    texts = [text(part.get("text")) or "" for part in parts if part.get("type") in ("text", "output_text", None)]
    refusals = (text(part.get("refusal")) for part in parts if part.get("type") == "refusal")
    return "".join(texts), next(filter(None, refusals), None)


def finish(reason: str | None) -> Finish:
    """The reason why the model ended, from any provider's name for it."""
    return _FINISH.get((reason or "").lower(), "unknown")


def engine(body: Mapping[str, Json]) -> dict[str, Json]:
    """The model and the provider that the answer names."""
    names = {name: text(body.get(name)) for name in ("model", "system_fingerprint", "provider")}
    return {name: value for name, value in names.items() if value is not None}


def usage(data: Json) -> Usage | None:
    """The token counts, by their names in Chat Completions, in Responses and in some servers' own forms."""
    if not isinstance(data, Mapping):
        return None
    read = mapping(data.get("prompt_tokens_details")) or mapping(data.get("input_tokens_details"))
    written = mapping(data.get("completion_tokens_details")) or mapping(data.get("output_tokens_details"))
    return Usage(
        input_tokens=count(data.get("prompt_tokens"), data.get("input_tokens")),
        output_tokens=count(data.get("completion_tokens"), data.get("output_tokens")),
        cached_tokens=count(read.get("cached_tokens"), data.get("prompt_cache_hit_tokens"), data.get("cached_tokens")),
        reasoning_tokens=count(written.get("reasoning_tokens"), data.get("reasoning_tokens")),
    )
