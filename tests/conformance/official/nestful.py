"""Scores answers by the code of NESTFUL: a line of standard input, an answer out.

Runs in a process of its own, in the folder of a checkout, with scikit-learn; no function is executed.
"""

from __future__ import annotations

import json
import sys
import types
from importlib import import_module
from types import SimpleNamespace
from typing import Any


def _module(name: str, **content: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(content)
    sys.modules[name] = module


class _Tokenizer:
    """Keeps the messages that a template is filled with."""

    messages: list[Any]

    def apply_chat_template(self, messages: list[Any], *_functions: object, **_named: object) -> str:
        self.messages = messages
        return ""


def _scores(scorer: Any, model: str, rows: list[Any]) -> object:
    partial: list[float] = []

    def mean(shares: list[float]) -> float:
        partial.extend(map(float, shares))
        return 0

    scorer.statistics = SimpleNamespace(mean=mean)
    try:
        told = scorer.calculate_scores(rows, model, "", win_rate_flag=False)
    except Exception as crash:
        return {"crash": type(crash).__name__}
    return {
        "partial": partial,
        "full": told["percentage_times_full_score"],
        "unreadable": told["num_pred_examples_w_parsing_errors"],
        "f1": [told["f1_intent"], told["f1_slot"]],
    }


def _prompt(preparation: Any, row: Any) -> object:
    tokenizer = _Tokenizer()
    preparation.get_granite_tokenizer = lambda _model: tokenizer
    data = [{**row, **{key: json.dumps(row[key]) for key in ("tools", "gold_answer", "output")}}]
    preparation.get_instruct_data(data, "DeepSeek-V3", "DeepSeek-V3", 3)
    return tokenizer.messages


def main() -> None:
    """Answer questions until the input ends."""
    _module("jsonlines")
    _module("tqdm", tqdm=lambda items: items)
    _module("transformers", AutoTokenizer=None)
    sys.path.insert(0, "src")
    scorer, preparation = import_module("scorer"), import_module("instruct_data_prep")
    for line in sys.stdin:
        asked = json.loads(line)
        row = asked.get("prompt")
        answer = _prompt(preparation, row) if row else _scores(scorer, asked["model"], asked["rows"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
