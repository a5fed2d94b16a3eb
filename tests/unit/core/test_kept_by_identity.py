"""Results that are kept for the same object."""

from __future__ import annotations

from pytest_fcall.core.digests import kept_by_identity


def test_a_result_is_kept_for_the_same_object_and_not_for_an_equal_one() -> None:
    computed: list[list[str]] = []

    @kept_by_identity(most=2)
    def length(value: list[str]) -> int:
        computed.append(value)
        return len(value)

    first, equal = ["a"], ["a"]
    assert [length(each) for each in (first, first, equal, first)] == [1, 1, 1, 1]
    assert computed == [first, equal]


def test_a_result_of_nothing_is_kept_too() -> None:
    computed: list[object] = []
    find = kept_by_identity(most=2)(computed.append)
    key = object()
    assert [find(key), find(key)] == [None, None]
    assert computed == [key]


def test_no_more_objects_are_kept_than_are_said() -> None:
    computed: list[str] = []

    @kept_by_identity(most=2)
    def note(value: tuple[str]) -> str:
        computed.append(value[0])
        return value[0]

    keys = [(name,) for name in "abc"]
    for key in (*keys, keys[2], keys[0]):
        note(key)
    assert computed == ["a", "b", "c", "a"]


def test_an_object_is_held_as_long_as_its_result_so_that_its_id_is_not_given_away() -> None:
    @kept_by_identity(most=100)
    def first(value: list[int]) -> int:
        return value[0]

    assert [first([number]) for number in range(50)] == [*range(50)]
