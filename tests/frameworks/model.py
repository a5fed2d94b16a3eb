"""A model that is none: it decides by what the user said last, and answers in the form that it was asked in.

`answer` is what a `tests.servers.Server` is given. Asked for the weather of cities it calls `get_weather` for each, and
asked for an order `order_status`, both at once where both are asked for; what came of its calls it says in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tests.frameworks.wire_forms import anthropic, chat, gemini, responses
from tests.frameworks.wire_forms.question import Question, Said, Written
from tests.servers import Answer, Asked, provider_error

_CITY = re.compile(r"\b(Oslo|Rome|Lima)\b")
_ORDER = re.compile(r"\b([A-Z]\d+)\b")
_FORMS: Mapping[str, tuple[Callable[[Asked], Question], Callable[[Question, Said], Written]]] = MappingProxyType(
    {
        r"/chat/completions$": (chat.read, chat.write),
        r"/responses$": (responses.read, responses.write),
        r"/messages$": (anthropic.read, anthropic.write),
        r":(stream)?[gG]enerateContent$": (gemini.read, gemini.write),
    }
)


def answer(asked: Asked) -> Answer:
    """Answer like a model, in any of the forms."""
    return _answered(asked, decide)


def wrong(asked: Asked) -> Answer:
    """Answer like a model that looks up an order, whatever it is asked."""
    return _answered(asked, _misled)


def _answered(asked: Asked, model: Callable[[Question], Said]) -> Answer:
    path = asked.path.partition("?")[0]
    for pattern, (read, write) in _FORMS.items():
        if re.search(pattern, path):
            question = read(asked)
            written = write(question, model(question))
            return Answer(written.body, content_type=written.content_type)
    return provider_error(404, f"no such path: {asked.path}")


def decide(question: Question) -> Said:
    """What the model says next."""
    if question.results:
        return _final(question, f"This is what I found: {'; '.join(question.results)}")
    calls: list[tuple[str, dict[str, str]]] = []
    if "weather" in question.prompt.lower():
        calls += [("get_weather", {"city": city}) for city in dict.fromkeys(_CITY.findall(question.prompt))]
    if "order" in question.prompt.lower():
        calls += [("order_status", {"order": order}) for order in dict.fromkeys(_ORDER.findall(question.prompt))]
    offered = [(name, arguments) for name, arguments in calls if name in question.tools]
    return Said(calls=tuple(offered)) if offered else _final(question, "You are welcome!")


def _misled(question: Question) -> Said:
    if question.results or "order_status" not in question.tools:
        return decide(question)
    return Said(calls=(("order_status", {"order": "Z9"}),))


def _final(question: Question, text: str) -> Said:
    """The last words. Agents of smolagents are told them by a call."""
    return Said(calls=(("final_answer", {"answer": text}),)) if "final_answer" in question.tools else Said(text)
