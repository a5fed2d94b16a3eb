"""`format` is held to, and told in words."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema


def argument(schema: Json) -> ToolSchema:
    return tool_schema(Tool("f", "", {"type": "object", "properties": {"x": schema}}))


@pytest.mark.parametrize(
    ("name", "good", "bad", "words"),
    [
        ("date", ["2026-04-03"], ["03/04/2026", "tomorrow", "2026-02-29", "2026-4-3", "20260403"], "a date such as"),
        (
            "date-time",
            ["2026-04-03T10:00:00Z", "2026-04-03T10:00:00.5+02:00"],
            ["2026-04-03", "2026-04-03T10:00:00", "2026-04-03 10:00", "tomorrow at 5"],
            "a date and time with its offset, such as",
        ),
        ("time", ["10:00:00Z", "10:00:00-08:00"], ["10:00", "10:00:00", "5 pm", "25:00:00Z"], "a time of day with"),
        ("duration", ["PT1H30M", "P3D"], ["3 days", "90", "P"], "a duration such as PT1H30M"),
        ("email", ["ana@example.org"], ["ana", "ana@", "Ana <ana@example.org>"], "an e-mail address"),
        ("idn-email", ["jörg@example.org"], ["jörg"], "an e-mail address"),
        ("hostname", ["example.org", "localhost"], ["ex_ample", "a b", "-a"], "a host name"),
        ("idn-hostname", ["münchen.de"], ["-a"], "a host name"),
        ("ipv4", ["192.0.2.1"], ["192.0.2", "256.1.1.1", "::1"], "an IPv4 address"),
        ("ipv6", ["::1"], ["192.0.2.1", "1:2"], "an IPv6 address"),
        ("uri", ["https://example.org/a?b=c", "urn:isbn:1"], ["example.org", "/a", "https://a b"], "a URI such as"),
        ("uri-reference", ["/a", "https://example.org"], ["\\\\a"], "a URI or a part of one"),
        ("iri", ["https://münchen.de"], ["münchen"], "an IRI"),
        ("iri-reference", ["/ü"], ["\\\\a"], "an IRI"),
        ("uri-template", ["/a/{b}"], ["/a/{b"], "a URI template"),
        ("uuid", ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08", "2eb8aa08aa9811eab4aa73b441d16380"], "a UUID"),
        ("json-pointer", ["", "/a/0"], ["a"], "a JSON pointer"),
        ("relative-json-pointer", ["1/a"], ["/a"], "a relative JSON pointer"),
        ("regex", ["a+"], ["a("], "a regular expression"),
    ],
)
def test_a_string_keeps_to_its_format(name: str, good: list[str], bad: list[str], words: str) -> None:
    tool = argument({"type": "string", "format": name})
    for value in good:
        assert tool.check({"x": value}) == []
        assert tool.check_at(("x",), value) == []
    for value in bad:
        (finding,) = tool.check({"x": value})
        assert (finding.kind, finding.path, finding.expected, finding.got) == ("schema", ("x",), name, value)
        assert finding.message.startswith(f"`x` must be {words}")
        assert finding.message.endswith(f", not {value!r}")
        assert tool.check_at(("x",), value) == [finding]


def test_a_format_is_told_in_a_sentence() -> None:
    (finding,) = argument({"type": "string", "format": "date"}).check({"x": "03/04/2026"})
    assert finding.message == "`x` must be a date such as 2026-11-21, not '03/04/2026'"


@pytest.mark.parametrize("name", ["date", "email", "uuid"])
def test_a_format_is_about_strings_and_the_type_about_the_rest(name: str) -> None:
    assert argument({"format": name}).check({"x": 3}) == []
    (finding,) = argument({"type": "string", "format": name}).check({"x": 3})
    assert finding.kind == "wrong_type"


@pytest.mark.parametrize("name", ["path", "password", "binary", "byte", "phone", "enum", "Date", ""])
def test_a_format_that_nobody_defined_is_only_a_word(name: str) -> None:
    assert argument({"type": "string", "format": name}).check({"x": "whatever it is"}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        {"type": ["string", "null"], "format": "date"},
        {"allOf": [{"type": ["string", "null"]}, {"format": "date"}]},
        {"type": "STRING", "format": "date", "nullable": True},
    ],
)
def test_a_format_holds_in_a_union_too(schema: Json) -> None:
    tool = argument(schema)
    assert tool.check({"x": None}) == []
    assert tool.check({"x": "2026-04-03"}) == []
    (finding,) = tool.check({"x": "soon"})
    assert finding.kind == "schema"


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("int8", -(2**7), 2**7 - 1),
        ("int16", -(2**15), 2**15 - 1),
        ("int32", -(2**31), 2**31 - 1),
        ("int64", -(2**63), 2**63 - 1),
        ("uint8", 0, 2**8 - 1),
        ("uint16", 0, 2**16 - 1),
        ("uint32", 0, 2**32 - 1),
        ("uint64", 0, 2**64 - 1),
    ],
)
def test_an_integer_has_room_in_its_format(name: str, low: int, high: int) -> None:
    tool = argument({"type": "integer", "format": name})
    assert tool.check({"x": low}) == []
    assert tool.check({"x": high}) == []
    (below,) = tool.check({"x": low - 1})
    (above,) = tool.check_at(("x",), high + 1)
    assert below.message == f"`x` must be at least {low}, not {low - 1}"
    assert above.message == f"`x` must be at most {high}, not {high + 1}"


def test_a_narrower_bound_than_that_of_the_format_stays() -> None:
    tool = argument({"type": "integer", "format": "int32", "minimum": 1, "maximum": 5})
    assert [bool(tool.check({"x": value})) for value in (0, 1, 5, 6)] == [True, False, False, True]


def test_a_wider_bound_than_that_of_the_format_does_not_widen_it() -> None:
    tool = argument({"type": "integer", "format": "int8", "minimum": -1000, "maximum": 1000.0})
    assert [bool(tool.check({"x": value})) for value in (-129, -128, 127, 128)] == [True, False, False, True]


@pytest.mark.parametrize("name", ["float", "double", "decimal"])
def test_formats_of_fractions_take_every_number(name: str) -> None:
    tool = argument({"type": "number", "format": name})
    assert tool.check({"x": 1e300}) == tool.check({"x": 1}) == []


def test_int64_as_text_is_text() -> None:
    assert argument({"type": "string", "format": "int64"}).check({"x": "9" * 30}) == []
