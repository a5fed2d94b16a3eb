"""Writes the leaderboard's tables by the official harness, from rows of results and counts of right answers.

Runs in the official environment. The SDKs of vendors, which its table of models imports, are stood in for.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path

_STOOD_IN = ("bfcl_eval.model_handler.", "pandas", "tqdm", "filelock", "overrides", "dotenv")


def _itself(standin: object) -> object:
    return standin


def _nothing(*_given: object) -> None:
    """Stands in for what gives nothing."""


class _Standin(types.ModuleType):
    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": _nothing, "__enter__": _itself, "__exit__": _nothing})


class _Standins(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if fullname.startswith(_STOOD_IN) else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _Standin(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def main() -> None:
    """Write the tables of the models that standard input tells, into a folder for each list of them."""
    sys.meta_path.insert(0, _Standins())
    helper = import_module("bfcl_eval.eval_checker.eval_runner_helper")
    # The harness reads a whole category to count it, for each model that was not asked it.
    vars(helper)["load_dataset_entry"] = cache(helper.load_dataset_entry)
    for folder, models in json.load(sys.stdin).items():
        table: dict[str, dict[str, object]] = {}
        for model in models:
            helper.record_cost_latency(table, model["name"], model["results"])
            table[model["name"]] |= model["heads"]
        helper.generate_leaderboard_csv(table, Path(folder))


if __name__ == "__main__":
    main()
