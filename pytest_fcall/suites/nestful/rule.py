"""The original rule: how answers are read, and how their calls are compared with the right ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pytest_fcall.core.json_data import read_json
from pytest_fcall.decoding.research.nestful import LabelReferences

_XLAM_MARKS: Final = tuple(
    f"[BEGIN OF {each}]" for each in ("ANSWER", "FUNCTION CALLS", "FUNCTION CALL", "ACTIONS", "ACTION")
)
_DUMMY: Final = '{"name": "dummy", "arguments": {}}'
"""A call that counts for nothing but the sequence."""
_END: Final = "<|endoftext|>"
"""The mark of the end of a text, which is taken out wherever it stands."""
NO_CALL: Final = "var_result"
"""The name under which the data of 2024 tells what the answer is made of."""


class UnreadableAnswer(ValueError):
    """The original fails to read an answer."""


def read_calls(text: str, decoder: str) -> list[str]:
    """Return the calls in an answer as JSON, with references that name functions. Raises Unreadable.

    What is read need not be a call: a list of JSON holds anything.
    """
    try:
        text, found = DECODERS[decoder](text)
        always = decoder in _ALWAYS_GROUNDED
        return [json.dumps(call) for call in (resolve_labels(found) if always or "label" in text else found)]
    except Exception as error:  # whatever is in the text
        raise UnreadableAnswer(str(error)) from None


def _json(text: str) -> tuple[str, Any]:
    return text, read_json(text)


def _granite(text: str) -> tuple[str, Any]:
    return _json(text.replace("<|tool_call|>", "").replace("<tool_call>", ""))


def _llama(text: str) -> tuple[str, Any]:
    bare = text.strip().removesuffix("'")
    opened = bare if bare.startswith("[") else f"[{bare}"
    return text, read_json(opened if opened.endswith("]") else f"{opened}]")


def _mistral(text: str) -> tuple[str, Any]:
    try:
        return _json(text.strip())
    except ValueError:
        return _json(text.strip().replace("\n", "").replace("\\_", "_"))


def _hermes(text: str) -> tuple[str, Any]:
    text = text.strip()
    if text.startswith("tool_call\n{"):
        text = text.replace("tool_call\n{", "<tool_call>\n{")
    found = []
    for call in _between(text, "<tool_call>", "</tool_call>"):
        try:
            found.append(read_json(call.strip()))
        except ValueError:
            continue
    return text, _some(found)


def _between(text: str, opening: str, closing: str) -> Iterator[str]:
    """The texts from an opening mark to the next closing one."""
    start = text.find(opening)
    while start >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        yield text[start + len(opening) : end]
        start = text.find(opening, end + len(closing))


def _xlam(text: str) -> tuple[str, Any]:
    for mark in _XLAM_MARKS:
        text = text.replace(mark, "")
    return text, read_json(text.strip())["tool_calls"]  # type: ignore[index, call-overload]  # fails as the original


def _hammer(text: str) -> tuple[str, Any]:
    return text, _some(read_json(text.replace("```", "").strip()))


def _some(found: Any) -> Any:
    if not len(found):
        raise ValueError("there is no call in it")
    return found


DECODERS: Final[Mapping[str, Callable[[str], tuple[str, Any]]]] = MappingProxyType(
    {
        "json": _json,
        "granite": _granite,
        "llama": _llama,
        "mistral": _mistral,
        "hermes": _hermes,
        "xlam": _xlam,
        "hammer": _hammer,
    }
)
"""The original's readers by families of models; `json` is that of DeepSeek and of older Granites."""
_ALWAYS_GROUNDED: Final = frozenset({"mistral", "hermes", "xlam", "hammer"})
"""The readers that look for references though no call has a label."""


def resolve_labels(calls: Iterable[Any]) -> list[Any]:
    """Return calls with the names of functions in place of their labels, so that two calls of one are the same."""
    every = [*calls]
    references = LabelReferences({call["label"].replace("$", ""): call["name"] for call in every if _has_label(call)})
    return [
        {
            "name": call["name"],
            "arguments": {key: references.named(value) for key, value in _arguments(call).items()},
        }
        for call in every
        if call["name"] != NO_CALL
    ]


