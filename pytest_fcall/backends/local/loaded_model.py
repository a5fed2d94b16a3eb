"""Models and tokenizers read from disk (GGUF files are converted to safetensors first), and prompts as tokens."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fcall.backends.local.answerer import GeneratedText, ModelPrompt
from pytest_fcall.backends.local.libraries import import_library, one_line
from pytest_fcall.backends.local.memory import check_memory, free_bytes, is_out_of_memory
from pytest_fcall.backends.local.weights import Weights
from pytest_fcall.backends.processes.locks import hold_lock
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable
from pytest_fcall.core.digests import digest
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json

_CONVERSION_SECONDS = 3600.0
"""The time to wait for another process that converts the same file."""


def convert_gguf(weights: Weights, dtype: str, cache: Path) -> Path:
    """The folder in `cache` with the weights of a GGUF file as numbers of type `dtype`, made on first use.

    A process that is killed meanwhile leaves no folder of this name. Raises ModelUnavailable.
    """
    transformers = import_library("transformers")
    import_library("gguf")
    folder = conversion_folder(weights, dtype, cache)
    if not folder.is_dir():
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with hold_lock(cache / "lock", _CONVERSION_SECONDS):
                if not folder.is_dir():
                    _convert(transformers, weights, dtype, folder)
        except OSError as error:
            raise ModelUnavailable(f"{weights.gguf} cannot be converted into {cache}: {error}") from None
    return folder


def conversion_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of this user's converted weights."""
    return Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pytest-fcall" / "models"


def conversion_folder(weights: Weights, dtype: str, cache: Path) -> Path:
    """The folder of a conversion. It depends on the file, its modification time and the library's version."""
    file = (weights.path / str(weights.gguf)).resolve()
    status = file.stat()
    identity = {
        "file": str(file),
        "size": status.st_size,
        "changed": status.st_mtime_ns,
        "dtype": dtype,
        "transformers": import_library("transformers").__version__,
    }
    return cache / digest(identity)[:24]


def _convert(transformers: Any, weights: Weights, dtype: str, folder: Path) -> None:
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    source = {
        "pretrained_model_name_or_path": str(weights.path),
        "gguf_file": weights.gguf,
        "local_files_only": True,
    }
    model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=dtype)
    _without_gguf(transformers, model, dtype).save_pretrained(part)
    transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(part)
    part.rename(folder)


def _without_gguf(transformers: Any, model: Any, dtype: str) -> Any:
    """The same model without its traces of GGUF, with which it could not be saved."""
    config = model.config.to_dict()
    config.pop("quantization_config", None)
    plain = transformers.AutoModelForCausalLM.from_config(type(model.config).from_dict(config), dtype=dtype)
    plain.load_state_dict(model.state_dict())
    plain.generation_config = model.generation_config
    return plain


_SIZES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The settings by which a model is loaded; None leaves the choice to us."""

    dtype: str | None = None
    device: str | None = None
    device_map: str | None = None
    adapter: Path | None = None
    trust_remote_code: bool = False


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory, and its tokenizer."""

    model: Any
    tokenizer: Any
    description: Mapping[str, Json]
    """Versions, dtype and device."""
    end_tokens: frozenset[int]
    """The tokens that end an answer."""


def load_model(weights: Weights, options: LoadOptions, cache: Path | None = None) -> LoadedModel:
    """Load the weights. Raises ModelUnavailable."""
    torch, transformers = import_library("torch"), import_library("transformers")
    device = options.device or _best_device(torch)
    _check_device(torch, device)
    dtype = options.dtype or ("float32" if device == "cpu" and not options.device_map else "auto")
    folder = weights.path
    if weights.gguf:
        folder = convert_gguf(weights, "bfloat16" if dtype == "auto" else dtype, cache or conversion_cache())
    free = free_bytes(torch, device, spread=options.device_map is not None)
    check_memory(folder, _SIZES.get(dtype), free, "all devices together" if options.device_map else device)
    source = {
        "pretrained_model_name_or_path": str(folder),
        "trust_remote_code": options.trust_remote_code,
        "local_files_only": True,
    }
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            **source, dtype=dtype, device_map=options.device_map or device
        )
    except Exception as error:  # a model's files and their libraries may cause any error
        raise _load_failure(error, folder, device) from error
    if options.adapter:
        _load_adapter(model, options.adapter)
    model.eval()
    tokenizer.padding_side = "left"
    description = {
        "transformers": transformers.__version__,
        "torch": torch.__version__,
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": _devices(torch, model),
    }
    return LoadedModel(model, tokenizer, description, end_tokens(model.generation_config, tokenizer))


