"""The hooks for other packages and conftest files."""

from __future__ import annotations

import pytest

from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.integration.conftest import Shop


def test_a_backend_adds_a_kind_of_model(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        from pytest_fcall import Reply

        class Parrot:
            settings = {}
            reusable = True
            ahead = True
            async def complete(self, request):
                return Reply(text=request.messages[-1]["content"])
            async def close(self):
                print("parrot closed")

        def pytest_fcall_backends(config):
            return {"parrot": lambda model, root: Parrot()}
        """
    )
    shop.cases("cases: [{id: hello, prompt: hello, expect: no_call}]")
    shop.run("--fc-model=parrot:grey").assert_outcomes(passed=1)


def test_a_backend_that_cannot_be_made_says_why_in_one_line(weather: Shop) -> None:
    weather.pytester.makeconftest(
        """
        from pytest_fcall import ModelUnavailable

        def make(model, root):
            raise ModelUnavailable(f"{model.id}: no such bird; known are grey and green")

        def pytest_fcall_backends(config):
            return {"parrot": make}
        """
    )
    result = weather.run("--fc-model=parrot:pink")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --fc-model: parrot:pink: no such bird; known are grey and green"])


def test_a_comparator_adds_an_operator(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        def shouts(operand, options, got):
            return None if got == operand.upper() else f"{got!r} does not shout {operand!r}"

        def pytest_fcall_comparators(config):
            return {"shouts": shouts}
        """
    )
    prompt = """'[{"name": "get_weather", "arguments": {"city": "OSLO"}}]'"""
    shop.cases(
        f"""
        cases:
          - {{id: loud, prompt: {prompt}, expect: [{{get_weather: {{city: {{$shouts: oslo}}}}}}]}}
          - {{id: other, prompt: {prompt}, expect: [{{get_weather: {{city: {{$shouts: rome}}}}}}]}}
        """
    )
    result = shop.ask()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*'OSLO' does not shout 'rome'*"])


def test_a_tool_source_adds_tools(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        from pytest_fcall import Tool

        def pytest_fcall_tool_sources(config):
            return {"names": lambda spec, folder: [Tool(name) for name in spec]}
        """
    )
    shop.file(
        "a.fc.yaml",
        'tools: [{names: [ping]}]\ncases: [{id: a, prompt: \'[{"name": "ping"}]\', expect: [{ping: {}}]}]\n',
    )
    shop.ask().assert_outcomes(passed=1)


def test_a_decoder_reads_calls_out_of_text(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        from pytest_fcall.core import Call, Calls

        def pytest_fcall_decoders(config):
            return {"bang": lambda text, tools: Calls((Call("get_weather", {"city": text.split()[-1]}),))}
        """
    )
    shop.cases("cases: [{id: a, decoder: bang, prompt: in Oslo, expect: [{get_weather: {city: Oslo}}]}]")
    shop.ask().assert_outcomes(passed=1)


def test_a_request_can_be_changed_by_one_and_then_by_another(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        from dataclasses import replace
        import pytest

        def said(request, text):
            return replace(request, messages=({"role": "user", "content": request.messages[-1]["content"] + text},))

        def pytest_fcall_request(item, case, request):
            return said(request, " one")

        class More:
            @pytest.hookimpl(wrapper=True)
            def pytest_fcall_request(self, request):
                request = yield
                return said(request, " two")

        def pytest_configure(config):
            config.pluginmanager.register(More())
        """
    )
    shop.cases("cases: [{id: a, decoder: json, prompt: hi, expect: no_call}, {id: b, prompt: hi, expect: any_call}]")
    shop.ask().stdout.fnmatch_lines(["*You said: hi one two*"])


def test_a_verdict_can_be_changed(weather: Shop) -> None:
    weather.pytester.makeconftest(
        """
        from dataclasses import replace

        def pytest_fcall_verdict(item, case, reply, verdict):
            return replace(verdict, valid=True, reasons=())
        """
    )
    weather.ask().assert_outcomes(passed=2)


def test_a_report_hook_is_handed_all_results_once(weather: Shop) -> None:
    weather.pytester.makeconftest(
        """
        def pytest_fcall_report(config, results):
            print("told of", [(result.case, result.status) for result in results.results])
        """
    )
    weather.ask("-s").stdout.fnmatch_lines(["told of [[]('celsius', 'passed'), ('fahrenheit', 'failed')]"])


@pytest.mark.parametrize(
    ("hook", "name", "what"),
    [
        ("pytest_fcall_comparators", "any", "operator 'any'"),
        ("pytest_fcall_tool_sources", "mcp", "tool source 'mcp'"),
        ("pytest_fcall_backends", "python", "model kind 'python'"),
        ("pytest_fcall_decoders", "json", "decoder 'json'"),
    ],
)
def test_a_name_that_is_taken_is_a_usage_error(weather: Shop, hook: str, name: str, what: str) -> None:
    weather.pytester.makeconftest(f"def {hook}(config): return {{{name!r}: print}}")
    result = weather.ask()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*adds the {what}, which is there already*"])


def test_a_case_whose_verdict_a_hook_prevents_is_no_wrong_answer(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        import pytest

        def pytest_fcall_verdict(case, verdict):
            if case.id == "skipped":
                pytest.skip("no GPU")
            if case.id == "broken":
                raise RuntimeError("no verdict")
            return verdict
        """
    )
    shop.cases(
        """
        cases:
          - {id: skipped, prompt: hello, expect: no_call}
          - {id: broken, prompt: hello, expect: no_call}
          - {id: excused, xfail: calls, prompt: hello, expect: any_call}
          - {id: right, prompt: hello, expect: no_call}
        """
    )
    result = shop.ask()
    result.assert_outcomes(passed=1, failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["fcall: python:echo:answer 1/2 right *, 1 error, 1 skipped, *"])
    found = results_from_json(read_run(run_paths(shop.pytester.path)[-1]).results).results
    statuses = {each.case: each.status for each in found}
    assert statuses == {"skipped": "skipped", "broken": "error", "excused": "xfailed", "right": "passed"}
