"""Judges a reply by the cases of a text, for the page that does so in a browser.

It runs in Pyodide with the rooms that need no compiled library; what those need stands in `libraries`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict

import unavailable
from string_formats import FORMATS
from unavailable import Unavailable

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.apps.answers.errors import AnswerError
from pytest_fcall.cases.case_file import CaseFileContent, read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, FaultyCase, Reply, Tool
from pytest_fcall.core.case import asks_judge_model
from pytest_fcall.decoding.decoders import DECODERS, decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.reporting.call_pairs import pair_calls
from pytest_fcall.reporting.failure import Failure, failure_text
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.value_text import call_text
from pytest_fcall.schema.findings import FORMAT_DESCRIPTIONS
from pytest_fcall.schema.traversal import schemas_in

_PROJECT = Path("/project")
_FILE = "playground.fc.yaml"
_WIDTH = 100
_MOST_CASES = 200
_OUTER_KEYS = frozenset({"role", "choices", "candidates", "output", "messages"})
"""Keys of a reply as an API gives it, in which a text may stand that a decoder reads."""

unavailable.install()

Status = Literal["right", "wrong", "fault", "open"]


class Judged(TypedDict):
    """What came of one case: a line, and what stands below it."""

    id: str
    status: Status
    title: str
    text: str


def judge_text(cases: str, reply: str, form: str = "") -> str:
    """The results of all cases of a text, as JSON. `form` names a decoder, for a reply that is text."""
    return json.dumps(list(judged_cases(cases, reply, form)))


def judged_cases(cases: str, reply: str, form: str = "") -> Iterator[Judged]:
    """Judge a reply by each case of a text. Never raises."""
    try:
        known = Extensions(decoders=frozenset(DECODERS))
        file = read_case_text(cases, _PROJECT / _FILE, root=_PROJECT, extensions=known)
    except UnreadableFile as error:
        yield _result(_FILE, "fault", "This is not a case file yet", fault_text(error.fault, _PROJECT))
        return
    except Unavailable as error:
        yield _result(_FILE, "open", "Not judged here", f"{error}. pytest reads such a file.")
        return
    except Exception as error:  # a page has nobody who could read a traceback
        yield _broken(_FILE, error)
        return
    yield from _judged_file(file, reply, form)


def _judged_file(file: CaseFileContent, reply: str, form: str) -> Iterator[Judged]:
    for entry in file.entries[:_MOST_CASES]:
        try:
            if isinstance(entry, FaultyCase):
                text = "\n\n".join(fault_text(fault, _PROJECT) for fault in entry.faults)
                yield _result(entry.id, "fault", "The case cannot be used", text)
            else:
                yield _judged(entry, reply, form)
        except Unavailable as error:
            yield _result(entry.id, "open", "Not judged here", f"{error}. pytest judges such a case.")
        except Exception as error:  # as above
            yield _broken(entry.id, error)
    if (left := len(file.entries) - _MOST_CASES) > 0:
        yield _result(_FILE, "open", "Not judged here", f"{left} more cases: this page judges {_MOST_CASES}.")


def _judged(case: Case, written: str, form: str) -> Judged:
    if reason := _open_reason(case):
        return _result(case.id, "open", "Not judged here", f"This page judges one reply, and {reason}.")
    try:
        reply = _reply(case, written, form)
    except AnswerError as error:
        return _result(case.id, "open", "The reply cannot be read", str(error).replace("the app returned", "there is"))
    calls = decode(reply, case.tools)
    verdict = judge_turn(reply, calls, case.turns[0], MatchContext(case.tools, case.rules))
    unchecked = _unchecked(case.tools)
    if not verdict.valid:
        failure = Failure(case, calls, verdict, reply)
        first, _, rest = failure_text(failure, _WIDTH).partition("\n")
        return _result(case.id, "wrong", first, _with_notes(rest, unchecked))
    pairs = pair_calls(case.turns[0].expect, calls.calls, verdict) if case.turns[0].expect else ()
    made = [f"✓ {call_text(pair.called)}" for pair in pairs if pair.called is not None]
    notes = [f"note: {note}" for note in dict.fromkeys((*calls.notes, *verdict.notes))]
    title = "The reply is right" + (" as far as checked" if unchecked else "")
    text = "\n".join([*(made or ["✓ no call, as expected"]), *notes])
    return _result(case.id, "right", title, _with_notes(text, unchecked))


def _open_reason(case: Case) -> str:
    """Why one reply does not decide the case; empty where it does."""
    reasons = {
        "the case is a conversation": case.conversation is not None or len(case.turns) != 1,
        "an attack is a conversation": case.injection is not None,
        "conversations are to precede the case": case.earlier is not None,
        "a suite judges by its own rules": case.judge is not None or case.conversation_judge is not None,
        "a model judges the case (`$judge`)": asks_judge_model(case),
        "the case expects requests of an app (`wire`)": case.wire is not None,
        "the case expects spans of an app (`spans`)": case.spans is not None,
    }
    turn = case.turns[0]
    results = (call.result for call in case.expected_calls)
    executed = turn.state is not None or turn.result is not None or any(each is not None for each in results)
    reasons["the case expects results of calls, or a state"] = executed
    return next((reason for reason, holds in reasons.items() if holds), "")


def _reply(case: Case, written: str, form: str) -> Reply:
    """The reply in a text: JSON in any shape that an app may return, else the text itself. Raises AnswerError."""
    decoder = form or case.decoder
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return Reply(written, decoder=decoder)
    is_outer = isinstance(value, str) or (isinstance(value, dict) and not _OUTER_KEYS.isdisjoint(value))
    if decoder and not is_outer:
        return Reply(written, decoder=decoder)
    if not isinstance(value, str | dict | list):
        return Reply(written)
    reply = reply_of(value)
    return replace(reply, decoder=decoder) if decoder else reply


def _unchecked(tools: Iterable[Tool]) -> list[str]:
    """The formats in the tools' parameters that pytest checks, and this page does not."""
    schemas = (schema for tool in tools for _, schema in schemas_in(tool.parameters))
    names = {name for schema in schemas if isinstance(name := schema.get("format"), str)}
    return sorted((names & FORMAT_DESCRIPTIONS.keys()) - FORMATS.keys())


def _with_notes(text: str, unchecked: list[str]) -> str:
    named = ", ".join(f"`{name}`" for name in unchecked)
    note = f"note: strings of the format {named} are checked by pytest, and not by this page"
    return f"{text}\n{note}" if unchecked else text


def _broken(id_: str, error: Exception) -> Judged:
    text = f"{type(error).__name__}: {str(error)[:500]}\nTry it with pytest, and report what you see if it fails, too."
    return _result(id_, "open", "This page failed", text)


def _result(id_: str, status: Status, title: str, text: str) -> Judged:
    return {"id": id_, "status": status, "title": title, "text": text}
