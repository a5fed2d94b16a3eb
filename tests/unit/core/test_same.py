"""Objects as keys of caches."""

from __future__ import annotations

from pytest_fcall.core.same import Same


def test_only_the_same_object_is_the_same_key() -> None:
    first, equal = ["a"], ["a"]
    known = {Same(first): "first"}
    assert known[Same(first)] == "first"
    assert Same(equal) not in known
    assert Same(first) != first


def test_the_object_lives_as_long_as_its_key_so_that_its_id_is_not_given_away() -> None:
    key = Same(["a"])
    assert key.it == ["a"]
    assert hash(key) == id(key.it)
