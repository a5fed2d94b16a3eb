"""`$toolbench`: a program or steps that come to what is expected."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_lines import BrokenRow
from pytest_fcall.suites.toolbench.judging import verdict_of
from pytest_fcall.suites.toolbench.known_actions import KNOWN_ACTIONS
from pytest_fcall.suites.toolbench.prompt import said
from pytest_fcall.suites.toolbench.score import labels_of, score


def toolbench(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:  # noqa: ARG001  it takes none
    """Compare text with what one of `labels` comes to, in a `task` that is carried out here."""
    if not isinstance(operand, Mapping) or not isinstance(task := operand.get("task"), str):
        return "`$toolbench` takes a `task`, and `labels`, a list of right answers"
    if not isinstance(got, str):
        return "there is no text"
    listed = operand.get("labels")
    labels: Json = [each for each in listed if isinstance(each, str)] if isinstance(listed, list | tuple) else []
    row: dict[str, Json] = {"task": task, "prediction": said(got, unfenced=True), "labels": labels}
    try:
        verdict = verdict_of(score(row, KNOWN_ACTIONS), labels_of(row, "labels"), got)
    except BrokenRow as error:
        return f"`$toolbench` cannot judge: {error}"
    return None if verdict.valid else verdict.reasons[0].message
