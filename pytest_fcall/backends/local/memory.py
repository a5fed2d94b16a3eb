"""The memory that a model needs, and the memory that is free."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.core.backend import ModelUnavailable

_GB = 1e9
_OVERHEAD = 1.1
"""The memory of a loaded model in relation to its weights."""
_FLOAT_TYPES = ("F64", "F32", "F16", "BF16")
_TYPE_BYTES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
_MAX_HEADER = 100_000_000


def check_memory(folder: Path, size: int | None, free: int, place: str) -> None:
    """Check that the weights in `folder` fit into `free` bytes.

    A number takes `size` bytes, or as many as in the file. Raises ModelUnavailable, which names settings that help.
    """
    needed = int(weight_bytes(folder, size) * _OVERHEAD)
    if needed > free:
        raise ModelUnavailable(
            f"the model needs about {needed / _GB:.1f} GB of memory, {free / _GB:.1f} GB are free on {place}; "
            f"{_advice(size)}"
        )


def _advice(size: int | None) -> str:
    advice = ["dtype=bfloat16 halves that"] if size == 4 else []
    advice += ["device_map=auto spreads it over all GPUs and the machine's memory", "a quantised copy needs less"]
    return ", ".join(advice)


def weight_bytes(folder: Path, size: int | None) -> int:
    """The bytes of all loaded weights of `folder`."""
    files = [file for file in folder.iterdir() if file.is_file()]
    parts = [file for file in files if file.suffix == ".safetensors" and not file.name.startswith("adapter_")]
    if not parts:
        return sum(file.stat().st_size for file in files if file.suffix == ".bin")
    return sum(count * _number_bytes(type_, size) for part in parts for type_, count in _tensors(part))


def _number_bytes(type_: str, size: int | None) -> int:
    """Bytes of one number. Types other than floats are quantised ones, which are not converted."""
    return size if size is not None and type_ in _FLOAT_TYPES else _TYPE_BYTES.get(type_, 1)


def _tensors(part: Path) -> Iterator[tuple[str, int]]:
    """The type and count of the numbers of each tensor, from the header of a file."""
    try:
        with part.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(length, _MAX_HEADER)))
        tensors = [(each["dtype"], math.prod(each["shape"])) for name, each in header.items() if name != "__metadata__"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ModelUnavailable(f"{part} cannot be read; download the model again") from None
    yield from tensors


def free_bytes(torch: Any, device: str, *, spread: bool) -> int:
    """The free bytes on the device, or with `spread` on all devices and in the machine's memory together."""
    count = torch.cuda.device_count() if device.startswith("cuda") or spread else 0
    chosen = range(count) if spread else [torch.device(device).index or 0] if count else []
    devices = sum(torch.cuda.mem_get_info(each)[0] for each in chosen)
    return int(devices) + (0 if chosen and not spread else _free_machine_bytes())


def _free_machine_bytes() -> int:
    return int(import_library("psutil").virtual_memory().available)


def peak_bytes(torch: Any) -> int:
    """The peak memory of this process: on its devices if it uses any, else in the machine's memory.

    `torch` is the module, or None if it is not imported.
    """
    devices = range(torch.cuda.device_count()) if torch and torch.cuda.is_initialized() else ()
    if on_devices := sum(torch.cuda.max_memory_allocated(each) for each in devices):
        return int(on_devices)
    if sys.platform == "win32":
        return int(import_library("psutil").Process().memory_info().peak_wset)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out. On a CPU, only the message shows it."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
