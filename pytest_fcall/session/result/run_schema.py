"""The JSON Schema of run files, and of the accounts beside them: docs/reference/run-file.schema.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, get_args

from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.results import Status
from pytest_fcall.session.result.exit_status import Fail
from pytest_fcall.tracking.run_file import VERSION

_Schema: TypeAlias = dict[str, Json]


def run_schema() -> _Schema:
    """The schema (draft 2020-12) of a run file; lines of accounts are an `account`, a `tool` or `tools` of `#/$defs`.

    Objects are open, since a later version may add fields. Fields that every file has are required.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pytest-fcall:run-file:{VERSION}",
        "title": f"A run file of pytest-fcall, version {VERSION}",
        **_run(),
        "$defs": {
            "result": _result(),
            "usage": _usage(),
            "judging": _judging(),
            "inside": _inside(),
            "attack": _attack(),
            "recovery": _recovery(),
            "variants": _variants(),
            "account": _account(),
            "tool": _tool(),
            "tools": _tools(),
            "accepted": _accepted(),
            "answer": _answer(),
            "step": _step(),
        },
    }


def _run() -> _Schema:
    return _object(
        "All of a run but for what was asked and answered, which is in the accounts.",
        {
            "fcall_run": {"description": "The version of the format.", "const": VERSION},
            "id": _text("The id, which begins with the time. Ids sort by time."),
            "started": _text("When it began, in UTC, as ISO 8601."),
            "models": _list("The models, in the order in which they were asked.", _text()),
            "shard": _or_null("The number of the shard, from 1, and the number of shards.", _pair("integer")),
            "parts": _list("The ids of the runs that it was merged of.", _text()),
            "broken_off": _flag("Whether it ended before its last case."),
            "empty": _flag("Whether it ran no test."),
            "failed": _failed(),
            "gates": _list("The gates, as they were written.", _text()),
            "fail": {"description": "What makes the run fail: --fc-fail.", "enum": [*get_args(Fail)]},
            "provenance": _provenance(),
            "results": _results(),
        },
        required=("fcall_run", "id", "started", "results"),
    )


def _failed() -> _Schema:
    return _object(
        "What failed besides gates.",
        {
            "verdicts": _flag("A verdict failed its case."),
            "forbidden": _flag("One of these found a forbidden call, which no gate excuses."),
            "otherwise": _flag("An error that more replies could not have changed, or a plain test."),
            "worse": _flag("A model is worse than before, though no single case may show it."),
            "undecided": _flag("A wrong answer may be a regression, or chance."),
            "unanswered": _flag("A case had no reply."),
            "unrecorded": _flag("No recorded reply fits a case, and no setting excuses it."),
        },
    )


def _provenance() -> _Schema:
    return _object(
        "Where the run comes from. It is for people: nothing is decided by it.",
        {
            "pytest_fcall": _text("The version of pytest-fcall."),
            "python": _text("The version of Python."),
            "commit": _text("The commit that was checked out."),
            "branch": _text("The branch."),
            "dirty": _flag("Whether files differed from the commit."),
            "remote": _text("The address at which a browser shows the repository, without user and password."),
            "folder": _text("The root of the run in the repository; absent if that is the root of both."),
            "history": _list("Folders of earlier runs: --fc-history.", _text()),
        },
    )


def _results() -> _Schema:
    missing: _Schema = {
        "type": "array",
        "prefixItems": [
            _text("The model."),
            _text("The differences from what was recorded."),
            _text("The command that asks for it."),
            _integer("The number of cases."),
        ],
        "minItems": 4,
    }
    return _object(
        "The results, and counts of what is not in them.",
        {
            "results": _list("Each case of each model, in the order in which they were collected.", _ref("result")),
            "missing": _list("Why cases have no recorded reply.", missing),
            "missing_excused": _flag("Whether a setting says that such cases do not make the run inconclusive."),
            "files_without_cases": _integer("YAML files without `cases:` among the collected ones."),
            "unanswered": _integer("Cases without a reply because the model gave none."),
            "not_asked": _integer("Those of them that were skipped, as their model had failed others."),
            "oldest_reply": _or_null("The age of the oldest recorded reply, in seconds.", _number()),
            "newest_reply": _or_null("The same of the newest.", _number()),
            "undated_replies": _flag("Whether recorded replies were used that do not say when they were recorded."),
            "stale": _list("Accepted answers whose case is gone: the path of a baseline, and a case.", _pair("string")),
        },
        required=("results",),
    )


