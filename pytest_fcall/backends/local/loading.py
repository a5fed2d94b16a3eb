"""Models and tokenizers, from the disk into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fcall.backends.local.converted import cache_folder, converted
from pytest_fcall.backends.local.libraries import library
from pytest_fcall.backends.local.memory import check_room, free_bytes, is_out_of_memory
from pytest_fcall.backends.local.weights import Weights
from pytest_fcall.core import Json, ModelUnavailable

_SIZES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model is loaded; what is None is chosen by the machine."""

    dtype: str | None = None
    device: str | None = None
    device_map: str | None = None
    adapter: Path | None = None
    trust_remote_code: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that can be asked, and its tokenizer."""

    model: Any
    tokenizer: Any
    about: Mapping[str, Json]
    """Versions, dtype and device."""
    ends: frozenset[int]
    """The tokens by which the model says that it is done."""


def load_model(weights: Weights, loading: Loading, cache: Path | None = None) -> Loaded:
    """Load the weights. Raises ModelUnavailable, in words, where that cannot be."""
    torch, transformers = library("torch"), library("transformers")
    device = loading.device or _best_device(torch)
    _check_device(torch, device)
    dtype = loading.dtype or ("float32" if device == "cpu" and not loading.device_map else "auto")
    folder = weights.path
    if weights.gguf:
        folder = converted(weights, "bfloat16" if dtype == "auto" else dtype, cache or cache_folder())
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
    return Loaded(model, tokenizer, about, _ends(model, tokenizer))


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
    library("peft", "adapters need", "pip install peft")
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
