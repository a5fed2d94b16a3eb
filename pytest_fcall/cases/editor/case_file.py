"""The JSON Schema of case files, for completion, explanations and checks in an editor.

It covers what can be checked without the tools; `fcall lint` and pytest check the rest. Apart from `$defs`, it uses
old keywords only, because the language servers of editors support no newer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import get_args

from pytest_fcall.cases.editor.expectations import expectation_definitions, operator_definitions
from pytest_fcall.cases.editor.json_schema import (
    Schema,
    any_key,
    anything,
    array,
    by_type,
    choice,
    either,
    flag,
    integer,
    mapping,
    number,
    obj,
    one_or_many,
    or_word,
    ref,
    string,
)
from pytest_fcall.cases.editor.tools import tool_definitions
from pytest_fcall.cases.expectations import APP_KEYS
from pytest_fcall.cases.faulty_results import KINDS
from pytest_fcall.cases.injections import FORMS
from pytest_fcall.cases.messages import ROLES
from pytest_fcall.core.case import RetrieverName
from pytest_fcall.core.values import Json
from pytest_fcall.core.variants import RELATIONS, ParameterKind, RelationSpec

_ID = r"^(?!.*(::|[\[\]]))\S(.{0,198}\S)?$"
_RULE = r"^(all|any|rate>=(0\.\d*[1-9]\d*|1(\.0+)?))$"
_TEXT: Schema = {"type": "string"}
_PATH = string("A path, relative to the case file.")
_FILE = obj("The content of a file.", {"file": _PATH}, required=["file"])
_NEVER = array("Calls that must not be made in any case.", ref("call_pattern"), 0)
_STRINGS = choice(
    "Comparison of strings: `exact` (the default), or `relaxed`: case, white space, quotes and dashes do not count.",
    "exact",
    "relaxed",
    "bfcl",
)

_SHARED: Mapping[str, Schema] = MappingProxyType(
    {
        "system": by_type("The system message. `{now}` and `{now:%A %d %B}` insert the clock.", _TEXT, _FILE),
        "now": string(
            "The clock of the case, ISO 8601, for `{now}` and `$date: tomorrow`.",
            r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$",
        ),
        "tags": array("pytest markers: `pytest -m travel`.", string("A marker.", r"^[^\W\d]\w*$"), 0),
        "category": string("The row of the summary that counts the case."),
        "strings": _STRINGS,
        "profile": choice("The matching rules: ours, or those of the official BFCL checker.", "strict", "bfcl"),
        "language": choice(
            "For `profile: bfcl`: the language of the arguments. Those of Java and JavaScript are source text.",
            "python",
            "java",
            "javascript",
        ),
        "skip": ref("conditions"),
        "xfail": ref("conditions"),
        "samples": ref("samples"),
        "variants": ref("variants"),
        "settings": ref("settings"),
        "decoder": string(
            "The decoder that finds calls in text: `json`, `python`, `auto` …, or one of another package."
        ),
        "retrieve": obj(
            "The retriever that selects the tools to offer.",
            {
                "with": choice("`bm25`: shared words; `oracle`: the expected tools.", *sorted(get_args(RetrieverName))),
                "k": integer("The number of tools to offer. The default is 5.", 1),
                "model": string("For embeddings: a model of sentence-transformers, or `python:module:function`."),
            },
            required=["with"],
        ),
        "environment": string(
            "What carries out the calls: `module:callable`, which makes an object with a method for each tool; a "
            "module with a function for each tool; or `python`, `mcp` or `http`: the source of the tools."
        ),
        "setup": mapping("The state that the environment starts with."),
        "stubs": mapping("Results by tool name, for calls without a result of their own."),
        "unmatched": anything("The result of a call that nothing else answers; `fail` (the default) ends the case."),
        "max_steps": integer("The largest number of requests in a turn.", 1),
        "user": obj(
            "The simulated user, who continues the conversation.",
            {
                "script": array("The messages of the user, in order.", string("A message.")),
                "goal": string("The goal of the user, for a model that plays the user."),
                "model": string("The model that plays the user. The default is the model under test."),
                "most": integer("The largest number of messages of the user.", 1),
            },
        ),
        "inject": ref("inject"),
        "faults": ref("faults"),
    }
)
_PARAMETERS: Mapping[ParameterKind, Schema] = MappingProxyType(
    {
        "count": integer("A number.", 1),
        "flag": flag("Whether it is so."),
        "text": string("A text."),
        "tools": string("`catalogue` (the default), `file` for the other tools of this file, or a path."),
    }
)
_CHECKS: Mapping[str, Schema] = MappingProxyType(
    {
        "expect": ref("expect"),
        "answer": {"description": "The expected final text.", **ref("value")},
        "state": mapping("The expected state of the environment afterwards, by key.", ref("value")),
        "result": {"description": "The expected result of the last call.", **ref("value")},
    }
)
_MESSAGES: Mapping[str, Schema] = MappingProxyType(
    {
        "prompt": {"description": "The message of the user.", **ref("content")},
        "messages": by_type("The conversation so far.", array("Messages.", ref("message")), _FILE),
    }
)


def editor_schema(
    comparators: Iterable[str] = (), tool_sources: Iterable[str] = (), relations: Iterable[str] = ()
) -> dict[str, Json]:
    """The schema of case files, with the names of operators, tool sources and relations of other packages."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_file(),
        "$defs": {
            "case": _case(),
            "turn": _turn(),
            "message": _message(),
            "content": _content(),
            "match": mapping("Rules by parameter, such as `*.city` or `book.seat`.", _rule())
            | {"propertyNames": {"pattern": r"^.+\..+$"}},
            "conditions": _conditions(),
            "samples": _samples(),
            "variants": _variants(relations),
            "settings": _settings(),
            "inject": _inject(),
            "faults": _result_faults(),
            **expectation_definitions(),
            **tool_definitions(tool_sources),
            **operator_definitions(comparators),
        },
    }