def end_tokens(config: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end an answer, by a model's configuration of generation and its tokenizer."""
    tokens = config.eos_token_id
    tokens = tokens if isinstance(tokens, list | tuple) else [tokens]
    return frozenset(token for token in (*tokens, tokenizer.eos_token_id) if isinstance(token, int))


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda:0"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _check_device(torch: Any, device: str) -> None:
    try:
        torch.empty(1, device=device)
    except Exception as error:  # each kind of device raises errors of its own
        raise ModelUnavailable(f"the device {device!r:.60} cannot be used: {one_line(error)}") from None


def _load_failure(error: Exception, folder: Path, device: str) -> Exception:
    """A message with what to do, or the error itself where nothing is known."""
    if "trust_remote_code" in str(error):
        return ModelUnavailable(f"the model needs custom code in {folder}: review it, then set trust_remote_code=true")
    if is_out_of_memory(error):
        return ModelUnavailable(
            f"out of memory on {device} while the model was loaded; dtype=bfloat16, device_map=auto or a "
            "quantised copy help"
        )
    return error


def _load_adapter(model: Any, adapter: Path) -> None:
    import_library("peft", "adapters need", "pip install peft")
    try:
        model.load_adapter(str(adapter))
    except Exception as error:  # an adapter's files may cause any error
        raise ModelUnavailable(
            f"the adapter {adapter} does not fit: {type(error).__name__}: {one_line(error)}"
        ) from error


def _devices(torch: Any, model: Any) -> str:
    """The names of the devices that hold the weights, with the models of GPUs."""
    used = sorted({str(each.device) for each in model.parameters()})
    return ", ".join(
        f"{each} ({torch.cuda.get_device_name(each)})" if each.startswith("cuda") else each for each in used
    )


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A prompt as tokens."""

    tokens: Sequence[int]
    tools: tuple[Tool, ...]
    max_new_tokens: int

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Prompts with the same tools usually have a common prefix."""
        return tuple(tool.name for tool in self.tools)


class TokenRows:
    """Converts prompts to rows, and the tokens that follow them to texts."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.end_tokens = loaded.end_tokens
        self.pad_token: int = next(
            (each for each in (loaded.tokenizer.pad_token_id, *sorted(loaded.end_tokens)) if each is not None), 0
        )
        self.max_tokens: int | None = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
        """The number of tokens that the model can read, if it is known."""
        self._tokenizer = loaded.tokenizer

    def row(self, prompt: ModelPrompt, max_new_tokens: int) -> TokenRow:
        """Make a row. Raises CaseRefused for a prompt that is too long for the model."""
        tokens = self._tokenizer(prompt.text, add_special_tokens=False)["input_ids"]
        limit = self.max_tokens or len(tokens) + max_new_tokens
        if len(tokens) >= limit:
            raise CaseRefused(f"the prompt has {len(tokens):,} tokens, but the model can read {limit:,}")
        return TokenRow(tokens, prompt.tools, min(max_new_tokens, limit - len(tokens)))

    def generated(
        self, row: TokenRow, written: Sequence[int], seconds: float, engine: Mapping[str, Json] | None = None
    ) -> GeneratedText:
        """The text that follows a row, up to its end token, after which there may be padding."""
        written = written[: row.max_new_tokens]
        end = next((place for place, token in enumerate(written) if token in self.end_tokens), None)
        # Formats of calls use special tokens, so they are kept, except for the one that ends the answer.
        text = self._tokenizer.decode(written[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return GeneratedText(
            text=text,
            input_tokens=len(row.tokens),
            output_tokens=len(written) if end is None else end + 1,
            finish="length" if end is None else "stop",
            seconds=round(seconds, 3),
            engine=engine or {},
        )
