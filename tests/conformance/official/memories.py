"""Carries out calls on a memory as the official harness does, conversation by conversation. Runs in its environment.

One JSON line in is a memory with calls, `{"kind", "conversations"}`; one JSON line out is, for each conversation, what
a model is told of the memory at its beginning and what the calls came to, `[{"told", "results"}]`. On the standard
library alone: what memories import beside it, and these calls do not need, is stood in for.
"""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def conversations_of(kind: str, conversations: Sequence[Sequence[str]], folder: Path) -> list[dict[str, Any]]:
    execute = import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils").execute_multi_turn_func_call
    name = f"MemoryAPI_{kind}"
    told = []
    for number, calls in enumerate(conversations):
        entry = f"memory_{kind}_prereq_{number}-customer-{number}"
        config = {name: {"model_result_dir": folder, "scenario": "customer", "test_id": entry}}
        _, instances = execute([], config, [name], "model", entry)
        seen = instances[name]._dump_core_memory_to_context()
        results, _ = execute(calls, config, [name], "model", entry)
        instances[name]._flush_memory_to_local_file()
        told.append({"told": seen, "results": results})
    return told


def _module(name: str, **content: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(content)
    sys.modules[name] = module


def main() -> None:
    _module("overrides", final=lambda function: function)
    _module("filelock", FileLock=nullcontext)
    _module("rank_bm25", BM25Plus=None)
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        with TemporaryDirectory() as folder:
            os.environ["BFCL_PROJECT_ROOT"] = folder
            told = conversations_of(asked["kind"], asked["conversations"], Path(folder))
        sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
