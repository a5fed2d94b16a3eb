"""Requests to local models as vLLM takes them, and its answers as replies.

Prompts, grammars, end tokens and decoders are those of `local:` models anywhere: vLLM is handed tokens, and gives back
tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pytest_fcall.backends.local.grammar import answer_form
from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.backends.local.loaded_model import end_tokens
from pytest_fcall.backends.local.process_data import written_request
from pytest_fcall.backends.local.prompts import ModelPrompts, find_weights_of, load_prompts, load_tokenizer
from pytest_fcall.backends.local.settings import OPTIONS, Sampling, process_spec, read_sampling
from pytest_fcall.backends.settings import read_entry
from pytest_fcall.core import Json, Model, ModelUnavailable, Reply, Request, Tool, Usage

_UNSUPPORTED: Final = ("adapter", "device_map")


@dataclass(frozen=True)
class VllmRows:
    """One model. What it needs is loaded by the first row."""

    options: Mapping[str, Json]
    """Those of the model's specification."""

    @classmethod
    def of(cls, model: Model, root: Path) -> VllmRows:
        """Make it from the project's entry of a model. Raises SettingsError, and ModelUnavailable."""
        options = process_spec(read_entry(model, root, OPTIONS), root).options
        if found := [name for name in _UNSUPPORTED if name in options]:
            raise ModelUnavailable(f"{model.id}: `{found[0]}` is not supported with vLLM; remove it")
        if find_weights_of(options).gguf:
            raise ModelUnavailable(f"{model.id}: vLLM is handed no GGUF; name a folder of safetensors")
        return cls(options)

    def engine_arguments(self, others: Mapping[str, Json]) -> dict[str, Json]:
        """The arguments of vLLM's engine; `others` are those that a person adds."""
        dtype, trusted = self.options.get("dtype") or "auto", self.options.get("trust_remote_code") is True
        return {"dtype": dtype, "trust_remote_code": trusted, "enable_prefix_caching": True, **others}

    @property
    def model_source(self) -> str:
        """The folder of the weights. Raises ModelUnavailable."""
        return str(find_weights_of(self.options).path)

    @cached_property
    def prompts(self) -> ModelPrompts:
        """Writes prompts."""
        return load_prompts(self.options)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer of the model."""
        return load_tokenizer(find_weights_of(self.options), self.options)

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """The tokens that end an answer."""
        config = import_library("transformers").GenerationConfig
        try:
            return end_tokens(config.from_pretrained(self.model_source, local_files_only=True), self.tokenizer)
        except OSError:  # the model has no such file
            return end_tokens(config(), self.tokenizer)

    def row(self, request: Request) -> dict[str, Any]:
        """The columns of a request. Raises CaseRefused."""
        request = written_request(request)
        text = self.prompts.prompt_text(request)
        sampling = read_sampling(request.settings)
        return {
            "prompt": text,
            "max_tokens": sampling.max_tokens,
            "tokenized_prompt": [int(token) for token in self.tokenizer(text, add_special_tokens=False)["input_ids"]],
            "sampling_params": sampling_parameters(
                sampling, request.sample, sorted(self.end_tokens), self._constraint(sampling, request.tools)
            ),
            "has_tools": bool(request.tools),
        }

    def reply(self, row: Mapping[str, Any]) -> Reply:
        """The reply in an answer: tokens, up to one that ends it."""
        written = [int(token) for token in row["generated_tokens"]]
        end = next((place for place, token in enumerate(written) if token in self.end_tokens), None)
        text = self.tokenizer.decode(written[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        notes: dict[str, Json] = {"notes": list(self.prompts.notes)} if self.prompts.notes else {}
        return Reply(
            text=text,
            finish="length" if end is None and len(written) >= row["max_tokens"] else "stop",
            decoder=self.prompts.decoder if row["has_tools"] else None,
            usage=Usage(int(row["num_input_tokens"]), len(written)),
            engine={"weights": self.options["name"], "engine": "vllm", **notes},
        )

    def _constraint(self, sampling: Sampling, tools: Sequence[Tool]) -> Mapping[str, Json] | None:
        """What holds the answer to calls of the tools; None where it is free. Raises CaseRefused."""
        if not sampling.grammar or not tools:
            return None
        form = answer_form(self.prompts.decoder or "", tools)
        if form["type"] == "json_schema":
            return {"json": json.dumps(form["json_schema"]), "disable_any_whitespace": True}
        return {"structural_tag": json.dumps({"type": "structural_tag", "format": form})}


def sampling_parameters(
    sampling: Sampling, sample: int, ends: Sequence[int], constraint: Mapping[str, Json] | None
) -> dict[str, Any]:
    """The parameters of vLLM for a request: the likeliest token each time, unless there is a temperature.

    All are there in each row, since rows become columns.
    """
    drawn, seed = sampling.draw_options, sampling.seed
    return {
        "temperature": 0.0,
        "top_p": 1.0,
        "top_k": 0,
        **(drawn or {}),
        "seed": seed + sample if seed is not None and drawn is not None else None,
        "max_tokens": sampling.max_tokens,
        "repetition_penalty": sampling.repetition_penalty,
        "stop_token_ids": [*ends],
        "detokenize": False,
        **({"structured_outputs": dict(constraint)} if constraint else {}),
    }
