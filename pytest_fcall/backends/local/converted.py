"""GGUF files, which transformers takes long to read, as folders of safetensors that it reads at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_fcall.backends.local.libraries import library
from pytest_fcall.backends.local.weights import Weights
from pytest_fcall.backends.store.locks import locked
from pytest_fcall.core import ModelUnavailable, digest

_PATIENCE = 3600.0
"""Seconds that another process may take to convert the same file."""


def converted(weights: Weights, dtype: str, cache: Path) -> Path:
    """The folder in `cache` with the weights of a GGUF file, in numbers of this type. It is made on first use.

    Whoever is killed in the middle leaves nothing that is taken for a model. Raises ModelUnavailable.
    """
    transformers = library("transformers")
    library("gguf")
    folder = place(weights, dtype, cache)
    if not folder.is_dir():
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with locked(cache / "lock", _PATIENCE):
                if not folder.is_dir():
                    _convert(transformers, weights, dtype, folder)
        except OSError as error:
            raise ModelUnavailable(f"{weights.gguf} cannot be converted into {cache}: {error}") from None
    return folder


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where this user's converted weights lie."""
    return Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pytest-fcall" / "models"


def place(weights: Weights, dtype: str, cache: Path) -> Path:
    """The folder of what comes out. A file that is changed is another file, and another library another hand."""
    file = (weights.path / str(weights.gguf)).resolve()
    found = file.stat()
    identity = {
        "file": str(file),
        "size": found.st_size,
        "changed": found.st_mtime_ns,
        "dtype": dtype,
        "transformers": library("transformers").__version__,
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
    _plain(transformers, read, dtype).save_pretrained(part)
    transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(part)
    part.rename(folder)


def _plain(transformers: Any, read: Any, dtype: str) -> Any:
    """The same model without a trace of GGUF, by which it would refuse to be written."""
    config = read.config.to_dict()
    config.pop("quantization_config", None)
    plain = transformers.AutoModelForCausalLM.from_config(type(read.config).from_dict(config), dtype=dtype)
    plain.load_state_dict(read.state_dict())
    plain.generation_config = read.generation_config
    return plain
