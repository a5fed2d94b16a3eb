"""Objects as keys of caches."""

from __future__ import annotations

from pytest_fcall.core.digests import IdentityKey


def test_only_the_same_object_is_the_same_key() -> None:
    first, equal = ["a"], ["a"]
    known = {IdentityKey(first): "first"}
    assert known[IdentityKey(first)] == "first"
    assert IdentityKey(equal) not in known
    assert IdentityKey(first) != first


def test_the_object_lives_as_long_as_its_key_so_that_its_id_is_not_given_away() -> None:
    key = IdentityKey(["a"])
    assert key.value == ["a"]
    assert hash(key) == id(key.value)