def _file() -> Schema:
    return obj(
        "Exam questions for models that call tools.",
        {
            "include": one_or_many(
                "Files whose tools, defaults, match rules and volatile texts hold here, too.", _PATH
            ),
            "tools": array("The tools that the model is offered.", ref("tool"), 0),
            "defaults": obj("Defaults for every case of this file.", {**_SHARED, "never": _NEVER}),
            "match": ref("match"),
            "volatile": one_or_many(
                "Regular expressions of what differs each time in requests; recordings are found without it.",
                string(r"Such as `\d{4}-\d\d-\d\d`."),
            ),
            "cases": array("The cases of the file.", ref("case")),
            "suite": one_or_many("A public benchmark, whose cases run here.", string("Such as `bfcl:live,multiple`.")),
            "path": string("The path of the suite's data, relative to this file."),
            "pick": by_type(
                "The cases of the suite to run: a number, a sample such as `200@7`, ids or globs.",
                integer("", 1),
                _TEXT,
                array("", string("An id, or a glob such as `parallel_1*`.")),
            ),
            "profile": choice("The rules for the cases of the suite: ours, or its own.", "strict", "original", "bfcl"),
            "mode": choice("`prompt`: the tools are in the suite's own system prompt.", "native", "prompt"),
        },
    )


def _case() -> Schema:
    pick = one_or_many("Tool names, or globs.", string("A tool name, or a glob such as `get_*`."))
    case = obj(
        "A case: a question, and the answer that is right.",
        {
            "id": string("The name of the case, unique in its file.", _ID),
            **_MESSAGES,
            "turns": array("Messages of the user, each with its own expectation.", ref("turn")),
            "tools": obj("The tools of the file that the model is offered.", {"only": pick, "without": pick}),
            "matrix": array("One case for each row: `{name}` inserts the value of the row.", _row()),
            "match": ref("match"),
            **_CHECKS,
            "wire": _wire(),
            "spans": _spans(),
            **_SHARED,
        },
        required=["id"],
    )
    return case | {
        "if": {"required": ["turns"]},
        "then": {"properties": dict.fromkeys((*_MESSAGES, *_CHECKS), False)},
        "else": {"allOf": [any_key(*_MESSAGES), any_key(*_CHECKS, *APP_KEYS)]},
    }


def _wire() -> Schema:
    wanted: Mapping[str, str] = {
        "count": "The number of requests of the app.",
        "tools": "The names of the tools that it offers, each once.",
        "models": "The names of the models that it asks, each once.",
        "tokens": "The tokens of all requests, input and output.",
        "cost": "The cost of all requests in US dollars.",
    }
    values = {name: {"description": text, **ref("value")} for name, text in wanted.items()}
    return obj("The expected requests of an app to models.", {"calls": ref("expect"), **values})


def _spans() -> Schema:
    models = {"description": "The names of the models that the app asks, each once.", **ref("value")}
    return obj("What the spans of an app are to tell.", {"calls": ref("expect"), "models": models})


def _row() -> Schema:
    row_id: Schema = {"description": "The id of the row, in brackets.", "type": ["string", "number", "boolean"]}
    return {**mapping("The values of a row."), "properties": {"id": row_id}}


def _turn() -> Schema:
    user = {"description": "The message of the user.", **ref("content")}
    return obj("One turn.", {"user": user, **_CHECKS}, ["user"])


def _message() -> Schema:
    return obj(
        "One message, in OpenAI's format.",
        {
            "role": choice("The author.", *ROLES),
            "content": _content({"type": "null"}),
            "name": string("The name of the author."),
            "tool_calls": array("The calls that the assistant made.", _tool_call()),
            "tool_call_id": string("The id of the call that this message answers."),
            "refusal": string("The refusal of the assistant."),
        },
        required=["role"],
    )


def _tool_call() -> Schema:
    function = obj(
        "The tool and its arguments.",
        {"name": string("The tool."), "arguments": string("Its arguments, as JSON text.")},
        required=["name", "arguments"],
    )
    return obj(
        "One call.",
        {"id": string("Its id."), "type": choice("Its type.", "function"), "function": function},
        required=["id", "function"],
    )


