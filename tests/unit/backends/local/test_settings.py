"""What a query, an entry and a case may say of a model on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.local import local_backend
from pytest_fcall.backends.local.process_data import ProcessSpec
from pytest_fcall.backends.local.settings import (
    DEFAULT_BATCH,
    MAKER,
    OPTIONS,
    SamplingSettings,
    process_spec,
    read_sampling,
)
from pytest_fcall.backends.settings import SettingsError, read_entry
from pytest_fcall.core import CaseRefused, Json, Model, Request


def settings(root: Path, **query: str) -> dict[str, Json]:
    return dict(local_backend(Model("local", "smollm2", query), root).settings)


def test_only_what_shapes_an_answer_is_part_of_a_request(tmp_path: Path) -> None:
    said = {"dtype": "bfloat16", "device": "cuda:1", "batch": "4", "grammar": "tools", "trust_remote_code": "true"}
    assert settings(tmp_path, **said) == {"dtype": "bfloat16", "grammar": "tools"}


def test_nothing_said_is_nothing_set(tmp_path: Path) -> None:
    assert settings(tmp_path) == {}


def test_a_process_is_told_what_the_model_is_loaded_with(tmp_path: Path) -> None:
    model = Model("local", "qwen3-8b", {"dtype": "bfloat16", "device_map": "auto", "temperature": "1", "batch": "4"})
    entry = read_entry(model, tmp_path, OPTIONS)
    told = {"name": "qwen3-8b", "root": str(tmp_path), "dtype": "bfloat16", "device_map": "auto"}
    assert process_spec(entry, tmp_path) == ProcessSpec(MAKER, told, 4)
    assert entry.reply_settings == {"dtype": "bfloat16", "temperature": 1}


def test_batches_have_a_size_of_their_own_accord(tmp_path: Path) -> None:
    assert process_spec(read_entry(Model("local", "smollm2"), tmp_path, OPTIONS), tmp_path).batch == DEFAULT_BATCH


def test_an_alias_of_the_project_leads_to_the_model_behind_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.fcall.models.small]\nmodel = "local:smollm2"\n[tool.fcall.models."local:smollm2"]\ngrammar = "tools"\n'
    )
    entry = read_entry(Model("local", "small"), tmp_path, OPTIONS)
    assert (entry.name, entry.settings) == ("smollm2", {"grammar": "tools"})


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("dtype", "half", "must be one of auto, float32, bfloat16, float16"),
        ("batch", "0", "must be a positive integer"),
        ("grammar", "json", "must be one of tools, off"),
        ("max_new_tokens", "many", "must be a positive integer"),
        ("trust_remote_code", "yes", "must be true or false"),
        ("device_map", "gpu", "must be one of auto, balanced"),
        ("engine", "vllm", "must be one of static, continuous"),
        ("dtyp", "auto", "is not a setting; available: dtype, "),
    ],
)
def test_what_cannot_be_set_is_told_with_what_can(tmp_path: Path, key: str, value: str, wanted: str) -> None:
    with pytest.raises(SettingsError, match=f"`{key}` {wanted}"):
        settings(tmp_path, **{key: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("grammar", "tools"), ("temperature", "0.5"), ("repetition_penalty", "1.1"), ("device_map", "auto")],
)
def test_what_continuous_batching_cannot_do_is_told_at_once(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(
        SettingsError, match=f"^local:smollm2: `engine=continuous` does not support `{name}`; remove one"
    ):
        settings(tmp_path, engine="continuous", **{name: value})


def test_continuous_batching_is_for_what_is_neutral_to_it(tmp_path: Path) -> None:
    said = {"grammar": "off", "temperature": "0", "repetition_penalty": "1", "max_tokens": "9"}
    model = Model("local", "smollm2", {"engine": "continuous", **said})
    entry = read_entry(model, tmp_path, OPTIONS)
    assert process_spec(entry, tmp_path).options["engine"] == "continuous"
    assert "engine" not in entry.reply_settings


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({}, SamplingSettings()),
        ({"temperature": 0, "top_p": 0.5}, SamplingSettings()),
        ({"temperature": 0.5}, SamplingSettings(draw_options={"temperature": 0.5})),
        (
            {"temperature": 1, "top_k": 4, "seed": 3},
            SamplingSettings(draw_options={"temperature": 1, "top_k": 4}, seed=3),
        ),
        ({"max_new_tokens": 9}, SamplingSettings(max_tokens=9)),
        ({"max_new_tokens": 9, "max_tokens": 5}, SamplingSettings(max_tokens=5)),
        ({"grammar": "tools"}, SamplingSettings(grammar=True)),
        ({"grammar": "off", "dtype": "bfloat16", "tool_choice": "auto"}, SamplingSettings()),
        ({"temperature": None}, SamplingSettings()),
    ],
)
def test_a_request_says_how_tokens_are_chosen(said: dict[str, Json], meant: SamplingSettings) -> None:
    assert read_sampling(said) == meant


def test_what_a_model_draws_by_itself_is_overruled() -> None:
    drawing = SamplingSettings(draw_options={"temperature": 0.5}).generation_options()
    assert (drawing["do_sample"], drawing["temperature"], drawing["top_p"], drawing["top_k"]) == (True, 0.5, 1.0, 0)
    greedy = SamplingSettings().generation_options()
    assert greedy["do_sample"] is False
    assert "temperature" not in greedy


@pytest.mark.parametrize("said", [{"temperature": "warm"}, {"max_tokens": 0}, {"seed": -1}, {"grammar": True}])
def test_a_case_that_says_what_cannot_be_is_refused(said: dict[str, Json]) -> None:
    with pytest.raises(CaseRefused, match=f"`{next(iter(said))}` must be "):
        read_sampling(said)


def test_what_a_case_says_and_no_model_here_knows_is_told(tmp_path: Path) -> None:
    backend = local_backend(Model("local", "smollm2", {"dtype": "float32"}), tmp_path)
    request = Request((), settings={"dtype": "float32", "temperature": 1, "tool_choice": "auto", "device": "cuda"})
    assert backend.changes(request) == [
        f"`{name}` is ignored: a case cannot set it for a local model" for name in ("tool_choice", "device")
    ]
