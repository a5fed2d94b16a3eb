"""Continuous batching, on a model without sense."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.local.answerer import Answerer, GeneratedText, ModelPrompt
from pytest_fcall.backends.local.continuous_engine import ContinuousFeeder
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Request
from tests.local.asking import ALARM, WEATHER, ask, requests
from tests.local.tiny import READS

Answer = GeneratedText | BaseException


@contextmanager
def streaming(model: Answerer, size: int = 3) -> Iterator[ContinuousFeeder]:
    """A thread of transformers' works as long as this lasts."""
    with ThreadPoolExecutor(1) as thread:
        stream = model.engine.feeder(size, thread)
    assert isinstance(stream, ContinuousFeeder)
    try:
        yield stream
    finally:
        stream.stop()


@pytest.fixture(scope="module")
def continuous(load: Callable[..., Answerer]) -> Answerer:
    return load(engine="continuous")


@pytest.fixture(scope="module")
def stream(continuous: Answerer) -> Iterator[ContinuousFeeder]:
    with streaming(continuous) as stream:
        yield stream


def answers(stream: ContinuousFeeder, prompts: Sequence[ModelPrompt]) -> list[Answer]:
    async def all_at_once() -> list[Answer]:
        return await asyncio.gather(*map(stream.generate, prompts), return_exceptions=True)

    return asyncio.run(all_at_once())


def asked(model: Answerer, stream: ContinuousFeeder, *many: Request) -> list[Answer]:
    return answers(stream, [model.prompt(request) for request in many])


def test_every_prompt_gets_the_reply_that_it_gets_in_a_static_batch(
    model: Answerer, continuous: Answerer, stream: ContinuousFeeder
) -> None:
    many = [*requests((WEATHER, ALARM), max_tokens=24), *requests(max_tokens=9)]
    expected = [ask(model, [request])[0] for request in many]
    assert len({generated.text for generated in expected}) > 1
    got = [each for each in asked(continuous, stream, *many) if isinstance(each, GeneratedText)]
    assert [replace(each, seconds=0) for each in got] == [replace(each, seconds=0) for each in expected]


def test_what_was_done_is_counted(continuous: Answerer) -> None:
    with streaming(continuous, 2) as stream:
        asked(continuous, stream, *requests(max_tokens=4))
        figures = stream.tally.figures(1.0, 2, "")
    assert (figures.prompts, figures.tokens) == (5, 20)
    assert 0 < figures.occupied <= 2 * figures.busy_seconds


def test_a_reply_tells_how_it_was_batched(continuous: Answerer, stream: ContinuousFeeder) -> None:
    [request, *_] = requests(max_tokens=1)
    [generated] = asked(continuous, stream, request)
    assert isinstance(generated, GeneratedText)
    assert continuous.reply(request, generated).engine["batching"] == "continuous"


@pytest.mark.parametrize(("name", "value"), [("grammar", "tools"), ("temperature", 0.5), ("repetition_penalty", 1.2)])
def test_a_case_that_asks_for_more_than_the_likeliest_token_is_refused_by_name(
    continuous: Answerer, stream: ContinuousFeeder, name: str, value: Json
) -> None:
    [refused, answered] = answers(
        stream, [ModelPrompt("Hi", (), {name: value}), ModelPrompt("Hi", (), {"max_tokens": 1})]
    )
    assert isinstance(answered, GeneratedText)
    assert isinstance(refused, CaseRefused)
    assert str(refused) == f"continuous batching does not support `{name}`; remove engine=continuous"


def test_a_prompt_is_refused_where_it_cannot_be_read_or_remembered(
    continuous: Answerer, stream: ContinuousFeeder
) -> None:
    [unread] = answers(stream, [ModelPrompt("rain " * READS)])
    assert f"the model can read {READS}" in str(unread)
    small = ContinuousFeeder(stream._manager, stream._rows, 64)
    [large] = answers(small, [ModelPrompt("Hi", (), {"max_tokens": 100})])
    assert isinstance(large, CaseRefused)
    assert "there is memory for 64; a larger `batch` provides more" in str(large)


def test_one_who_no_longer_waits_is_forgotten(continuous: Answerer, stream: ContinuousFeeder) -> None:
    async def impatient() -> GeneratedText:
        waiting = asyncio.create_task(stream.generate(ModelPrompt("Hi", (), {"max_tokens": 400})))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return await stream.generate(ModelPrompt("Hi", (), {"max_tokens": 2}))

    assert asyncio.run(impatient()).output_tokens == 2


def broken(manager: Any, error: Exception) -> None:
    def fail(*_: Any) -> Any:
        raise error

    manager.batch_processor._generation_step = fail


def test_when_it_breaks_all_who_wait_are_told_and_all_who_come_later(continuous: Answerer) -> None:
    with streaming(continuous) as stream:
        broken(stream._manager, RuntimeError("CUDA out of memory.\nTried to allocate"))
        for _ in range(2):
            for failure in asked(continuous, stream, *requests(max_tokens=4)):
                assert isinstance(failure, ModelUnavailable)
                assert "has ended: CUDA out of memory. Tried to allocate; a smaller `batch`" in str(failure)


def test_as_many_places_are_made_as_there_is_memory_for(
    load: Callable[..., Answerer], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(engine="continuous")
    engine: Any = model.engine
    inner, tried = engine._manager, []

    def short(places: int) -> Any:
        tried.append(places)
        if places > 2:
            raise MemoryError
        return inner(places)

    monkeypatch.setattr(engine, "_manager", short)
    with streaming(model, 9) as stream:
        assert isinstance(asked(model, stream, *requests(max_tokens=1))[0], GeneratedText)
    assert tried == [9, 4, 2]
    assert model.engine.about["memory"] == "memory for at most 2 prompts at once"


def test_a_model_that_cannot_be_batched_so_is_told_in_words(
    load: Callable[..., Answerer], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(engine="continuous")
    engine: Any = model.engine
    engine._model.config.layer_types = ["linear_attention"] * 2
    with pytest.raises(
        ModelUnavailable, match=r"the model cannot be batched continuously: .*; remove engine=continuous"
    ):
        model.engine.feeder(1, ThreadPoolExecutor(1))


@pytest.mark.filterwarnings("ignore::FutureWarning")  # peft asks transformers for things by their old names
def test_an_adapter_changes_the_answers_in_the_same_way(load: Callable[..., Answerer], adapter: Path) -> None:
    many = requests(max_tokens=8)
    expected = [ask(load(adapter=str(adapter)), [request])[0].text for request in many]
    model = load(engine="continuous", adapter=str(adapter))
    with streaming(model) as stream:
        assert [each.text for each in asked(model, stream, *many) if isinstance(each, GeneratedText)] == expected
