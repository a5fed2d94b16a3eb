from __future__ import annotations

import pytest

from pytest_fcall.reporting.header import AnswerSources, header_lines, judge_line

RECORDED = AnswerSources(live=False, max_age=None)
ASKED = AnswerSources(live=True, max_age=0)
DAY = 86_400


def test_the_header_names_models_and_where_they_come_from() -> None:
    assert header_lines(["openai:gpt-5.2", "local:smollm2"], origin="command line", answering=ASKED, width=120) == [
        "fcall: openai:gpt-5.2, local:smollm2 (command line), profile strict by default, "
        "asked live; no recorded reply is reused"
    ]
    assert header_lines(["local:smollm2"], origin="configuration", answering=RECORDED) == [
        "fcall: local:smollm2 (configuration), profile strict by default, from recordings only"
    ]


@pytest.mark.parametrize(
    ("answering", "text"),
    [
        (
            AnswerSources(live=True, max_age=None),
            "asked live; recorded replies are reused (--fc-record=all asks again)",
        ),
        (AnswerSources(live=True, max_age=DAY), "asked live; replies recorded in the last 24 h are reused"),
        (AnswerSources(live=True, max_age=7 * DAY), "asked live; replies recorded in the last 7 days are reused"),
        (AnswerSources(live=True, max_age=0), "asked live; no recorded reply is reused"),
        (
            AnswerSources(live=True, max_age=DAY, apps=True),
            "called live; replies of its models recorded in the last 24 h are reused",
        ),
        (
            AnswerSources(live=True, max_age=None, apps=True),
            "called live; recorded replies of its models are reused (--fc-record=all asks again)",
        ),
        (AnswerSources(live=False, max_age=DAY), "from recordings only"),
        (AnswerSources(live=False, max_age=None, apps=True), "called; its models answer from recordings only"),
    ],
)
def test_what_may_be_replayed_is_not_said_to_be_asked(answering: AnswerSources, text: str) -> None:
    assert str(answering) == text


def test_a_long_header_takes_more_lines_and_what_answers_is_never_cut() -> None:
    answering = AnswerSources(live=True, max_age=DAY)
    lines = header_lines([f"openai:model-{n}" for n in range(9)], origin="command line", answering=answering, width=80)
    assert [len(line) <= 80 for line in lines] == [True] * 3
    assert lines[1:] == [
        "       profile strict by default",
        "       asked live; replies recorded in the last 24 h are reused",
    ]
    short = header_lines(["openai:gpt-5.2"], origin="command line", answering=answering, width=80)
    assert short == [
        "fcall: openai:gpt-5.2 (command line), profile strict by default",
        "       asked live; replies recorded in the last 24 h are reused",
    ]


def test_without_a_model_the_header_says_how_to_name_one() -> None:
    (line,) = header_lines([], origin="", answering=RECORDED)
    assert "--fc-model=KIND:NAME" in line


def test_hostile_names_are_made_safe() -> None:
    assert header_lines(["a:\x1b[2J"], origin="x", answering=ASKED)[0].startswith("fcall: a:\\x1b[2J (x)")


def test_the_judge_is_named_like_the_models() -> None:
    line = judge_line("openai:gpt-5.2\x1b", origin="command line", answering=ASKED)
    assert line == "fcall: judge openai:gpt-5.2\\x1b (command line), asked live; no recorded reply is reused"
    line = judge_line("openai:gpt-5.2", origin="configuration", answering=RECORDED)
    assert line == "fcall: judge openai:gpt-5.2 (configuration), from recordings only"
