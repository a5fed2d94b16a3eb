from __future__ import annotations

import json
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.suites.mannheim.score import answer_object


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{'a':'x'}", {"a": "x"}),
        ('{"a": "x"}', {"a": "x"}),
        ("Here:\n```json\n{\n  'a': 'x',\n  'b': [\n    1,\n    'two'\n  ]\n}\n```\nok", {"a": "x", "b": [1, "two"]}),
        ("{'a': 'It's me'}", {"a": "It's me"}),
        ("{'a': 'x, y'}", {"a": "x, y"}),
        ("{'a': true, 'b': null, 'c': 1.50}", {"a": True, "b": None, "c": 1.5}),
        ("{'a': 'one'} and {'a': 'two'}", {"a": "one"}),
        ("{ }", {}),
        ("{'a': 'x : y'}", {"a": "x:y"}),
    ],
)
def test_an_object_is_found_as_models_write_it(text: str, found: dict[str, object]) -> None:
    assert answer_object(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "x", "{", "} {", "{x}", "{'a': {'b': 1}}", "{'a': True}", "{'a': \"", "[1, 2]", "{'a': " + "9" * 5_000 + "}"],
)
def test_all_else_holds_none(text: str) -> None:
    assert answer_object(text) is None


FLAT = st.dictionaries(
    st.text(f"{ascii_lowercase}_", min_size=1, max_size=8),
    st.integers() | st.booleans() | st.none() | st.from_regex(r"[A-Za-z]+( [A-Za-z]+)*", fullmatch=True),
)


@given(FLAT, st.sampled_from([None, 2]))
def test_flat_objects_are_read_as_they_are(value: dict[str, object], indent: int | None) -> None:
    assert answer_object(f"It is {json.dumps(value, indent=indent)}, I think.") == value


@given(st.text("{}[],:'\"/s \nax1") | st.text())
def test_any_text_holds_an_object_or_none(text: str) -> None:
    found = answer_object(text)
    assert found is None or isinstance(found, dict)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", [" ", "\n", "'", '"', "{", "}", "[", ":", " :", "/s", ", ", " }", "{'a': ["])
def test_long_texts_take_no_long_time(piece: str) -> None:
    answer_object(piece * (500_000 // len(piece)))
