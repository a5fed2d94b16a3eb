"""Answers to the questions of ACEBench: right ones, and such with one mistake or one oddity each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

from tests.conformance.generated.python_source import ODDITIES

Calls: TypeAlias = list[tuple[str, dict[str, Any]]]

_VALUES: Sequence[Any] = (
    *(None, True, False, 0, 1, -7, 10**12, 2.5, -0.0, 1e300),
    *("", "x", "true", "false", "-", "5", "Oslo, Norway", 'a "b"', "it's", "北京", "a [b] c", "]", "[", "a\nb"),
    *([], [1], ["x"], [["a"], ["b"]], [{}], [{"a": 1}], {}, {"a": 1}, {"a": {"b": [1]}}, {1: 2}, (), (1, "x"), ("x",)),
)
_RARE = ("list(1)", "1 + 2", "2 * 3.5", "'a' + 'b'", "'ab' * 3", "[1] + [2]", "7 // 2", "2 ** 8", "-(1 + 2)")


def right_calls(truth: Any) -> Calls:
    """The calls of a right answer."""
    first = truth[0] if isinstance(truth, list) else truth
    return [(re.sub(r"_\d+$", "", name), arguments) for name, arguments in first.items()]


def written(calls: Calls, between: str = ", ") -> str:
    """Calls in the notation of the prompt."""
    inside = (f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls)
    return f"[{between.join(inside)}]"


def call_answers(truth: Any, functions: Sequence[Mapping[str, Any]], chance: Random) -> Iterator[str]:
    """Answers to a question that asks for calls."""
    right = right_calls(truth)
    text = written(right)
    yield text
    yield from (write(text) for write in _FORMS)
    yield written(right, between=",\n  ")
    yield written([*reversed(right)])
    yield "[]"
    yield written(right[:-1])
    yield written([*right, right[0]])
    yield written([*right, (_other(functions, right, chance), {})])
    yield written([(_other(functions, right, chance), right[0][1]), *right[1:]])
    yield text.replace("(", "('by place', ", 1)
    for changed in _changed_calls(right, chance):
        yield written(changed)
    yield from _odd_values(right, chance)


_FORMS: Sequence[Callable[[str], str]] = (
    lambda text: f"```python\n{text}\n```",
    lambda text: f"`{text}`",
    lambda text: f"Sure! {text} That is all.",
    lambda text: f"See [1]: {text}",
    lambda text: f"] {text}",
    lambda text: f"[{text}]",
    lambda text: text[1:-1],
    lambda text: text[:-1],
    lambda text: text[:-2],
    lambda text: f" \n{text}\n ",
    lambda text: text.replace("(", " ("),
    lambda text: text.replace("=", " = "),
    lambda text: text.replace("'", '"'),
    lambda text: text.replace("True", "true").replace("False", "false").replace("None", "null"),
    lambda text: text.replace("[", "(", 1)[:-1] + ")",
    lambda text: f"<tool_call>{text}</tool_call>",
    lambda text: json.dumps([{"name": text}]),
    lambda _: '["Missing necessary parameters (a) for the api (b)"]',
    lambda _: "",
    lambda text: text.upper(),
    lambda text: text.replace(")", ", **more)", 1),
)


def _other(functions: Sequence[Mapping[str, Any]], right: Calls, chance: Random) -> str:
    names = [str(each["name"]) for each in functions if each["name"] not in dict(right)]
    return chance.choice(names) if names else "no_such_function"


def _changed_calls(right: Calls, chance: Random) -> Iterator[Calls]:
    """The calls with one argument changed, left out or added: of each call some."""
    for number, (name, arguments) in enumerate(right):

        def changed(given: dict[str, Any], at: int = number, called: str = name) -> Calls:
            return [*right[:at], (called, given), *right[at + 1 :]]

        yield changed({})
        yield changed({**arguments, "more": 1})
        for key in chance.sample(sorted(arguments), min(3, len(arguments))):
            yield changed({other: value for other, value in arguments.items() if other != key})
            yield changed({(f"{other}_" if other == key else other): value for other, value in arguments.items()})
            for value in (*_near(arguments[key], chance), *chance.sample(_VALUES, 6)):
                yield changed({**arguments, key: value})


def _near(value: Any, chance: Random) -> Iterator[Any]:
    """Values that are close to the right one."""
    match value:
        case bool():
            yield from (not value, str(value).lower(), str(value), int(value))
        case int() | float():
            yield from (value + 1, float(value), int(value), str(value), -value, bool(value))
        case str():
            yield from (value.upper(), f"{value}!", f"The {value}", value[1:], value.replace(" ", "_"), f" {value}-")
            yield from (value.replace("'", '"'), [value], {"value": value}, "")
        case list():
            yield from (
                [],
                value[:-1],
                [*value, *value[:1]],
                [*reversed(value)],
                tuple(value),
                value[0] if value else 0,
            )
            yield from ([str(item).upper() for item in value], [[item] for item in value], str(value))
            for item in _near(value[0], chance) if value else ():
                yield [item, *value[1:]]
        case dict() if value:
            key = chance.choice(sorted(value))
            yield from ({}, {"more": 1, **value}, [value], str(value), [*value])
            yield {other: item for other, item in value.items() if other != key}
            yield {f"{other}_": item for other, item in value.items()}
            for item in _near(value[key], chance):
                yield {**deepcopy(value), key: item}


def _odd_values(right: Calls, chance: Random) -> Iterator[str]:
    """The first call with source text for its first argument that is no plain value."""
    (name, arguments), *_ = right
    others = ", ".join(f"{key}={value!r}" for key, value in [*arguments.items()][1:])
    key = next(iter(arguments), "key")
    for source in (*chance.sample(ODDITIES, 6), *chance.sample(_RARE, 2)):
        yield f"[{name}({key}={source}{', ' if others else ''}{others})]"


def problem_answers(truth: Any, chance: Random) -> Iterator[Any]:
    """Answers to a question with a problem in it: in the words of one category or another, whole and in part."""
    named = truth if isinstance(truth, dict) else {"": []}
    values = [str(value) for items in named.values() for value in items]
    texts = (
        f"Missing necessary parameters ({', '.join(values)}) for the api ({next(iter(named))})",
        f"There is incorrect value ({', '.join(values)}) for the parameters ({', '.join(named)})",
        "Due to the limitations of the function, I cannot solve this problem.",
    )
    for text in texts:
        yield from (text, json.dumps([text]), text.lower(), text.replace("(", "").replace(", ", " "), f"{text}\n[f()]")
        for value in (*values, *named):
            yield text.replace(value, "") if value else text
    yield from ("", "[f(a=1)]", " ".join(texts), [], [texts[0]], [texts[2], "the limitations of the function"], None)
    yield chance.choice(texts)[: chance.randrange(40)]


def task_results(truth: Any, milestones: Any, chance: Random) -> Iterator[tuple[Any, list[str]]]:
    """Ends of a task, each with the steps that led there."""
    way = milestones[0] if milestones and isinstance(milestones[0], list) else milestones
    processes = [way, [], way[:-1], way[1:], [*reversed(way)], ["[f()]", *way], [f" {step}\n" for step in way[::2]]]
    states: list[Any] = [truth, [], truth[:-1], [*truth, {"BaseApi": {}}], [*reversed(truth)], [{}] * len(truth)]
    for number, class_ in enumerate(truth):
        for name, attributes in class_.items():
            others = [*truth[:number], *truth[number + 1 :]]
            states += [[*others, {name: changed}] for changed in _changed_states(attributes, chance)]
            states.append([*others, {f"{name}_": attributes}])
    for state in states:
        yield deepcopy(state), chance.choice(processes)
    yield from ((truth[:1], process) for process in processes)


def _changed_states(attributes: dict[str, Any], chance: Random) -> Iterator[dict[str, Any]]:
    yield {}
    yield {"more": 1, **attributes}
    for name, value in attributes.items():
        yield {other: item for other, item in attributes.items() if other != name}
        changed: tuple[Any, ...] = (None, {}, [], 0, {**value, "more": 1} if isinstance(value, dict) else value)
        yield from ({**attributes, name: each} for each in changed)
        if isinstance(value, dict) and value:
            key = chance.choice(sorted(value))
            yield {**attributes, name: {**value, key: "x"}}
            yield {**attributes, name: {other: item for other, item in value.items() if other != key}}
