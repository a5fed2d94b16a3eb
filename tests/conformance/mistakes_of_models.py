"""The mistakes in wrong answers of real models: what separates an answer from the nearest right one, by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

from pytest_fcall.matching.strings import bfcl, relax
from pytest_fcall.strength.mistakes.values import wrong_texts

Kind: TypeAlias = Literal["one", "several", "unreadable", "beyond"]

_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}/\d{1,2}/\d{1,2}|\b(?:19|20)\d\d\b")
_ID = re.compile(r"(?=.*\d)[\w#./-]{2,40}")
_LETTERS = re.compile(r"[\W_]+")
_CALL_MARK = re.compile(r"[\w.]+\\?_?[\w.]*\(|\{\s*[\"']|<tool_call>|```")
OPTIONAL = ""
"""Among the alternatives of the leaderboard's truths, this says that an argument may be left out."""


class Difference(NamedTuple):
    """What an answer is, beside the right one: the kinds of mistakes in it, each as often as it occurs."""

    kind: Kind
    mistakes: Counter[str]


def difference(row: Mapping[str, Any], case: Mapping[str, Any]) -> Difference:
    """The difference between a wrong answer and the nearest right one."""
    calls, truth = row["decoded"], case["ground_truth"]
    if calls is None:
        if _is_text(row, case):
            return _of(Counter({"answer instead of call": 1}))
        return Difference("unreadable", Counter())
    if not isinstance(calls, list) or not all(isinstance(call, dict) and len(call) == 1 for call in calls):
        return Difference("unreadable", Counter())
    made = [(_name(name), arguments) for call in calls for name, arguments in call.items()]
    if "relevance" in case["category"]:
        return _of(Counter({"call instead of answer": 1}) if made else Counter({"answer instead of call": 1}))
    if not made:
        return _of(Counter({"answer instead of call": 1}))
    return _of(_between(truth, made, {_name(each["name"]): each for each in case["function"]}))


def _of(mistakes: Counter[str]) -> Difference:
    count = mistakes.total()
    return Difference("beyond" if not count else "one" if count == 1 else "several", mistakes)


def _is_text(row: Mapping[str, Any], case: Mapping[str, Any]) -> bool:
    """Whether the model answered in words, without anything that looks like a call."""
    raw = row["raw"]
    parts = raw if isinstance(raw, list) else [raw]
    if not all(isinstance(part, str) for part in parts):
        return False
    text = "\n".join(parts)
    names = [each["name"] for each in case["function"]]
    return not _CALL_MARK.search(text) and not any(name in text.replace("\\", "") for name in names)


def _name(name: str) -> str:
    return str(name).replace(".", "_")


def _between(truth: list[Any], made: list[tuple[str, Any]], tools: Mapping[str, Any]) -> Counter[str]:
    """Calls are paired so that the mistakes are few; what is left over was dropped or added."""
    wanted = [(_name(name), arguments) for call in truth for name, arguments in call.items()]
    left = list(made)
    found: Counter[str] = Counter()
    unpaired = []
    for name, arguments in wanted:
        alike = [each for each in left if each[0] == name and isinstance(each[1], dict)]
        if not alike:
            unpaired.append(name)
            continue
        properties = tools.get(name, {}).get("parameters", {}).get("properties", {})
        costs = [(_in_arguments(arguments, each[1], properties), each) for each in alike]
        best, chosen = min(costs, key=lambda cost: cost[0].total())
        left.remove(chosen)
        found += best
    for _ in unpaired:
        if left:
            found["neighbour tool" if left.pop(0)[0] in tools else "tool invented"] += 1
        else:
            found["call dropped"] += 1
    for extra in left:
        found["call doubled" if made.count(extra) > 1 else "call added"] += 1
    return found


def _in_arguments(truth: Mapping[str, Any], given: Mapping[str, Any], properties: Mapping[str, Any]) -> Counter[str]:
    found: Counter[str] = Counter()
    missing = [name for name, right in truth.items() if name not in given and OPTIONAL not in right]
    extra = [name for name in given if name not in truth]
    for name in list(missing):
        if other := next((each for each in extra if _is_right(given[each], truth[name])), None):
            found["argument renamed"] += 1
            missing.remove(name)
            extra.remove(other)
    found["argument dropped"] += len(missing)
    for name in extra:
        found["argument added" if name in properties else "argument invented"] += 1
    wrong = [name for name in truth if name in given and not _is_right(given[name], truth[name])]
    for one, other in combinations(list(wrong), 2):
        if (
            one in wrong
            and other in wrong
            and _is_right(given[one], truth[other])
            and _is_right(given[other], truth[one])
        ):
            found["arguments swapped"] += 1
            wrong.remove(one)
            wrong.remove(other)
    for name in wrong:
        found += _of_value(truth[name], given[name], properties.get(name, {}))
    return +found


