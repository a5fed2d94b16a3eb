"""From folders into memory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.local import loaded_model
from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.core import ModelUnavailable
from tests.local.asking import say
from tests.local.tiny import write_tiny

Load = Callable[..., Answerer]


def test_an_engine_says_what_answers(model: Answerer, tiny: Path) -> None:
    about = model.engine.about
    assert about["weights"] == str(tiny)
    assert (about["dtype"], about["device"]) == ("float32", "cpu")
    assert about["torch"] == import_module("torch").__version__
    assert about["transformers"] == import_module("transformers").__version__


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_numbers_are_of_the_type_that_is_asked_for(load: Load, dtype: str) -> None:
    model = load(dtype=dtype)
    assert model.engine.about["dtype"] == dtype
    assert say(model, "Hi", max_tokens=2)


def test_a_device_map_is_handed_on(load: Load) -> None:
    model = load(device_map="auto")
    assert say(model, "Hi", max_tokens=2)[0].output_tokens == 2


@pytest.mark.parametrize(("device", "told"), [("cuda:9", "the device 'cuda:9' cannot be used"), ("tape", "'tape'")])
def test_a_device_that_is_not_there_is_named(load: Load, device: str, told: str) -> None:
    with pytest.raises(ModelUnavailable, match=told):
        load(device=device)


def test_a_model_without_room_says_how_much_it_needs_and_what_helps(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded_model, "free_bytes", lambda *_, **__: 1000)
    with pytest.raises(
        ModelUnavailable, match=r"the model needs about 0\.\d GB of memory, 0\.0 GB are free on cpu; dtype=bfloat16"
    ):
        load()
    with pytest.raises(ModelUnavailable, match="are free on all devices together; device_map=auto spreads it"):
        load(device_map="auto", dtype="bfloat16")


def test_memory_that_runs_out_while_loading_is_told(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(**_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(import_module("transformers").AutoModelForCausalLM, "from_pretrained", short)
    with pytest.raises(ModelUnavailable, match="out of memory on cpu while the model was loaded"):
        load()


def test_code_that_comes_with_a_model_runs_only_when_it_is_asked_for(tiny: Path, load: Load, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(tiny, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "own",
        "architectures": ["OwnForCausalLM"],
        "auto_map": {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnForCausalLM"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        "class OwnConfig(LlamaConfig):\n    model_type = 'own'\n"
        "class OwnForCausalLM(LlamaForCausalLM):\n    config_class = OwnConfig\n"
    )
    with pytest.raises(ModelUnavailable, match=r"needs custom code in .*: review it, then set trust_remote_code"):
        load(name=str(folder))
    assert not (tmp_path / "ran").exists()
    say(load(name=str(folder), trust_remote_code=True), "Hi", max_tokens=1)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_library_that_is_missing_is_named_with_what_installs_it(
    load: Load, without: Callable[[str], None], package: str
) -> None:
    without(package)
    with pytest.raises(ModelUnavailable, match=rf'local models need {package}.*pip install "pytest-fcall\[local\]"'):
        load()


# peft asks transformers for things by their old names.
adapting = pytest.mark.filterwarnings("ignore::FutureWarning")


@adapting
def test_an_adapter_changes_the_answer_and_is_named(model: Answerer, load: Load, adapter: Path) -> None:
    adapted = load(adapter=str(adapter))
    assert say(adapted, "Hi", max_tokens=8)[0].text != say(model, "Hi", max_tokens=8)[0].text
    assert adapted.engine.about["adapter"] == str(adapter)


@adapting
def test_an_adapter_without_peft_says_what_is_missing(
    load: Load, adapter: Path, without: Callable[[str], None]
) -> None:
    without("peft")
    with pytest.raises(ModelUnavailable, match=r"adapters need peft, which is not installed; .* pip install peft"):
        load(adapter=str(adapter))


@adapting
def test_an_adapter_of_another_model_is_told_not_to_fit(load: Load, adapter: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(adapter, broken)
    (broken / "adapter_model.safetensors").write_bytes(b"\0")
    with pytest.raises(ModelUnavailable, match=r"the adapter .* does not fit"):
        load(adapter=str(broken))


def test_a_template_of_the_project_stands_for_the_models_own(load: Load, tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("{{ messages[-1].content }} {{ tools }}>")
    model = load(root=str(tmp_path), template="own.jinja")
    from tests.local.asking import WEATHER, requests

    assert model.prompt(requests((WEATHER,))[1]).text.startswith("Hi [")


def test_a_model_may_end_its_answers_in_several_ways(load: Load, tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ends"
    shutil.copytree(tiny, folder)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 5], "do_sample": True}))
    engine: Any = load(name=str(folder)).engine
    assert engine._rows.end_tokens == {1, 2, 5}
    assert engine._grammars._loaded.end_tokens == {1, 2, 5}


def test_other_weights_give_other_answers(model: Answerer, load: Load, tmp_path: Path) -> None:
    other = load(name=str(write_tiny(tmp_path, seed=1)))
    assert say(other, "Hi", max_tokens=8)[0].text != say(model, "Hi", max_tokens=8)[0].text
