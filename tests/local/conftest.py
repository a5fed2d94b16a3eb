from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_fcall.backends.local.answerer import Answerer
    from pytest_fcall.core import Json

if find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Sums come out the same, and runs side by side do not wait for each other."""
    import_module("torch").set_num_threads(1)


@pytest.fixture(scope="session")
def forked() -> None:
    """Runs inside tests are new processes: one that has loaded torch must not be forked."""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model."""
    from tests.local.tiny import write_tiny

    return write_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def load(tiny: Path) -> Callable[..., Answerer]:
    """Loads the tiny model as an entry would."""
    from pytest_fcall.backends.local.assembly import make_answerer

    def loaded(**options: Json) -> Answerer:
        return make_answerer({"name": str(tiny), "root": "/", "device": "cpu", **options})

    return loaded


@pytest.fixture(scope="session")
def model(load: Callable[..., Answerer]) -> Answerer:
    """The tiny model in memory."""
    return load()


@pytest.fixture(scope="session")
def adapter(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter that changes what the tiny model says."""
    if find_spec("peft") is None:
        pytest.skip("peft is not installed")
    torch, peft, transformers = map(import_module, ("torch", "peft", "transformers"))
    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("adapter")
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM")
    peft.get_peft_model(transformers.AutoModelForCausalLM.from_pretrained(tiny), config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for what is converted once, which takes half a minute. Somebody has been killed there."""
    from pytest_fcall.backends.local.loaded_model import conversion_cache, conversion_folder
    from pytest_fcall.backends.local.weights import find_weights

    home = tmp_path_factory.mktemp("cache")
    unfinished = conversion_folder(find_weights("smollm2"), "float32", conversion_cache({"XDG_CACHE_HOME": str(home)}))
    unfinished.with_suffix(".part").mkdir(parents=True)
    (unfinished.with_suffix(".part") / "model.safetensors").write_bytes(b"half")
    return home


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a package impossible to import."""

    def hide(package: str) -> None:
        monkeypatch.setitem(sys.modules, package, None)

    return hide
