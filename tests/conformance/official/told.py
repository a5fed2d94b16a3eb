"""Writes, a line a case, what the official harness tells models: the messages in prompt mode.

Runs in the official environment, with the categories as arguments.
"""

from __future__ import annotations

import copy
import json
import sys
from contextlib import nullcontext
from importlib import import_module

from tests.conformance.official.judge import Official


def main() -> None:
    """Print a JSON object for each case."""
    Official()  # stands in for what the environment lacks
    utils = import_module("bfcl_eval.utils")
    vars(utils)["_get_file_lock"] = lambda _: nullcontext()
    telling = import_module("bfcl_eval.model_handler.utils")
    for category in sys.argv[1:]:
        for entry in utils.load_dataset_entry(category):
            functions, asked = entry["function"], copy.deepcopy(entry["question"][0])
            messages = telling.system_prompt_pre_processing_chat_model(asked, functions, entry["id"])
            sys.stdout.write(json.dumps({"id": entry["id"], "messages": messages}) + "\n")


if __name__ == "__main__":
    main()
