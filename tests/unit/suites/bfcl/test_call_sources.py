from __future__ import annotations

import pytest

from pytest_fcall.suites.bfcl.answers import BfclAnswer, readable_sources


@pytest.mark.parametrize(
    ("said", "sources"),
    [
        ([{"ls": '{"a": true}'}], ["ls(a=True)"]),
        ([{"ls": "{}", "cd": '{"folder": "x"}'}], ["ls()", "cd(folder='x')"]),
        ({"ls": {"a": None}}, ["ls(a=None)"]),
        ([{"ls": "{"}], []),
        ([{"ls": "[1]"}], []),
        ([{"ls": "{}"}, "and"], []),
        ([{"ls": '{"a": NaN}'}], ["ls(a=nan)"]),
        ("text", []),
        (None, []),
        ([], []),
        ([7], []),
    ],
)
def test_native_calls_are_read_all_or_none(said: object, sources: list[str]) -> None:
    assert readable_sources(BfclAnswer("fc", said)) == sources


@pytest.mark.parametrize(
    ("said", "sources"),
    [
        ("[ls(a=True), cd(folder='x')]", ["ls(a=True)", "cd(folder='x')"]),
        ("ls()", ["ls()"]),
        ("[f(a={'b': 1})]", ["f(a={'b': 1})"]),
        ("[f(a={'b': {'c': 1}})]", ["f(a=b(c=1))"]),
        ("[f(a=g(b=1))]", ["f(a=g(b=1))"]),
        ("[f(a={})]", []),
        ("[]", []),
        ("Done.", []),
        (7, []),
    ],
)
def test_prompted_calls_are_read_as_the_official_decoder_reads_them(said: object, sources: list[str]) -> None:
    assert readable_sources(BfclAnswer("prompt", said)) == sources


@pytest.mark.parametrize(
    ("answer", "sources"),
    [
        (BfclAnswer("decoded", ["ls()", {"cd": {"folder": "x"}}]), ["ls()", "cd(folder='x')"]),
        (BfclAnswer("decoded", "ls()"), []),
        (BfclAnswer("decoded", [3]), []),
        (BfclAnswer("undecodable", "ls()"), []),
    ],
)
def test_what_was_decoded_before_is_taken_as_it_is(answer: BfclAnswer, sources: list[str]) -> None:
    assert readable_sources(answer) == sources
