"""What a user of `openai:` sees of a server that others wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.independent.project import CITIES, Project, verdicts
from tests.independent.server import READY, ModelServer
from tests.servers import refused_connection

NO_REPLY = 10


def test_replies_are_judged_kept_and_replayed_without_the_server(project: Project, api: str) -> None:
    live = project.run(project.model(api=api), "-v")
    seen = verdicts(live)
    assert set(seen) == {"called", "elsewhere", "said"}
    assert set(seen.values()) <= {"PASSED", "FAILED"}
    kept = project.replies()
    assert_all_are_whole(kept)
    assert (seen["called"] == "PASSED") is calls_weather(kept["called"], "Oslo")
    assert seen["elsewhere"] == "FAILED"
    assert seen["said"] == "PASSED"
    again = project.run(project.model(api=api, base_url=refused_connection()), "-v", "--fc-replay")
    assert verdicts(again) == seen
    again.stdout.fnmatch_lines(["fcall: openai:smollm2 *, from recordings only", "fcall: *tokens, all 3 replayed (*)"])


def test_everything_is_told_of_a_reply(project: Project, api: str) -> None:
    project.run(project.model(api=api), "-vv").stdout.fnmatch_lines(
        [
            '*finish *, model "smollm2@main", seconds *, input tokens *, output tokens *',
            "fcall: openai:smollm2 */3 right *, * tokens, 3 asked",
        ]
    )


@pytest.mark.parametrize("decoder", ["hermes", "json", "python"])
def test_calls_are_read_out_of_the_text_or_malformed(project: Project, api: str, decoder: str) -> None:
    live = project.run(project.model(api=api, mode="prompt", decoder=decoder), "-v")
    seen, kept = verdicts(live), project.replies()
    assert set(seen.values()) <= {"PASSED", "FAILED"}
    assert seen["said"] == "PASSED"
    assert_all_are_whole(kept)
    assert all(reply.get("decoder") == decoder for case, reply in kept.items() if case != "said")
    if not is_json(kept["elsewhere"]["text"]) and decoder == "json":
        live.stdout.fnmatch_lines(["malformed: The text is not JSON*"])


def test_twenty_cases_at_a_time_are_all_answered(project: Project, api: str) -> None:
    project.write_cities()
    live = project.run(project.model(api=api), "-v", "--fc-concurrency=8")
    seen, kept = verdicts(live), project.replies()
    assert set(kept) == set(CITIES)
    assert_all_are_whole(kept)
    assert any(reply.get("tool_calls") for reply in kept.values())
    assert seen == {city: "PASSED" if calls_weather(kept[city], city) else "FAILED" for city in CITIES}


def test_an_answer_that_is_cut_off_is_truncated(project: Project) -> None:
    project.write("  - id: short\n    prompt: Tell a long story.\n    tools: {only: []}\n    expect: no_call\n")
    live = project.run(project.model(max_tokens="3"))
    live.assert_outcomes(failed=1)
    live.stdout.fnmatch_lines(["truncated: *"])
    assert project.replies()["short"]["finish"] == "length"


def test_the_fixture_asks_it_too(project: Project, api: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_capital(fc_model):
            reply = fc_model("What is the capital of Norway?")
            assert reply.text
            assert reply.usage.input_tokens and reply.usage.output_tokens
            assert reply.engine["model"].startswith("smollm2")
        """
    )
    project.run(project.model(api=api), "-k", "capital").assert_outcomes(passed=1, deselected=3)


def test_a_setting_that_it_does_not_know_is_an_error_of_the_case_in_its_own_words(project: Project, api: str) -> None:
    asked = project.run(project.model(api=api, extra_body='{"strange": 1}'))
    asked.assert_outcomes(errors=3)
    asked.stdout.fnmatch_lines(["openai:smollm2: the provider rejects this request: HTTP 422: *'strange'*"])
    assert asked.ret == pytest.ExitCode.TESTS_FAILED


def test_a_wrong_name_is_told_in_one_line_and_asked_once(project: Project, api: str) -> None:
    asked = project.run(project.model("smollm3", api=api), "--fc-concurrency=1")
    asked.assert_outcomes(errors=1, skipped=2)
    said = "the provider has no model of this name, or none that this key may use"
    assert [line for line in asked.outlines if line.startswith("openai:smollm3: ")] == [
        f"openai:smollm3: {said}: HTTP 400: Server is pinned to 'smollm2'; requested 'smollm3'."
    ]
    assert asked.ret == NO_REPLY


@pytest.mark.skipif(not READY.exists(), reason="no independent server is installed: make test-servers")
def test_a_server_that_was_stopped_is_told_in_one_line(pytester: pytest.Pytester, tmp_path: Path) -> None:
    with ModelServer(tmp_path / "log") as server:
        project = Project(pytester, server.url)
        assert project.run(project.model(), "-k", "said").ret == 0
    asked = project.run(project.model(), "-k", "called")
    asked.assert_outcomes(errors=1, deselected=2)
    assert [line for line in asked.outlines if line.startswith("openai:smollm2: ")] == [
        "openai:smollm2: the connection was refused: is the server running? (6 attempts)"
    ]
    assert asked.ret == NO_REPLY
    assert project.run(project.model(), "-k", "said").ret == 0


def assert_all_are_whole(replies: Mapping[str, Any]) -> None:
    for reply in replies.values():
        assert reply["finish"] in ("stop", "tool_calls", "length")
        assert (reply["finish"] == "tool_calls") is bool(reply.get("tool_calls"))
        assert reply["text"] or reply.get("tool_calls")
        assert reply["usage"]["input_tokens"] > 0
        assert reply["usage"]["output_tokens"] > 0
        assert reply["engine"]["model"] == "smollm2@main"
        assert reply["seconds"] > 0


def calls_weather(reply: Mapping[str, Any], city: str) -> bool:
    """Whether the reply is this one call, as the server handed it on."""
    calls = reply.get("tool_calls", [])
    return [(call["name"], call["arguments"]) for call in calls if is_json(call["arguments"])] == [
        ("get_weather", json.dumps({"city": city}))
    ] and len(calls) == 1


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