def _result() -> _Schema:
    return _object(
        "How a case ended with a model. A figure that was not measured is null, never zero.",
        {
            "nodeid": _text("pytest's id of the test."),
            "case": _text("The id of the case."),
            "model": _text("The model; empty for a file that is faulty as a whole."),
            "status": {"description": "How the test ended.", "enum": [*get_args(Status)]},
            "category": _text("The category, such as `simple`; `faulty` for a case that cannot be read."),
            "tags": _list("The tags.", _text()),
            "reasons": _list("The kind of each reason, and its path.", _pair("string")),
            "seconds": _or_null("How long the answers took, without queueing.", _number()),
            "usage": _or_null("The tokens of the answers.", _ref("usage")),
            "cost": _or_null("US dollars, as far as prices are known.", _number()),
            "file": _text("The case file, from the root."),
            "line": _integer("The line of the case."),
            "replayed": _flag("Whether all answers came from recordings."),
            "asked": _or_null("The number of answers that the model gave in this run.", _integer()),
            "no_reply": _flag("Whether there was no reply, so that the result does not count for the model."),
            "place": _integer("The position among all cases of the run, those of other shards included."),
            "outcome": _or_null("The verdict compared with the baseline.", {"enum": [*map(str, Outcome)]}),
            "since": _list("What changed in the answer since the baseline, a line each.", _text()),
            "causes": _list("What changed in the question since then, a line each.", _text()),
            "bisected": _list(
                "The edits that --fc-bisect found guilty, a cause a line, or why it found none.", _text()
            ),
            "may_be_chance": _flag("Whether it counts as regressed although chance may explain it."),
            "samples": _or_null("Right answers, and all; null if one was asked for.", _pair("integer")),
            "before": _or_null("The same of the baseline.", _pair("integer")),
            "first": _or_null("The same before the case was asked again, since in doubt.", _pair("integer")),
            "suite": _text("The public benchmark that it belongs to."),
            "left_out": _list("Expected tools that retrieval did not offer.", _text()),
            "stanza": {
                "description": "For `fcall accept`; its content may change.",
                "type": ["string", "object", "null"],
            },
            "scores": _list("A tag, a score, and the numbers that the case adds to it.", _score()),
            "score_answers": _list("Of several answers: a tag, a score, and the numbers of each.", _score_answers()),
            "judging": _or_null("The questions to a judge model.", _ref("judging")),
            "inside": _list("The requests of an app to its models.", _ref("inside")),
            "strength": _or_null(
                "The weights of the mistakes that the case notices, that pass, and of which only a run decides.",
                {"type": "array", "items": _number(), "minItems": 3, "maxItems": 3},
            ),
            "called": _list("Each expected tool, and the one that was called for it.", _pair("string")),
            "unpriced": _integer("Requests that may be billed although there was no reply."),
            "remarks": _list("What is unusual about requests: a kind, and a path or pattern.", _pair("string")),
            "way": _text("How an app came to its answer: `proxy`, `unseen`, `stored`, or empty."),
            "asks_models": _flag("Whether an app that asked nothing is known to have asked before."),
            "attacks": _list("What became of the attack on the case, for each answer.", _ref("attack")),
            "recoveries": _list("What became of the faulty result of the case, for each answer.", _ref("recovery")),
            "detours": _list("Connections of an app to providers that went around the proxy.", _text()),
            "variants": _or_null("The verdicts on variants of the case.", _ref("variants")),
        },
        required=("nodeid", "case", "model", "status"),
    )


def _usage() -> _Schema:
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    title = "Tokens as the provider counts them; null for a count that it does not tell."
    counts = {name: _or_null(f"{name.replace('_', ' ').capitalize()}.", _integer()) for name in names}
    batched = _or_null("Those of them that a provider's batches counted, at their price.", _ref("usage"))
    return _object(title, {**counts, "batched": batched})


