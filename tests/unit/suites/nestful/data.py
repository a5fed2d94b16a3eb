"""A checkout of NESTFUL, made up, with questions about sums."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CODE = """
import torch_that_is_not_here


def other(input):
    system_prompt = "no"


def deepseek_prompt_input(input, function, icl_str):
    BASE_MODEL = "never loaded"
    system_prompt = "Functions:\\n" + json.dumps(function) + "\\nExamples:\\n" + icl_str + "\\n"
"""
TOOLS = [
    {
        "name": name,
        "description": f"Does {name}.",
        "parameters": {"arg_0": {"type": "int or float"}, "arg_1": {"type": "int or float"}},
        "output_parameters": {"result": {"type": "int or float"}},
    }
    for name in ("add", "multiply")
]
RIGHT = [
    {"name": "add", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}},
    {"name": "multiply", "label": "$var_2", "arguments": {"arg_0": "$var_1.result$", "arg_1": 4}},
]
ROW = {"sample_id": "a-1", "input": "(2 + 3) * 4?", "output": RIGHT, "tools": TOOLS, "gold_answer": 20}


def write(folder: Path, *rows: Mapping[str, Any], examples: Sequence[Any] = (ROW,)) -> Path:
    """Write a checkout; returns the file of its questions."""
    file = folder / "data_v2" / "nestful_data.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "instruct_data_prep.py").write_text(CODE, encoding="utf-8")
    (folder / "src" / "icl_examples.json").write_text(json.dumps(examples), encoding="utf-8")
    return file
