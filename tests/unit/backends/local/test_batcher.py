from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_fcall.backends.local.answerer import GeneratedText, ModelPrompt
from pytest_fcall.backends.local.static_engine import Batcher
from pytest_fcall.core import Json, ModelUnavailable, Tool
from tests.unit.backends.local.engines import BREAK, HELD, Spelling


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def prompt(text: str, **settings: Json) -> ModelPrompt:
    return ModelPrompt(text, settings=settings)


def generate(batcher: Batcher, *prompts: ModelPrompt) -> list[GeneratedText | BaseException]:
    async def all_at_once() -> list[GeneratedText | BaseException]:
        return await asyncio.gather(*map(batcher.generate, prompts), return_exceptions=True)

    return asyncio.run(all_at_once())


def texts(generated: list[GeneratedText | BaseException]) -> list[str]:
    return [each.text.partition(" of ")[0] for each in generated if isinstance(each, GeneratedText)]


@pytest.mark.parametrize(
    ("size", "batches"),
    [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (4, [4, 1]), (5, [5]), (100, [5])],
)
def test_no_batch_is_larger_than_told_and_each_gets_its_own(
    thread: ThreadPoolExecutor, size: int, batches: list[int]
) -> None:
    engine = Spelling()
    assert texts(generate(Batcher(engine, size, thread), *map(prompt, "abcde"))) == list("abcde")
    assert [len(batch) for batch in engine.batches] == batches


def test_a_batch_is_of_the_longest_waiting_and_those_nearest_to_it_in_length(thread: ThreadPoolExecutor) -> None:
    engine = Spelling()
    lengths = [5, 100, 6, 90, 4, 80]
    generate(Batcher(engine, 3, thread), *(prompt("x" * length) for length in lengths))
    assert [sorted(map(len, batch)) for batch in engine.batches] == [[4, 5, 6], [80, 90, 100]]


def test_prompts_with_the_same_tools_go_along_before_those_of_the_same_length(thread: ThreadPoolExecutor) -> None:
    engine = Spelling()
    tools = {name: (Tool(name, "", {}),) for name in ("one", "two")}
    asked = [
        ModelPrompt("a" * 5, tools["one"]),
        ModelPrompt("b" * 5, tools["two"]),
        ModelPrompt("c" * 90, tools["one"]),
    ]
    generate(Batcher(engine, 2, thread), *asked)
    assert [[text[0] for text in batch] for batch in engine.batches] == [["a", "c"], ["b"]]


def test_different_settings_make_different_batches(thread: ThreadPoolExecutor) -> None:
    engine = Spelling()
    prompts = [prompt("a", max_tokens=1), prompt("b"), prompt("c", max_tokens=1), prompt("d", max_tokens=True)]
    generate(Batcher(engine, 8, thread), *prompts)
    assert engine.batches == [["a", "c"], ["b"], ["d"]]
    assert engine.settings == [{"max_tokens": 1}, {}, {"max_tokens": True}]


@pytest.mark.parametrize("temperature", [0, 0.0, None])
def test_the_most_likely_tokens_are_taken_for_many_at_a_time(thread: ThreadPoolExecutor, temperature: Json) -> None:
    engine = Spelling()
    generate(Batcher(engine, 8, thread), *(prompt(text, temperature=temperature) for text in "ab"))
    assert engine.batches == [["a", "b"]]


@pytest.mark.parametrize("temperature", [0.1, 1])
def test_where_the_lot_decides_each_goes_alone(thread: ThreadPoolExecutor, temperature: Json) -> None:
    engine = Spelling()
    generate(Batcher(engine, 8, thread), *(prompt(text, temperature=temperature, seed=1) for text in "ab"))
    assert engine.batches == [["a"], ["b"]]


def test_one_prompt_that_cannot_be_generated_spoils_no_other(thread: ThreadPoolExecutor) -> None:
    engine = Spelling()
    a, broken, b = generate(Batcher(engine, 8, thread), prompt("a"), prompt(BREAK), prompt("b"))
    assert isinstance(broken, ValueError)
    assert texts([a, b]) == ["a", "b"]


class Gone(Spelling):
    def generate(self, *_: object) -> list[GeneratedText]:
        self.batches.append([])
        raise ModelUnavailable("the device is lost")


def test_a_model_that_is_gone_is_not_asked_again_for_each(thread: ThreadPoolExecutor) -> None:
    engine = Gone()
    assert [str(each) for each in generate(Batcher(engine, 8, thread), prompt("a"), prompt("b"))] == [
        "the device is lost"
    ] * 2
    assert engine.batches == [[]]


class Careless(Spelling):
    def generate(self, *_: object) -> list[GeneratedText]:
        return []


def test_an_engine_that_forgets_a_prompt_is_an_error_of_that_prompt(thread: ThreadPoolExecutor) -> None:
    assert [type(each) for each in generate(Batcher(Careless(), 8, thread), prompt("a"))] == [ValueError]


def test_what_nobody_waits_for_any_more_is_not_generated(thread: ThreadPoolExecutor, tmp_path: Path) -> None:
    engine = Spelling()
    batcher = Batcher(engine, 1, thread)
    gate = tmp_path / "gate"
    gate.touch()

    async def give_up_the_second() -> None:
        first, second, third = (
            asyncio.ensure_future(batcher.generate(prompt(text))) for text in (f"{HELD}{gate}", "never", "last")
        )
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(first, third)

    asyncio.run(give_up_the_second())
    assert [batch[0] for batch in engine.batches] == [f"{HELD}{gate}", "last"]


def test_an_idle_batcher_goes_on_with_what_comes_later(thread: ThreadPoolExecutor) -> None:
    engine = Spelling()
    batcher = Batcher(engine, 8, thread)

    async def one_after_another() -> None:
        for text in "ab":
            await batcher.generate(prompt(text))

    asyncio.run(one_after_another())
    assert engine.batches == [["a"], ["b"]]
