"""A question with what is right: paths of calls, and an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.core.call import Call
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_lines import BrokenRow


@dataclass(frozen=True, slots=True)
class Question:
    """One row of a set, as it stands there."""

    id: str
    category: str
    text: str
    paths: Sequence[Sequence[Call]]
    """Each is right by itself."""
    answer: Mapping[str, Json]
    ordered: frozenset[str]
    """The keys of the answer below which the order of a list matters."""


def question_of(row: Json) -> Question:
    """Read a row; BrokenRow says what is wrong with it."""
    match row:
        case {
            "id": str(id_),
            "question": str(text),
            "target": {
                "solution_paths": [_, *_] as paths,
                "expected_answer": {"answer": Mapping() as answer, **beside},
            },
            **others,
        }:
            ordered = beside.get("ordered_items")
            keys = frozenset(map(str, ordered if isinstance(ordered, list) else ()))
            category = others.get("category")
            named = category if isinstance(category, str) and category.strip() else "other"
            return Question(_id(id_), named, text, [list(_calls(path)) for path in paths], dict(answer), keys)
    raise BrokenRow(
        "it needs `id`, `question`, and a `target` with `solution_paths` and `expected_answer`, an object `answer`"
    )


def _id(text: str) -> str:
    if not text.strip() or not text.isprintable() or "::" in text:
        raise BrokenRow("its id is empty, or not to be printed")
    return text.strip()


def _calls(path: Json) -> Iterator[Call]:
    match path:
        case {"functions": list(names), "parameters": list(parameters)} if len(names) == len(parameters):
            for name, given in zip(names, parameters, strict=True):
                if not isinstance(name, str) or not name.strip() or not isinstance(given, Mapping):
                    raise BrokenRow("a path holds a function that is no text, or parameters that are no object")
                yield Call(name, {str(key): value for key, value in given.items()})
            return
    raise BrokenRow("a path needs `functions` and `parameters`, as many of the one as of the other")
