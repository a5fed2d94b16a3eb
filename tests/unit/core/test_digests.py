from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Request, Tool, canonical, catalogue_digest, digest, request_digest
from tests.unit.core.example_request import REQUEST

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

KNOWN = "81d67b2732f15b03332ded442ee7c4fa0873f70a9bac28c7e9944d9d37ec3526"


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(item)) for key, item in value.items()]
        random.shuffle(items)
        return dict(items)
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_the_order_of_keys_never_matters(value: Json) -> None:
    assert digest(value) == digest(shuffled(value))


@given(JSON)
def test_canonical_text_says_the_same_value(value: Json) -> None:
    text = canonical(value)
    assert text.isascii()
    assert json.loads(text) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_json_cannot_say_has_no_digest(value: Json) -> None:
    with pytest.raises(ValueError, match="JSON"):
        digest(value)


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (1, "1"), ([], {}), (None, "null"), ([1, 2], [2, 1])])
def test_values_of_different_types_have_different_digests(one: Json, other: Json) -> None:
    assert digest(one) != digest(other)


def test_a_digest_is_the_same_in_every_process_whatever_the_hash_seed() -> None:
    code = (
        "from pytest_fcall.core.digests import request_digest\n"
        "from tests.unit.core.example_request import REQUEST\n"
        "print(request_digest('local:tiny', REQUEST))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {request_digest("local:tiny", REQUEST)}


def test_a_digest_stays_what_it_was_in_earlier_versions() -> None:
    # Recordings that people keep under version control are found by it.
    assert request_digest("local:tiny", REQUEST) == KNOWN


@pytest.mark.parametrize(
    "other",
    [
        Request(({"role": "user", "content": "Wetter in Ulm?"},), REQUEST.tools, REQUEST.settings),
        Request(REQUEST.messages, (), REQUEST.settings),
        Request(REQUEST.messages, REQUEST.tools, {"temperature": 0.2, "seed": 7}),
        Request(REQUEST.messages, REQUEST.tools, REQUEST.settings, sample=1),
    ],
)
def test_everything_that_is_sent_counts(other: Request) -> None:
    assert request_digest("local:tiny", REQUEST) != request_digest("local:tiny", other)


def test_the_model_counts() -> None:
    assert request_digest("local:tiny", REQUEST) != request_digest("local:other", REQUEST)


def test_an_image_counts_by_what_is_in_it_and_not_by_where_it_lies() -> None:
    def asked(path: str, sha256: str) -> str:
        image: Json = {"path": path, "media_type": "image/png", "sha256": sha256}
        content: Json = [{"type": "image_file", "image_file": image}]
        return request_digest("local:tiny", Request(({"role": "user", "content": content},)))

    assert asked("/here/a.png", "1") == asked("/there/b.png", "1")
    assert asked("/here/a.png", "1") != asked("/here/a.png", "2")


def test_where_a_tool_was_read_from_does_not_count() -> None:
    assert catalogue_digest([Tool("a", source="one.json")]) == catalogue_digest([Tool("a", source="two.json")])
    assert catalogue_digest([Tool("a"), Tool("b")]) != catalogue_digest([Tool("b"), Tool("a")])
