from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.conversation.program import MalformedProgram, ProgramCall, program_steps, run_program


def made(source: str) -> tuple[dict[str, object], list[ProgramCall]]:
    """The variables and the calls of a program whose calls give their own names."""
    calls: list[ProgramCall] = []

    def call(asked: ProgramCall) -> object:
        calls.append(asked)
        return f"<{asked.name}>"

    return run_program(source, call), calls


def test_calls_are_made_in_order_with_the_values_of_variables() -> None:
    source = """
# a trip
origin = Loc("Oslo")
API.set_origin(origin)
when = Date(day=2 + 3, month=-1, year=2026)
low = high = 100 * 2
high += 50
API.set("x" + "y", [low, (high, None)], dates={"from": when, "to": True})
"""
    variables, calls = made(source)
    assert variables == {"origin": "<Loc>", "when": "<Date>", "low": 200, "high": 250}
    assert calls == [
        ProgramCall("Loc", ("Oslo",), {}),
        ProgramCall("API.set_origin", ("<Loc>",), {}),
        ProgramCall("Date", (), {"day": 5, "month": -1, "year": 2026}),
        ProgramCall("API.set", ("xy", [200, (250, None)]), {"dates": {"from": "<Date>", "to": True}}),
    ]


def test_calls_within_calls_are_made_first() -> None:
    _, calls = made("API.go(Loc(name()), 1)")
    assert [call.name for call in calls] == ["name", "Loc", "API.go"]


def test_nothing_is_a_program() -> None:
    assert made("") == ({}, [])
    assert made("# a remark\n'a text'\npass\n") == ({}, [])


def test_a_program_waits_for_each_answer() -> None:
    running = program_steps("x = f()\ng(x)")
    assert next(running) == ProgramCall("f", (), {})
    assert running.send(7) == ProgramCall("g", (7,), {})
    with pytest.raises(StopIteration) as end:
        running.send(None)
    assert end.value.value == {"x": 7}


def test_an_answer_is_never_looked_into() -> None:
    for source in ("f().g()", "x = f()\nx.g()", "x = f()\nx + 1", "-f()", "x = f()\nx += x"):
        with pytest.raises(MalformedProgram):
            run_program(source, lambda _: object())


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import os", "an `Import` is not allowed (line 1)"),
        ("f()\nfrom os import system", "an `ImportFrom` is not allowed (line 2)"),
        ("for x in [1]: f(x)", "a `For` is not allowed (line 1)"),
        ("while True: f()", "a `While` is not allowed (line 1)"),
        ("if 1: f()", "an `If` is not allowed (line 1)"),
        ("def g(): f()", "a `FunctionDef` is not allowed (line 1)"),
        ("class A: pass", "a `ClassDef` is not allowed (line 1)"),
        ("x = lambda: f()", "a `Lambda` is not allowed (line 1)"),
        ("x = [f() for _ in [1]]", "a `ListComp` is not allowed (line 1)"),
        ("f(f'{1}')", "a `JoinedStr` is not allowed (line 1)"),
        ("f(x[0])", "a `Subscript` is not allowed (line 1)"),
        ("del x", "a `Delete` is not allowed (line 1)"),
        ("f(*[1])", "a `Starred` is not allowed (line 1)"),
        ("f(**{})", "`**` is not allowed (line 1)"),
        ("x = {**{}}", "a key is not a string (line 1)"),
        ("x = {1: 2}", "a key is not a string (line 1)"),
        ("(x := 1)", "a `NamedExpr` is not allowed (line 1)"),
        ("await f()", "an `Await` is not allowed (line 1)"),
        ("x: int = 1", "an `AnnAssign` is not allowed (line 1)"),
        ("a, b = 1, 2", "an assignment to something that is not a variable (line 1)"),
        ("API.x = 1", "an assignment to something that is not a variable (line 1)"),
        ("x = API.y", "unsupported value (line 1)"),
        ("x", "a statement has no effect (line 1)"),
        ("1 + 1", "a statement has no effect (line 1)"),
        ("f(x)", "the variable 'x' was never set (line 1)"),
        ("x += 1", "the variable 'x' was never set (line 1)"),
        ("API = 1\nAPI.f()", "'API' is a variable and cannot be called (line 2)"),
        ("f()()", "the called function has no name (line 1)"),
        ("'a'.join([])", "the called function has no name (line 1)"),
        ("API.__class__()", "'API.__class__' is not a public name (line 1)"),
        ("_f()", "'_f' is not a public name (line 1)"),
        ("x = ().__class__", "unsupported value (line 1)"),
        ("x = b'1'", "unsupported value (line 1)"),
        ("x = 1j", "unsupported value (line 1)"),
        ("x = ...", "unsupported value (line 1)"),
        ("x = 1 / 0", "it cannot be computed: division by zero"),
        ("x = (-1) ** 0.5", "it cannot be computed: a root of a negative number"),
        ("x = 9 ** 9 ** 9", "it contains an integer with thousands of digits"),
        ("x = 9.0 ** 9999", "it cannot be computed: (34, 'Numerical result out of range')"),
        ("x = -" + "9" * 4_290, "it contains an integer with thousands of digits"),
        ("x = " + "9" * 5_000, "it contains an integer with thousands of digits"),
        ("x = 'a' * 3", "an operator between values that are not numbers"),
        ("x = 'a' + 1", "an operator between values that are not numbers"),
        ("x = y = [1]\nx += [2]", "a list is changed in place (line 2)"),
        ("x = 'a%s' % 1", "an operator between values that are not numbers"),
        ("x = -'a'", "a sign before a value that is not a number"),
        ("x = not 1", "a `Not` is not allowed"),
        ("f()\nHope this helps", "invalid syntax (line 2)"),
        ("f(", "'(' was never closed (line 1)"),
        ("f(a=1, a=2)", "the argument 'a' is given twice (line 1)"),
        ("x = " + "(" * 300 + ")" * 300, "too many nested parentheses (line 1)"),
        ("x = " + "[" * 60 + "]" * 60, "it is nested more than 50 levels deep"),
        ("x = '\ud800'", "it contains half of a surrogate pair"),
        ("x = 1\0", "source code string cannot contain null bytes"),
        ("#" * 10_001, "it has more than 10,000 characters"),
    ],
)
def test_all_else_is_malformed(source: str, why: str) -> None:
    with pytest.raises(MalformedProgram) as error:
        made(source)
    assert str(error.value).startswith(why)