def _has_label(call: Any) -> bool:
    return call["name"] not in ("varResult", NO_CALL) and "label" in call


def _arguments(call: Any) -> Any:
    return next((call[key] for key in ("arguments", "parameters") if key in call), {})


Labels: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The labels that are right, and those that were given."""


@dataclass(frozen=True, slots=True)
class NestfulScore:
    """The scores of one answer."""

    partial: float
    """The share of right calls in their places."""
    readable: bool
    """Whether all of the answer could be read."""
    functions: Labels
    slots: Sequence[Labels]
    """`argument = value`, for each function that was called or should have been."""

    @property
    def full(self) -> bool:
        """Whether all calls are right."""
        return self.partial == 1


def score_answer(right: Sequence[Mapping[str, Any]], text: str, decoder: str) -> NestfulScore:
    """Score an answer by the right calls, as the data has them."""
    readable = True
    try:
        items = read_calls(text, decoder)
    except UnreadableAnswer:
        items, readable = [], False
    made = [json.loads(item.replace(_END, "")) for item in items]
    counted = [call for item, call in zip(items, made, strict=True) if item != _DUMMY]
    wanted = resolve_labels(right)
    names, slots, whole = _labels(counted)
    right_names, right_slots, _ = _labels(wanted)
    return NestfulScore(
        _partial([*_written(wanted)], [*_written(made)]),
        readable and whole,
        (frozenset(right_names), frozenset(names)),
        [
            (frozenset(right_slots.get(name, ())), frozenset(slots.get(name, ())))
            for name in dict.fromkeys([*right_slots, *slots])
        ],
    )


def _labels(calls: Iterable[Any]) -> tuple[list[str], dict[Any, list[str]], bool]:
    """The names of functions, the arguments of the last call of each, and whether all could be read."""
    names: list[str] = []
    slots: dict[Any, list[str]] = {}
    whole = True
    for call in calls:
        try:
            names.append(str(call["name"]))
            slots[call["name"]] = []
            slots[call["name"]] += _slots(call["arguments"])
        except Exception:  # it is no call, or has no arguments
            whole = False
    return names, slots, whole


def _slots(arguments: Any) -> list[str]:
    return [f"{key} = {_closed(value)}" for key, value in arguments.items()]


def _closed(value: Any) -> Any:
    """The value, with the mark at the end of a reference that models leave out."""
    is_open = isinstance(value, str) and value.startswith("$") and not value.endswith("$")
    return f"{value}$" if is_open else value


def _written(calls: Iterable[Any]) -> Iterator[str]:
    """Calls as they are compared. What is no call is passed over."""
    for call in calls:
        names, slots, whole = _labels([call])
        for name in names:
            yield f"{name}({', '.join(sorted(*slots.values()))})" if whole else f"{name}({{}})"


def _partial(right: Sequence[str], made: Sequence[str]) -> float:
    """The share of equal calls. If their numbers differ, each call is compared with the next right one of its name."""
    pairs = [*zip(right, made, strict=False)]
    if len(right) != len(made):
        pairs = [*_aligned(right, made)]
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else 0.0


def _aligned(right: Sequence[str], made: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of calls with the same function in their order; a right call that does not come next has no partner."""
    place = 0
    for call in right:
        if place < len(made) and made[place].split("(", 1)[0] == call.split("(", 1)[0]:
            yield call, made[place]
            place += 1
        else:
            yield call, ""
    yield from (("", call) for call in made[place:])


def macro_f1(labels: Iterable[tuple[float, float, float]], samples: float) -> float | None:
    """Return the mean F1 of labels, of the numbers of samples in which each is hit, given wrongly, and missed.

    Those count that are right somewhere. If this is one alone, the original takes its absence for another.
    """
    counted = [each for each in labels if each[0] + each[2]]
    if len(counted) == 1:
        ((hits, wrong, missed),) = counted
        counted += [(absent, missed, wrong)] if (absent := samples - hits - wrong - missed) + wrong + missed else []
    shares = [2 * hits / (2 * hits + wrong + missed) for hits, wrong, missed in counted]
    return sum(shares) / len(shares) if shares else None
