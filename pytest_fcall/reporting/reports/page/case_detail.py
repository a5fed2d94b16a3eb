"""The data of the view of a case: the question, the answers, and what changed since one was accepted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_fcall.core import Json, Tool
from pytest_fcall.reporting.account import Accepted, Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.account_text import message_text
from pytest_fcall.reporting.reports.page.case_calls import compared_turns, turn_data
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.reporting.value_text import call_text, value_text
from pytest_fcall.reporting.word_diff import marked_changes

if TYPE_CHECKING:
    from pytest_fcall.core import CallResult

_LONGEST: Final = 50_000
"""Of longer texts the middle is left out."""
_LONGEST_VALUE: Final = 5_000
_SYSTEM: Final = ("system", "developer")


def detail_of(result: Result, report: Report) -> dict[str, Json]:
    """Everything about a result that its row does not say."""
    account = report.accounts.get(result.nodeid)
    found: dict[str, Json] = {
        "since": [safe(line, _LONGEST) for line in result.since],
        "causes": [safe(line, _LONGEST) for line in result.found_causes],
        **(_account(account, report) if account else {"lost": True}),
    }
    return {name: value for name, value in found.items() if value}


def _account(account: Account, report: Report) -> dict[str, Json]:
    offered = report.offered.get(account.offered)
    return {
        "error": safe(account.error, _LONGEST),
        "offered": account.offered if offered else "",
        "tools": [] if offered else [safe_line(tool) for tool in account.tools],
        "settings": [[safe_line(name), value_text(value, _LONGEST_VALUE)] for name, value in account.settings.items()],
        "shown": account.shown,
        "answers": [_answer(account, answer) for answer in account.answers],
        **(_accepted(account.accepted, account, offered or ()) if account.accepted else {}),
    }


def _accepted(accepted: Accepted, account: Account, offered: Sequence[Tool]) -> dict[str, Json]:
    """When the answer was accepted, and the changes in the question since then."""
    return {
        "accepted": [safe_line(accepted.date), int(accepted.valid)],
        "system": [] if accepted.system is None else _changes(accepted.system, _text(account, is_system=True)),
        "prompt": [] if accepted.prompt is None else _changes(accepted.prompt, _text(account, is_system=False)),
        "changed": {
            safe_line(tool.name): _changes(definition_text(_kept_tool(tool.name, former)), definition_text(tool))
            for tool in offered
            if isinstance(former := accepted.tools.get(tool.name), Mapping)
        },
    }


@lru_cache(maxsize=256)
def _changes(old: str, new: str) -> list[Json]:
    """The changed words. Most cases share their system prompt and their tools."""
    return [[sign, safe(text, _LONGEST)] for sign, text in marked_changes(old, new)]


def _text(account: Account, *, is_system: bool) -> str:
    """The text of the system prompt, or of the messages behind it."""
    messages = account.answers[0].steps[0].messages if account.answers and account.answers[0].steps else ()
    return "\n".join(str(each.get("content")) for each in messages if (each.get("role") in _SYSTEM) is is_system)


def _kept_tool(name: str, kept: Mapping[str, Json]) -> Tool:
    parameters = kept.get("parameters")
    return Tool(name, str(kept.get("description") or ""), parameters if isinstance(parameters, Mapping) else {})


def definition_text(tool: Tool) -> str:
    """The description and the parameters of a tool."""
    try:
        parameters = json.dumps(tool.parameters, indent=2, ensure_ascii=False, default=str)
    except RecursionError:
        parameters = value_text(tool.parameters)
    return f"{tool.description}\n\n{parameters}".lstrip()


def _answer(account: Account, answer: AccountAnswer) -> dict[str, Json]:
    turns = compared_turns(account, answer)
    found: dict[str, Json] = {
        "right": answer.valid,
        "reasons": [[safe_line(kind), safe_line(path), safe(text, _LONGEST)] for kind, path, text in answer.reasons],
        "notes": [safe(note, _LONGEST) for note in answer.notes],
        "turns": [turn_data(turn, is_valid=answer.valid) for turn in turns],
        "wrong": [index for turn in turns for index in turn.wrong],
        "steps": [_step(step) for step in answer.steps],
        "inside": [_step(step) for step in answer.inside],
    }
    return {name: value for name, value in found.items() if value or name == "right"}


def _result(result: CallResult) -> list[Json]:
    """What stands before a result, and its text."""
    faulty = f"{safe_line(result.fault)}, on purpose" if result.fault else ""
    if result.error is not None:
        return [f"error ({faulty})" if faulty else "error", safe(result.error, _LONGEST)]
    return [faulty, value_text(result.value, _LONGEST)]


def _step(step: AskedStep) -> dict[str, Json]:
    found: dict[str, Json] = {
        "model": safe_line(step.model),
        "messages": [[*message_text(message, _LONGEST)] for message in step.messages],
        "calls": [call_text(call, _LONGEST_VALUE) for call in step.calls],
        "results": [_result(each) for each in step.results],
        "text": safe(step.text, _LONGEST),
        "remark": safe(step.remark, _LONGEST),
    }
    return {name: value for name, value in found.items() if value}
