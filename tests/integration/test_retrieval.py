from __future__ import annotations

import pytest

# Each run inside a test forgets the modules that it imported, and numpy can be imported only once.
import rank_bm25  # type: ignore[import-untyped]  # noqa: F401  it has no types

from tests.integration.conftest import Shop

MANY = """
tools:
  - {name: get_weather, description: Forecast for a place, parameters: {type: object, properties: {}}}
  - {name: book_flight, description: Buy a ticket, parameters: {type: object, properties: {}}}
  - {name: order_food, description: Have a meal brought, parameters: {type: object, properties: {}}}
defaults: {retrieve: {with: bm25, k: 1}}
cases:
  - {id: flight, prompt: Book me a flight., expect: [book_flight: {}]}
  - {id: hungry, prompt: I am starving., expect: [order_food: {}]}
  - {id: hungry_oracle, prompt: I am starving., retrieve: {with: oracle, k: 1}, expect: [order_food: {}]}
  - {id: silent, prompt: Book a flight and say so., expect: no_call}
"""
FIRST = "def answer(request):\n    return [{'name': request.tools[0]['function']['name'], 'arguments': {}}]\n"


@pytest.fixture
def many(shop: Shop) -> Shop:
    """Three tools, and an app that always calls the first that it is offered."""
    shop.file("many.fc.yaml", MANY)
    shop.file("first.py", FIRST)
    return shop


def ask(shop: Shop, *args: str) -> pytest.RunResult:
    return shop.run("--fc-model=python:first:answer", *args, "many.fc.yaml")


def test_only_the_tools_that_suit_the_question_are_offered(many: Shop) -> None:
    ask(many, "-k", "flight or oracle").assert_outcomes(passed=2)


def test_a_failure_says_that_retrieval_missed_the_tool(many: Shop) -> None:
    result = ask(many, "-k", "hungry")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "wrong_tool: `get_weather()` was called, expected `order_food()`",
            "  retrieval missed `order_food`",
            "1 of 1 wrong: retrieval did not offer an expected tool",
        ]
    )


def test_a_fault_of_the_model_is_not_put_on_retrieval(many: Shop) -> None:
    result = ask(many, "-k", "silent")

    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*retrieval missed*")


def test_misses_are_counted_over_all_workers(many: Shop) -> None:
    result = ask(many, "-n", "2")

    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["1 of 2 wrong: retrieval did not offer an expected tool"])


def test_a_model_of_embeddings_that_cannot_be_loaded_is_an_error_in_words(
    many: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    many.file("sentence_transformers.py", "def SentenceTransformer(name):\n    raise OSError(f'no {name} here')\n")
    many.file("many.fc.yaml", MANY.replace("{with: bm25, k: 1}", "{with: embeddings, model: tiny}"))
    monkeypatch.syspath_prepend(many.pytester.path)

    result = ask(many, "-k", "flight")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the model 'tiny' of `retrieve` cannot be loaded: no tiny here"])


def test_a_conversation_keeps_the_tools_that_it_was_offered(many: Shop) -> None:
    many.file(
        "talk.py",
        """
        def answer(request):
            names = [tool["function"]["name"] for tool in request.tools]
            if request.messages[-1]["role"] == "tool":
                return f"I was offered {names}."
            return [{"name": names[0], "arguments": {}}]
        """,
    )
    many.file(
        "many.fc.yaml",
        MANY.partition("cases:")[0]
        + """cases:
  - id: flight
    prompt: Book me a flight.
    expect: [{book_flight: {}, returns: done}]
    answer: I was offered ['book_flight'].
""",
    )

    result = many.run("--fc-model=python:talk:answer", "many.fc.yaml")

    result.assert_outcomes(passed=1)


EMBEDDER = """
def embed(texts):
    return [[float("hungry" in text or "starving" in text or "meal" in text), 1.0] for text in texts]


def broken(texts):
    return [[1.0]]
"""


def test_a_function_of_the_project_may_embed(many: Shop) -> None:
    many.file("embedder.py", EMBEDDER)
    told = "{{with: embeddings, model: python:embedder:{}, k: 1}}"
    many.file("many.fc.yaml", MANY.replace("{with: bm25, k: 1}", told.format("embed")))
    ask(many, "-k", "hungry").assert_outcomes(passed=2)

    many.file("many.fc.yaml", MANY.replace("{with: bm25, k: 1}", told.format("broken")))
    result = ask(many, "-k", "flight")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the model 'python:embedder:broken' of `retrieve` gives 1 of 3 embeddings"])

    many.file("many.fc.yaml", MANY.replace("{with: bm25, k: 1}", told.format("embde")))
    result = ask(many, "-k", "flight")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*the function of `retrieve` cannot be found: *embedder has no 'embde'; did you mean `embed`?"]
    )
