"""The processor of `ray.data.llm`, as far as it goes without a GPU; with torch, which the tests do not bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.backends.local.vllm import VllmRows
from pytest_fcall.cli.record.ray_cluster import ActorPool, vllm_processor

pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_nothing_but_the_engine_is_left_to_ray(tmp_path: Path, shared_cluster: object) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}), "utf-8")
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "tokenizer.json").write_text("{}", "utf-8")
    rows = VllmRows({"name": "./tiny", "root": str(tmp_path), "dtype": "bfloat16"})
    processor = vllm_processor(rows, ActorPool(1, 2, 0.1, 1), {"tensor_parallel_size": 2})
    assert processor.list_stage_names() == ["vLLMEngineStage"]
    given = processor.get_stage_by_name("vLLMEngineStage").fn_constructor_kwargs
    assert given["model"] == str(folder)
    assert given["should_continue_on_error"]
    assert given["engine_kwargs"].items() >= {"dtype": "bfloat16", "tensor_parallel_size": 2}.items()