def _is_right(value: Any, alternatives: Any) -> bool:
    return any(_equal(value, each) for each in alternatives if each != OPTIONAL or value == OPTIONAL)


def _equal(value: Any, right: Any) -> bool:
    if isinstance(value, str) and isinstance(right, str):
        return bfcl(value) == bfcl(right)
    if isinstance(value, bool) or isinstance(right, bool):
        return value is right
    if isinstance(value, list) and isinstance(right, list):
        return len(value) == len(right) and all(map(_equal, value, right))
    if isinstance(value, dict) and isinstance(right, dict):
        return not _in_arguments(right, value, {}) if all(isinstance(each, list) for each in right.values()) else False
    if isinstance(value, int | float) and isinstance(right, int | float):
        return type(value) is type(right) and value == right
    return type(value) is type(right) and bool(value == right)


def _of_value(alternatives: Sequence[Any], value: Any, schema: Mapping[str, Any]) -> Counter[str]:
    """The mistakes between a value and the nearest alternative."""
    rights = [each for each in alternatives if each != OPTIONAL]
    if not rights:
        return Counter({"argument added": 1})
    found = [_between_values(right, value, schema) for right in rights]
    return min(found, key=lambda each: (each.total(), "text replaced" in each))


def _between_values(right: Any, value: Any, schema: Mapping[str, Any]) -> Counter[str]:
    if value is None:
        return Counter({"null given": 1})
    if isinstance(right, list) and isinstance(value, list):
        return _between_lists(right, value, schema.get("items") or {})
    if isinstance(right, dict) and isinstance(value, dict):
        inner = schema.get("properties") or {}
        listed = {key: each if isinstance(each, list) else [each] for key, each in right.items()}
        return _in_arguments(listed, value, inner)
    return Counter({_between_scalars(right, value, schema): 1})


def _between_scalars(right: Any, value: Any, schema: Mapping[str, Any]) -> str:
    if isinstance(right, list | dict) or isinstance(value, list | dict):
        return "nesting changed"
    if isinstance(right, bool) and isinstance(value, bool):
        return "boolean flipped"
    if type(right) is not type(value) and not (_is_number(right) and _is_number(value) and right != value):
        return "type changed"
    members = schema.get("enum") or []
    if value in members:
        return "enum member"
    return _between_numbers(right, value) if _is_number(value) else _between_texts(right, value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _between_numbers(right: float, value: float) -> str:
    if value == -right:
        return "sign changed"
    if right and abs(value / right) in (100, 1000, 0.01, 0.001, 60, 3600, 12, 24):
        return "unit changed"
    return "number changed"


def _between_texts(right: str, value: str) -> str:
    ours = {text: mistake for mistake, text in wrong_texts(right, ())}
    if value in ours and ours[value] in ("unit changed", "date changed", "id changed"):
        return ours[value]
    if _LETTERS.sub("", relax(right)) == _LETTERS.sub("", relax(value)):
        return "text spelled otherwise"
    if _DATE.search(right) and _DATE.search(value):
        return "date changed"
    if _ID.fullmatch(right) and _ID.fullmatch(value):
        return "id changed"
    one, other = _LETTERS.sub(" ", relax(right)).strip(), _LETTERS.sub(" ", relax(value)).strip()
    if one in other:
        return "text longer"
    return "text shorter" if other in one and other else "text replaced"


def _between_lists(right: list[Any], value: list[Any], schema: Mapping[str, Any]) -> Counter[str]:
    left, missing = list(value), []
    for item in right:
        same = next((index for index, each in enumerate(left) if _equal(each, item)), None)
        if same is None:
            missing.append(item)
        else:
            del left[same]
    if not left and not missing:
        return Counter({"list order": 1})
    found: Counter[str] = Counter()
    for item, other in zip(missing, left, strict=False):
        found += _between_values(item, other, schema)
    found["list item dropped"] += max(len(missing) - len(left), 0)
    found["list item added"] += max(len(left) - len(missing), 0)
    return +found


def differences(
    rows: Iterator[Mapping[str, Any]], cases: Mapping[tuple[str, str], Mapping[str, Any]]
) -> Iterator[Difference]:
    """The differences of all wrong answers whose arguments are values, and not source text of another language."""
    for row in rows:
        if not row["valid"] and "java" not in row["category"]:
            yield difference(row, cases[row["category"], row["id"]])
