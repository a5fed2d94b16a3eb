"""What DSPy writes into Chat Completions: fields with headings, one step at a time."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.frameworks.wire_forms.question import Question, Said, text_of

_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]\n(.*?)(?=\n\[\[ ## |\Z)", re.DOTALL)
_TOOL = re.compile(r"\(\d+\) (\w+), whose description is")


def are_asked_for(body: Any) -> bool:
    """Whether the request wants fields for an answer."""
    return "[[ ## completed ## ]]" in text_of(body["messages"][0]["content"])


def read(body: Any) -> Question:
    """The question, and how many steps towards its answer were taken."""
    system, *_, last = (text_of(message["content"]) for message in body["messages"])
    fields = dict(_FIELD.findall(last.partition("\n\nRespond with")[0]))
    results = [text.strip() for name, text in fields.items() if name.startswith("observation_")]
    return Question(
        fields["question"],
        tools=frozenset(_TOOL.findall(system)),
        results=() if _TOOL.search(system) else tuple(results[:-1]),
        streamed=bool(body.get("stream")),
        model=str(body["model"]),
        steps=len(results),
    )


def written(question: Question, said: Said) -> Said:
    """The step as text: the next call, or the answer."""
    if "finish" not in question.tools:
        return Said(_text(reasoning="That is all there is to know.", answer=said.text or ""))
    calls = [*said.calls, ("finish", {})]
    name, arguments = calls[min(question.steps or 0, len(calls) - 1)]
    return Said(_text(next_thought="Step by step.", next_tool_name=name, next_tool_args=json.dumps(arguments)))


def _text(**fields: str) -> str:
    return "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in [*fields.items(), ("completed", "")])
