"""Writes, a line a case, what the official harness tells models in each turn, in prompt mode.

Runs in the official environment, with the categories as arguments. What its loop does between requests is done here.
"""

from __future__ import annotations

import copy
import json
import sys
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from tests.conformance.official.judge import Official

SLOT = "{memory_content}"


class Memory:
    """Stands for a memory, whose content is not known yet."""

    def _dump_core_memory_to_context(self) -> str:
        return SLOT


class Teller:
    """The official words for cases of several requests."""

    def __init__(self) -> None:
        Official()  # stands in for what the environment lacks
        self._telling = import_module("bfcl_eval.model_handler.utils")
        self._words = import_module("bfcl_eval.constants.default_prompts")

    def instruct(self, category: str, entry: dict[str, Any]) -> None:
        """Tell of the memory, which the harness does when a conversation begins."""
        if "memory" in category:
            self._telling.add_memory_instruction_system_prompt(entry["question"], category, entry["scenario"], Memory())

    def prompted(self, entry: dict[str, Any]) -> list[list[dict[str, Any]]]:
        turns: list[list[dict[str, Any]]] = copy.deepcopy(entry["question"])
        turns[0] = self._telling.system_prompt_pre_processing_chat_model(turns[0], entry["function"], entry["id"])
        for number, new in entry.get("missed_function", {}).items():
            said = self._words.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING.format(functions=new)
            turns[int(number)] = self._said(said)
        return turns

    def _said(self, text: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": text}]


def main() -> None:
    """Print a JSON object for each case."""
    teller = Teller()
    utils = import_module("bfcl_eval.utils")
    vars(utils)["_get_file_lock"] = lambda _: nullcontext()
    for category in sys.argv[1:]:
        for entry in utils.load_dataset_entry(category):
            teller.instruct(category, entry)
            told = {"id": entry["id"], "prompted": teller.prompted(entry)}
            sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
