"""The processor of `ray.data.llm`, as far as it goes without a GPU; with torch and vLLM, which no test brings."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_fcall.backends.local.settings import read_sampling
from pytest_fcall.backends.local.vllm import VllmRows, sampling_parameters
from pytest_fcall.cli.record.ray_cluster import ActorPool, vllm_processor
from pytest_fcall.core import Json

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


def test_vllm_takes_the_engine_arguments_and_the_parameters_of_a_row(tmp_path: Path) -> None:
    vllm = pytest.importorskip("vllm")
    rows = VllmRows({"name": "./tiny", "root": str(tmp_path), "dtype": "bfloat16"})
    known = {field.name for field in fields(vllm.AsyncEngineArgs)}
    assert rows.engine_arguments({"tensor_parallel_size": 2}).keys() <= known
    sampling = read_sampling({"temperature": 0.5, "seed": 3})
    constraints: list[dict[str, Json]] = [{"json": "{}", "disable_any_whitespace": True}, {"structural_tag": "{}"}]
    for constraint in constraints:
        given = sampling_parameters(sampling, 1, [2], constraint)
        held = vllm.sampling_params.StructuredOutputsParams(**given.pop("structured_outputs"))
        taken = vllm.SamplingParams(**given, structured_outputs=held)  # as Ray makes it of a row
        assert (taken.seed, taken.temperature, taken.stop_token_ids, taken.detokenize) == (4, 0.5, [2], False)
