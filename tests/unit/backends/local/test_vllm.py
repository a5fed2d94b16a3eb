from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.backends.local.prompts import smollm2_prompt
from pytest_fcall.backends.local.settings import read_sampling
from pytest_fcall.backends.local.vllm import VllmRows, sampling_parameters
from pytest_fcall.core import CaseRefused, Model, ModelUnavailable, Reply, Request, Tool, Usage

OSLO = Request(
    ({"role": "user", "content": "Weather in Oslo?"},),
    (Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}}),),
    {"grammar": "tools", "max_new_tokens": 9},
)


class Letters:
    """A tokenizer of one token a letter, and one that ends an answer."""

    bos_token = None

    def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": [ord(letter) for letter in text]}

    def decode(self, tokens: list[int], **_: bool) -> str:
        return "".join(map(chr, tokens))


@pytest.fixture
def rows(tmp_path: Path) -> VllmRows:
    found = VllmRows({"name": "smollm2", "root": str(tmp_path)})
    vars(found).update(tokenizer=Letters(), end_tokens=frozenset({0}))
    return found


def test_the_prompt_is_that_of_the_local_back_end(rows: VllmRows) -> None:
    row = rows.row(OSLO)
    assert row["prompt"] == smollm2_prompt(OSLO)
    assert Letters().decode(row["tokenized_prompt"]) == row["prompt"]


def test_the_grammar_is_that_of_the_local_back_end(rows: VllmRows) -> None:
    parameters = rows.row(OSLO)["sampling_params"]
    schema = json.loads(parameters["structured_outputs"]["json"])
    assert schema["items"]["anyOf"][0]["properties"]["name"] == {"const": "get_weather"}
    assert parameters["structured_outputs"]["disable_any_whitespace"] is True
    assert (parameters["max_tokens"], parameters["temperature"], parameters["stop_token_ids"]) == (9, 0.0, [0])
    assert "structured_outputs" not in rows.row(Request(OSLO.messages, (), OSLO.settings))["sampling_params"]


def test_each_sample_that_is_drawn_has_a_seed_of_its_own() -> None:
    drawn = read_sampling({"temperature": 0.5, "seed": 7})
    assert sampling_parameters(drawn, 2, [], None)["seed"] == 9
    assert sampling_parameters(read_sampling({"seed": 7}), 2, [], None)["seed"] is None


def test_tokens_become_a_reply_that_ends_where_the_model_ended(rows: VllmRows) -> None:
    given = {"has_tools": True, "max_tokens": 9, "num_input_tokens": 30}
    reply = rows.reply({**given, "generated_tokens": [91, 93, 0]})
    assert (reply.text, reply.finish, reply.decoder, reply.usage) == ("[]", "stop", "json", Usage(30, 3))
    assert rows.reply({**given, "generated_tokens": [91] * 9}).finish == "length"
    assert rows.reply({**given, "generated_tokens": [91], "has_tools": False}) == Reply(
        "[", usage=Usage(30, 1), engine={"weights": "smollm2", "engine": "vllm"}
    )


def test_what_a_case_may_not_set_is_refused(rows: VllmRows) -> None:
    with pytest.raises(CaseRefused, match="temperature"):
        rows.row(Request(OSLO.messages, (), {"temperature": -1}))


def test_settings_that_vllm_does_not_take_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="`adapter` is not supported with vLLM"):
        VllmRows.of(Model("local", "smollm2", {"adapter": "mine"}), tmp_path)
