"""Answers to questions of NESTFUL, most with a mistake, scored by its own code and by ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_fcall.cli.score.nestful import NestfulRowJudge
from pytest_fcall.core.case import Location
from pytest_fcall.suites.nestful.files import NestfulPrompt, NestfulQuestion
from pytest_fcall.suites.nestful.rule import score_answer
from tests.conformance.conftest import Held

CHECKOUT = Path(os.environ.get("FCALL_NESTFUL") or "no-nestful").absolute()
PYTHON = os.environ.get("FCALL_NESTFUL_PYTHON") or sys.executable
MODELS = {
    "json": "DeepSeek-V3",
    "granite": "granite-3.1-8b-instruct",
    "llama": "Llama-3.1-8B-Instruct",
    "mistral": "Mistral-7B-Instruct-v0.3",
    "hermes": "Hermes-2-Pro-Mistral-7B",
    "xlam": "xLAM-7b-fc-r",
    "hammer": "Hammer2.0-7b",
}

pytestmark = [
    pytest.mark.skipif(not CHECKOUT.is_dir(), reason="FCALL_NESTFUL names no checkout of NESTFUL"),
    pytest.mark.timeout(900),
]


def rows() -> list[dict[str, Any]]:
    """All questions in the checkout: those of both versions, and the examples."""
    found: list[dict[str, Any]] = []
    for name in ("executable/executable", "non-executable/non-executable-sgd", "non-executable/non-executable-glaive"):
        found += json.loads((CHECKOUT / f"data_v1/{name}-data.json").read_bytes())
    found += examples()
    newest = CHECKOUT / "data_v2" / "nestful_data.jsonl"
    return found + ([*map(json.loads, newest.read_bytes().splitlines())] if newest.is_file() else [])


def examples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((CHECKOUT / "src" / "icl_examples.json").read_bytes())
    return found


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[..., Any]]:
    process = subprocess.Popen(
        [PYTHON, "-B", "-W", "ignore", Path(__file__).parent / "official" / "nestful.py"],
        cwd=CHECKOUT,
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    asked, answers = process.stdin, process.stdout

    def ask(**question: Any) -> Any:
        asked.write(json.dumps(question) + "\n")
        asked.flush()
        return json.loads(answers.readline())

    yield ask
    process.communicate()


def sequences(right: Sequence[Mapping[str, Any]], chance: Random) -> Iterator[Any]:
    """Right calls, and such with one mistake."""
    calls: list[Any] = [deepcopy(dict(call)) for call in right]
    yield calls
    yield [call for call in calls if call["name"] != "var_result"]
    yield from (calls[:-1], calls[1:], [*reversed(calls)], calls * 2, [], {}, calls[0], [calls], ["x", *calls], [None])
    yield [{key: value for key, value in call.items() if key != "label"} for call in calls]
    yield [{key: value for key, value in call.items() if key != "arguments"} for call in calls]
    yield [{("parameters" if key == "arguments" else key): value for key, value in call.items()} for call in calls]
    yield [*calls, {"name": "dummy", "arguments": {}}]
    yield [{"name": "<|endoftext|>f", "arguments": {"a": "<|endoftext|>"}}, *calls]
    yield [{**call, "label": 5} for call in calls]
    yield [{**call, "name": 5} for call in calls]
    yield json.loads(json.dumps(calls).replace("var", "$var_"))
    yield json.loads(json.dumps(calls).replace('$"', '"'))
    for number in chance.sample(range(len(calls)), min(3, len(calls))):
        call = calls[number]
        others = (calls[:number], calls[number + 1 :])
        for changed in (
            {**call, "name": f"{call['name']}_"},
            {**call, "arguments": {}},
            {**call, "arguments": {**call["arguments"], "more": [1, "$var1.a$", {"b": "$var1.a$"}]}},
            {**call, "arguments": [1]},
            {**call, "label": "$other"},
            *({**call, "arguments": {**call["arguments"], key: None}} for key in call["arguments"]),
            *(
                {**call, "arguments": {**call["arguments"], key: f"{value} "}}
                for key, value in call["arguments"].items()
            ),
        ):
            yield [*others[0], changed, *others[1]]
        yield [*others[0], *others[1]]
        yield [*others[0], call, call, *others[1]]


def texts(calls: Any, decoder: str) -> Iterator[str]:
    """An answer in the words of a family of models, and in words that are nearly theirs."""
    text = json.dumps(calls)
    items = calls if isinstance(calls, list) else [calls]
    own = {
        "granite": f"<|tool_call|>{text}",
        "llama": f"{text[1:-1]}'",
        "mistral": text.replace("_", "\\_"),
        "hermes": "\n".join(f"<tool_call>\n{json.dumps(each)}\n</tool_call>" for each in items),
        "xlam": f'[BEGIN OF FUNCTION CALLS]\n{{"tool_calls": {text}}}',
        "hammer": f"```\n{text}\n```",
    }
    yield own.get(decoder, text)
    yield text
    yield f" {own.get(decoder, text)}\n"


def answers(row: Mapping[str, Any], decoder: str) -> list[str]:
    chance = Random(row["input"])  # noqa: S311
    found = [text for calls in sequences(row["output"], chance) for text in texts(calls, decoder)]
    whole = found[0]
    return [*found, "", "I cannot.", whole[:-3], f"Sure: {whole}", f"```json\n{whole}\n```", whole.replace('"', "'")]


@pytest.mark.parametrize("decoder", MODELS)
def test_both_say_the_same_of_each_answer_and_of_all(
    decoder: str, ask: Callable[..., Any], every: int, held: Held
) -> None:
    differing: list[object] = []
    given: list[dict[str, Any]] = []
    for row in rows()[:: 8 * every]:  # scikit-learn takes its time
        said = answers(row, decoder)
        own = [{"output": json.dumps(row["output"]), "generated_text": text} for text in said]
        given += own
        told = ask(model=MODELS[decoder], rows=own)
        scored = [score_answer(row["output"], text, decoder) for text in said]
        differing += [
            (row["input"], text, official, ours.partial)
            for text, official, ours in zip(said, told["partial"], scored, strict=True)
            if official != ours.partial
        ]
        unreadable = sum(not each.readable for each in scored)
        if (told["unreadable"], told["f1"]) != (unreadable, table(own, decoder)[:2]):
            differing.append((row["input"], told, unreadable, table(own, decoder)))
    told = ask(model=MODELS[decoder], rows=given)
    assert not differing
    assert [*told["f1"], told["full"], str(told["unreadable"])] == table(given, decoder)
    held(
        "NESTFUL",
        "partial match, readability and scores over all",
        "the original scorer, on made-up answers",
        len(given),
    )


def table(given: Sequence[Mapping[str, Any]], decoder: str) -> list[str]:
    """What `fcall score --totals` prints."""
    judge, sums = NestfulRowJudge(decoder, True), dict[tuple[str, ...], list[float]]()
    for row in given:
        for group, numbers in judge.judge(row).group_sums:
            sums[group] = [one + other for one, other in zip(sums.get(group, [0] * len(numbers)), numbers, strict=True)]
    (printed,) = judge.tables(sums)
    shown = {row[0]: row[1] for row in printed.rows}
    return [shown[name] for name in ("F1 Intent", "F1 Slot", "Full Match Accuracy", "Parsing Errors")]


@pytest.mark.parametrize("said", ["5", "null", "true"])
def test_what_the_original_ends_on_is_unreadable(said: str, ask: Callable[..., Any]) -> None:
    (row, *_) = rows()
    assert "crash" in ask(model=MODELS["json"], rows=[{"output": json.dumps(row["output"]), "generated_text": said}])
    assert not score_answer(row["output"], said, "json").readable


def test_prompts_are_the_originals_for_chat_models(ask: Callable[..., Any], held: Held) -> None:
    prompt, own = NestfulPrompt(CHECKOUT), examples()
    for row in own:
        question = NestfulQuestion("x", Location("x"), row["input"], row["tools"], row["output"])
        assert [*prompt.messages(question)] == ask(prompt=row)
    held("NESTFUL", "messages", "the original's preparation for DeepSeek, of its examples", len(own))
