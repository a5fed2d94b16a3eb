"""The reason why a request has no recording: the differences from the nearest one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.volatile import NOTHING_VOLATILE, Volatile, offered_patterns
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.bounded_text import VolatileError
from pytest_fcall.core.digests import canonical, same_json
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

_BEFORE, _AFTER = 24, 72
"""Characters shown before and after the first difference of two texts."""
_NO_DIFFERENCE = (
    "an equal request was recorded for another model, with other headers, or before its tools or system prompt changed"
)

_BEFORE_PATTERN = "fc_volatile leaves that out, but it was recorded before, or as another request: record it once more"
_INCOMPLETE = (
    "the recorded reply held a secret, which is not kept, so that nothing can be judged by it: ask the model, and keep "
    "secrets out of its reach"
)


def explain_missing(request: Request, recorded: Recording | None, volatile: Volatile = NOTHING_VOLATILE) -> str:
    """List in a few short lines how `request` differs from `recorded`, the nearest recording.

    `volatile` is what is no part of the key of the request; patterns that would help are offered.
    """
    if recorded is None:
        return "nothing was recorded for this case"
    if recorded.lacks_secret and _is_same_question(request, recorded.request):
        return _INCOMPLETE
    return "\n".join([*_differences(request, recorded), *_offer(request, recorded, volatile)]) or _NO_DIFFERENCE


def _differences(request: Request, recorded: Recording) -> list[str]:
    old = recorded.request
    lines = [
        *_prompt(old.messages, request.messages),
        *_tools(old.tools, request.tools),
        *_settings(without_secrets(old.settings), without_secrets(request.settings)),
    ]
    if request.sample != old.sample:
        lines.append(f"sample {request.sample} was not recorded, sample {old.sample} was")
    return lines


def explain_missing_among(
    request: Request, recorded: Iterable[Recording], volatile: Volatile = NOTHING_VOLATILE
) -> str:
    """List how `request` differs from the most similar of these recordings, as `explain_missing` does."""
    near = max(recorded, key=lambda entry: _similarity(request, entry.request), default=None)
    if near is not None and near.lacks_secret and _is_same_question(request, near.request):
        return _INCOMPLETE
    if near is not None and request.sample != near.request.sample and _is_same_question(request, near.request):
        return f"an equal request was recorded, but not for the {_ordinal(request.sample + 1)} time in a row"
    return explain_missing(request, near, volatile)


def _offer(request: Request, near: Recording, volatile: Volatile) -> Iterator[str]:
    """The advice where the messages differ each time, and in nothing but dates, paths and the like."""
    if len(near.request.messages) != len(request.messages):
        return
    texts = [(_text(old), _text(new)) for old, new in zip(near.request.messages, request.messages, strict=True)]
    if volatile and any(old != new for old, new in texts) and _differ_in_nothing_else(texts, volatile):
        yield _BEFORE_PATTERN
        return
    for pattern in offered_patterns(texts):
        yield f"if this differs each time: fc_volatile = {pattern}"


def _differ_in_nothing_else(pairs: Sequence[tuple[str, str]], volatile: Volatile) -> bool:
    try:
        return all(volatile.left_out(old)[0] == volatile.left_out(new)[0] for old, new in pairs)
    except (VolatileError, RecursionError):
        return False


def _similarity(new: Request, old: Request) -> tuple[int, int, bool]:
    """Equal messages in equal places, less those that only one has; then nearness of the samples; then equal tools."""
    equal = sum(a == b for a, b in zip(new.messages, old.messages, strict=False))
    return equal - abs(len(new.messages) - len(old.messages)), -abs(new.sample - old.sample), new.tools == old.tools


def _is_same_question(new: Request, old: Request) -> bool:
    return (
        list(new.messages) == list(old.messages)
        and same_json(without_secrets(new.settings), without_secrets(old.settings))
        and new.tools == old.tools
    )


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _prompt(old: Sequence[Message], new: Sequence[Message]) -> Iterator[str]:
    for before, after in zip_longest(old, new):
        if before == after:
            continue
        role = (after or before or {}).get("role", "message")
        if role == "assistant" and before is None:
            yield "the recording ends before this step of the conversation"
        elif role == "assistant" and after is None:
            yield "a later step of the conversation was recorded, but not this one"
        elif before is None or after is None:
            yield f"the prompt changed: a {role} message was {'added' if before is None else 'removed'}"
        else:
            was, now = _around_difference(_text(before), _text(after))
            yield f"the prompt changed ({role} message):"
            yield f"  - {was}"
            yield f"  + {now}"
        return


def _tools(old: Sequence[Tool], new: Sequence[Tool]) -> Iterator[str]:
    before, after = {tool.name: tool for tool in old}, {tool.name: tool for tool in new}
    changes = [
        *(f"{name} is gone" for name in before if name not in after),
        *(f"{name} is new" for name in after if name not in before),
        *(
            f"{name} has {' and '.join(parts)}"
            for name in after
            if name in before and (parts := list(_tool_parts(before[name], after[name])))
        ),
    ]
    if changes:
        yield f"the tools changed: {', '.join(changes)}"
    elif list(before) != list(after):
        yield "the tools changed: their order"


def _tool_parts(old: Tool, new: Tool) -> Iterator[str]:
    if old.description != new.description:
        yield "another description"
    if not same_json(old.parameters, new.parameters):
        yield "other parameters"
    if old.returns != new.returns:
        yield "another account of what it returns"


def _settings(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"the settings changed: {name} was {_value(old, name)}, is {_value(new, name)}"


def _value(settings: Mapping[str, Json], name: str) -> str:
    return canonical(settings[name])[:_AFTER] if name in settings else "not set"


def _text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) and len(message) == 2 else canonical(message)


def _around_difference(old: str, new: str) -> tuple[str, str]:
    """Cut both texts to the surroundings of their first difference."""
    shared = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, shared - _BEFORE)
    return _excerpt(old, start, shared + _AFTER), _excerpt(new, start, shared + _AFTER)


def _excerpt(text: str, start: int, stop: int) -> str:
    cut = text[start:stop].replace("\n", " ")
    return f"{'…' if start else ''}{cut}{'…' if stop < len(text) else ''}"
