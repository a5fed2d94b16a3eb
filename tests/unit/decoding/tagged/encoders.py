"""Calls written as the chat templates of each family write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from pytest_fcall.core import Call, Json

Encoder: TypeAlias = Callable[[Sequence[Call]], str]


def _object(call: Call, arguments: str = "arguments") -> str:
    return json.dumps({"name": call.name, arguments: call.arguments}, ensure_ascii=False)


def _list(calls: Sequence[Call]) -> str:
    return f"[{', '.join(map(_object, calls))}]"


def _bare(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def hermes(calls: Sequence[Call]) -> str:
    return "\n".join(f"<tool_call>\n{_object(call)}\n</tool_call>" for call in calls)


def qwen_coder(calls: Sequence[Call]) -> str:
    def one(call: Call) -> str:
        parameters = "".join(
            f"<parameter={key}>\n{_bare(value)}\n</parameter>\n" for key, value in call.arguments.items()
        )
        return f"<tool_call>\n<function={call.name}>\n{parameters}</function>\n</tool_call>"

    return "\n".join(map(one, calls))


def llama(calls: Sequence[Call]) -> str:
    return "; ".join(_object(call, "parameters") for call in calls)


def llama_python_tag(calls: Sequence[Call]) -> str:
    return f"<|python_tag|>{llama(calls)}<|eom_id|>" if calls else ""


def mistral(calls: Sequence[Call]) -> str:
    return "".join(f"[TOOL_CALLS]{call.name}[ARGS]{json.dumps(call.arguments)}" for call in calls) + "</s>"


def mistral_list(calls: Sequence[Call]) -> str:
    return f"[TOOL_CALLS] {_list(calls)}</s>"


def granite_3(calls: Sequence[Call]) -> str:
    return f"<|tool_call|>{_list(calls)}<|end_of_text|>"


def granite_20b(calls: Sequence[Call]) -> str:
    return "".join(f"<function_call> {_object(call)} " for call in calls)


def xlam(calls: Sequence[Call]) -> str:
    return _list(calls)


def xlam_fenced(calls: Sequence[Call]) -> str:
    return f"```json\n{_list(calls)}\n```" if calls else ""


def phi(calls: Sequence[Call]) -> str:
    return f"functools{_list(calls)}<|end|>"


def deepseek_v3(calls: Sequence[Call]) -> str:
    return _deepseek(
        f"function<｜tool▁sep｜>{call.name}\n```json\n{json.dumps(call.arguments, indent=2)}\n```" for call in calls
    )


def deepseek_v31(calls: Sequence[Call]) -> str:
    return _deepseek(f"{call.name}<｜tool▁sep｜>{json.dumps(call.arguments)}" for call in calls)


def _deepseek(bodies: Iterable[str]) -> str:
    inner = "".join(f"<｜tool▁call▁begin｜>{body}<｜tool▁call▁end｜>" for body in bodies)
    return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"


def deepseek_v32(calls: Sequence[Call]) -> str:
    def parameter(key: str, value: Json) -> str:
        is_string = json.dumps(isinstance(value, str))
        return f'<｜DSML｜parameter name="{key}" string="{is_string}">{_bare(value)}</｜DSML｜parameter>\n'

    def one(call: Call) -> str:
        parameters = "".join(parameter(key, value) for key, value in call.arguments.items())
        return f'<｜DSML｜invoke name="{call.name}">\n{parameters}</｜DSML｜invoke>\n'

    return f"<｜DSML｜function_calls>\n{''.join(map(one, calls))}</｜DSML｜function_calls>"


def kimi(calls: Sequence[Call]) -> str:
    inner = "".join(
        f"<|tool_call_begin|>functions.{call.name}:{number}<|tool_call_argument_begin|>"
        f"{json.dumps(call.arguments)}<|tool_call_end|>"
        for number, call in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|><|im_end|>"


def glm(calls: Sequence[Call]) -> str:
    def one(call: Call) -> str:
        pairs = "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{_bare(value)}</arg_value>\n"
            for key, value in call.arguments.items()
        )
        return f"\n<tool_call>{call.name}\n{pairs}</tool_call>"

    return "".join(map(one, calls)) + "<|observation|>"


def _gemma(quote: str, opening: str, closing: str) -> Encoder:
    def written(value: Json) -> str:
        if isinstance(value, str):
            return f"{quote}{value}{quote}"
        if isinstance(value, Mapping):
            return f"{{{','.join(f'{key}:{written(item)}' for key, item in value.items())}}}"
        if isinstance(value, Sequence):
            return f"[{','.join(map(written, value))}]"
        return json.dumps(value)

    return lambda calls: "".join(f"{opening}call:{call.name}{written(call.arguments)}{closing}" for call in calls)


functiongemma = _gemma("<escape>", "<start_function_call>", "<end_function_call>")
gemma4 = _gemma('<|"|>', "<|tool_call>", "<tool_call|>")


def glm4(calls: Sequence[Call]) -> str:
    return "<|assistant|>".join(f"{call.name}\n{json.dumps(call.arguments)}" for call in calls)


def harmony(calls: Sequence[Call]) -> str:
    return "<|start|>assistant".join(
        f"<|channel|>commentary to=functions.{call.name} <|constrain|>json<|message|>"
        f"{json.dumps(call.arguments)}<|call|>"
        for call in calls
    )


ENCODERS: Mapping[str, tuple[Encoder, ...]] = {
    "hermes": (hermes,),
    "qwen_coder": (qwen_coder,),
    "llama": (llama, llama_python_tag),
    "mistral": (mistral, mistral_list),
    "granite": (granite_3, granite_20b, hermes),
    "xlam": (xlam, xlam_fenced),
    "phi": (phi,),
    "deepseek": (deepseek_v3, deepseek_v31, deepseek_v32),
    "kimi": (kimi,),
    "glm": (glm,),
    "glm4": (glm4,),
    "functiongemma": (functiongemma,),
    "gemma4": (gemma4,),
    "harmony": (harmony,),
}
"""By decoder; a family may have several ways."""
