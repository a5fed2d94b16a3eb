"""A report as a log of inspect_ai (https://inspect.aisi.org.uk), written by its own library, for `inspect view`."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalRevision,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall, ToolCallError

from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.values import Json, Message
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.account_text import brief_answer
from pytest_fcall.reporting.gates import verdict_word
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import laid_out, safe_line
from pytest_fcall.reporting.transcript import content_text

_SCORER: Final = "fcall"
_DATE: Final = (1980, 1, 1, 0, 0, 0)


def write(report: Report) -> Iterator[bytes]:
    """The log of the one model that the report is about."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.eval"
        write_eval_log(_log(report), str(path))
        yield _undated(path)


def _undated(path: Path) -> bytes:
    """The archive without the times at which its members were written, so that equal runs give equal bytes."""
    packed = io.BytesIO()
    with ZipFile(path) as source, ZipFile(packed, "w") as target:
        for name in dict.fromkeys(source.namelist()):
            target.writestr(ZipInfo(name, _DATE), source.read(name), ZIP_DEFLATED)
    return packed.getvalue()


def _log(report: Report) -> EvalLog:
    results = [each for each in report.results.results if each.status != "skipped" or each.no_reply]
    ids = _ids(results)
    samples = [sample for id_, result in zip(ids, results, strict=True) for sample in _samples(id_, result, report)]
    usages = [usage for result in results if (usage := _usage(result))]
    model = _model(report)
    return EvalLog(
        status="cancelled" if report.data.get("broken_off") is True else "success",
        eval=_spec(report, model, ids, max((sample.epoch for sample in samples), default=1)),
        results=_scores(samples),
        stats=EvalStats(
            started_at=report.moment.isoformat(),
            completed_at=report.latest_end.isoformat(),
            model_usage={model: sum(usages[1:], start=usages[0])} if usages else {},
        ),
        samples=samples,
    )


def _spec(report: Report, model: str, ids: Sequence[str], epochs: int) -> EvalSpec:
    known = report.provenance
    revision = {"type": "git", "origin": "", "commit": _text(known.get("commit")), "dirty": known.get("dirty") is True}
    return EvalSpec(
        eval_id=_uuid(report.id, model),
        run_id=_text(report.id),
        created=report.moment.isoformat(),
        task="fcall",
        task_id=_uuid("task"),
        dataset=EvalDataset(name="cases", samples=len(ids), sample_ids=[*ids]),
        model=model,
        config=EvalConfig(epochs=epochs, epochs_reducer=["mean"] if epochs > 1 else None),
        revision=EvalRevision(**revision) if known.get("commit") else None,
        packages={"pytest_fcall": version} if (version := _text(known.get("pytest_fcall"))) else {},
        scorers=[{"name": _SCORER}],
        metadata=_conclusions(report),
    )


def _model(report: Report) -> str:
    asked = (result.model for result in report.results.results if result.model)
    return _text(next(asked, None) or next(iter(report.models), "none"))


def _ids(results: Sequence[Result]) -> list[str]:
    """The ids of cases, with their files where two are alike, or else their node ids."""
    for ids in (
        [safe_line(result.case) for result in results],
        [safe_line(f"{result.file}::{result.case}") for result in results],
    ):
        if len({*ids}) == len(ids) and all(ids):
            return ids
    return [f"{safe_line(result.nodeid)}#{number}" for number, result in enumerate(results, 1)]


def _samples(id_: str, result: Result, report: Report) -> Iterator[EvalSample]:
    """A sample for each answer; one without messages where what was asked and answered is not kept."""
    account = report.accounts.get(result.nodeid) or Account(result.nodeid)
    answers = account.answers or (AccountAnswer(result.right, ()),)
    for epoch, answer in enumerate(answers, 1):
        yield _sample(id_, epoch, answer, account, result, report)


def _sample(
    id_: str, epoch: int, answer: AccountAnswer, account: Account, result: Result, report: Report
) -> EvalSample:
    model, is_only = _model(report), result.samples is None
    usage = _usage(result) if is_only else None
    name = f"{report.id}/{id_}/{epoch}"
    messages = [*_messages(name, answer.steps, result)]
    last_message = next((each for each in reversed(messages) if each.role == "assistant"), None)
    asked = len(answer.steps[0].messages) if answer.steps else 0
    stop = "tool_calls" if last_message and last_message.tool_calls else "stop"
    if answer.steps and answer.steps[-1].remark:
        stop = "unknown"
    choices = [ChatCompletionChoice(message=last_message, stop_reason=stop)] if last_message and result.answered else []
    why, trace = laid_out(report.why(result)), laid_out(account.error)
    return EvalSample(
        id=id_,
        epoch=epoch,
        input=messages[:asked] or "",
        target=_text(", ".join(dict.fromkeys(expected for expected, _ in result.called if expected))),
        messages=messages,
        output=ModelOutput(model=model, choices=choices, usage=usage),
        scores={_SCORER: _score(answer, result, why)} if result.answered else None,
        error=None if result.answered else EvalError(message=why, traceback=trace, traceback_ansi=trace),
        metadata=_facts(answer, account, result),
        model_usage={model: usage} if usage else {},
        total_time=result.seconds if is_only else None,
        uuid=_uuid(name),
    )


def _score(answer: AccountAnswer, result: Result, why: str) -> Score:
    calls = [call for step in answer.steps for call in step.calls]
    reasons = [f"{kind} at {path}: {text}" if text else f"{kind} at {path}" for kind, path, text in answer.reasons]
    return Score(
        value="C" if answer.valid else "I",
        answer=brief_answer(calls, answer.steps[-1].text) if answer.steps else None,
        explanation=laid_out("\n".join(reasons)) or (None if answer.valid else why),
        metadata={"status": result.status, "outcome": result.outcome.value if result.outcome else None},
    )


