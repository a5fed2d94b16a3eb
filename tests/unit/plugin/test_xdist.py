"""How cases are dealt to the workers of pytest-xdist."""

from __future__ import annotations

import pytest

from pytest_fcall.plugin import pytest_xdist_make_scheduler

TWO = ("--dist=load", "--tx=2*popen")


def scheduler(pytester: pytest.Pytester, *words: str) -> str:
    made = pytest_xdist_make_scheduler(pytester.parseconfig(*TWO, *words), None)
    return type(made).__name__


@pytest.mark.parametrize("record", ["missing", "all"])
def test_where_servers_are_asked_each_worker_has_its_part_at_once(pytester: pytest.Pytester, record: str) -> None:
    assert scheduler(pytester, "--fc-model=openai:gpt", f"--fc-record={record}") == "WorkStealingScheduling"


@pytest.mark.parametrize("words", [("--fc-record=off",), ("--fc-replay",), ("--dist=loadfile",)])
def test_where_no_other_worker_could_find_the_replies_or_nobody_is_asked_pytest_deals(
    pytester: pytest.Pytester, words: tuple[str, ...]
) -> None:
    assert scheduler(pytester, "--fc-model=openai:gpt", *words) == "NoneType"


@pytest.mark.parametrize("model", ["python:shop:answer", "http:http://127.0.0.1:1/chat"])
def test_an_app_is_not_asked_by_two_workers_for_the_same_case(pytester: pytest.Pytester, model: str) -> None:
    assert scheduler(pytester, f"--fc-model={model}") == "NoneType"
