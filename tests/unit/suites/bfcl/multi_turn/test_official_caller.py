from __future__ import annotations

import pytest

from pytest_fcall.suites.bfcl.multi_turn.world import make
from pytest_fcall.suites.bfcl.source_calls import OfficialCaller, official_call_source
from pytest_fcall.suites.bfcl.world import instances_of

CONFIG = {"TicketAPI": {"seats": ["1A"]}}


@pytest.fixture
def callees(installed: None) -> OfficialCaller:
    return OfficialCaller("model", instances_of(["TicketAPI", "MathAPI"], CONFIG))


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("book(seat='4A')", '{"booked": "4A", "price": 10}'),
        (" book ('4A', price=-1.5)", '{"booked": "4A", "price": -1.5}'),
        ("look()", "['1A']"),
        ("write(text='x')", "None"),
        ("add(a=1, b=2)", "3"),
        ("add(a=[1], b=[(2, {'c': None})])", "[1, (2, {'c': None})]"),
        ("add(a=add(a=1, b=2), b=3)", "6"),
        ("objects()", "{'ticket': <class 'object'>}"),
    ],
)
def test_calls_come_to_what_the_official_harness_tells_of_them(
    callees: OfficialCaller, source: str, result: str
) -> None:
    assert callees.run(source) == result


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("book(seat=4)", "no seat: 4"),
        ("look(at=1)", "TicketAPI.look() got an unexpected keyword argument 'at'"),
        ("fly(to='Oslo')", "name 'fly' is not defined"),
        ("TicketAPI.look()", "name 'TicketAPI' is not defined"),
        ("add(a=nan, b=1)", "name 'nan' is not defined"),
        ("remove()", "Function call remove is not allowed."),
        ("f-g(a=1)", "name 'f' is not defined"),
        ("look()+look()", "arithmetic takes numbers only"),
        ("add(a=lambda: 1, b=2)", "only calls with literal arguments are executed"),
    ],
)
def test_what_cannot_be_called_comes_to_an_error(callees: OfficialCaller, source: str, error: str) -> None:
    assert callees.run(source).startswith(f"Error during execution: {error}")


@pytest.mark.parametrize(
    "source",
    [
        "open('/etc/hosts')",
        "look.__self__._hidden()",
        "_hidden()",
        "look().clear()",
        "().__class__.__base__.__subclasses__()",
        "[book(seat=s) for s in 'ab']",
        "(lambda: book(seat='4A'))()",
        "book(**{'seat': '4A'})",
        "book(seat=f'{look()}')",
        "'a' * 10**9",
        "__import__('os').getcwd()",
        "look(",
        "\0",
        "(" * 500,
    ],
)
def test_nothing_else_is_evaluated(callees: OfficialCaller, source: str) -> None:
    assert callees.run(source).startswith("Error during execution: ")
    assert callees.run("look()") == "['1A']"


def test_what_looks_like_a_call_within_a_text_is_changed_as_it_is_officially(callees: OfficialCaller) -> None:
    callees.run("write(text='so (he said) look()')")
    note = vars(callees.instances["TicketAPI"])["note"]
    assert note == "so(he said) model_TicketAPI_instance.look()"


def test_native_calls_are_written_as_source() -> None:
    assert official_call_source("book", {"seat": "4'A", "price": None}) == 'book(seat="4\'A",price=None)'


@pytest.mark.usefixtures("installed")
def test_the_environment_tells_results_as_text() -> None:
    world = make(["TicketAPI"], CONFIG, long_context=False)
    assert world["book"](seat="4A") == '{"booked": "4A", "price": 10}'
    assert world["look"]() == "['1A', '4A']"
    assert world["look"](at=1).startswith("Error during execution: ")
    assert "_hidden" not in world
