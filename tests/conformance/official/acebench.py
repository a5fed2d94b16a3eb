"""Answers questions by the code of ACEBench, on the standard library alone: a line of standard input, an answer out.

Runs in a process of its own, in the folder of a checkout. What asks models, or writes files, is stood in for.
"""

from __future__ import annotations

import json
import sys
import types
from contextlib import nullcontext
from importlib import import_module
from io import StringIO
from types import SimpleNamespace
from typing import Any


class _Workbook:
    """Keeps the cells of a table."""

    last: dict[tuple[int, int], object]

    def __init__(self) -> None:
        _Workbook.last = {}
        self.active = self

    def cell(self, row: int, column: int, value: object) -> SimpleNamespace:
        _Workbook.last[row, column] = value
        return SimpleNamespace()

    def save(self, _path: str) -> None:
        pass


class _Client:
    """Keeps what a model would be asked."""

    last: dict[str, Any]

    def __init__(self, **_named: object) -> None:
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(self, **request: Any) -> SimpleNamespace:
        _Client.last = request
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=""))])


def _module(name: str, **content: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(content)
    sys.modules[name] = module


class _Original:
    """The modules of the checkout, with what they need of other packages stood in for."""

    def __init__(self) -> None:
        _module("pandas")
        _module("openpyxl", Workbook=_Workbook)
        _module("openpyxl.styles", Alignment=lambda **_named: None)
        _module("openai", OpenAI=_Client)
        _module("dotenv", load_dotenv=lambda: None)
        _module("tqdm", tqdm=None)
        _module("wcwidth", wcswidth=None)
        sys.path.insert(0, ".")
        self._evaluation = import_module("eval_main")
        self._kept: list[list[Any]] = []
        vars(self._evaluation).update(
            OUTPUT_PATH="",
            language="en",
            save_score_as_json=lambda _name, rows, _folder: self._kept.append(rows),
            convert_result_to_excel=lambda *_given: None,
            open=lambda *_given, **_named: nullcontext(StringIO()),
        )

    def evaluate(self, category: str, **given: Any) -> object:
        """The head of a score file, and the ids and error types in it."""
        module = self._evaluation
        files = given["results"], given["questions"], given["truths"], category, "model"
        try:
            if "agent" in category:
                module.agent_eval(*files)
            elif "special" in category:
                module.special_eval(*files, {})
            elif "normal_multi_turn" in category:
                module.normal_multi_turn_eval(*files, {})
            else:
                module.normal_single_turn_eval(*files, {})
        except Exception as crash:
            return {"crash": type(crash).__name__}
        head, *wrong = self._kept.pop()
        return {**head, "wrong": [[row["id"], row["error_type"]] for row in wrong]}

    def table(self, scores: Any) -> object:
        """The row of a model in the table of all, by its titles."""
        self._evaluation.generate_result_csv({"model": scores}, "")
        cells = _Workbook.last
        return {str(cells[1, column]): cells[2, column] for row, column in cells if row == 1}

    def prompt(self, language: str, case: Any) -> object:
        """What a model is asked, as by `generate.py` without options."""
        inference = import_module("model_inference.apimodel_inference").APIModelInference
        given = SimpleNamespace(temperature=0.7, top_p=1, max_tokens=1200)  # its defaults
        asked = inference("gpt-4o", None, given.temperature, given.top_p, given.max_tokens, language=language)
        functions = [case["function"]] if isinstance(case["function"], dict | str) else case["function"]
        is_preference = "preference" in case["id"]
        time, profile = ("", case["profile"]) if is_preference else (case["time"], "")
        asked.inference(case["question"], functions, time, profile, case, case["id"])
        return _Client.last


def main() -> None:
    """Answer questions until the input ends."""
    original = _Original()
    for line in sys.stdin:
        asked = json.loads(line)
        answer = getattr(original, asked.pop("ask"))(**asked)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
