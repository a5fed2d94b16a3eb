"""`grammar=tools`: the model can write nothing but calls of the offered tools, or none.

The form of the answer depends on the decoder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pytest_fcall.backends.local.libraries import import_library, one_line
from pytest_fcall.backends.local.loaded_model import LoadedModel
from pytest_fcall.core.backend import CaseRefused
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json

AnswerForm: TypeAlias = Callable[[Sequence[Tool]], Mapping[str, Json]]
"""Makes the form of an answer for the offered tools."""


def json_schema(schema: Json, *without: str) -> dict[str, Json]:
    """A value of the schema, with ordinary white space.

    Its strings contain none of `without`, unless the schema limits their length: xgrammar supports only one of both.
    """
    form: dict[str, Json] = {"type": "json_schema", "json_schema": schema, "max_whitespace_cnt": 1}
    return {**form, "excludes": list(without)} if without and "Length" not in canonical(schema) else form


def tag(begin: str, content: Json, end: str) -> dict[str, Json]:
    """A content between two marks."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def any_text(*without: str) -> dict[str, Json]:
    """Any text that contains none of these."""
    return {"type": "any_text", "excludes": list(without)}


def tags_in_text(trigger: str, tags: Sequence[Json], *without: str) -> dict[str, Json]:
    """Any text, in which only one of `tags` may begin with `trigger`."""
    return {"type": "triggered_tags", "triggers": [trigger], "tags": list(tags), "excludes": list(without)}


def deepseek_form(tools: Sequence[Tool]) -> Mapping[str, Json]:
    """DeepSeek V3.1's form: a section of calls, each a name and JSON."""
    begin = "<｜tool▁call▁begin｜>"
    calls = [
        tag(f"{begin}{tool.name}<｜tool▁sep｜>", json_schema(tool.parameters), "<｜tool▁call▁end｜>") for tool in tools
    ]
    return _section("<｜tool▁calls▁begin｜>", calls, "<｜tool▁calls▁end｜>", begin, "<｜DSML｜")


def kimi_form(tools: Sequence[Tool]) -> Mapping[str, Json]:
    """Kimi's form: a section of calls, each a name with a number, and JSON."""
    begin = "<|tool_call_begin|>"
    calls = []
    for tool in tools:
        elements: Sequence[Json] = [
            {"type": "regex", "pattern": "[0-9]{1,3}"},
            {"type": "const_string", "value": "<|tool_call_argument_begin|>"},
            json_schema(tool.parameters),
        ]
        content: Json = {"type": "sequence", "elements": elements}
        calls.append(tag(f"{begin}functions.{tool.name}:", content, "<|tool_call_end|>"))
    return _section("<|tool_calls_section_begin|>", calls, "<|tool_calls_section_end|>", begin)


def _section(begin: str, calls: Sequence[Json], end: str, *without: str) -> Mapping[str, Json]:
    """A section of calls anywhere in a text, which has no calls elsewhere."""
    section: Json = {"type": "tags_with_separator", "tags": calls, "separator": "", "at_least_one": True}
    return tags_in_text(begin, [tag(begin, section, end)], *without)


def harmony_form(tools: Sequence[Tool]) -> Mapping[str, Json]:
    """Harmony's form: optional reasoning, then a call or a text. A token that ends the answer ends either."""
    marks = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|call|>", "<|return|>")
    reasoning = tag("<|channel|>analysis<|message|>", any_text(*marks), "<|end|><|start|>assistant")
    calls = [
        tag(
            f"<|channel|>commentary to=functions.{tool.name} <|constrain|>json<|message|>",
            json_schema(tool.parameters, *marks),
            "",
        )
        for tool in tools
    ]
    answer = tag("<|channel|>final<|message|>", any_text(*marks), "")
    call_or_text: Json = {"type": "or", "elements": [*calls, answer]}
    return {"type": "sequence", "elements": [{"type": "optional", "content": reasoning}, call_or_text]}


_MAX_CALLS = 8
"""A model that makes more calls repeats itself without end."""


def _call_list(tools: Sequence[Tool], key: str = "arguments", least: int = 0) -> Mapping[str, Json]:
    """A JSON list of calls."""
    return json_schema(
        {
            "type": "array",
            "minItems": least,
            "maxItems": _MAX_CALLS,
            "items": {"anyOf": [_call(tool, number, key) for number, tool in enumerate(tools)]},
            "$defs": {
                str(number): _with_moved_references(tool.parameters, number) for number, tool in enumerate(tools)
            },
        }
    )


def _call_object(tool: Tool, key: str) -> Mapping[str, Json]:
    """A JSON object that is a call of `tool`."""
    return json_schema({**_call(tool, 0, key), "$defs": {"0": _with_moved_references(tool.parameters, 0)}})


def _call(tool: Tool, number: int, key: str) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, key: {"$ref": f"#/$defs/{number}"}},
        "required": ["name", key],
        "additionalProperties": False,
    }


def _with_moved_references(schema: Json, number: int) -> Json:
    """The schema with its references changed for its place among the definitions of a larger one."""
    if isinstance(schema, Mapping):
        return {
            key: f"#/$defs/{number}{value[1:]}"
            if key == "$ref" and isinstance(value, str) and value.startswith("#")
            else _with_moved_references(value, number)
            for key, value in schema.items()
        }
    return [_with_moved_references(item, number) for item in schema] if isinstance(schema, list | tuple) else schema


def _bare_list(tools: Sequence[Tool]) -> Mapping[str, Json]:
    return _call_list(tools)


