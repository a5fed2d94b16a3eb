"""`environment:` in a case file: what really answers calls, and what a replay needs of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.command import fcall
from tests.integration.exam import Exam
from tests.unit.conversation.environments.web_shop import Shop as WebShop
from tests.unit.conversation.environments.web_shop import open_shop

MCP_SERVER = Path(__file__).parents[1] / "mcp_server.py"


@pytest.fixture
def web() -> Iterator[WebShop]:
    with open_shop() as shop:
        yield shop


def calling(*calls: tuple[str, dict[str, object]]) -> str:
    """What has the model make these calls at once."""
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


def count_on_mcp(exam: Exam) -> None:
    """A case whose tool is on an MCP server."""
    offered = [{"name": "count", "inputSchema": {"type": "object"}}]
    exam.shop.file("cases/offered.json", json.dumps(offered))
    exam.shop.file("cases/server.py", MCP_SERVER.read_text(encoding="utf-8"))
    exam.shop.file(
        "cases/exam.fc.yaml",
        f"""
        tools:
          - mcp: {{command: [{json.dumps(sys.executable)}, server.py, offered.json]}}
            as: shop
        cases:
          - id: counts
            environment: mcp
            prompt: '{calling(("shop__count", {}), ("shop__count", {}))}'
            expect: [{{shop__count: {{}}, times: 2}}]
            answer: {{$contains: "2"}}
        """,
    )
    assert fcall(exam.path, "tools", "lock").returncode == 0


def price_over_http(exam: Exam, web: WebShop) -> None:
    """A case whose tool is an operation of a web server."""
    operation = {"operationId": "count", "responses": {"200": {"description": "fine"}}}
    document = {"openapi": "3.1.0", "servers": [{"url": web.url}], "paths": {"/count": {"get": operation}}}
    exam.shop.file("cases/shop.json", json.dumps(document))
    exam.shop.file(
        "cases/exam.fc.yaml",
        f"""
        tools:
          - openapi: shop.json
        cases:
          - id: counts
            environment: http
            prompt: '{calling(("count", {}))}'
            expect: [{{count: {{}}}}]
            answer: {{$contains: "1"}}
        """,
    )


def test_the_functions_of_python_sources_answer_themselves(exam: Exam) -> None:
    exam.shop.file(
        "pears.py", 'def price(fruit: str) -> str:\n    """What a fruit costs."""\n    return f"{fruit}: 2"\n'
    )
    exam.shop.file(
        "cases/exam.fc.yaml",
        f"""
        tools: [python: pears]
        cases:
          - id: asks
            environment: python
            prompt: '{calling(("price", {"fruit": "pear"}))}'
            expect: [price: {{fruit: pear}}]
            result: "pear: 2"
        """,
    )
    exam.run().assert_outcomes(passed=1)


def test_an_mcp_server_answers_and_is_not_needed_for_a_replay(exam: Exam) -> None:
    count_on_mcp(exam)
    exam.run().assert_outcomes(passed=1)
    assert fcall(exam.path, "record", "--export").returncode == 0
    exam.path.joinpath(".fcall", "replies.db").unlink()
    exam.path.joinpath("cases", "server.py").unlink()
    exam.run("--fc-replay").assert_outcomes(passed=1)
    exam.run().assert_outcomes(errors=1)


def test_an_mcp_server_that_is_gone_leaves_the_run_inconclusive(exam: Exam) -> None:
    count_on_mcp(exam)
    server = exam.path / "cases" / "server.py"
    server.write_text(
        server.read_text("utf-8")
        .replace('"count": lambda', '"other": lambda')
        .replace("return CALLED[params.name]", "os._exit(3)\n        return CALLED[params.name]"),
        "utf-8",
    )
    result = exam.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ended before a call was over*"])
    assert result.ret == 10


def test_a_web_server_answers_and_is_not_asked_again(exam: Exam, web: WebShop) -> None:
    price_over_http(exam, web)
    exam.run(f"--fc-allow-host={web.host}").assert_outcomes(passed=1)
    exam.run().assert_outcomes(errors=1)
    exam.run(f"--fc-allow-host={web.host}").assert_outcomes(passed=1)
    exam.run("--fc-replay").assert_outcomes(passed=1)
    assert web.asked == ["GET /count"]
    exam.run(f"--fc-allow-host={web.host}", "--fc-record=all").assert_outcomes(failed=1)
    assert web.asked == ["GET /count"] * 2


def test_in_ci_the_model_is_asked_again_after_a_day_and_a_web_server_only_if_a_limit_is_given(
    exam: Exam, web: WebShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    price_over_http(exam, web)
    exam.run(f"--fc-allow-host={web.host}").assert_outcomes(passed=1)
    exam.age(counts=2)
    monkeypatch.setenv("CI", "true")
    exam.run(f"--fc-allow-host={web.host}").stdout.fnmatch_lines(["fcall: *, 1 asked"])
    assert len(exam.server.asked) == 2
    assert web.asked == ["GET /count"]
    exam.run(f"--fc-allow-host={web.host}", "--fc-max-age=1d").assert_outcomes(failed=1)
    assert web.asked == ["GET /count"] * 2


def test_a_host_that_is_not_allowed_is_told_of_with_what_allows_it(exam: Exam, web: WebShop) -> None:
    price_over_http(exam, web)
    result = exam.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*counts: the host {web.host} is not allowed; *--fc-allow-host={web.host}"])
    assert web.asked == []


def test_a_result_that_is_missing_is_an_error_in_a_replay(exam: Exam, web: WebShop) -> None:
    price_over_http(exam, web)
    exam.run(f"--fc-allow-host={web.host}").assert_outcomes(passed=1)
    document = exam.path / "cases" / "shop.json"
    document.write_text(document.read_text("utf-8").replace('"/count"', '"/count/all"'), "utf-8")
    result = exam.run("--fc-replay")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["no recorded result for this call of `count`; to ask the model: pytest --fc-model=*"])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--fc-allow-host=http://a.example"], "--fc-allow-host: 'http://a.example' is not a host; *"),
        (["-o", "fc_allow_hosts=http://a.example"], "fc_allow_hosts: 'http://a.example' is not a host; *"),
        (["-o", "fc_http_headers=https://a.example/v1 Accept: x"], "fc_http_headers: 'https://a.example/v1' is *"),
        (["-o", "fc_http_headers=a.example"], "fc_http_headers: 'a.example' is not of the form *"),
    ],
)
def test_settings_that_cannot_be_read_are_told_of(exam: Exam, web: WebShop, args: list[str], said: str) -> None:
    price_over_http(exam, web)
    result = exam.run(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])
