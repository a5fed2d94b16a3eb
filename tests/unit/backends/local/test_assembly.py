"""Loading, as far as it comes without the large libraries."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_fcall.backends.local.assembly import make_answerer
from pytest_fcall.core import ModelUnavailable
from tests.unit.backends.local.test_memory import write_head


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_it_is_told_how_to_install_it(tmp_path: Path) -> None:
    write_head(tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match=r'local models need torch.*pip install "pytest-fcall\[local\]"'):
        make_answerer({"name": str(tmp_path), "root": "/"})


def test_weights_are_looked_for_first(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="the weights of nowhere are not on this machine"):
        make_answerer({"name": "nowhere", "root": str(tmp_path)})


def test_an_adapter_is_looked_for_before_anything_large_is_loaded(tmp_path: Path) -> None:
    write_head(tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    asked = {"name": str(tmp_path), "root": str(tmp_path)}
    with pytest.raises(ModelUnavailable, match="the adapter tuned is not on this machine; searched in the folder"):
        make_answerer({**asked, "adapter": "tuned"})
    with pytest.raises(ModelUnavailable, match=r"is not an adapter: it has no adapter_config\.json"):
        make_answerer({**asked, "adapter": "."})
