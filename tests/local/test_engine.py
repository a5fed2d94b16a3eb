"""Static batches, on a model without sense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_fcall.backends.local.answerer import Answerer, ModelPrompt
from pytest_fcall.backends.local.static_engine import StaticEngine
from pytest_fcall.core import CaseRefused, Json
from tests.local.asking import ALARM, QUESTIONS, WEATHER, ask, requests, say
from tests.local.tiny import READS


def texts(model: Answerer, tools: Any = (), **settings: Json) -> list[str]:
    return [generated.text for generated in ask(model, requests(tools, **settings))]


@pytest.mark.parametrize("tools", [(), (WEATHER,), (WEATHER, ALARM)])
def test_a_request_gets_the_same_reply_in_any_batch(model: Answerer, tools: Any) -> None:
    asked = requests(tools, max_tokens=24)
    together = ask(model, asked)
    assert len({generated.text for generated in together}) > 1
    for size in (1, 2, 3):
        for start in range(0, len(asked), size):
            apart = ask(model, asked[start : start + size])
            assert [replace(each, seconds=0) for each in apart] == [
                replace(each, seconds=0) for each in together[start : start + size]
            ]


def test_prompts_with_different_tools_share_a_batch(model: Answerer) -> None:
    asked = [
        *requests((WEATHER,) * 3, max_tokens=8),
        *requests((ALARM, WEATHER), max_tokens=8),
        *requests(max_tokens=8),
    ]
    together = [generated.text for generated in ask(model, asked)]
    assert together == [ask(model, [request])[0].text for request in asked]


def test_what_prompts_begin_with_is_read_once(model: Answerer, monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = model.engine
    read = 0
    forward = engine._model.forward

    def counting(*args: Any, input_ids: Any = None, **options: Any) -> Any:
        nonlocal read
        read += input_ids.numel()
        return forward(*args, input_ids=input_ids, **options)

    monkeypatch.setattr(engine._model, "forward", counting)
    asked = requests((WEATHER, ALARM), max_tokens=1)
    tokens = sum(generated.input_tokens for generated in ask(model, asked))
    assert 0 < read < tokens / 2


def test_an_answer_ends_where_the_model_ends_it_or_its_tokens_do(model: Answerer) -> None:
    [cut] = say(model, QUESTIONS[0], max_tokens=3)
    assert (cut.finish, cut.output_tokens) == ("length", 3)
    engine: Any = model.engine
    rows = engine._rows
    ending = rows._tokenizer(cut.text, add_special_tokens=False)["input_ids"][-1]
    ends, rows.end_tokens = rows.end_tokens, frozenset({ending})
    try:
        [ended] = say(model, QUESTIONS[0], max_tokens=3)
    finally:
        rows.end_tokens = ends
    assert ended.finish == "stop"
    assert cut.text.startswith(ended.text)
    assert ended.text != cut.text


def test_special_tokens_stay_in_the_text(model: Answerer) -> None:
    engine: Any = model.engine
    row = engine._rows.row(ModelPrompt("<tool_call>"), 9)
    assert engine._rows.generated(row, [*row.tokens, *engine._rows.end_tokens], 0.0).text == "<tool_call>"


def test_a_prompt_that_is_too_long_is_refused_with_the_numbers(model: Answerer) -> None:
    with pytest.raises(CaseRefused, match=f"tokens, but the model can read {READS}"):
        say(model, "rain " * READS)


def test_a_model_writes_no_further_than_it_reads(model: Answerer) -> None:
    long = "%" * (READS - 5)
    short, full = say(model, "Hi", long, max_tokens=20)
    assert full.input_tokens + full.output_tokens == READS
    assert full.finish == "length"
    assert short.text == say(model, "Hi", max_tokens=20)[0].text


def test_the_lot_falls_the_same_for_the_same_seed(model: Answerer) -> None:
    def drawn(**settings: Json) -> str:
        return say(model, "Hi", temperature=1.5, max_tokens=16, **settings)[0].text

    assert drawn(seed=1) == drawn(seed=1)
    assert len({drawn(seed=seed) for seed in range(4)}) > 1
    assert len({drawn() for _ in range(4)}) > 1
    assert drawn(seed=1, top_k=1) == say(model, "Hi", max_tokens=16)[0].text


def test_without_a_temperature_the_most_likely_token_is_taken(model: Answerer) -> None:
    assert say(model, "Hi", temperature=0, max_tokens=9)[0].text == say(model, "Hi", max_tokens=9)[0].text


def test_a_setting_that_cannot_be_is_refused_by_name(model: Answerer) -> None:
    with pytest.raises(CaseRefused, match="`temperature` must be a number, 0 or greater"):
        say(model, "Hi", temperature="warm")


class Short:
    """A memory with room for so many rows."""

    def __init__(self, engine: StaticEngine, room: int) -> None:
        self.inner: Any = engine._continuations
        self.room = room
        self.sizes: list[int] = []

    def __call__(self, rows: Any, sampling: Any) -> Any:
        self.sizes.append(len(rows))
        if len(rows) > self.room:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes.")
        return self.inner(rows, sampling)


def test_a_batch_without_room_is_halved_and_the_engine_says_so(
    load: Callable[..., Answerer], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load()
    engine: Any = model.engine
    expected = texts(model, max_tokens=6)
    short = Short(engine, 2)
    monkeypatch.setattr(StaticEngine, "_continuations", short)
    assert texts(model, max_tokens=6) == expected
    assert texts(model, max_tokens=6) == expected
    assert short.sizes == [5, 2, 2, 1, 2, 2, 1]
    assert engine.about["memory"] == "memory for at most 2 prompts at once"


def test_one_prompt_without_room_is_refused(load: Callable[..., Answerer], monkeypatch: pytest.MonkeyPatch) -> None:
    model = load()
    engine: Any = model.engine
    monkeypatch.setattr(StaticEngine, "_continuations", Short(engine, 0))
    with pytest.raises(CaseRefused, match="out of memory with this prompt alone"):
        say(model, "Hi")


def test_what_is_no_lack_of_memory_is_told_as_it_is(
    load: Callable[..., Answerer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(StaticEngine, "_continuations", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        say(load(), "Hi", "Ho")
