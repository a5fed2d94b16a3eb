"""Docstrings of the three common styles are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.schema.sources.docstrings import Docstring, read_docstring

GOOGLE = """Search flights.

    Prices are in euros,
    taxes included.

    Args:
        origin (str): Where to start,
            as a city.
        date: The day: today or later.
        options (dict[str, tuple(int, int)], optional): More.
        *more: Further words.
        **rest: The rest.

    Returns:
        list: All that was found.

    Raises:
        ValueError: never
    """
NUMPY = """Search flights.

    Prices are in euros,
    taxes included.

    Parameters
    ----------
    origin : str
        Where to start,
        as a city.
    date
        The day: today or later.
    options : dict, optional
        More.
    *more
        Further words.
    **rest : Any
        The rest.

    Returns
    -------
    list
        All that was found.

    Other Parameters
    ----------------
    late : int
        It comes late.
    """
SPHINX = """Search flights.

    Prices are in euros,
    taxes included.

    :param str origin: Where to start,
        as a city.
    :param date: The day: today or later.
    :type date: str
    :param dict[str, int] options: More.
    :param \\*more: Further words.
    :param \\*\\*rest: The rest.
    :returns: All that was found.
    :raises ValueError: never
    """
PARAMETERS = {
    "origin": "Where to start, as a city.",
    "date": "The day: today or later.",
    "options": "More.",
    "more": "Further words.",
    "rest": "The rest.",
}


@pytest.mark.parametrize("text", [GOOGLE, SPHINX], ids=["google", "sphinx"])
def test_each_style_says_the_same(text: str) -> None:
    assert read_docstring(text) == Docstring(
        "Search flights.\n\nPrices are in euros,\ntaxes included.",
        PARAMETERS,
    )


def test_numpy_style_may_go_on_after_the_results() -> None:
    assert read_docstring(NUMPY) == Docstring(
        "Search flights.\n\nPrices are in euros,\ntaxes included.", {**PARAMETERS, "late": "It comes late."}
    )


@pytest.mark.parametrize(
    ("text", "description", "parameters"),
    [
        (None, "", {}),
        ("", "", {}),
        ("Search.", "Search.", {}),
        ("\n    Search.\n", "Search.", {}),
        ("\nArgs:\n    a: A.", "", {"a": "A."}),
        ("S.\n\nArguments:\n  a: A.\n  b: B.", "S.", {"a": "A.", "b": "B."}),
        ("S.\n\nArgs:\n    a: A.\n\n    b: B.\n\nMore.", "S.", {"a": "A.", "b": "B."}),
        ("S.\n\nArgs:\n    a: A.\n\n        Second part.\n", "S.", {"a": "A. Second part."}),
        ("S.\n\nKeyword Args:\n    a: A.", "S.", {"a": "A."}),
        ("S.\n\nAttributes:\n    a: A.", "S.", {"a": "A."}),
        ("S.\n\nExample:\n    f(1)\n\nArgs:\n    a: A.", "S.", {"a": "A."}),
        ("S.\n\nReturns:\n    a: no parameter", "S.", {}),
        ("\nNote this:\n    it is no section.", "Note this:\n    it is no section.", {}),
        ("S.\n\nParameters\n----------\na, b : int\n    Both.", "S.", {"a": "Both.", "b": "Both."}),
        ("S.\n\nParameters\n----------\na : int\nb : int\n    B.", "S.", {"b": "B."}),
        ("Parameters are few.", "Parameters are few.", {}),
        ("S.\n:param a: A.\n:keyword b: B.", "S.", {"a": "A.", "b": "B."}),
        ("S.\n\n:param a:\n    A.", "S.", {"a": "A."}),
        ("S.\n\n:ivar a: A.", "S.", {"a": "A."}),
        ("S.\n\n:param a: A.\n\nAfterwards.", "S.", {"a": "A."}),
        ("S.\n\nArgs:\n    größe (int): Länge in µm.", "S.", {"größe": "Länge in µm."}),
    ],
)
def test_small_docstrings_are_read(text: str | None, description: str, parameters: dict[str, str]) -> None:
    assert read_docstring(text) == Docstring(description, parameters)


@given(st.text(st.sampled_from(" \n:-=ab*\\().,") | st.characters(), max_size=200))
def test_any_text_is_a_docstring(text: str) -> None:
    read = read_docstring(text)
    assert all(name and words for name, words in read.parameters.items())


def test_a_hostile_docstring_is_read_in_no_time() -> None:
    assert read_docstring("S.\n\nArgs:\n    a (" + "(" * 50_000 + "\n    b: B.").parameters == {"b": "B."}
    assert read_docstring("S.\n\n:param " + "a " * 50_000).description == "S.\n\n:param " + ("a " * 50_000).strip()
