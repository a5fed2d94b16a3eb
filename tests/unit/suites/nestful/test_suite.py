from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Call, Calls, Case, FaultyCase, Reply, Verdict
from pytest_fcall.core.extension import about_of
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.suites.nestful.suite import NestfulSuite
from tests.unit.suites.nestful.data import RIGHT, ROW, TOOLS, write


def one_case(folder: Path) -> Case:
    (case,) = NestfulSuite().cases("", folder)
    assert isinstance(case, Case), case
    return case


def judged(case: Case, text: str, profile: Any = "original") -> Verdict:
    own = replace(case, rules=case.rules._replace(profile=profile))
    assert own.judge is not None
    reply = Reply(text, decoder=case.decoder)
    return own.judge(own, reply, decode(reply, case.tools))


def test_the_prompt_is_put_together_of_the_originals_parts(tmp_path: Path) -> None:
    write(tmp_path, ROW, examples=[{"input": f"Q{n}", "output": [{"name": "f"}]} for n in range(5)])
    case = one_case(tmp_path)
    examples = "".join(f'\n#Example-{n + 1}\nInput: Q{n}\nOutput: [{{"name": "f"}}]\n' for n in range(3))
    system = f"Functions:\n{json.dumps(json.dumps(TOOLS))}\nExamples:\n{examples}\n"
    assert case.turns[0].messages == (
        {"role": "system", "content": system},
        {"role": "user", "content": "(2 + 3) * 4?"},
    )
    assert (case.id, case.proposed_settings) == ("a-1", {"temperature": 0, "max_tokens": 1000})
    assert [tool.name for tool in case.tools] == ["add", "multiply"]


def test_fields_may_be_json_text_as_in_exports(tmp_path: Path) -> None:
    write(tmp_path / "NESTFUL", {**ROW, "output": json.dumps(RIGHT), "tools": json.dumps(TOOLS)})
    assert judged(one_case(tmp_path), json.dumps(RIGHT)).valid
    assert [part.cases for part in about_of("nestful", NestfulSuite(), tmp_path).parts] == [1]


def relabelled(first: str) -> str:
    return json.dumps(RIGHT).replace("$var_1", first)


@pytest.mark.parametrize(
    ("said", "original", "strict"),
    [
        (json.dumps(RIGHT), True, True),
        (relabelled("$var_9"), True, True),
        (f"Here:\n```json\n{json.dumps(RIGHT)}\n```", False, True),
        (json.dumps(RIGHT[:1]), False, False),
        (json.dumps(RIGHT).replace("3", "5"), False, False),
        (json.dumps([{key: call[key] for key in ("name", "arguments")} for call in RIGHT]), False, False),
        ("20", False, False),
        ("[]", False, False),
    ],
)
def test_a_sequence_is_right_as_a_whole(tmp_path: Path, said: str, original: bool, strict: bool) -> None:
    write(tmp_path, ROW)
    case = one_case(tmp_path)
    verdict = judged(case, said)
    assert verdict.valid is original
    assert bool(verdict.reasons) is not original
    assert verdict.scores["full_match"] == (float(original), 1.0)
    assert judged(case, said, "strict").valid is strict


def test_a_reference_to_the_wrong_call_of_a_function_is_right_by_the_original_rule_alone(tmp_path: Path) -> None:
    sums = [{"name": "add", "label": f"$var_{n}", "arguments": {"arg_0": n, "arg_1": 0}} for n in (1, 2)]
    last = {"name": "multiply", "label": "$var_3", "arguments": {"arg_0": "$var_1.result$", "arg_1": "$var_2.result$"}}
    write(tmp_path, {**ROW, "output": [*sums, last]})
    said = json.dumps([*sums, {**last, "arguments": {"arg_0": "$var_2.result$", "arg_1": "$var_2.result$"}}])
    case = one_case(tmp_path)
    assert judged(case, said).valid
    assert not judged(case, said, "strict").valid


def test_native_calls_are_judged_as_they_are_and_a_baseline_without_text_is_not(tmp_path: Path) -> None:
    right = [{key: call[key] for key in ("name", "arguments")} for call in RIGHT[:1]]
    write(tmp_path, {**ROW, "output": right})
    case = one_case(tmp_path)
    assert case.judge is not None
    calls = Calls((Call("add", {"arg_0": 2, "arg_1": 3}),))
    assert case.judge(case, Reply(), calls).valid
    assert not case.judge(case, Reply(), Calls((Call("add", {}),))).valid
    unkept = replace(case, turns=(replace(case.turns[0], answer=None),))
    assert case.judge(unkept, Reply("(not kept)"), Calls()).valid


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"sample_id": 5}, "`sample_id` must be a non-empty string"),
        ({"sample_id": "a::b"}, "`sample_id` has unprintable characters, or `::`"),
        ({"input": 5}, "`input` must be a string"),
        ({"tools": "["}, "`tools` is not JSON"),
        ({"tools": [5]}, "`tools` must be a list of objects"),
        ({"output": []}, "`output` must be a list of calls"),
        ({"output": [{"name": "add"}]}, "`output` must be a list of calls"),
        ({"output": [{**RIGHT[0], "label": 5}]}, "`output` must be a list of calls"),
    ],
)
def test_a_broken_row_is_a_case_with_a_fault(tmp_path: Path, row: Any, why: str) -> None:
    file = write(tmp_path, {**ROW, **row}, {**ROW, "sample_id": "b"})
    broken, whole = NestfulSuite().cases("v2", tmp_path)
    assert isinstance(broken, FaultyCase)
    assert why in broken.faults[0].message
    assert (broken.location.path, broken.location.line) == (str(file), 1)
    assert isinstance(whole, Case)


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("src/icl_examples.json", "[5]", "an example needs `input` and `output`"),
        ("src/icl_examples.json", "{", "is not JSON"),
        ("src/instruct_data_prep.py", "def (", "cannot read"),
        ("src/instruct_data_prep.py", "x = 1", "it makes no `system_prompt` of known parts"),
        (
            "src/instruct_data_prep.py",
            "def deepseek_prompt_input(function):\n    system_prompt = 'a' + open('b').read()",
            "it makes no `system_prompt` of known parts",
        ),
    ],
)
def test_code_that_is_not_the_originals_is_told(tmp_path: Path, file: str, text: str, why: str) -> None:
    write(tmp_path, ROW)
    (tmp_path / file).write_text(text)
    with pytest.raises(ValueError, match=why):
        list(NestfulSuite().cases("", tmp_path))


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no src/instruct_data_prep.py in .*IBM/NESTFUL"):
        list(NestfulSuite().cases("", tmp_path))
    file = write(tmp_path, ROW)
    with pytest.raises(ValueError, match="no part 'v1' in suite nestful"):
        list(NestfulSuite().cases("v1", tmp_path))
    file.unlink()
    with pytest.raises(ValueError, match=r"no data_v2/nestful_data.jsonl in .*IBM/NESTFUL"):
        list(NestfulSuite().cases("", tmp_path))
    assert about_of("nestful", NestfulSuite(), tmp_path).place is None