def _judging() -> _Schema:
    return _object(
        "The questions to the judge model for a case. Their cost is no part of that of the case.",
        {
            "model": _text("The judge."),
            "questions": _integer("The number of questions."),
            "replayed": _integer("Those that recordings answered."),
            "usage": _or_null("The tokens.", _ref("usage")),
            "cost": _or_null("US dollars.", _number()),
        },
        required=("model", "questions"),
    )


def _attack() -> _Schema:
    return _object(
        "What became of an attack in one answer.",
        {
            "name": _text("The name of the attack, which stands in the id of the case."),
            "form": _text("Its form."),
            "carriers": _list("The tools whose results carried it; none where it did not arrive.", _text()),
            "by": _text("The tool whose result the model obeyed; empty where the attack was held."),
        },
        required=("name", "form"),
    )


def _recovery() -> _Schema:
    return _object(
        "What became of a faulty result in one answer.",
        {
            "name": _text("The name of the fault, which stands in the id of the case."),
            "kind": _text("What is wrong with the result."),
            "tools": _list("The tools whose faulty results the model got; none where it got none.", _text()),
            "how": _text("`retries`, `tells` or `other_tool`; empty where the model did not recover."),
        },
        required=("name", "kind"),
    )


def _variants() -> _Schema:
    tried: _Schema = {
        "type": "array",
        "prefixItems": [
            _text("The relation."),
            _integer("The number of the variant, from 1."),
            _integer("Right answers."),
            _integer("All answers."),
            _list("The kind of each reason, and its path.", _pair("string")),
            _text("What is different, where the verdict is another than that of the case."),
        ],
        "minItems": 6,
    }
    before: _Schema = {
        "type": "array",
        "prefixItems": [_text("The relation."), _integer("Right answers."), _integer("All answers.")],
        "minItems": 3,
    }
    return _object(
        "The verdicts on variants of the case. They are no part of the status.",
        {
            "first": _flag("Whether the first answer to the case itself is right."),
            "repeated": {"description": "Right answers, and all, to the case itself beside the first."}
            | _pair("integer"),
            "tried": _list("Each variant.", tried),
            "unfit": _list("Relations that make no variant of the case, and why.", _pair("string")),
            "before": _list("A relation, right answers and all, of the baseline.", before),
            "answers": _integer("The answers beside those that the case has anyway."),
            "replayed": _integer("Those that recordings gave."),
            "usage": _or_null("The tokens.", _ref("usage")),
            "cost": _or_null("US dollars.", _number()),
        },
        required=("first", "repeated", "tried"),
    )


def _inside() -> _Schema:
    return _object(
        "Requests of an app to one model: either the new ones, or those that recordings answered.",
        {
            "model": _text("The model."),
            "requests": _integer("The number of requests."),
            "replayed": _flag("Whether recordings answered them."),
            "usage": _or_null("The tokens.", _ref("usage")),
            "cost": _or_null("US dollars.", _number()),
        },
        required=("model", "requests"),
    )


def _account() -> _Schema:
    return _object(
        "A line of the accounts: what was asked of a case, what came, and what the verdict says of it.",
        {
            "nodeid": _text("pytest's id of the test, as in the results."),
            "error": _text("Why there is no verdict; empty if there is one."),
            "tools": _list("The tools that were offered.", _text()),
            "settings": _any_object("The settings of the request, such as `temperature`."),
            "left_out": _list(
                "What was no part of the key of a request: a pattern, and what it matched.", _pair("string")
            ),
            "shown": _integer("The index of the answer that stands for all."),
            "answers": _list("The answers; of a case without a verdict one, with the question alone.", _ref("answer")),
            "expected": _list("What each turn expects; its content may change.", _any_object("A turn.")),
            "accepted": _or_null("The accepted answer, and what was different in the question.", _ref("accepted")),
            "offered": _text("The name of the set of tools; empty if none is kept."),
        },
        required=("nodeid", "answers"),
    )


def _tool() -> _Schema:
    fields = {
        "name": _text("The name."),
        "digest": _text("The digest by which sets name it."),
        "description": _text("The description."),
        "parameters": _any_object("The JSON Schema of the parameters."),
    }
    tool = _object("The tool.", fields, required=tuple(fields))
    return _object("A line of a tool, which is there once.", {"tool": tool}, required=("tool",))


def _tools() -> _Schema:
    return _object(
        "A line of a set of tools.",
        {
            "offered": _text("The name of the set, as in accounts."),
            "tools": _list("The name and the digest of each tool.", _pair("string")),
        },
        required=("offered", "tools"),
    )


