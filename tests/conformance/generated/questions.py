"""Questions of every kind to put to two judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st

from tests.conformance.generated import formats, java_source, javascript_source, json_wire, python_source
from tests.conformance.generated.calls import Call, made_calls
from tests.conformance.generated.cases import Language, asked
from tests.conformance.generated.chances import chance, one_of
from tests.conformance.generated.soup import texts
from tests.conformance.generated.values import any_value
from tests.conformance.official.client import Format, Question, Style
from tests.conformance.official.suite import OfficialCase, Suite

FORMATS: tuple[Format, ...] = ("json", "verbose_xml", "concise_xml", "python")
SOURCES = {"java": java_source, "javascript": javascript_source}


def python_prompt(draw: st.DrawFn, suite: Suite) -> Question:
    case = asked(draw, suite, "python")
    return _question(draw, case, "prompt", python_source.written(draw, made_calls(draw, case)))


def python_fc(draw: st.DrawFn, suite: Suite) -> Question:
    case = asked(draw, suite, "python")
    return _question(draw, case, "fc", json_wire.written(draw, made_calls(draw, case)))


def decoded(draw: st.DrawFn, suite: Suite) -> Question:
    """Judging alone, of anything that a decoder might hand over."""
    case = asked(draw, suite, "python")
    raw: Any = [dict([call]) for call in made_calls(draw, case)]
    if chance(draw, 15):
        raw = one_of(draw, ([*raw, {}], [*raw, *raw], raw[0] if raw else {}, [raw], json.dumps(raw), any_value(draw)))
    return _question(draw, case, "calls", raw)


def source_prompt(language: Language, draw: st.DrawFn, suite: Suite) -> Question:
    case = asked(draw, suite, language)
    text = SOURCES[language].written(draw, _as_source(draw, case, language))
    return _question(draw, case, "prompt", text)


def source_fc(language: Language, draw: st.DrawFn, suite: Suite) -> Question:
    case = asked(draw, suite, language)
    return _question(draw, case, "fc", json_wire.written(draw, _as_source(draw, case, language)))


def formatted(draw: st.DrawFn, suite: Suite) -> Question:
    case = asked(draw, suite, "python")
    form = one_of(draw, FORMATS)
    text = formats.written(draw, made_calls(draw, case), form)
    asked_form = form if chance(draw, 95) else one_of(draw, FORMATS)
    return _question(draw, case, "prompt", text, asked_form, draw(st.booleans()))


def soup(draw: st.DrawFn, suite: Suite) -> Question:
    case = one_of(draw, suite)
    if "java" in case.category or "relevance" in case.category or chance(draw, 60):
        return _question(draw, case, "prompt", draw(texts))
    return _question(draw, case, "prompt", draw(texts), one_of(draw, FORMATS), chance(draw, 30))


KINDS: Mapping[str, Callable[[st.DrawFn, Suite], Question]] = {
    "Python prompt": python_prompt,
    "Python FC": python_fc,
    "decoded": decoded,
    "Java prompt": partial(source_prompt, "java"),
    "Java FC": partial(source_fc, "java"),
    "JavaScript prompt": partial(source_prompt, "javascript"),
    "JavaScript FC": partial(source_fc, "javascript"),
    "formats": formatted,
    "soup": soup,
}


@st.composite
def questions(draw: st.DrawFn, kind: str, suite: Suite) -> Question:
    return KINDS[kind](draw, suite)


def suite_of(kind: str, suite: Suite) -> Suite:
    """The cases that questions of this kind are about."""
    if kind == "soup":
        return suite
    language = {"Java": "simple_java", "JavaScript": "simple_javascript"}.get(kind.partition(" ")[0])
    return Suite(case for case in suite if (case.category == language if language else "java" not in case.category))


def _as_source(draw: st.DrawFn, case: OfficialCase, language: Language) -> list[Call]:
    source = SOURCES[language]
    declared: dict[str, Any] = case.functions[0].get("parameters", {}).get("properties", {})
    return [
        (name, {key: source.literal(draw, value, declared.get(key, {})) for key, value in arguments.items()})
        for name, arguments in made_calls(draw, case)
    ]


def _question(
    draw: st.DrawFn, case: OfficialCase, style: Style, raw: Any, form: Format | None = None, tags: bool = False
) -> Question:
    # What a file can hold: tuples become lists, and keys strings, for both judges alike.
    raw = json.loads(json.dumps(raw))
    if form is not None and "relevance" in case.category:
        form, tags = None, False
    return Question(case.category, case.functions, case.truth, style, raw, chance(draw, 20), form, tags)
