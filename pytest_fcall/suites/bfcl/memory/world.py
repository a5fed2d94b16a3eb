"""A memory of the leaderboard's as an environment: `pytest_fcall.suites.bfcl.memory.world:make`.

The official classes hand their memory on in files, which are in the folder of the process that they run in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.source_calls import OfficialCaller, call_source
from pytest_fcall.suites.bfcl.world import class_of


def make(kind: str, scenario: str, left: Json) -> Memory:
    """Make the memory of this kind, empty or with what was left in another one. Raises ImportError, in words."""
    folder = Path.cwd()
    os.environ["BFCL_PROJECT_ROOT"] = str(folder)  # the package makes folders when it is imported
    return Memory(_loaded(f"MemoryAPI_{kind}", f"memory_{kind}_prereq", scenario, left, folder))


class Memory:
    """Has the tools as methods: they say what the official harness says.

    `left` is what is in the memory, and `told` what a model sees of it when a conversation begins.
    """

    def __init__(self, instance: Any) -> None:
        self._instance = instance
        callees = OfficialCaller("model", {type(instance).__name__: instance})
        for name in callees.names:
            setattr(self, name, _called(callees, name))

    @property
    def left(self) -> Json:
        """What is in it."""
        self._instance._flush_memory_to_local_file()  # noqa: SLF001  # how its own harness does it
        written: Json = json.loads(self._instance.latest_snapshot_file.read_text())
        return written

    @property
    def told(self) -> object:
        """What a model sees of it."""
        return self._instance._dump_core_memory_to_context()  # noqa: SLF001  # likewise


def _called(callees: OfficialCaller, name: str) -> Callable[..., str]:
    return lambda **arguments: callees.result_of(call_source(name, arguments))


def _loaded(name: str, category: str, scenario: str, left: Json, folder: Path) -> Any:
    """An instance; the second of a chain reads what the first one left, so there may be a first one for its file."""
    made = class_of(name)
    first, second = made(), made()
    setup = {"model_result_dir": folder, "scenario": scenario}
    first._load_scenario({**setup, "test_id": f"{category}_0-{scenario}-0"})  # noqa: SLF001  # as above
    if left is None:
        return first
    first.latest_snapshot_file.write_text(json.dumps(left))
    second._load_scenario({**setup, "test_id": f"{category}_1-{scenario}-1"})  # noqa: SLF001  # as above
    return second
