from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.retrieval import Bm25, Embeddings, NoVectors, OkapiBm25, Oracle, Retriever, split_words

DOCUMENTS = ["get_weather: the forecast of a place", "bookFlight: buy a ticket", "order: have a meal brought"]


def lengths(texts: Sequence[str]) -> list[list[float]]:
    """Texts as vectors: how many letters, and how many others."""
    return [[sum(map(str.isalpha, text)), sum(not each.isalpha() for each in text)] for text in texts]


@pytest.mark.parametrize(
    ("query", "best"),
    [("A flight, please", 1), ("What is the weather?", 0), ("WEATHER", 0), ("bring me a meal", 2), ("flights", 0)],
)
def test_bm25_finds_the_document_that_shares_words(query: str, best: int) -> None:
    assert Bm25(DOCUMENTS).top(query, 1) == [best]


def test_rare_words_count_more_than_common_ones() -> None:
    assert Bm25(["a a a b", "a a c", "a d"]).top("a c", 1) == [1]


def test_a_shared_word_counts_where_there_are_two_documents() -> None:
    documents = ["get_weather: forecast for a place", "book_flight: buy a ticket"]
    assert Bm25(documents).top("Book me a flight.", 1) == [1]
    assert OkapiBm25(documents).top("Book me a flight.", 1) == [0]


def test_documents_that_are_as_good_stand_in_their_order() -> None:
    assert Bm25(["rare", "rare", "other", "more", "most"]).top("rare", 3) == [0, 1, 2]


@given(query=st.lists(st.sampled_from("abcx"), max_size=9).map(" ".join))
def test_questions_count_for_what_the_library_makes_of_all_their_words_at_once(query: str) -> None:
    documents = ["a b b", "b c", "c c a", "a", "b b b c"]
    original = import_module("rank_bm25").BM25Okapi([each.split() for each in documents])
    scores = [-each for each in original.get_scores(query.split())]
    assert OkapiBm25(documents).top(query, 5) == sorted(range(5), key=scores.__getitem__)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("get_weather", ["get", "weather"]),
        ("getHTTPResponse2", ["get", "http", "response", "2"]),
        ("Größe, 東京!", ["grösse", "東京"]),
        ("", []),
    ],
)
def test_names_are_taken_apart_into_words(text: str, found: list[str]) -> None:
    assert split_words(text) == found


def test_how_text_is_taken_apart_is_a_matter_of_choice() -> None:
    assert Bm25(["x get_weather", "get weather"], str.split).top("get_weather", 1) == [0]


def test_an_oracle_knows_what_is_right() -> None:
    assert Oracle([2, 0], 4).top("whatever", 3) == [2, 0, 1]


def test_embeddings_are_compared_by_their_angle() -> None:
    assert Embeddings(["ab", "a!", "!!!!"], lengths).top("aaaa!!!!", 3) == [1, 0, 2]


def test_a_vector_of_nothing_is_far_from_everything() -> None:
    assert Embeddings(["", "a"], lengths).top("b", 1) == [1]


RETRIEVERS: list[Retriever] = [Bm25(DOCUMENTS), OkapiBm25(DOCUMENTS), Oracle([1], 3), Embeddings(DOCUMENTS, lengths)]


@pytest.mark.parametrize("retriever", RETRIEVERS)
@given(query=st.text(max_size=50), k=st.integers(0, 10))
def test_the_best_are_different_documents_and_no_more_than_there_are(retriever: Retriever, query: str, k: int) -> None:
    found = retriever.top(query, k)
    assert len(found) == min(k, 3) == len(set(found))
    assert set(found) <= {0, 1, 2}


@pytest.mark.parametrize("retriever", [Bm25([]), OkapiBm25([]), Oracle([], 0), Embeddings([], lengths)])
def test_where_there_is_nothing_nothing_is_found(retriever: Retriever) -> None:
    assert retriever.top("x", 5) == []


def test_documents_without_words_are_no_hindrance() -> None:
    assert Bm25(["", "!?"]).top("x", 2) == [0, 1]


@pytest.mark.parametrize(
    ("first", "then", "wrong"),
    [
        ([[1.0]], [[1.0]], "1 of 2 embeddings"),
        ([[1.0], [1.0, 2.0]], [[1.0]], "embeddings of different lengths"),
        ([[1.0], [math.nan]], [[1.0]], "embeddings with NaN or infinite numbers"),
        ([[1.0], ["x"]], [[1.0]], "something other than a list of numbers for each text"),
        (None, [[1.0]], "something other than a list of numbers for each text"),
        ([[1.0], [2.0]], [[1.0, 2.0]], "embeddings of 1 numbers, and then one of 2"),
    ],
)
def test_what_is_no_vector_for_each_text_is_told(first: Any, then: Any, wrong: str) -> None:
    given = iter((first, then))
    with pytest.raises(NoVectors, match=wrong):
        Embeddings(["a", "b"], lambda _: next(given)).top("c", 1)
