"""How large a model is, told by the heads of its files alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.backends.local.memory import check_memory, is_out_of_memory, weight_bytes
from pytest_fcall.core import Json, ModelUnavailable


def write_head(path: Path, **tensors: tuple[str, list[int]]) -> None:
    """Write a file of safetensors without its numbers."""
    head: dict[str, Json] = {name: {"dtype": kind, "shape": shape} for name, (kind, shape) in tensors.items()}
    text = json.dumps({"__metadata__": {"format": "pt"}, **head}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text)


@pytest.mark.parametrize(("size", "needed"), [(None, 2200), (4, 4200), (2, 2200)])
def test_numbers_take_the_room_of_the_type_they_are_loaded_as(tmp_path: Path, size: int | None, needed: int) -> None:
    write_head(tmp_path / "model-1.safetensors", a=("BF16", [10, 100]))
    write_head(tmp_path / "model-2.safetensors", quantised=("U8", [200]), none=("F32", [0, 7]))
    write_head(tmp_path / "adapter_model.safetensors", a=("F32", [99]))
    assert weight_bytes(tmp_path, size) == needed


def test_other_files_count_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"x" * 77)
    assert weight_bytes(tmp_path, 4) == 77


def test_a_model_that_fits_is_let_through(tmp_path: Path) -> None:
    write_head(tmp_path / "model.safetensors", a=("F32", [100]))
    check_memory(tmp_path, 4, 440, "cpu")


@pytest.mark.parametrize(
    ("size", "advice"), [(4, "dtype=bfloat16 halves that, device_map=auto"), (2, "on cpu; device_map=auto spreads it")]
)
def test_one_that_does_not_says_what_it_needs(tmp_path: Path, size: int, advice: str) -> None:
    write_head(tmp_path / "model.safetensors", a=("F32", [10**10]))
    with pytest.raises(ModelUnavailable, match=advice) as raised:
        check_memory(tmp_path, size, 10**9, "cpu")
    assert f"the model needs about {size * 11}.0 GB of memory, 1.0 GB are free on cpu" in str(raised.value)


@pytest.mark.parametrize(
    "damaged", [b"", b"\xff" * 8, b"\5\0\0\0\0\0\0\0[1,2]", b'\x0a\0\0\0\0\0\0\0{"a": {}}\n', b"\2\0\0\0\0\0\0\0{"]
)
def test_a_damaged_file_is_named(tmp_path: Path, damaged: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(damaged)
    with pytest.raises(ModelUnavailable, match=r"model\.safetensors cannot be read; download the model again"):
        weight_bytes(tmp_path, 4)


class OutOfMemoryError(RuntimeError):
    """As torch calls it."""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory: …"), True),
        (RuntimeError("shapes cannot be multiplied"), False),
        (ValueError("can't allocate memory"), False),
    ],
)
def test_a_lack_of_memory_is_known_by_name_or_words(error: Exception, expected: bool) -> None:
    assert is_out_of_memory(error) is expected
