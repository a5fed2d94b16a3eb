"""The same questions, asked for in many formats."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Case, Json, Reply
from pytest_fcall.decoding.decoders import DECODERS, decode
from pytest_fcall.suites.bfcl.answers import as_answer_row, read_answer
from pytest_fcall.suites.bfcl.case_index import CaseIndex
from pytest_fcall.suites.bfcl.categories import DEFAULT_FORMAT, FORMATS, PromptFormat, format_of
from pytest_fcall.suites.bfcl.judge import score_answer
from pytest_fcall.suites.bfcl.result_files import model_files, score_table
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.bfcl_data import write_leaderboard

STYLE = {
    "persona": "Sailor",
    "task": "Sail",
    "tool_call_no_tag": "as {output_format}{param_types}",
    "tool_call_with_tag": "as <TOOLCALL>{output_format}</TOOLCALL>{param_types}",
    "multiturn_behavior": "on",
    "available_tools": "in {format}:{functions}",
}
CALLS = {
    "python": "[sail(port='Bergen')]",
    "json": '[{"function": "sail", "parameters": {"port": "Bergen"}}]',
    "verbose_xml": '<functions><function name="sail"><params><param name="port" value="Bergen" type="string"/></params>'
    "</function></functions>",
    "concise_xml": '<functions><function name="sail"><param name="port" type="string">Bergen</param></function>'
    "</functions>",
}


def words() -> str:
    parts = "{persona}|{task}|{tool_call_format}|{multiturn_behavior}|{available_tools}"
    constants: dict[str, Json] = {
        "OUTPUT_FORMAT_MAPPING": {"python": "PY", "json": "JSON", "verbose_xml": "LONG", "concise_xml": "SHORT"},
        "PARAM_TYPE_MAPPING": {"python": "", "json": "", "verbose_xml": " Types!", "concise_xml": " Types!"},
        "PROMPT_STYLE_TEMPLATES": {"classic": STYLE, "experimental": {**STYLE, "persona": "Captain"}},
        "_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE": parts,
        "_MARKDOWN_SYSTEM_PROMPT_TEMPLATE": f"# {parts}",
    }
    return "".join(f"{name} = {value!r}\n" for name, value in constants.items())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "constants").mkdir()
    (tmp_path / "constants" / "default_prompts.py").write_text(words())
    folder = write_leaderboard(tmp_path / "data")
    asked = {"simple_python": ["simple_python_1"], "parallel_multiple": ["parallel_multiple_0"]}
    (folder / "BFCL_v4_format_sensitivity.json").write_text(json.dumps(asked))
    return folder


def cases(folder: Path) -> list[Case]:
    return [case for case in BfclSuite().prompted("format_sensitivity", folder) if isinstance(case, Case)]


def asked_in(folder: Path, form: PromptFormat) -> Case:
    return next(case for case in cases(folder) if format_of(case.id) == form)


def said(case: Case, valid: bool = True) -> Reply:
    form = format_of(case.id)
    text = CALLS[form.call_notation] if valid else CALLS[form.call_notation].replace("Bergen", "Turku")
    return Reply(f"<TOOLCALL>{text}</TOOLCALL>" if form.tagged else text, decoder=case.decoder)


def test_there_are_26_formats_with_names_and_decoders_of_their_own() -> None:
    assert len(FORMATS) == len({form.config for form in FORMATS}) == len({form.category for form in FORMATS}) == 26
    assert {form.decoder for form in FORMATS} <= set(DECODERS)
    assert DEFAULT_FORMAT in FORMATS
    assert (
        FORMATS[0].config == "ret_fmt=python&tool_call_tag=True&func_doc_fmt=python&prompt_fmt=plaintext&style=classic"
    )


def test_every_question_is_asked_in_every_format(folder: Path) -> None:
    found = cases(folder)
    assert len(found) == 52
    assert found[0].id == f"format_sensitivity_0:{FORMATS[0].config}:simple_python_1"
    assert found[51].id == f"format_sensitivity_51:{FORMATS[25].config}:parallel_multiple_0"
    assert {case.category for case in found} == {form.category for form in FORMATS}
    assert found[9].category == "format_sensitivity/json/python"


def test_the_prompt_asks_for_the_format(folder: Path) -> None:
    tagged = str(asked_in(folder, PromptFormat("verbose_xml", True, "xml")).turns[0].messages[0]["content"])
    assert tagged.startswith("Sailor|Sail|as <TOOLCALL>LONG</TOOLCALL> Types!|on|in xml:<function name=")
    other = asked_in(folder, PromptFormat(layout="markdown")).turns[0].messages[0]["content"]
    assert str(other).startswith("# Sailor|Sail|as PY|on|in json:[")
    captain = asked_in(folder, PromptFormat(style="experimental")).turns[0].messages[0]["content"]
    assert str(captain).startswith("Captain")


def test_the_hint_on_the_language_is_given_twice_as_officially(folder: Path) -> None:
    told = str(asked_in(folder, DEFAULT_FORMAT).turns[0].messages[0]["content"])
    assert told.count("Note that the provided function is in Python 3 syntax.") == 2


@pytest.mark.parametrize("profile", ["bfcl", "strict"])
def test_answers_are_read_in_the_format_that_was_asked_for(folder: Path, profile: str) -> None:
    for found in cases(folder)[:26]:
        case = replace(found, rules=found.rules._replace(profile="strict" if profile == "strict" else "bfcl"))
        assert case.judge is not None
        right, wrong = said(case), said(case, valid=False)
        assert case.judge(case, right, decode(right, case.tools)).valid, case.id
        assert not case.judge(case, wrong, decode(wrong, case.tools)).valid, case.id


def test_a_call_without_its_tags_cannot_be_read(folder: Path) -> None:
    case = asked_in(folder, PromptFormat("json", True, "json"))
    reply = Reply(CALLS["json"], decoder=case.decoder)
    assert case.judge is not None
    assert case.judge(case, reply, decode(reply, case.tools)).error_type == "ast_decoder:decoder_failed"


def test_stored_answers_are_read_in_the_format_that_their_id_names(folder: Path) -> None:
    book = CaseIndex(folder)
    for case in cases(folder)[:26]:
        row = as_answer_row({"id": case.id, "result": said(case).text})
        assert row["category"] == "format_sensitivity"
        told = score_answer(book.case(row), read_answer(row)).as_row()
        assert (told["valid"], told["strict_valid"]) == (True, True), case.id


def test_native_calls_have_no_format(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"compares prompt formats .*--fc-suite-mode=prompt"):
        list(BfclSuite().cases("format_sensitivity", folder))


def test_no_case_file_can_say_how_calls_are_asked_for(folder: Path) -> None:
    with pytest.raises(ValueError, match="a case file cannot express"):
        list(BfclSuite().plain("format_sensitivity", folder))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("[]", "must be an object with a list of ids"),
        ("{", "is not JSON"),
        ('{"simple_java": []}', "names 'simple_java'"),
        ('{"format_sensitivity": []}', "names 'format_sensitivity'"),
        ('{"simple_python": [3]}', "must be an object with a list of ids"),
    ],
)
def test_a_list_of_questions_that_is_none_is_told(folder: Path, asked: str, why: str) -> None:
    (folder / "BFCL_v4_format_sensitivity.json").write_text(asked)
    with pytest.raises(ValueError, match=why):
        cases(folder)
    parts = {part.name: part for part in BfclSuite().about(folder).parts}
    assert parts["format_sensitivity"].cases is None


def test_the_suite_counts_questions_times_formats(folder: Path) -> None:
    parts = {part.name: part for part in BfclSuite().about(folder).parts}
    assert parts["format_sensitivity"].cases == 52


def test_the_files_tell_how_far_the_formats_lie_apart(folder: Path) -> None:
    suite = BfclSuite()
    rows = []
    for case in cases(folder):
        reply = said(case, valid=format_of(case.id).call_notation != "json")
        assert case.judge is not None
        rows.append(suite.row(case, reply, case.judge(case, reply, decode(reply, case.tools))))
    written = dict(model_files("sailor", rows))
    assert list(written) == [
        f"{kind}/sailor/format_sensitivity/BFCL_v4_format_sensitivity_{kind}.json" for kind in ("result", "score")
    ]
    head = json.loads(written["score/sailor/format_sensitivity/BFCL_v4_format_sensitivity_score.json"].splitlines()[0])
    assert head["accuracy_max_delta"] == 50.0
    assert (head["accuracy_std"], head["accuracy_variance"]) == (21.48, 461.54)
    assert head[DEFAULT_FORMAT.config] == {"accuracy": 0.5, "correct_count": 1, "total_count": 2}
    columns, line = score_table({"sailor": rows}, {})[1].splitlines()
    told = dict(zip(columns.split(","), line.split(","), strict=True))
    assert told["Format Sensitivity Max Delta"] == "50.0"
    assert told["Format Sensitivity Standard Deviation"] == "21.48"


def test_scores_are_told_once_every_format_was_asked() -> None:
    tallies = {form.category: (2 if form.call_notation == "python" else 1, 2) for form in FORMATS}
    figures = {figure.name: figure.share for figure in BfclSuite().figures(tallies)}
    assert figures["format_max_delta"] == 0.5
    assert "overall" not in figures
    few = dict(list(tallies.items())[:3])
    assert {figure.name: figure.share for figure in BfclSuite().figures(few)} == {
        "format_max_delta": None,
        "format_std": None,
    }