def _scores(samples: Sequence[EvalSample]) -> EvalResults:
    """The share of right answers: the mean over cases of the mean over the answers to each."""
    marks: dict[str, list[bool]] = {}
    for sample in samples:
        if sample.scores:
            marks.setdefault(sample.id, []).append(sample.scores[_SCORER].value == "C")
    scored = sum(map(len, marks.values()))
    accuracy = EvalMetric(name="accuracy", value=fmean(map(fmean, marks.values()))) if marks else None
    return EvalResults(
        total_samples=len(samples),
        completed_samples=scored,
        scores=[
            EvalScore(
                name=_SCORER,
                scorer=_SCORER,
                scored_samples=scored,
                unscored_samples=len(samples) - scored,
                metrics={"accuracy": accuracy} if accuracy else {},
            )
        ],
    )


def _messages(name: str, steps: Sequence[AskedStep], result: Result) -> Iterator[ChatMessage]:
    """The messages of an answer, with the calls and what came of them; without a reply the question alone."""
    number = 0
    for place, step in enumerate(steps):
        for message in step.messages:
            number += 1
            yield _message(_uuid(name, number), message)
        if not result.answered and place == len(steps) - 1:
            return
        ids = [f"call_{place + 1}_{each}" for each in range(1, len(step.calls) + 1)]
        number += 1
        yield ChatMessageAssistant(
            id=_uuid(name, number),
            content=_text(step.text),
            tool_calls=[_tool_call(id_, call.name, call.arguments) for id_, call in zip(ids, step.calls, strict=True)]
            or None,
            model=_text(step.model or result.model),
            metadata={"remark": _text(step.remark)} if step.remark else None,
        )
        for id_, call, came in zip(ids, step.calls, step.results, strict=False):
            number += 1
            yield _tool_message(_uuid(name, number), id_, call.name, came)


def _message(id_: str, message: Message) -> ChatMessage:
    text = _text(content_text(message.get("content")))
    match message.get("role"):
        case "system" | "developer":
            return ChatMessageSystem(id=id_, content=text)
        case "assistant":
            return ChatMessageAssistant(id=id_, content=text, tool_calls=[*_former_calls(message)] or None)
        case "tool":
            call = message.get("tool_call_id")
            return ChatMessageTool(id=id_, content=text, tool_call_id=_text(call) if call else None)
        case "user":
            return ChatMessageUser(id=id_, content=text)
    # an item of OpenAI's Responses, such as the result of a call
    return ChatMessageUser(id=id_, content=_as_json(message))


def _former_calls(message: Message) -> Iterator[ToolCall]:
    """The calls of an answer that is part of the question."""
    calls = message.get("tool_calls")
    for number, call in enumerate(calls if isinstance(calls, list | tuple) else ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(call, Mapping) and isinstance(function, Mapping):
            yield _tool_call(_text(call.get("id") or number), _text(function.get("name")), _arguments(function))


def _arguments(function: Mapping[str, Json]) -> Mapping[str, Json]:
    arguments = function.get("arguments")
    try:
        read = read_json(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        read = None
    return read if isinstance(read, Mapping) else {"arguments": arguments}


def _tool_call(id_: str, name: str, arguments: Mapping[str, Json]) -> ToolCall:
    return ToolCall(id=id_, function=_text(name), arguments=_plain(arguments))


def _tool_message(id_: str, call: str, name: str, came: CallResult) -> ChatMessageTool:
    error = ToolCallError("unknown", _text(came.error)) if came.error else None
    content = came.error or (came.value if isinstance(came.value, str) else _as_json(came.value))
    return ChatMessageTool(id=id_, content=_text(content), tool_call_id=call, function=_text(name), error=error)


def _usage(result: Result) -> ModelUsage | None:
    """The tokens of all answers to a case; None where a count is unknown, since a log can only say zero."""
    usage = result.usage
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = usage.cached_tokens or 0
    return ModelUsage(
        input_tokens=max(usage.input_tokens - cached, 0),
        output_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        input_tokens_cache_read=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_cost=result.cost,
    )


def _facts(answer: AccountAnswer, account: Account, result: Result) -> dict[str, Any]:
    inside = [
        {"model": step.model, "calls": [{call.name: call.arguments} for call in step.calls], "text": step.text}
        for step in answer.inside
    ]
    found = {
        "file": result.file,
        "line": result.line,
        "category": result.category,
        "tags": result.tags,
        "tools": account.tools,
        "settings": account.settings,
        "since": result.since,
        "causes": result.found_causes,
        "notes": answer.notes,
        "inside": inside,
        "replayed": result.replayed,
    }
    return {name: _plain(value) for name, value in found.items() if value}


def _conclusions(report: Report) -> dict[str, Any]:
    skipped = Counter(result.status for result in report.results.results if not result.no_reply)["skipped"]
    return {
        "run": _text(report.id),
        "title": report.title,
        "conclusions": [_text(each) for each in report.conclusions],
        "gates": [f"{_text(gate.text)}: {verdict_word(gate)}" for gate in report.gates],
        "skipped": skipped,
    }


def _as_json(value: Json) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, default=str)


def _plain(value: object) -> Any:
    """The value in lists and dicts of texts that can be written."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _text(value: object) -> str:
    """The text, with lone surrogates as escapes: the library refuses them."""
    return str(value if value is not None else "").encode("utf-8", "backslashreplace").decode()


def _uuid(*name: object) -> str:
    """The same for the same name, where the library would draw one."""
    return str(uuid5(NAMESPACE_URL, _text("/".join(map(str, ("pytest-fcall", *name))))))
