"""Shows a table of scores by the official command `bfcl scores`, on the standard library alone.

Runs in the official environment; what reads its command line, and asks vendors, is stood in for.
"""

from __future__ import annotations

import sys
import types
from importlib import import_module
from types import SimpleNamespace
from typing import Any


def _given_back(*_arguments: object, **_named: object) -> Any:
    return lambda function: function


def _printed(rows: object, headers: object, **_named: object) -> str:
    return repr({"headers": headers, "rows": rows})


def _module(name: str, **content: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(content)
    sys.modules[name] = module


class _App:
    command = staticmethod(_given_back)


def main() -> None:
    """Show the scores in the folder `score` of BFCL_PROJECT_ROOT."""
    group = SimpleNamespace(TyperGroup=object)
    _module("typer", core=group, Typer=lambda **_named: _App(), Option=lambda default=None, *_rest, **_named: default)
    _module("dotenv", load_dotenv=None)
    _module("tabulate", tabulate=_printed)
    _module("filelock", FileLock=None)
    _module("bfcl_eval._llm_response_generation", main=None)
    _module("bfcl_eval.eval_checker.eval_runner", main=None)
    _module("bfcl_eval.constants.model_config", MODEL_CONFIG_MAPPING={})
    import_module("bfcl_eval.__main__").scores(score_dir=None)


if __name__ == "__main__":
    main()
