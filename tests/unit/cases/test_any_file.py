"""Any file either loads or gives faults with a place: never another exception."""

from __future__ import annotations

import contextlib
from pathlib import Path
from textwrap import dedent

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_fcall.cases.case import CASE_KEYS
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.expectations import ExpectationError, read_expectation
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.option_values import DEFAULT_KEYS
from pytest_fcall.core import OPERATORS, Case, Expectation, FaultyCase, Tool
from tests.unit.cases.reading import TOOLS

_ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

_VALID = TOOLS + dedent("""\
    defaults:
      system: "Today is {now:%A}."
      now: 2026-11-21T16:30:00-08:00
      tags: [a]
      never: ["x_*", {book: {seats: {$each: {$regex: "1."}}}}]
    match:
      "*.key": {$ignore: true}
      get_weather.city: {strings: relaxed}
    cases:
      - id: one
        prompt: Hello?
        expect:
          - get_weather: {city: {$any: [Oslo, {$contains: SF}]}, days: {$optional: 3}}
            as: w
            returns: {t: 3}
          - then:
              - book: {flight: {$from: "w.result.t"}, who: {name: Ana, age: 3}}
                times: [1, null]
      - id: two
        matrix:
          - {id: a, x: celsius}
          - {id: b, x: fahrenheit}
        prompt: "In {x}?"
        expect: {calls: [{get_weather: {city: Oslo, unit: "{x}"}}], allow: [ping], order: strict}
        xfail: &why [{reason: because, models: ["a:*"]}]
      - <<: {id: three}
        turns:
          - user: Hi
            expect: {any_of: [no_call, {calls: [{ping: }]}]}
            answer: {$approx: 1, within: 5%}
        xfail: *why
        samples: {count: 4, rule: any}
        settings: {temperature: 0, tool_choice: ping}
    """)


def _read(data: bytes, folder: Path) -> None:
    path = folder / "any.fc.yaml"
    path.write_bytes(data)
    try:
        found = read_case_file(path, root=folder)
    except UnreadableFile as unreadable:
        told = [unreadable.fault]
    else:
        assert len({entry.id for entry in found.entries}) == len(found.entries)
        told = list(found.faults)
        for entry in found.entries:
            assert isinstance(entry, Case) or entry.faults
        faulty = [entry for entry in found.entries if isinstance(entry, FaultyCase)]
        assert {fault for entry in faulty for fault in entry.faults} == set(told)
    for fault in told:
        assert fault.code
        assert fault.message
        assert fault.message.isprintable()
        assert fault.location.path == "any.fc.yaml"
        assert fault.location.line >= 1
        assert fault.location.column >= 1


_WORDS = st.sampled_from(
    sorted({*CASE_KEYS, *DEFAULT_KEYS, "user", "role", "content", "file", "image", "reason", "models", "count", "rule"})
    + ["tools", "defaults", "match", "cases", "include", "only", "without", "as", "then", "times", "returns", "args"]
    + ["calls", "any_of", "order", "allow", "never", "get_weather", "city", "ping", "no_call", "<<", "{now:%Q}", "{x}"]
    + ["day", "from", "to", "within", "strings", "python", "mcp", "openapi", "name", "parameters", "a.result", "*.x"]
    + [f"${name}" for name in OPERATORS]
)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), _WORDS, st.text(max_size=8), st.sampled_from([0, -1, 10**400])
)
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(_WORDS, _WORDS, st.text(max_size=4), st.integers()), inner, max_size=5),
    ),
    max_leaves=25,
)
_CASES = st.lists(st.dictionaries(st.sampled_from(sorted(CASE_KEYS)), _TREES, max_size=6), max_size=3)
_FILES = st.one_of(
    _TREES,
    st.fixed_dictionaries(
        {"cases": _CASES}, optional={"tools": _TREES, "defaults": _TREES, "match": _TREES, "include": _TREES}
    ),
)


def _dumped(tree: object) -> bytes:
    return yaml.safe_dump(tree, allow_unicode=True, sort_keys=False).encode("utf-8", errors="surrogatepass")


@_ONE_FOLDER
@given(tree=_FILES)
def test_any_tree(tmp_path: Path, tree: object) -> None:
    _read(_dumped(tree), tmp_path)


@_ONE_FOLDER
@given(case=st.dictionaries(st.sampled_from(sorted(CASE_KEYS)), _TREES, max_size=6))
def test_any_case_beside_real_tools(tmp_path: Path, case: dict[str, object]) -> None:
    whole = {"id": "x", "prompt": "Hello?", "expect": "no_call"} | case
    _read(
        (TOOLS + _dumped({"cases": [whole]}).decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass"),
        tmp_path,
    )


@_ONE_FOLDER
@given(data=st.data())
def test_any_mutation_of_a_valid_file(tmp_path: Path, data: st.DataObject) -> None:
    text = _VALID
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        bits = st.one_of(
            st.text(max_size=3),
            _WORDS,
            st.sampled_from(["\t", "\n", "  ", "- ", ": ", "[", "]", "{", "}", "*why", "&why ", "!!x ", "'", '"', "#"]),
        )
        text = text[:start] + data.draw(bits) + text[end:]
    _read(text.encode("utf-8", errors="surrogatepass"), tmp_path)


@_ONE_FOLDER
@given(
    line=st.integers(0, _VALID.count("\n") - 1), onto=st.integers(0, _VALID.count("\n") - 1), shift=st.integers(-4, 4)
)
def test_any_line_moved(tmp_path: Path, line: int, onto: int, shift: int) -> None:
    lines = _VALID.splitlines(keepends=True)
    taken = lines.pop(line)
    body = taken.lstrip(" ")
    lines.insert(onto, " " * max(0, len(taken) - len(body) + shift) + body)
    _read("".join(lines).encode(), tmp_path)


@_ONE_FOLDER
@given(data=st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    _read(data, tmp_path)
    _read(b"cases:\n  - id: x\n    prompt: " + data, tmp_path)


@_ONE_FOLDER
@given(tree=_TREES)
def test_any_python_value(tree: object) -> None:
    tools = [Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}})]
    for known in ((), tools):
        with contextlib.suppress(ExpectationError):
            assert isinstance(read_expectation(tree, known), Expectation)


def test_the_valid_file_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "any.fc.yaml"
    path.write_text(_VALID, encoding="utf-8")
    found = read_case_file(path, root=tmp_path)
    assert found.faults == ()
    assert len(found.entries) == 4
