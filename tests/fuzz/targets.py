"""Everything that reads or judges an answer, each behind one function. None may raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, get_args

from pytest_fcall.cases.expectations import ExpectationError, read_expectation
from pytest_fcall.core import Call, Calls, RawCall, Reply, Rules, Tool, Verdict
from pytest_fcall.core.expectation import Language, Profile
from pytest_fcall.core.extension import Decoder
from pytest_fcall.decoding.bfcl.decoders import CallFormat, decode_format
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.bfcl.structured_calls import decode_native
from pytest_fcall.decoding.decoders import DECODERS, decode
from pytest_fcall.decoding.source_code.arguments import typed_arguments
from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import OfficialCase, Ruling
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tool_from_data
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.suites.mannheim.score import answer_object
from pytest_fcall.suites.toolbench.judge import ToolBenchScore, score_row
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS

LANGUAGES: tuple[Language, ...] = get_args(Language)
TOOLS = (
    Tool(
        "find",
        parameters={
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "at": {"type": "array", "items": {"type": ["number", "object"]}},
            },
        },
    ),
    Tool("geo.find"),
)
TYPES: Mapping[Language, tuple[str, ...]] = {
    "python": ("string", "integer", "float", "boolean", "array", "tuple", "dict", "any"),
    "java": ("long", "float", "double", "boolean", "char", "String", "any", "Array", "ArrayList", "HashMap"),
    "javascript": ("String", "integer", "float", "Bigint", "Boolean", "array", "dict", "any"),
}
EXPECTED = (
    "Oslo",
    {"$text": "Oslo"},
    {"$regex": "(a|aa)+"},
    {"$contains": "so"},
    {"$date": "2024-05-01"},
    {"$datetime": {"day": "2024-05-01"}},
    {"$json": {"a": 1}},
    {"$approx": 3},
)

TASKS = {
    "home_search": "API.set_location('Oslo')\nAPI.set_buy_or_rent('buy')\nAPI.search()",
    "booking": "API.select_booking_type('hotels')\nAPI.set_hotel_location(Loc('Oslo'))",
    "virtual_home": "Agent.Find(table)\nAgent.Put(cup, table)",
}


def reading(offered: Sequence[Sequence[Tool]] = (TOOLS, ())) -> dict[str, Callable[[str], object]]:
    """What takes text: decoders, once for each selection of tools, and judges that find it in an argument."""
    targets: dict[str, Callable[[str], object]] = {"native text": _native_text, "native arguments": _native_arguments}
    # Some decoders go by several names.
    targets |= {
        name: partial(_decode, decoder, offered)
        for decoder, name in {DECODERS[name]: name for name in DECODERS}.items()
    }
    targets["bfcl FC"] = _bfcl_fc
    for language in LANGUAGES:
        targets[f"bfcl {language}"] = partial(_bfcl_prompt, "python", False, language)
        targets[f"bfcl {language} values"] = partial(_bfcl_values, language)
        targets[f"strict {language} values"] = partial(_typed_values, language)
    for form in get_args(CallFormat):
        targets[f"bfcl {form}"] = partial(_bfcl_prompt, form, False, "python")
        targets[f"bfcl {form} in tags"] = partial(_bfcl_prompt, form, True, "python")
    targets["strict comparisons"] = _strict_comparisons
    targets["mannheim answer"] = answer_object
    for task, label in TASKS.items():
        targets[f"toolbench {task}"] = partial(_toolbench, task, label)
    return targets


def judging() -> dict[str, Callable[[Any], object]]:
    """What takes an exam of `exams.py`."""
    return {"strict": partial(_judge, "strict"), "bfcl profile": partial(_judge, "bfcl"), "bfcl rule": _rule}


def _native_text(text: str) -> Calls:
    return _calls(decode(Reply(text)))


def _native_arguments(text: str) -> Calls:
    return _calls(decode(Reply(tool_calls=(RawCall("find", text),))))


def _decode(decoder: Decoder, offered: Sequence[Sequence[Tool]], text: str) -> None:
    # Not through `decode`, which would catch what a decoder raises.
    for tools in offered:
        _calls(decoder(text, tools))


def _bfcl_fc(text: str) -> None:
    with suppress(Undecodable):
        decode_native([{"find": text}])


def _bfcl_prompt(form: CallFormat, tags: bool, language: Language, text: str) -> None:
    with suppress(Undecodable):
        decode_format(text, form, tags=tags, language=language)


def _toolbench(task: str, label: str, text: str) -> None:
    assert isinstance(score_row({"task": task, "prediction": text, "labels": [label]}, KNOWN_ACTIONS), ToolBenchScore)


def _bfcl_values(language: Language, text: str) -> None:
    """The official conversion and comparison of one value, declared as each type that there is."""
    for kind in TYPES[language]:
        declared = {"type": kind, "items": {"type": "String"}}
        function = {"name": "find", "parameters": {"properties": {"a": declared}, "required": ["a"]}}
        truth = [{"find": {"a": [["b"], "b", 1, {"b": ["c"]}]}}]
        assert isinstance(
            check_answer(OfficialCase("simple", [function], truth, language), [{"find": {"a": text}}]), Ruling
        )


def _typed_values(language: Language, text: str) -> None:
    """One value as `strict` reads it, declared as each type that there is."""
    for kind in TYPES[language]:
        tool = Tool("find", declared={"type": "dict", "properties": {"a": {"type": kind, "items": {"type": "any"}}}})
        _calls(typed_arguments(Calls((Call("find", {"a": text}),)), (tool,), language))


def _strict_comparisons(text: str) -> None:
    """One value, compared in all ways."""
    for expected in EXPECTED:
        expectation = read_expectation([{"find": {"a": expected}}])
        for made in ({"a": text}, {"a": [text]}, {text: 1}):
            calls = Calls((Call("find", made), Call(text, {})))
            assert isinstance(judge(Reply(text), calls, expectation, MatchContext(TOOLS)), Verdict)


def _judge(profile: Profile, exam: Mapping[str, Any]) -> None:
    try:
        tools = [tool_from_data({"name": name, "parameters": exam["parameters"]}) for name in ("find", "geo.find")]
        for tool in tools:
            tool_schema(tool)
        expectation = read_expectation(exam["expect"])
    except (SchemaError, ExpectationError):
        return
    calls = Calls(tuple(Call(name, arguments) for name, arguments in exam["calls"]))
    for language in LANGUAGES:
        verdict = judge(Reply(), calls, expectation, MatchContext(tools, Rules(profile, language=language)))
        assert isinstance(verdict, Verdict)


def _rule(exam: Mapping[str, Any]) -> None:
    functions = [{"name": name, "parameters": exam["parameters"]} for name in ("find", "geo.find")]
    decoded = [{name: arguments} for name, arguments in exam["calls"]]
    for category in ("simple_python", "multiple", "parallel", "simple_java", "simple_javascript", "irrelevance"):
        for language in LANGUAGES:
            for truth in (exam["expect"], [{"find": exam["parameters"]}], decoded):
                for given in (decoded, exam["expect"], exam["calls"]):
                    assert isinstance(check_answer(OfficialCase(category, functions, truth, language), given), Ruling)


def _calls(calls: object) -> Calls:
    assert isinstance(calls, Calls)
    return calls