def _content(*more: Schema) -> Schema:
    image = obj("A picture.", {"image": string("Its path, relative to the case file.")}, required=["image"])
    part = either("A part.", _TEXT, image, mapping("A part in OpenAI's format.") | {"required": ["type"]})
    return by_type("Text, parts, or a file.", _TEXT, array("", part), _FILE, *more)


def _rule() -> Schema:
    return either(
        "An expected value of the parameter in every case, or the comparison of its strings.",
        ref("operator"),
        obj("The comparison of strings.", {"strings": _STRINGS}, required=["strings"]),
    )


def _conditions() -> Schema:
    models = one_or_many("The models.", string("A model, or a glob such as `local:*`."))
    some = obj("", {"reason": string("The reason."), "models": models}, required=["reason"])
    one = by_type("A reason, with or without the models that it is for.", _TEXT, some)
    return by_type("A reason, and the models that it is for.", _TEXT, some, array("", one))


def _samples() -> Schema:
    count = integer("The number of samples.", 1)
    rule = string("The answers that must be right: `all`, `any` or such as `rate>=0.8`.", _RULE)
    with_rule = obj("", {"count": count, "rule": rule}, required=["count"])
    return by_type("The number of times that the case is asked.", count, with_rule)


def _inject() -> Schema:
    own = mapping("A form of your own, by its name.", string("Its text, with `{goal}` or `{goal:base64}`."))
    some = by_type("The forms of the attack; by default all.", own, array("", or_word(own, *FORMS)))
    one = obj(
        "An attack in results of tools. The case is also asked under each form of it.",
        {
            "id": string("The name of the attacker, where there are several.", _ID),
            "goal": string("What the attacker wants, as an instruction to the model."),
            "calls": array("Calls that show that the model obeyed.", ref("call_pattern"), 0),
            "answer": {"description": "An answer that shows that the model obeyed.", **ref("value")},
            "into": one_or_many("The tools whose results carry it.", string("A tool name, or a glob.")),
            "at": one_or_many("The texts in a result that carry it.", string("A path, or a glob such as `*.body`.")),
            "forms": or_word(some, *FORMS),
        },
    )
    return or_word(by_type("Attacks in results of tools; `none` for none.", one, array("", one)), "none")


def _result_faults() -> Schema:
    other = one_or_many("The tools that may be called instead.", string("A tool name."))
    tool = obj("Another tool.", {"other_tool": other}, required=["other_tool"])
    reactions = array("", or_word(tool, "retries", "tells", "any"))
    some = by_type("Right reactions; by default `retries` and `tells`.", tool, reactions)
    kinds = array("What is wrong; by default each kind.", {"type": "string", "enum": [*KINDS]})
    one = obj(
        "A faulty result. The case is also asked with each kind of it.",
        {
            "id": string("The name of the entry, where several have the same kind.", _ID),
            "tool": one_or_many("The tools whose results are faulty.", string("A tool name, or a glob.")),
            "kind": or_word(kinds, *KINDS),
            "times": or_word(integer("The number of faulty results of each tool; 1 by default.", 1), "always"),
            "recovery": or_word(some, "retries", "tells", "any"),
            "retries": integer("The largest number of repetitions of a call; 3 by default.", 1),
            "answer": {"description": "What the text must be that tells of the failure.", **ref("value")},
            "effect": flag("Whether the call changes something, and must not be repeated blindly."),
            "message": string("The words of a timeout, an error or a slow result."),
        },
        required=["tool"],
    )
    return or_word(by_type("Results that are faulty on purpose; `none` for none.", one, array("", one)), "none")


def _variants(added: Iterable[str]) -> Schema:
    """The relations by which a case is varied; of those of other packages, only the names are known."""
    with_parameters = {name: _relation(spec) for name, spec in RELATIONS.items()}
    with_parameters |= {name: anything("A relation of another package.") for name in added}
    one = obj("A relation, or one with the number of its variants or with parameters.", with_parameters)
    relation = or_word({**one, "minProperties": 1, "maxProperties": 1}, *with_parameters)
    meaning = "Other ways to put the question, under which no verdict must change."
    return or_word(array(meaning, relation), "none", "all")


def _relation(spec: RelationSpec) -> Schema:
    """The number of variants, or the parameters, of a relation."""
    count = integer("The number of variants.", 1)
    samples = integer("The number of requests for each variant.", 1)
    own = {name: _PARAMETERS[kind] for name, kind in spec.parameters.items()}
    parameters = obj("", {"count": count, "samples": samples, **own}, required=spec.needed)
    meaning = f"{spec.meaning[0].upper()}{spec.meaning[1:]}."
    return by_type(meaning, count, parameters, {"type": "null"})


def _settings() -> Schema:
    known: Json = {
        "temperature": number("0 for the least random answers.", 0),
        "top_p": number("Nucleus sampling.", 0, 1),
        "max_tokens": integer("The largest number of tokens in an answer.", 1),
        "seed": {"description": "For models that support it.", "type": "integer"},
        "tool_choice": anything("`auto`, `none`, `required`, or one tool."),
        "parallel_tool_calls": flag("Whether one message may have several calls."),
    }
    return {**mapping("Settings of the request; more keys are allowed."), "properties": known}
