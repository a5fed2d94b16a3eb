from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from pytest_fcall.conversation.environments.context import EnvironmentContext
from pytest_fcall.conversation.environments.environment import open_environment
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core import CallResult, ConversationSettings, Json, Tool

CONSTANTS = """
CLASS_FILE_PATH_MAPPING = {"Shop": "bfcl_eval.shop", "Desk": "bfcl_eval.desk", "Memory": "bfcl_eval.memory"}
STATELESS_CLASSES = ["Desk"]
OMIT_STATE_INFO_CLASSES = ["Memory"]
"""
SHOP = """
class Shop:
    def _load_scenario(self, scenario, long_context=False):
        self.stock = scenario.get("stock", []) + (["more"] if long_context else [])
        self._secret = 1

    def buy(self):
        return {"bought": self.stock.pop()}

    def opens(self):
        return 9
"""
DESK = """
class Desk:
    def opens(self):
        return 10
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of the official one's form."""
    folder = tmp_path / "bfcl_eval"
    (folder / "constants").mkdir(parents=True)
    files = {"constants/executable_backend_config": CONSTANTS, "shop": SHOP, "desk": DESK}
    for name, text in {**files, "__init__": "", "constants/__init__": ""}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def called(setup: dict[str, Json], *tools: str) -> list[CallResult]:
    async def run() -> list[CallResult]:
        settings = ConversationSettings("pytest_fcall.suites.bfcl.world:make", setup)
        environment = await open_environment(
            settings, [Tool(name) for name in tools], EnvironmentContext(Path(), Path())
        )
        try:
            return [*[await environment.call(tool, {}) for tool in tools], await environment.state()]
        finally:
            await environment.close()

    return asyncio.run(run())


@pytest.mark.usefixtures("package")
def test_methods_of_all_classes_are_the_tools_and_the_instances_the_state() -> None:
    setup: dict[str, Json] = {"classes": ["Shop", "Desk"], "config": {"Shop": {"stock": ["pear", "fig"]}}}
    expected: list[Json] = [{"bought": "fig"}, 10, {"Desk": {}, "Shop": {"stock": ["pear"]}}]
    assert called(setup, "buy", "opens") == [CallResult(value) for value in expected]
    assert called({**setup, "classes": ["Desk", "Shop"], "long_context": True}, "opens", "buy")[:2] == [
        CallResult(9),
        CallResult({"bought": "more"}),
    ]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("name", ["Stop", "Memory", "_Shop"])
def test_a_class_that_cannot_be_called_is_told_of(name: str) -> None:
    with pytest.raises(EnvironmentFailed, match=f"'{name}' of BFCL that can be called here; available: Shop, Desk"):
        called({"classes": [name]})


def test_a_missing_package_is_named_with_what_installs_it() -> None:
    with pytest.raises(EnvironmentFailed, match="pip install --no-deps bfcl-eval mpmath"):
        called({"classes": ["GorillaFileSystem"]})
