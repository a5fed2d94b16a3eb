"""Models and tokenizers read from disk into memory (GGUF files by way of safetensors), and prompts as tokens."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fcall.backends.local.generation import Generated, Prompt
from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.backends.local.memory import check_room, free_bytes, is_out_of_memory
from pytest_fcall.backends.local.weights import Weights
from pytest_fcall.backends.processes.locks import locked
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Tool, digest

_CONVERSION_SECONDS = 3600.0
"""Seconds that another process may take to convert the same file."""


def convert_gguf(weights: Weights, dtype: str, cache: Path) -> Path:
    """The folder in `cache` with the weights of a GGUF file, in numbers of this type. It is made on first use.

    Whoever is killed in the middle leaves nothing that is taken for a model. Raises ModelUnavailable.
    """
    transformers = import_library("transformers")
    import_library("gguf")
    folder = conversion_folder(weights, dtype, cache)
    if not folder.is_dir():
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with locked(cache / "lock", _CONVERSION_SECONDS):
                if not folder.is_dir():
                    _convert(transformers, weights, dtype, folder)
        except OSError as error:
            raise ModelUnavailable(f"{weights.gguf} cannot be converted into {cache}: {error}") from None
    return folder


def conversion_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """Where this user's converted weights lie."""
    return Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pytest-fcall" / "models"


def conversion_folder(weights: Weights, dtype: str, cache: Path) -> Path:
    """The folder of what comes out. A file that is changed is another file, and another library another hand."""
    file = (weights.path / str(weights.gguf)).resolve()
    found = file.stat()
    identity = {
        "file": str(file),
        "size": found.st_size,
        "changed": found.st_mtime_ns,
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
    read = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=dtype)
    _without_gguf(transformers, read, dtype).save_pretrained(part)
    transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(part)
    part.rename(folder)


def _without_gguf(transformers: Any, read: Any, dtype: str) -> Any:
    """The same model without a trace of GGUF, by which it would refuse to be written."""
    config = read.config.to_dict()
    config.pop("quantization_config", None)
    plain = transformers.AutoModelForCausalLM.from_config(type(read.config).from_dict(config), dtype=dtype)
    plain.load_state_dict(read.state_dict())
    plain.generation_config = read.generation_config
    return plain


_SIZES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a model is loaded; what is None is chosen by the machine."""

    dtype: str | None = None
    device: str | None = None
    device_map: str | None = None
    adapter: Path | None = None
    trust_remote_code: bool = False


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that can be asked, and its tokenizer."""

    model: Any
    tokenizer: Any
    about: Mapping[str, Json]
    """Versions, dtype and device."""
    ends: frozenset[int]
    """The tokens by which the model says that it is done."""


def load_model(weights: Weights, loading: LoadOptions, cache: Path | None = None) -> LoadedModel:
    """Load the weights. Raises ModelUnavailable, in words, where that cannot be."""
    torch, transformers = import_library("torch"), import_library("transformers")
    device = loading.device or _best_device(torch)
    _check_device(torch, device)
    dtype = loading.dtype or ("float32" if device == "cpu" and not loading.device_map else "auto")
    folder = weights.path
    if weights.gguf:
        folder = convert_gguf(weights, "bfloat16" if dtype == "auto" else dtype, cache or conversion_cache())
    free = free_bytes(torch, device, spread=loading.device_map is not None)
    check_room(folder, _SIZES.get(dtype), free, "all devices together" if loading.device_map else device)
    source = {
        "pretrained_model_name_or_path": str(folder),
        "trust_remote_code": loading.trust_remote_code,
        "local_files_only": True,
    }
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            **source, dtype=dtype, device_map=loading.device_map or device
        )
    except Exception as error:
        raise _in_words(error, folder, device) from error
    if loading.adapter:
        _adapt(model, loading.adapter)
    model.eval()
    tokenizer.padding_side = "left"
    about = {
        "transformers": transformers.__version__,
        "torch": torch.__version__,
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": _devices(torch, model),
    }
    return LoadedModel(model, tokenizer, about, _ends(model, tokenizer))


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:
    told = model.generation_config.eos_token_id
    several = told if isinstance(told, list | tuple) else [told]
    return frozenset(each for each in (*several, tokenizer.eos_token_id) if isinstance(each, int))


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda:0"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _check_device(torch: Any, device: str) -> None:
    try:
        torch.empty(1, device=device)
    except Exception as error:  # each kind of device fails in its own way
        told = " ".join(str(error).split())[:200]
        raise ModelUnavailable(f"the device {device!r:.60} cannot be used: {told}") from None


def _in_words(error: Exception, folder: Path, device: str) -> Exception:
    """What people can do something about; any other failure as it is."""
    if "trust_remote_code" in str(error):
        return ModelUnavailable(f"it brings code of its own in {folder}: read it, then say trust_remote_code=true")
    if is_out_of_memory(error):
        return ModelUnavailable(
            f"out of memory on {device} while it was loaded; dtype=bfloat16, device_map=auto or a quantised copy help"
        )
    return error


def _adapt(model: Any, adapter: Path) -> None:
    import_library("peft", "adapters need", "pip install peft")
    try:
        model.load_adapter(str(adapter))
    except Exception as error:
        told = " ".join(str(error).split())[:200]
        raise ModelUnavailable(f"the adapter {adapter} does not fit: {type(error).__name__}: {told}") from error


def _devices(torch: Any, model: Any) -> str:
    """Names of the devices that hold the weights, a GPU's with its model."""
    used = sorted({str(each.device) for each in model.parameters()})
    return ", ".join(
        f"{each} ({torch.cuda.get_device_name(each)})" if each.startswith("cuda") else each for each in used
    )


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A prompt as tokens."""

    tokens: Sequence[int]
    tools: tuple[Tool, ...]
    room: int
    """How many tokens may be written after it."""

    @property
    def kind(self) -> tuple[str, ...]:
        """Prompts with the same tools begin alike."""
        return tuple(tool.name for tool in self.tools)


class TokenRows:
    """Turns prompts into rows, and what was written after them into text."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.ends = loaded.ends
        self.pad: int = next(
            (each for each in (loaded.tokenizer.pad_token_id, *sorted(loaded.ends)) if each is not None), 0
        )
        self.limit: int | None = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
        """How many tokens the model can read, where it says so."""
        self._tokenizer = loaded.tokenizer

    def row(self, prompt: Prompt, most: int) -> TokenRow:
        """Make a row that may be followed by `most` tokens. Raises CaseRefused for one that the model cannot read."""
        tokens = self._tokenizer(prompt.text, add_special_tokens=False)["input_ids"]
        limit = self.limit or len(tokens) + most
        if len(tokens) >= limit:
            raise CaseRefused(f"the prompt has {len(tokens):,} tokens, and the model can read {limit:,}")
        return TokenRow(tokens, prompt.tools, min(most, limit - len(tokens)))

    def generated(
        self, row: TokenRow, written: Sequence[int], seconds: float, engine: Mapping[str, Json] | None = None
    ) -> Generated:
        """Read what was written after a row, up to its end; it may be filled up behind that."""
        written = written[: row.room]
        end = next((place for place, token in enumerate(written) if token in self.ends), None)
        # Special tokens stay, since some formats of calls are made of them; the one that ends the answer does not.
        text = self._tokenizer.decode(written[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return Generated(
            text=text,
            input_tokens=len(row.tokens),
            output_tokens=len(written) if end is None else end + 1,
            finish="length" if end is None else "stop",
            seconds=round(seconds, 3),
            engine=engine or {},
        )
