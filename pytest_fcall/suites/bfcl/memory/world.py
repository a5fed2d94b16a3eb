"""A memory of the leaderboard as an environment: `pytest_fcall.suites.bfcl.memory.world:make`.

The official classes keep their memory in files in the working folder of the process.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.source_calls import OfficialCaller
from pytest_fcall.suites.bfcl.world import class_of


def make(kind: str, scenario: str, left: Json) -> Memory:
    """Make a memory, empty or with the content of an earlier one. Raises ImportError without its class."""
    folder = Path.cwd()
    os.environ["BFCL_PROJECT_ROOT"] = str(folder)  # the package makes folders when it is imported
    return Memory(_loaded(f"MemoryAPI_{kind}", f"memory_{kind}_prereq", scenario, left, folder))


class Memory:
    """An official memory, with its tools as methods. Results and errors are texts of the official harness.

    The conversation room reads `left`, the content of the memory, and `told`, the part that a model sees at the
    beginning of a conversation.
    """

    def __init__(self, instance: Any) -> None:
        self._instance = instance
        for name, tool in OfficialCaller("model", {type(instance).__name__: instance}).tools().items():
            setattr(self, name, tool)

    @property
    def left(self) -> Json:
        """The content of the memory."""
        self._instance._flush_memory_to_local_file()  # noqa: SLF001  # how its own harness does it
        written: Json = json.loads(self._instance.latest_snapshot_file.read_text())
        return written

    @property
    def told(self) -> object:
        """The part that a model sees."""
        return self._instance._dump_core_memory_to_context()  # noqa: SLF001  # how its own harness does it


def _loaded(name: str, category: str, scenario: str, left: Json, folder: Path) -> Any:
    """An instance. One with earlier content is the second of a chain, which reads the file of the first."""
    made = class_of(name)
    first, second = made(), made()
    setup = {"model_result_dir": folder, "scenario": scenario}
    first._load_scenario({**setup, "test_id": f"{category}_0-{scenario}-0"})  # noqa: SLF001  # as above
    if left is None:
        return first
    first.latest_snapshot_file.write_text(json.dumps(left))
    second._load_scenario({**setup, "test_id": f"{category}_1-{scenario}-1"})  # noqa: SLF001  # as above
    return second
