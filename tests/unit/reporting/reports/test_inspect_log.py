from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

pytest.importorskip("inspect_ai.log", reason="inspect_ai is an extra")

from inspect_ai.log import read_eval_log

from pytest_fcall.core import Call, CallResult, Json, Message, Outcome, Usage
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.reports.inspect_log import write
from pytest_fcall.reporting.results import Result
from tests.unit.reporting.reports.examples import HOSTILE, account, report, reports, result

if TYPE_CHECKING:
    from pytest_fcall.reporting.reports.report import Report

USER = {"role": "user", "content": "Oslo?"}
CALL = Call("get_weather", {"city": "Oslo"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def log_of(made: Report, folder: Path) -> Any:
    path = folder / "run.eval"
    path.write_bytes(b"".join(write(made)))
    return read_eval_log(str(path))


def asked(one: Result, *answers: AccountAnswer, **fields: object) -> Report:
    return report(one, accounts={one.nodeid: Account(one.nodeid, answers)}, **fields)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reports())
def test_any_report_makes_a_log_that_is_read_back(folder: Path, made: Report) -> None:
    log = log_of(made, folder)
    kept = [each for each in made.results.results if each.status != "skipped"]
    assert len(log.samples) == len(kept)
    assert sum(sample.scores is not None for sample in log.samples) == sum(each.answered for each in kept)
    assert all((sample.error is None) == (sample.scores is not None) for sample in log.samples)


def test_a_sample_has_messages_calls_results_a_score_and_tokens(tmp_path: Path) -> None:
    wrong = result(
        reasons=(("wrong_value", "calls[0]"),),
        usage=Usage(10, 5, 4),
        cost=0.5,
        seconds=1.5,
        called=(("get_weather", "get_weather"),),
        outcome=Outcome.REGRESSED,
    )
    steps = (
        AskedStep(({"role": "system", "content": "Be brief."}, USER), (CALL,), (CallResult({"sun": True}),)),
        AskedStep((), text="Sunny."),
    )
    answer = AccountAnswer(False, steps, (("wrong_value", "calls[0]", "`city` is 'Oslo', expected 'Bern'"),))
    log = log_of(asked(wrong, answer), tmp_path)
    (sample,) = log.samples
    assert (log.eval.model, log.status, sample.id, sample.epoch, sample.target) == (
        "m",
        "success",
        "a",
        1,
        "get_weather",
    )
    assert [message.role for message in sample.messages] == ["system", "user", "assistant", "tool", "assistant"]
    (call,) = sample.messages[2].tool_calls
    assert (call.function, call.arguments) == ("get_weather", {"city": "Oslo"})
    assert (sample.messages[3].tool_call_id, json.loads(sample.messages[3].text)) == (call.id, {"sun": True})
    assert [message.text for message in sample.input] == ["Be brief.", "Oslo?"]
    assert sample.output.completion == "Sunny."
    score = sample.scores["fcall"]
    assert (score.value, score.answer) == ("I", 'get_weather(city: "Oslo")')
    assert score.explanation == "wrong_value at calls[0]: `city` is 'Oslo', expected 'Bern'"
    assert score.metadata == {"status": "failed", "outcome": "regressed"}
    usage = sample.model_usage["m"]
    assert (usage.input_tokens, usage.input_tokens_cache_read, usage.output_tokens) == (6, 4, 5)
    assert (usage.total_tokens, usage.total_cost, sample.total_time) == (15, 0.5, 1.5)
    assert log.stats.model_usage == sample.model_usage


def test_each_answer_is_an_epoch_and_tokens_of_all_are_those_of_the_log_alone(tmp_path: Path) -> None:
    sampled = result(samples=(1, 2), usage=Usage(10, 5))
    answers = [AccountAnswer(valid, (AskedStep((USER,), text=str(valid)),)) for valid in (True, False)]
    log = log_of(asked(sampled, *answers), tmp_path)
    assert [(each.id, each.epoch, each.scores["fcall"].value) for each in log.samples] == [("a", 1, "C"), ("a", 2, "I")]
    assert log.eval.config.epochs == 2
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    assert [each.model_usage for each in log.samples] == [{}, {}]
    assert log.stats.model_usage["m"].total_tokens == 15


def test_what_could_not_be_judged_is_an_error_and_has_no_score(tmp_path: Path) -> None:
    lost = result(status="error", no_reply=True)
    answer = AccountAnswer(False, (AskedStep((USER,)),))
    made = report(lost, accounts={lost.nodeid: Account(lost.nodeid, (answer,), error="the server is down")})
    log = log_of(made, tmp_path)
    (sample,) = log.samples
    assert sample.error.message == "the server is down"
    assert not sample.scores
    assert [message.role for message in sample.messages] == ["user"]
    assert log.results.scores[0].unscored_samples == 1
    assert not log.results.scores[0].metrics


def test_what_was_skipped_is_no_sample_but_counted(tmp_path: Path) -> None:
    log = log_of(report(result(status="skipped"), result("b")), tmp_path)
    assert [sample.id for sample in log.samples] == ["b"]
    assert log.eval.metadata["skipped"] == 1


def test_cases_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    twins = [result("a", file=file, nodeid=file) for file in ("x/1.fc.yaml", "x/2.fc.yaml")]
    assert [sample.id for sample in log_of(report(*twins), tmp_path).samples] == ["x/1.fc.yaml::a", "x/2.fc.yaml::a"]


def test_a_run_that_was_broken_off_says_so(tmp_path: Path) -> None:
    assert log_of(report(result(), data={"broken_off": True}), tmp_path).status == "cancelled"


def test_former_answers_and_items_of_responses_are_messages(tmp_path: Path) -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    messages: tuple[Message, ...] = (
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "Sunny."}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c2", "function": {"name": "x", "arguments": "{"}}]},
        {"type": "function_call_output", "output": "done"},
    )
    one = result()
    (sample,) = log_of(asked(one, AccountAnswer(False, (AskedStep(messages),))), tmp_path).samples
    assert [message.role for message in sample.input] == ["assistant", "tool", "assistant", "user"]
    assert sample.input[0].tool_calls[0].arguments == {"city": "Oslo"}
    assert sample.input[1].text == "Sunny."
    assert sample.input[2].tool_calls[0].arguments == {"arguments": "{"}
    assert "function_call_output" in sample.input[3].text


def test_hostile_text_and_numbers_are_written(tmp_path: Path) -> None:
    one = result("../../" + HOSTILE, model=HOSTILE, tags=(HOSTILE,))
    arguments: dict[str, Json] = {HOSTILE: [HOSTILE, 10**40, 1e308, None, {"\x00": True}]}
    step = AskedStep(({"role": "user", "content": HOSTILE},), (Call(HOSTILE, arguments),), (), "x" * 1_000_000)
    (sample,) = log_of(asked(one, AccountAnswer(False, (step,), (("k", "p", HOSTILE),))), tmp_path).samples
    assert "\\ud800" in sample.id
    assert "\x1b" not in sample.scores["fcall"].explanation


def test_a_report_gives_the_same_bytes_again(tmp_path: Path) -> None:
    one = result()
    made = report(one, accounts={one.nodeid: account(one.nodeid, "Sunny.")})
    assert b"".join(write(made)) == b"".join(write(made))


def test_the_viewer_takes_it(tmp_path: Path) -> None:
    one = result()
    (tmp_path / "logs").mkdir()
    log_of(report(one, accounts={one.nodeid: account(one.nodeid, "Sunny.")}), tmp_path / "logs")
    bundle = ["view", "bundle", "--log-dir", "logs", "--output-dir", "out"]
    command = [str(Path(sys.executable).with_name("inspect")), *bundle]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    listing = json.loads((tmp_path / "out/logs/listing.json").read_text(encoding="utf-8"))
    (found,) = listing.values()
    assert (found["status"], found["model"]) == ("success", "m")