@pytest.mark.parametrize(
    "source",
    [
        "x = 'abc'" + "\nx += x" * 40,
        "x = [1]" + "\nx = x + x" * 40,
        "x = [1]" + "\nx = [x, x]" * 40,
        "x = {'a': 1}" + "\nx = {'a': x, 'b': x}" * 40,
        "x = 9" + "\nx *= x" * 40,
        "x = [1]" + "\nx = [x]" * 60,
    ],
)
def test_values_do_not_grow_without_end(source: str) -> None:
    with pytest.raises(MalformedProgram):
        made(source)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text("ab"), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(
    st.lists(VALUES, max_size=3), st.dictionaries(st.text(ascii_lowercase, min_size=6, max_size=6), VALUES, max_size=3)
)
def test_literals_are_what_they_say(positional: Sequence[object], named: dict[str, object]) -> None:
    given_ = [*map(repr, positional), *(f"{name}x={value!r}" for name, value in named.items())]
    _, calls = made(f"API.go({', '.join(given_)})")
    assert calls == [ProgramCall("API.go", tuple(positional), {f"{name}x": value for name, value in named.items()})]


EXPRESSIONS = st.recursive(
    st.integers(0, 99).map(str) | st.floats(0, 99).map(repr),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        )
        | inner.map(lambda text: f"(-{text})")
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_arithmetic_is_pythons(source: str) -> None:
    try:
        expected = eval(source, {})  # noqa: S307  # made of numbers and operators, above
    except ArithmeticError:
        with pytest.raises(MalformedProgram):
            made(f"x = {source}")
        return
    found = made(f"x = {source}")[0]["x"]
    assert isinstance(found, int | float)
    assert type(found) is type(expected)
    assert found == expected or math.isnan(expected)


_SYMBOLS = "API f x y 1 2.5 'a' \" ''' . ( ) [ ] { } = += , : + - * ** / # @ ; \\ None if for lambda __class__"
PIECES = st.sampled_from([*_SYMBOLS.split(), " ", "\n"])


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_any_text_is_carried_out_or_malformed(source: str) -> None:
    calls: list[ProgramCall] = []
    with suppress(MalformedProgram):
        run_program(source, calls.append)
    for call in calls:
        assert re.fullmatch(r"[^\W_]\w*(\.[^\W_]\w*)*", call.name)
