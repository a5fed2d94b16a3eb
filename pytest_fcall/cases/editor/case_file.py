"""The JSON Schema of case files, for completion, explanations and checks in an editor.

It covers what can be checked without knowing the tools; `fcall lint` and pytest check the rest. Apart from `$defs`
only old keywords are used, because the language servers of editors support no newer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

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
from pytest_fcall.core import Json

_GLOBS = string("A tool name, or a glob such as `get_*`.")

_PICK: Mapping[str, Schema] = MappingProxyType(
    {
        "as": string("Puts this and two underscores before each name: `as: jira` makes `search` `jira__search`."),
        "only": one_or_many("Take only these tools of the source.", _GLOBS),
        "without": one_or_many("Take all tools of the source but these.", _GLOBS),
    }
)

_MCP: Mapping[str, Schema] = {
    "command": array("Starts a server that speaks over standard input and output.", {"type": "string"}),
    "url": string("The address of a server that speaks over HTTP."),
    "env": mapping("Environment variables of the server.", {"type": "string"}),
    "cwd": string("The folder in which the server starts, seen from the case file."),
    "headers": mapping("HTTP headers; `${NAME}` stands for an environment variable.", {"type": "string"}),
}

_FUNCTION: Mapping[str, Schema] = MappingProxyType(
    {
        "name": string("The tool's name, as the model sees it."),
        "description": string("What the tool does, as the model is told."),
        "parameters": mapping("JSON Schema of the arguments: `type: object`, `properties`, `required`."),
        "strict": flag("OpenAI's strict mode."),
    }
)

_INLINE: Mapping[str, Schema] = MappingProxyType(
    {
        **_FUNCTION,
        "input_schema": mapping("The parameters, as Anthropic names them."),
        "inputSchema": mapping("The parameters, as MCP names them."),
        "title": string("A name for people."),
        "annotations": mapping("What an MCP server says about the tool."),
        "type": choice("As OpenAI's Responses API writes it.", "function"),
    }
)


def tool_definitions(sources: Iterable[str] = ()) -> dict[str, Schema]:
    """Definitions of a `tool` and of each source it may come from; `sources` are those of other packages."""
    own: dict[str, Schema] = {
        name: _source(f"Tools from the source `{name}`.", name, anything("What the source reads.")) for name in sources
    }
    known = {
        "python": _source(
            "Tools from Python code: signature, type hints and docstring, or a Pydantic model.",
            "python",
            one_or_many(
                "`module:function`, `module:Class.method`, `module:Model`, or `module` for all its public functions.",
                {"type": "string"},
            ),
        ),
        "file": _source(
            "Tools from a JSON or YAML file in OpenAI's, Anthropic's, MCP's, Gemini's or BFCL's form, told apart.",
            "file",
            string("The file, seen from the case file."),
        ),
        "openapi": _source(
            "Tools from an OpenAPI document, one an operation.",
            "openapi",
            string("The document, seen from the case file; or its URL, which is read from the lock file."),
            {"operations": array("Take only the operations with these `operationId`s.", {"type": "string"})},
        ),
        "mcp": _source(
            "Tools of an MCP server, read from the lock file that `fcall tools lock` writes.",
            "mcp",
            obj("How to reach the server.", _MCP) | {"oneOf": [{"required": ["command"]}, {"required": ["url"]}]},
        ),
        "inline": obj("A tool written out.", _INLINE, required=["name"]),
        "wrapped": obj(
            "A tool written out in OpenAI's form.",
            {
                "type": choice("As OpenAI's Chat Completions API writes it.", "function"),
                "function": obj("The function.", _FUNCTION, required=["name"]),
            },
            required=["type", "function"],
        ),
    }
    forms = known | own
    return {f"tools.{name}": schema for name, schema in forms.items()} | {
        "tool": either("A tool, or a source of tools.", *(ref(f"tools.{name}") for name in forms))
    }


def _source(description: str, key: str, value: Schema, more: Mapping[str, Schema] | None = None) -> Schema:
    return obj(description, {key: value, **(more or {}), **_PICK}, required=[key])


_ID = r"^(?!.*(::|[\[\]]))\S(.{0,198}\S)?$"
_RULE = r"^(all|any|rate>=(0(\.\d+)?|1(\.0+)?))$"
_TEXT: Schema = {"type": "string"}
_PATH = string("A path, seen from the case file.")
_FILE = obj("What stands in a file.", {"file": _PATH}, required=["file"])
_NEVER = array("Calls that must not be made, whatever the case expects.", ref("call_pattern"), 0)
_STRINGS = choice(
    "How strings compare: `exact` (the default), or `relaxed`: case, white space, quotes and dashes do not count.",
    "exact",
    "relaxed",
    "bfcl",
)

_SHARED: Mapping[str, Schema] = MappingProxyType(
    {
        "system": by_type("The system message. `{now}` and `{now:%A %d %B}` stand for the clock.", _TEXT, _FILE),
        "now": string(
            "The clock of the case, ISO 8601: what `{now}` and `$date: tomorrow` mean.",
            r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$",
        ),
        "tags": array("Become pytest markers: `pytest -m travel`.", string("A marker.", r"^[^\W\d]\w*$"), 0),
        "category": string("The row of the summary in which the case counts."),
        "strings": _STRINGS,
        "profile": choice("The matching rules: ours, or those of the official BFCL checker.", "strict", "bfcl"),
        "language": choice(
            "For `profile: bfcl`: whose literals the arguments are. Those of Java and JavaScript are source text.",
            "python",
            "java",
            "javascript",
        ),
        "skip": ref("conditions"),
        "xfail": ref("conditions"),
        "samples": ref("samples"),
        "settings": ref("settings"),
        "decoder": string(
            "How calls are read out of text: `json`, `python`, `auto` …, or a decoder of another package."
        ),
        "retrieve": obj(
            "Who chooses which of the tools are offered.",
            {
                "with": choice("`bm25`: shared words; `oracle`: the expected tools.", "bm25", "embeddings", "oracle"),
                "k": integer("How many are offered; 5 without it.", 1),
                "model": string(
                    "For embeddings: a model that sentence-transformers loads, or `python:module:function`."
                ),
            },
            required=["with"],
        ),
        "environment": string(
            "What stands behind the tools: `module:callable`, which makes an object with these methods; a module with "
            "these functions; or `python`, `mcp` or `http`: whatever the tools were read from."
        ),
        "setup": mapping("What the environment is started with."),
        "stubs": mapping("Results by tool name, for calls that bring none of their own."),
        "unmatched": anything("What a call that nothing answers gives back; `fail` (the default) ends the case."),
        "max_steps": integer("The most requests that each thing the user says may take.", 1),
        "user": obj(
            "Who goes on talking when the model has answered.",
            {
                "script": array("What the user says, one after the other.", string("What is said.")),
                "goal": string("What the user wants, for a model that plays the user."),
                "model": string("The model that plays the user; without it, the model under test."),
                "most": integer("How often the user may speak.", 1),
            },
        ),
    }
)
_CHECKS: Mapping[str, Schema] = MappingProxyType(
    {
        "expect": ref("expect"),
        "answer": {"description": "What the final text must be.", **ref("value")},
        "state": mapping("What the environment must hold afterwards, by key.", ref("value")),
        "result": {"description": "What the last call must have returned.", **ref("value")},
    }
)
_SAID: Mapping[str, Schema] = MappingProxyType(
    {
        "prompt": {"description": "What the user says.", **ref("content")},
        "messages": by_type("What was said before.", array("Messages.", ref("message")), _FILE),
    }
)


def editor_schema(comparators: Iterable[str] = (), tool_sources: Iterable[str] = ()) -> dict[str, Json]:
    """The schema, knowing by name the operators and tool sources that other packages add."""
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
            "settings": _settings(),
            **expectation_definitions(),
            **tool_definitions(tool_sources),
            **operator_definitions(comparators),
        },
    }


def _file() -> Schema:
    return obj(
        "Exam questions for models that call tools.",
        {
            "include": one_or_many("Files whose tools, defaults and match rules count here too.", _PATH),
            "tools": array("The tools that the model is offered.", ref("tool"), 0),
            "defaults": obj("What holds for every case of this file.", {**_SHARED, "never": _NEVER}),
            "match": ref("match"),
            "cases": array("The exam questions.", ref("case")),
            "suite": one_or_many("A public benchmark, whose cases run here.", string("Such as `bfcl:live,multiple`.")),
            "path": string("Where the data of the suite is, seen from this file."),
            "pick": by_type(
                "Which cases of the suite: the first so many, a sample such as `200@7`, ids or globs.",
                integer("", 1),
                _TEXT,
                array("", string("An id, or a glob such as `parallel_1*`.")),
            ),
            "profile": choice("The rules that judge the cases of the suite, if not its own.", "strict", "bfcl"),
            "mode": choice("`prompt`: the suite's own system prompt tells the tools.", "native", "prompt"),
        },
    )


def _case() -> Schema:
    pick = one_or_many("Tool names, or globs.", string("A tool name, or a glob such as `get_*`."))
    case = obj(
        "One exam question.",
        {
            "id": string("The name of the case, unique in its file.", _ID),
            **_SAID,
            "turns": array("What is said one after another, with what is expected each time.", ref("turn")),
            "tools": obj("Which of the file's tools the model is offered.", {"only": pick, "without": pick}),
            "matrix": array("One case a row: `{name}` stands for the row's value.", _row()),
            "match": ref("match"),
            **_CHECKS,
            "wire": _wire(),
            **_SHARED,
        },
        required=["id"],
    )
    return case | {
        "if": {"required": ["turns"]},
        "then": {"properties": dict.fromkeys((*_SAID, *_CHECKS), False)},
        "else": {"allOf": [any_key(*_SAID), any_key(*_CHECKS, "wire")]},
    }


def _wire() -> Schema:
    wanted: Mapping[str, str] = {
        "count": "How many requests the app sends.",
        "tools": "The names of the tools that it offers, each once.",
        "models": "The names of the models that it asks, each once.",
        "tokens": "Input and output of all requests together.",
        "cost": "US dollars for all of them.",
    }
    values = {name: {"description": text, **ref("value")} for name, text in wanted.items()}
    return obj("What an app asks of models on its way to an answer.", {"calls": ref("expect"), **values})


def _row() -> Schema:
    row_id: Schema = {"description": "What the case's id gets in brackets.", "type": ["string", "number", "boolean"]}
    return {**mapping("The values of a row."), "properties": {"id": row_id}}


def _turn() -> Schema:
    return obj("One turn.", {"user": {"description": "What the user says.", **ref("content")}, **_CHECKS}, ["user"])


def _message() -> Schema:
    roles = choice("Who speaks.", "system", "developer", "user", "assistant", "tool")
    return obj(
        "One message, in OpenAI's form.",
        {
            "role": roles,
            "content": _content({"type": "null"}),
            "name": string("The speaker's name."),
            "tool_calls": array("The calls that the assistant made.", _tool_call()),
            "tool_call_id": string("The call that this message answers."),
            "refusal": string("Why the assistant did not answer."),
        },
        required=["role"],
    )


def _tool_call() -> Schema:
    function = obj(
        "What is called.",
        {"name": string("The tool."), "arguments": string("Its arguments, as JSON text.")},
        required=["name", "arguments"],
    )
    return obj(
        "One call.",
        {"id": string("Its id."), "type": choice("Its type.", "function"), "function": function},
        required=["id", "function"],
    )


def _content(*more: Schema) -> Schema:
    image = obj("A picture.", {"image": string("Its file, seen from the case file.")}, required=["image"])
    part = either("A part.", _TEXT, image, mapping("A part in OpenAI's form.") | {"required": ["type"]})
    return by_type("Text, parts, or a file.", _TEXT, array("", part), _FILE, *more)


def _rule() -> Schema:
    return either(
        "What the parameter must be, whatever the case says; or how its strings compare.",
        ref("operator"),
        obj("How strings compare.", {"strings": _STRINGS}, required=["strings"]),
    )


def _conditions() -> Schema:
    models = one_or_many("The models.", string("A model, or a glob such as `local:*`."))
    some = obj("", {"reason": string("Why."), "models": models}, required=["reason"])
    one = by_type("A reason, with or without the models that it holds for.", _TEXT, some)
    return by_type("Why, and for which models.", _TEXT, some, array("", one))


def _samples() -> Schema:
    count = or_word(integer("How often; `auto`: until it is decided.", 1), "auto")
    rule = string("How many answers must be right: `all`, `any` or such as `rate>=0.8`.", _RULE)
    with_rule = obj("", {"count": count, "rule": rule}, required=["count"])
    return or_word(by_type("How often the case is asked.", integer("", 1), with_rule), "auto")


def _settings() -> Schema:
    known: Json = {
        "temperature": number("0: as repeatable as the model can be.", 0),
        "top_p": number("Nucleus sampling.", 0, 1),
        "max_tokens": integer("The most tokens of an answer.", 1),
        "seed": {"description": "For models that take one.", "type": "integer"},
        "tool_choice": anything("`auto`, `none`, `required`, or one tool."),
        "parallel_tool_calls": flag("Whether several calls may come at once."),
    }
    return {**mapping("Sent to the model beside messages and tools; more keys are allowed."), "properties": known}