def _between_marks(begin: str, end: str) -> AnswerForm:
    """Each call between marks, anywhere in a text."""

    def form(tools: Sequence[Tool]) -> Mapping[str, Json]:
        return {
            "type": "triggered_tags",
            "triggers": [begin.rstrip()],
            "tags": [tag(begin, {"type": "or", "elements": [_call_object(tool, "arguments") for tool in tools]}, end)],
        }

    return form


def _after_mark(mark: str, key: str = "arguments") -> AnswerForm:
    """A list of calls after a mark, at the end of a text."""

    def form(tools: Sequence[Tool]) -> Mapping[str, Json]:
        return {
            "type": "triggered_tags",
            "triggers": [mark],
            "tags": [tag(mark, _call_list(tools, key, 1), "")],
            "stop_after_first": True,
        }

    return form


def _llama(tools: Sequence[Tool]) -> Mapping[str, Json]:
    calls: Json = {
        "type": "tags_with_separator",
        "tags": [tag("", _call_object(tool, "parameters"), "") for tool in tools],
        "separator": "; ",
        "at_least_one": True,
    }
    return {"type": "or", "elements": [calls, {"type": "any_text", "excludes": ['{"name"', "<|python_tag|>"]}]}


ANSWER_FORMS: Final[Mapping[str, AnswerForm]] = MappingProxyType(
    {
        "json": _bare_list,
        "auto": _bare_list,
        "xlam": _bare_list,
        "hermes": _between_marks("<tool_call>\n", "\n</tool_call>"),
        "llama": _llama,
        "mistral": _after_mark("[TOOL_CALLS]"),
        "granite": _after_mark("<|tool_call|>"),
        "phi": _after_mark("functools"),
        "deepseek": deepseek_form,
        "kimi": kimi_form,
        "harmony": harmony_form,
    }
)


def answer_form(decoder: str, tools: Sequence[Tool]) -> Mapping[str, Json]:
    """The form of answers that a decoder reads. Raises CaseRefused where there is none."""
    if decoder not in ANSWER_FORMS:
        raise CaseRefused(
            f"`grammar` is not available for the decoder {decoder!r}; available: {', '.join(ANSWER_FORMS)}"
        )
    return ANSWER_FORMS[decoder](tools)


_CACHED_GRAMMARS = 256
"""A grammar takes up to a second to compile, and many cases offer the same tools."""


class Grammars:
    """Grammars of answers in the form that `decoder` reads."""

    def __init__(self, loaded: LoadedModel, decoder: str) -> None:
        self._loaded = loaded
        self._decoder = decoder
        self._compiler: Any = None
        self._grammars: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The library and its version, which are stored with a reply."""
        return f"tools, xgrammar {version('xgrammar')}"

    def constraint(self, offered: Sequence[Sequence[Tool]]) -> GrammarConstraint:
        """The constraint of one batch, from the tools of each prompt. Prompts without tools are not constrained.

        Raises ModelUnavailable without xgrammar, and CaseRefused where there is no grammar.
        """
        return GrammarConstraint([self._grammar(tools) if tools else None for tools in offered])

    def _grammar(self, tools: Sequence[Tool]) -> Any:
        key = canonical([[tool.name, tool.parameters] for tool in tools])
        if key not in self._grammars:
            if len(self._grammars) == _CACHED_GRAMMARS:
                del self._grammars[next(iter(self._grammars))]
            self._grammars[key] = self._compiled(answer_form(self._decoder, tools))
        return self._grammars[key]

    def _compiled(self, form: Mapping[str, Json]) -> Any:
        xgrammar = import_library("xgrammar", "`grammar` needs")
        if self._compiler is None:
            self._compiler = xgrammar.GrammarCompiler(
                xgrammar.TokenizerInfo.from_huggingface(
                    self._loaded.tokenizer,
                    vocab_size=self._loaded.model.config.get_text_config().vocab_size,
                    stop_token_ids=sorted(self._loaded.end_tokens),
                )
            )
        try:
            if form["type"] == "json_schema":  # only this method can require the usual spaces
                return self._compiler.compile_json_schema(json.dumps(form["json_schema"]), any_whitespace=False)
            return self._compiler.compile_structural_tag(json.dumps({"type": "structural_tag", "format": form}))
        except (RuntimeError, ValueError) as error:
            raise CaseRefused(f"no grammar can be made for the tools: {one_line(error)}") from None


class GrammarConstraint:
    """Excludes the tokens with which no answer of the grammar could continue, for one batch."""

    def __init__(self, grammars: Sequence[Any]) -> None:
        self._xgrammar = import_library("xgrammar", "`grammar` needs")
        self._matchers = [self._xgrammar.GrammarMatcher(each) if each is not None else None for each in grammars]
        self._begun = False

    def __call__(self, ids: Any, scores: Any) -> Any:
        """Accept the tokens that were chosen last, and exclude those that cannot follow."""
        allowed = self._xgrammar.allocate_token_bitmask(len(self._matchers), scores.shape[-1])
        for row, matcher in enumerate(self._matchers):
            if matcher is None:
                continue
            # A finished row is padded with tokens that do not belong to its answer.
            if matcher.is_terminated() or (self._begun and not matcher.accept_token(int(ids[row, -1]))):
                self._matchers[row] = None
            elif not matcher.is_terminated():
                matcher.fill_next_token_bitmask(allowed, row)
        self._begun = True
        device = scores.device
        if device.type not in ("cpu", "cuda"):
            scores = scores.cpu()
        self._xgrammar.apply_token_bitmask_inplace(scores, allowed.to(scores.device))
        return scores.to(device)
