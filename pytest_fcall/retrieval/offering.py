"""The tools that a case offers, where a retriever chooses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.core import Case, Expectation, Message, Tool, canonical
from pytest_fcall.retrieval.retriever import Retriever


def document(tool: Tool) -> str:
    """A tool as a document: its name, what it does, its parameters."""
    return f"{tool.name}\n{tool.description}\n{canonical(tool.parameters.get('properties', {}))}"


def question(case: Case) -> str:
    """What the user says first, in words."""
    said = [message for message in case.turns[0].messages if message.get("role") == "user"]
    return "\n".join(text for message in said for text in _texts(message))


def chosen(case: Case, retriever: Retriever, k: int) -> tuple[Tool, ...]:
    """The `k` tools of a case that suit its question best, the best first."""
    return tuple(case.tools[place] for place in retriever.top(question(case), k))


def expected(case: Case) -> tuple[str, ...]:
    """The tools that a right answer calls, by name; of several right answers, those of the first."""
    found = (name for turn in case.turns if turn.expect is not None for name in _names(turn.expect))
    return tuple(dict.fromkeys(found))


def missed(case: Case, offered: Sequence[Tool]) -> tuple[str, ...]:
    """The expected tools that were not offered: where there are any, it is no fault of the model's.

    With alternatives, there are none if all tools of one of them were offered.
    """
    names = {tool.name for tool in offered}
    found = (name for turn in case.turns if turn.expect is not None for name in _missed(turn.expect, names))
    return tuple(dict.fromkeys(found))


def _missed(expectation: Expectation, offered: set[str]) -> list[str]:
    if expectation.kind == "any_of" and expectation.alternatives:
        return min((_missed(each, offered) for each in expectation.alternatives), key=len)
    return [name for name in _names(expectation) if name not in offered]


def _names(expectation: Expectation) -> Iterator[str]:
    if expectation.kind == "any_of":
        yield from _names(expectation.alternatives[0]) if expectation.alternatives else ()
        return
    for stage in expectation.stages:
        yield from (call.tool for call in stage if call.times[0])


def _texts(message: Message) -> Iterator[str]:
    content = message.get("content")
    for part in [content] if isinstance(content, str) else content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text
