from __future__ import annotations

from pytest_fcall.reporting.header import header_lines, judge_line


def test_the_header_names_models_and_where_they_come_from() -> None:
    assert header_lines(["openai:gpt-5.2", "local:smollm2"], origin="command line", live=True) == [
        "fcall: openai:gpt-5.2, local:smollm2 (command line), profile strict by default, live"
    ]
    assert header_lines(["local:smollm2"], origin="configuration", live=False) == [
        "fcall: local:smollm2 (configuration), profile strict by default, from recordings only"
    ]


def test_a_long_header_takes_two_lines_of_the_width() -> None:
    lines = header_lines([f"openai:model-{n}" for n in range(9)], origin="command line", live=True, width=80)
    assert [len(line) <= 80 for line in lines] == [True, True]
    assert lines[1] == "       profile strict by default, live"


def test_without_a_model_the_header_says_how_to_name_one() -> None:
    (line,) = header_lines([], origin="", live=False)
    assert "--fc-model=KIND:NAME" in line


def test_hostile_names_are_made_safe() -> None:
    assert header_lines(["a:\x1b[2J"], origin="x", live=True)[0].startswith("fcall: a:\\x1b[2J (x)")


def test_the_judge_is_named_like_the_models() -> None:
    line = judge_line("openai:gpt-5.2\x1b", origin="command line", live=True)
    assert line == "fcall: judge openai:gpt-5.2\\x1b (command line), live"
    line = judge_line("openai:gpt-5.2", origin="configuration", live=False)
    assert line == "fcall: judge openai:gpt-5.2 (configuration), from recordings only"
