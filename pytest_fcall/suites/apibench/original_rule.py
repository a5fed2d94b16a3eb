"""The original rule, which compares sub-trees of an answer's code with the API data base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_fcall.suites.apibench.apis import Api
from pytest_fcall.suites.apibench.files import ComparedArguments, Hub
from pytest_fcall.suites.apibench.grades import Grade
from pytest_fcall.suites.apibench.parsers import Node, Parse, node_source, read_sub_trees


def extract_call_text(answer: str, *, whole: bool) -> str | None:
    """Return the text of the field `api_call`, from two characters after its colon to its last closing bracket.

    An answer without the field is returned if `whole` is true, else None. Quotes are cut as in the original: whether
    the opening quote stays depends on the number of blanks before it.
    """
    _, found, after = answer.partition("api_call")
    if not found:
        return answer if whole else None
    field = after.split("api_call", 1)[0].split("api_provider", 1)[0]
    start = max(field.find(":"), 0)
    end = field.rfind(")") if ")" in field else -2
    return field[start + 2 : end + 1]


@dataclass(frozen=True, slots=True)
class _KnownApi:
    """An API of the data base: its name, and the texts that a call of it must hold."""

    name: bytes
    values: tuple[bytes, ...]
    domain: str


class OriginalRule:
    """Grades answers to the questions of one hub, with the mistakes of the original.

    * The first API of the data base that fits counts, though others may fit better.
    * A value fits if it occurs anywhere in the text of the call, also as a part of another value.
    * If no sub-tree begins with the name of an API, its values are searched in the last sub-tree.
    * Every API of the right domain is right.
    """

    def __init__(self, hub: Hub, apis: Sequence[Api], parse: Parse) -> None:
        self._hub = hub
        self._parse = parse
        self._known = tuple(known for api in apis if (known := _known_api(api, hub.checked, parse)))

    def __call__(self, answer: str, domain: str) -> Grade:
        """Return the grade of an answer; `domain` is that of the right API."""
        code = extract_call_text(answer, whole=self._hub.whole_answer)
        if code is None:
            return "wrong"
        found = self._first(code)
        if found is None:
            return "hallucination"
        return "correct" if found.domain == domain else "wrong"

    def _first(self, code: str) -> _KnownApi | None:
        trees = read_sub_trees(self._parse(code.encode("utf-8", "replace")))
        for known in self._known:
            call = trees.by_first_child.get(known.name, trees.last)
            if all(value in call for value in known.values):
                return known
        return None


def _known_api(api: Api, checked: ComparedArguments, parse: Parse) -> _KnownApi | None:
    """The API of an entry; None if none of its values are compared, so that no answer fits."""
    first = parse(api.call.encode("utf-8", "replace")).children[:1]
    call = first[0].children[:1] if first else ()
    parts = call[0].children if call else ()
    if len(parts) < 2:
        return None
    values = tuple(value.lstrip(b"'").rstrip(b"'") for value in _values(parts[1].children, checked))
    return _KnownApi(node_source(parts[0]), values, api.domain) if values else None


def _values(arguments: Sequence[Node], checked: ComparedArguments) -> Iterator[bytes]:
    for argument in arguments:
        text = node_source(argument)
        if text in {b"(", b")", b","} or (checked == "named" and b"repo_or_dir" not in text and b"model" not in text):
            continue
        named = argument.type == "keyword_argument" and len(argument.children) > 2
        is_value = checked != "model" or b"model=" in text or b"model =" in text
        yield node_source(argument.children[2]) if named and is_value else text