def _accepted() -> _Schema:
    return _object(
        "The answer that the baseline has, and parts of its question that were different, as far as they are kept.",
        {
            "valid": _flag("Whether it was right."),
            "calls": _list("The calls.", _call()),
            "turns": _list("The number of calls of each turn; absent for a single reply.", _integer()),
            "date": _text("When it was accepted or recorded."),
            "system": _text("The system prompt."),
            "prompt": _text("The other messages."),
            "tools": _any_object("Descriptions and parameters of tools, by name."),
        },
        required=("valid",),
    )


def _answer() -> _Schema:
    names = ("kind", "path", "message")
    reason = _object("A reason of the verdict.", {name: _text(f"The {name}.") for name in names}, required=names)
    return _object(
        "An answer, and the verdict on it.",
        {
            "valid": _flag("Whether it is right."),
            "reasons": _list("Why it is wrong.", reason),
            "notes": _list("What was dropped, or read leniently.", _text()),
            "steps": _list("The requests of a conversation, or the only one.", _ref("step")),
            "inside": _list("The requests that an app sent to its models meanwhile.", _ref("step")),
            "turns": _list("How the verdict paired calls with expected ones, turn by turn.", _turn()),
        },
        required=("valid", "reasons"),
    )


def _turn() -> _Schema:
    return _object(
        "A turn of an answer.",
        {
            "calls": _integer("The number of its calls."),
            "pairs": _list("The index of an expected call, and of the call that was made for it.", _pair("integer")),
            "alternative": _integer("The index of the alternative that the verdict chose."),
        },
        required=("calls", "pairs"),
    )


def _call() -> _Schema:
    return _object(
        "A call.",
        {"name": _text("The tool."), "arguments": _any_object("The arguments.")},
        required=("name", "arguments"),
    )


def _step() -> _Schema:
    result = _object(
        "What came of a call.",
        {
            "value": {"description": "The result."},
            "error": _text("What failed."),
            "fault": _text("The kind of the fault, where the result is faulty on purpose."),
        },
    )
    return _object(
        "A request and its reply. What is empty is left out.",
        {
            "model": _text("The model that an app asked."),
            "messages": _list("The messages that are new, in OpenAI's form.", _any_object("A message.")),
            "calls": _list("The calls of the reply.", _call()),
            "results": _list("The results of the first calls.", result),
            "text": _text("The text of the reply."),
            "remark": _text("What is unusual about the reply, such as a refusal."),
        },
    )


def _score() -> _Schema:
    items: list[Json] = [_text(), _text(), {"type": "array", "items": _number()}]
    return {"type": "array", "prefixItems": items, "minItems": 3, "maxItems": 3}


def _score_answers() -> _Schema:
    numbers: _Schema = {"type": "array", "items": _number()}
    items: list[Json] = [_text(), _text(), {"type": "array", "items": numbers}]
    return {"type": "array", "prefixItems": items, "minItems": 3, "maxItems": 3}


def _object(description: str, fields: Mapping[str, _Schema], required: Sequence[str] = ()) -> _Schema:
    found: _Schema = {"description": description, "type": "object", "properties": {**fields}}
    return found | ({"required": [*required]} if required else {})


def _any_object(description: str) -> _Schema:
    return {"description": description, "type": "object"}


def _list(description: str, items: _Schema) -> _Schema:
    return {"description": description, "type": "array", "items": items}


def _pair(kind: str) -> _Schema:
    return {"type": "array", "items": {"type": kind}, "minItems": 2, "maxItems": 2}


def _or_null(description: str, schema: _Schema) -> _Schema:
    return {"description": description, "anyOf": [schema, {"type": "null"}]}


def _ref(name: str) -> _Schema:
    return {"$ref": f"#/$defs/{name}"}


def _text(description: str = "") -> _Schema:
    return {**({"description": description} if description else {}), "type": "string"}


def _flag(description: str) -> _Schema:
    return {"description": description, "type": "boolean"}


def _integer(description: str = "") -> _Schema:
    return {**({"description": description} if description else {}), "type": "integer", "minimum": 0}


def _number() -> _Schema:
    return {"type": "number", "minimum": 0}
