"""How much memory a model takes, and how much there is."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.core import ModelUnavailable

_GB = 1e9
_SPARE = 1.1
"""What a model takes beside its weights, before anything is asked."""
_FLOATS = ("F64", "F32", "F16", "BF16")
_BYTES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
_MOST_HEAD = 100_000_000


def check_room(folder: Path, size: int | None, free: int, where: str) -> None:
    """Make sure that the weights in `folder` fit, where each number takes `size` bytes, or as many as it has there.

    Raises ModelUnavailable, which says how much is needed, and which settings help.
    """
    needed = int(weight_bytes(folder, size) * _SPARE)
    if needed > free:
        raise ModelUnavailable(
            f"it needs about {needed / _GB:.1f} GB, and {free / _GB:.1f} GB are free on {where}; {_advice(size)}"
        )


def _advice(size: int | None) -> str:
    advice = ["dtype=bfloat16 halves it"] if size == 4 else []
    advice += ["device_map=auto spreads it over all GPUs and the machine's memory", "a quantised copy needs less"]
    return ", ".join(advice)


def weight_bytes(folder: Path, size: int | None) -> int:
    """The bytes of all weights in `folder` once they are loaded."""
    files = [file for file in folder.iterdir() if file.is_file()]
    parts = [file for file in files if file.suffix == ".safetensors" and not file.name.startswith("adapter_")]
    if not parts:
        return sum(file.stat().st_size for file in files if file.suffix == ".bin")
    return sum(count * _size(kind, size) for part in parts for kind, count in _tensors(part))


def _size(kind: str, size: int | None) -> int:
    """Bytes of one number. What is no float is a quantised one, and stays as it is."""
    return size if size is not None and kind in _FLOATS else _BYTES.get(kind, 1)


def _tensors(part: Path) -> Iterator[tuple[str, int]]:
    """The kind and count of numbers of each tensor, as the head of a file says. Nothing else of it is read."""
    try:
        with part.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            head = json.loads(file.read(min(length, _MOST_HEAD)))
        tensors = [(each["dtype"], math.prod(each["shape"])) for name, each in head.items() if name != "__metadata__"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ModelUnavailable(f"{part} cannot be read; fetch the model again") from None
    yield from tensors


def free_bytes(torch: Any, device: str, *, spread: bool) -> int:
    """What is free on the device, or with `spread` on all devices and the machine together."""
    count = torch.cuda.device_count() if device.startswith("cuda") or spread else 0
    chosen = range(count) if spread else [torch.device(device).index or 0] if count else []
    devices = sum(torch.cuda.mem_get_info(each)[0] for each in chosen)
    return int(devices) + (0 if chosen and not spread else _machine())


def _machine() -> int:
    return int(import_library("psutil").virtual_memory().available)


def peak_bytes(torch: Any) -> int:
    """The most memory that this process has had: on its devices if it uses any, else the machine's.

    `torch` is the module, or None where nobody has imported it.
    """
    devices = range(torch.cuda.device_count()) if torch and torch.cuda.is_initialized() else ()
    if on_devices := sum(torch.cuda.max_memory_allocated(each) for each in devices):
        return int(on_devices)
    if sys.platform == "win32":
        return int(import_library("psutil").Process().memory_info().peak_wset)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether there was no memory for what was asked. A processor says so in words only."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
