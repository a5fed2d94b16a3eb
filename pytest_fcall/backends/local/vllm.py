"""vLLM, as `ray.data.llm` runs it for local models: requests become tokens, and tokens replies.

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

from pytest_fcall.backends.cluster.answerer import Assignment, PartRow, prepare_node, read_portion, write_part
from pytest_fcall.backends.cluster.coordinator import CoordinatorClient
from pytest_fcall.backends.local.grammar import answer_form
from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.backends.local.loaded_model import end_tokens
from pytest_fcall.backends.local.process_data import written_request
from pytest_fcall.backends.local.prompts import ModelPrompts, find_weights_of, load_prompts, load_tokenizer
from pytest_fcall.backends.local.settings import OPTIONS, SamplingSettings, process_spec, read_sampling
from pytest_fcall.backends.recordings.entry import reply_to_data
from pytest_fcall.backends.settings import read_entry
from pytest_fcall.core.backend import CaseRefused, Model, ModelUnavailable
from pytest_fcall.core.reply import Reply, Usage
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.core.storage import Folder
from pytest_fcall.core.values import Json

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

    def _constraint(self, sampling: SamplingSettings, tools: Sequence[Tool]) -> Mapping[str, Json] | None:
        """The grammar that restricts the answer to calls of the tools; None for free text. Raises CaseRefused."""
        if not sampling.grammar or not tools:
            return None
        form = answer_form(self.prompts.decoder or "", tools)
        if form["type"] == "json_schema":
            return {"json": json.dumps(form["json_schema"]), "disable_any_whitespace": True}
        return {"structural_tag": json.dumps({"type": "structural_tag", "format": form})}


def sampling_parameters(
    sampling: SamplingSettings, sample: int, ends: Sequence[int], constraint: Mapping[str, Json] | None
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


_COLUMNS: Final = ("digest", "prompt", "tokenized_prompt", "sampling", "has_tools", "max_tokens")
_ERROR: Final = "__inference_error__"
"""The column in which Ray says why the engine has not answered a row."""


class _Step:
    """One step of the way, in a process of its own."""

    def __init__(self, assignment: Any, coordinator: Any, rows: VllmRows) -> None:
        import ray

        told: Assignment = ray.get(assignment[0])
        prepare_node(told)
        self._assignment = told
        self._folder = Folder(told.checkpoint)
        self._coordinator = CoordinatorClient(coordinator)
        self._secrets = Secrets(told.secrets)
        self._rows = rows

    def _write(self, rows: list[PartRow]) -> None:
        if rows:
            self._coordinator.add_part(write_part(self._folder, rows), [row.digest for row in rows])


class RequestsToTokens(_Step):
    """Reads portions of a plan, and writes the prompts. What the model cannot be given is an error at once."""

    def __call__(self, portions: Any) -> Any:
        """Give the rows for the engine."""
        import pyarrow as pa

        found: list[dict[str, Any]] = []
        refused: list[PartRow] = []
        for portion in portions.to_pylist():
            rows = {row["digest"]: row for row in read_portion(self._folder, portion)}
            for digest in self._coordinator.deaths(rows):
                try:
                    row = self._rows.row(self._assignment.request(rows[digest]))
                except CaseRefused as error:
                    refused.append(PartRow(digest, error=self._secrets.redacted(str(error))))
                else:
                    # As text, since the fields of structs differ from row to row.
                    row["sampling"] = json.dumps(row.pop("sampling_params"))
                    found.append({"digest": digest, **row})
        self._write(refused)
        types = [pa.string(), pa.string(), pa.list_(pa.int64()), pa.string(), pa.bool_(), pa.int64()]
        return pa.Table.from_pylist(found, pa.schema([*zip(_COLUMNS, types, strict=True)]))


class TokensToReplies(_Step):
    """Writes what the engine gave as parts."""

    def __call__(self, answers: Any) -> Any:
        """Write the rows; gives back their number."""
        import pyarrow as pa

        self._write([self._part_row(row) for row in answers.to_pylist()])
        return pa.table({"rows": [answers.num_rows]})

    def _part_row(self, row: Mapping[str, Any]) -> PartRow:
        if error := row.get(_ERROR):
            return PartRow(row["digest"], error=self._secrets.redacted(" ".join(str(error).split())[:1000]))
        return PartRow.of_reply(row["digest"], self._secrets.redacted_fields(reply_to_data(self._rows.reply(row))))


def to_engine(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as the engine takes it; other columns are carried along."""
    return {**row, "sampling_params": json.loads(row["sampling"])}


def from_engine(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a reply is made of."""
    names = ("digest", "has_tools", "max_tokens", "generated_tokens", "num_input_tokens")
    return {name: row[name] for name in names}
