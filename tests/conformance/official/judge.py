"""Asks the official checker. Runs in its environment, on the standard library alone.

One JSON line in is one question; one JSON line out is its answer. The official code runs as it is, from the raw answer
to the verdict; only what reaches for vendors' SDKs, and takes no part in that, is stood in for.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import types
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

_ABSENT = (
    "bfcl_eval.constants.model_config",
    "bfcl_eval.eval_checker.eval_runner_helper",
    "bfcl_eval.model_handler.base_handler",
    "dotenv",
    "filelock",
    "openai",
    "tenacity",
    "tqdm",
)
_MODELS = {
    "dotted": SimpleNamespace(underscore_to_dot=False),
    "underscored": SimpleNamespace(underscore_to_dot=True),
}


class _Anything:
    """Stands for a base class, a decorator or a type of a module that is not there."""

    def __init__(self, *_arguments: object, **_named: object) -> None: ...

    def __call__(self, *arguments: object) -> object:
        return arguments[0]


class _Absent(types.ModuleType):
    __all__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _MODELS if name == "MODEL_CONFIG_MAPPING" else _Anything


class Official:
    """The official code from raw answers to verdicts."""

    def __init__(self) -> None:
        sys.modules.update({name: _Absent(name) for name in _ABSENT})
        # The package makes folders on import, beside itself unless told otherwise.
        with tempfile.TemporaryDirectory() as folder:
            os.environ["BFCL_PROJECT_ROOT"] = folder
            self._runner = import_module("bfcl_eval.eval_checker.eval_runner")
        self._conversations = 0
        self._utils = import_module("bfcl_eval.utils")
        self._enums = import_module("bfcl_eval.constants.enums")
        self._handler = import_module(
            "bfcl_eval.model_handler.api_inference.openai_completion"
        ).OpenAICompletionsHandler

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Decode and judge. `decoded` is the repr of what the decoder gave, None where it raised."""
        decoding = _Decoding(self.handler(question["style"]))
        try:
            entry = self.prepared(decoding, question)()
        except Exception as crash:  # the official run would end here
            entry = {"valid": False, "error_type": f"case_error:{type(crash).__name__}"}
        error = entry.get("error")
        told = error if isinstance(error, dict) else entry
        return {"decoded": decoding.seen, "valid": entry["valid"], "error_type": told.get("error_type")}

    def handler(self, style: str) -> Any:
        """Give who decodes answers of this style."""
        if style == "calls":
            return _Given()
        handler = object.__new__(self._handler)
        handler.is_fc_model = style == "fc"
        return handler

    def prepared(self, handler: Any, question: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        """Give the official way from the raw answer to its entry in the score file, ready to go."""
        category, raw = question["category"], question["raw"]
        model = "underscored" if question["underscored"] else "dotted"
        prompt = {"function": question["functions"], **(question["entry"] or {})}
        if self._utils.is_multi_turn(category):
            # The official code keeps the worlds of each model and entry for ever.
            self._conversations += 1
            model = f"model_{self._conversations}"
            evaluate = self._runner._evaluate_single_multi_turn_entry
            return partial(evaluate, handler, prompt["id"], raw, question["truth"], prompt, model, category)
        if self._utils.is_agentic(category):
            evaluate = self._runner._evaluate_single_agentic_entry
            return partial(evaluate, handler, "0", raw, question["truth"], {"question": []}, model, category)
        if self._utils.is_relevance_or_irrelevance(category):
            return partial(self._runner._evaluate_single_relevance_entry, handler, "0", raw, prompt, model, category)
        language = self._language(category)
        return partial(
            self._runner._evaluate_single_ast_entry,
            handler,
            "0",
            raw,
            question["truth"],
            prompt,
            model,
            category,
            self._enums.Language(language),
            self._enums.ReturnFormat(question["format"] or language),
            question["tags"],
        )

    def _language(self, category: str) -> str:
        if self._utils.is_java(category):
            return "java"
        return "javascript" if self._utils.is_js(category) else "python"


class _Given:
    """Takes the answer for decoded already."""

    def decode_ast(self, result: object, *_format: object, **_named: object) -> object:
        return result

    def decode_execute(self, result: object, has_tool_call_tag: bool) -> object:
        return result


class _Decoding:
    """Looks over a handler's shoulder, since the official run keeps what it decoded to itself."""

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self.seen: str | None = None

    def decode_ast(self, result: object, language: object, has_tool_call_tag: bool) -> object:
        decoded = self._handler.decode_ast(result, language, has_tool_call_tag)
        self.seen = repr(decoded)
        return decoded

    def decode_execute(self, result: object, has_tool_call_tag: bool) -> object:
        return self._handler.decode_execute(result, has_tool_call_tag)


def main() -> None:
    """Answer until there are no more questions. What the official code prints must not mix with the answers."""
    answers, sys.stdout = sys.stdout, sys.stderr
    official = Official()
    for line in sys.stdin:
        print(json.dumps(official.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
