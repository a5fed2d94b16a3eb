"""What the spans of an app tell is judged by `spans`, live and replayed, and is never green where it was not judged."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.conftest import QUIET, Shop
from tests.integration.exam import Exam, assert_errors, called
from tests.integration.test_command_proxy import started_by_hand
from tests.servers import Server

TRACED = '''
import json
import threading
import time

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("shop")


def span(operation, name, **attributes):
    told = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    told["gen_ai.operation.name"] = operation
    return tracer.start_as_current_span(f"{operation} {name}", attributes=told)


def run_tools(said):
    """Ask a model that no proxy sees, and run the tools that the user spells out in JSON."""
    with span("invoke_agent", "shop"):
        with span("chat", "tiny", request__model="tiny-1"):
            calls = json.loads(said)
        for call in calls:
            with span(
                "execute_tool",
                call["name"],
                tool__name=call["name"],
                tool__call__arguments=json.dumps(call["arguments"]),
            ):
                pass
    return "Done."
'''
AGENT = """
from traced import run_tools


def answer(request):
    return run_tools(request.messages[-1]["content"])


def in_thread(request):
    thread = threading.Thread(target=answer, args=(request,))
    thread.start()
    thread.join()
    return "Done."


async def answer_async(request):
    return answer(request)


def silent(request):
    return "Done."
"""
CASES = """
cases:
  - id: oslo
    prompt: '{said}'
    answer: Done.
    spans: {spans}
"""
OSLO = json.dumps([{"name": "get_weather", "arguments": {"city": "Oslo"}}])
RIGHT = "{calls: [get_weather: {city: Oslo}], models: [tiny-1]}"


class Traced:
    """A project whose app is traced, in a process of its own, since there OpenTelemetry is set up once."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.path: Path = shop.pytester.path
        shop.file("traced.py", TRACED)
        shop.file("agent.py", "import threading\n" + AGENT)

    def expect(self, spans: str, said: str = OSLO, more: str = "") -> None:
        self.shop.cases(CASES.format(said=said, spans=spans) + more)

    def configure(self, *lines: str) -> None:
        self.shop.file("pytest.ini", "\n".join(["[pytest]", *lines]))

    def run(self, *args: str, app: str = "python:agent:answer") -> pytest.RunResult:
        return self.shop.pytester.runpytest_subprocess(*QUIET, f"--fc-model={app}", *args)


@pytest.fixture
def traced(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Traced:
    monkeypatch.delenv("CI", raising=False)
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    return Traced(shop)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exporter that leads to nowhere would try again for ten seconds, and the process would wait for it."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")


@pytest.mark.parametrize("app", [by_night("answer"), "in_thread", "answer_async"])
def test_what_ran_inside_the_app_is_judged_live_and_replayed(traced: Traced, app: str) -> None:
    traced.expect(RIGHT)
    traced.run(app=f"python:agent:{app}").assert_outcomes(passed=1)
    traced.shop.file("agent.py", "raise OSError")
    traced.run("--fc-replay", app=f"python:agent:{app}").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("spans", "told"),
    [
        ("{calls: [get_weather: {city: Rome}]}", "wrong_value: in the spans: *Rome*"),
        ("{calls: no_call}", "unexpected_call: in the spans: *"),
        (
            "{calls: [get_weather: {city: Oslo}, get_weather: {city: Rome}]}",
            "wrong_count: in the spans: `get_weather(city='Rome')` was not called; what ran: *Oslo*",
        ),
        ("{models: [tiny-2]}", "wrong_value: *spans.models*"),
    ],
)
def test_what_is_wrong_in_the_spans_is_told(traced: Traced, spans: str, told: str) -> None:
    traced.expect(spans)
    result = traced.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([told])


def test_rules_of_the_file_hold_for_what_ran(traced: Traced) -> None:
    said = json.dumps([{"name": "get_weather", "arguments": {"city": "OSLO"}}])
    rules = {
        "match: {get_weather.city: {$text: Oslo}}": {"passed": 1},
        "defaults: {strings: relaxed}": {"passed": 1},
    }
    calls = "{calls: [get_weather: {city: Oslo}]}"
    for rule, outcome in rules.items():
        traced.expect(calls, said, f"{rule}\n")
        assert traced.run().parseoutcomes() == outcome, rule
    models = f"  - {{id: models, prompt: '{said}', answer: Done., spans: {{models: [tiny-1]}}}}\n"
    traced.expect(calls, said, f"{models}defaults: {{never: [get_weather]}}\n")
    result = traced.run()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["forbidden_call: in the spans: *"] * 2)


def test_an_app_without_spans_is_an_error_that_says_what_it_takes(traced: Traced) -> None:
    traced.expect("{calls: no_call}")
    traced.configure("fc_spans_wait = 0.1")
    result = traced.run(app="python:agent:silent")
    result.assert_outcomes(errors=1)
    assert_errors(
        result,
        "oslo: `spans` cannot be judged: no span of this case came within 0.1 s: the app needs OpenTelemetry's SDK, *",
    )
    replayed = traced.run("--fc-replay", app="python:agent:silent")
    assert_errors(replayed, "oslo: `spans` cannot be judged: the recorded answer has none; record it again *")


def test_spans_that_tell_of_no_agent_are_an_error(traced: Traced) -> None:
    traced.expect("{calls: no_call}")
    traced.shop.file(
        "agent.py",
        """
        from traced import tracer

        def answer(request):
            with tracer.start_as_current_span("GET /", attributes={"http.request.method": "GET"}):
                return "Done."
        """,
    )
    assert_errors(traced.run(), "oslo: `spans` cannot be judged: its spans tell of no agent, no model and no tool: *")


def test_arguments_that_no_span_tells_are_an_error_where_they_are_expected(traced: Traced) -> None:
    path = traced.path / "traced.py"
    path.write_text(path.read_text("utf-8").replace("tool__call__arguments", "tool__call__kept"), "utf-8")
    traced.expect("{calls: [get_weather: {city: Oslo}]}")
    assert_errors(traced.run(), "oslo: `spans` cannot be judged: no span tells the arguments of get_weather; *")
    traced.expect("{calls: [get_weather: {$ignore: true}]}")
    traced.run().assert_outcomes(passed=1)
    traced.expect("{calls: no_call}")
    traced.run().assert_outcomes(failed=1)


@pytest.mark.usefixtures("impatient")
def test_variables_that_a_person_has_set_stay_unless_the_setting_says_always(
    traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    traced.configure("fc_spans_wait = 0.1")
    traced.expect(RIGHT)
    assert_errors(
        traced.run(),
        "oslo: `spans` cannot be judged: no span of this case came within 0.1 s: OTEL_EXPORTER_OTLP_ENDPOINT is set, "
        "and leads elsewhere; unset it, or set fc_spans = always",
    )
    traced.configure("fc_spans = always")
    traced.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("line", "told"), [("fc_spans = off", "fc_spans is off"), ("fc_proxy = off", "fc_proxy is off")]
)
def test_without_the_receiver_a_case_with_spans_is_an_error(traced: Traced, line: str, told: str) -> None:
    traced.configure(line)
    traced.expect(RIGHT)
    assert_errors(traced.run(), f"oslo: `spans` needs the receiver of spans, and {told}")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["fc_spans = maybe"], "*fc_spans: 'maybe' is none of auto, always, off"),
        (["fc_spans_wait = soon"], "*fc_spans_wait: 'soon' must be a positive number*"),
        (["fc_spans = always", "fc_proxy = off"], "*fc_spans = always needs the proxy, and fc_proxy is off"),
    ],
)
def test_what_cannot_be_read_in_the_configuration_is_told(traced: Traced, lines: list[str], told: str) -> None:
    traced.configure(*lines)
    traced.expect(RIGHT)
    traced.run().stderr.fnmatch_lines([told])


@pytest.mark.usefixtures("impatient")
def test_an_exporter_may_be_made_where_a_conftest_file_is_imported_if_the_setting_says_so(traced: Traced) -> None:
    traced.shop.file("conftest.py", "import traced")
    traced.expect(RIGHT)
    traced.configure("fc_spans_wait = 0.1")
    assert_errors(traced.run(), "*one that is made while a conftest file is imported needs fc_spans = always")
    traced.configure("fc_spans = always")
    traced.run().assert_outcomes(passed=1)


def test_workers_take_the_spans_of_exporters_that_were_made_early_each_its_own(traced: Traced) -> None:
    traced.shop.file("conftest.py", "import traced")
    traced.configure("fc_spans = always")
    traced.expect(RIGHT, more=cities("Rome", "Paris", "Bergen"))
    result = traced.run("-n2")
    result.assert_outcomes(passed=4)
    assert "no known case" not in result.stdout.str()


def test_an_exporter_may_be_made_where_tools_are_read(traced: Traced) -> None:
    traced.shop.file("tools.py", "import traced\n\ndef get_weather(city: str): ...\n")
    cases = CASES.format(said=OSLO, spans=RIGHT)
    traced.shop.file("cases/weather.fc.yaml", f"tools:\n  - python: tools:get_weather\n{cases}")
    traced.run().assert_outcomes(passed=1)


def test_a_run_without_spans_leaves_the_variables_and_traces_of_apps_alone(traced: Traced) -> None:
    traced.expect("null", OSLO)
    traced.shop.cases(f"cases: [{{id: oslo, prompt: '{OSLO}', answer: Done.}}]")
    traced.shop.file(
        "agent.py",
        """
        import os

        from opentelemetry.trace import get_current_span

        from traced import run_tools, span

        def answer(request):
            assert not any(name.startswith(("OTEL_EXPORTER", "OTEL_BSP")) for name in os.environ)
            with span("chat", "tiny"):
                assert get_current_span().parent is None
            return "Done."
        """,
    )
    traced.run().assert_outcomes(passed=1)


def test_what_comes_after_the_verdict_is_told_with_its_case(traced: Traced) -> None:
    traced.shop.file(
        "agent.py",
        """
        import threading

        from traced import provider, run_tools

        go_on = threading.Event()
        late = []

        def after(said):
            go_on.wait(60)
            run_tools(said)

        def answer(request):
            said = request.messages[-1]["content"]
            if not late:
                late.append(threading.Thread(target=after, args=(said,)))
                late[0].start()
            else:
                go_on.set()
                late[0].join()
            return run_tools(said)
        """,
    )
    rome = f"  - {{id: rome, prompt: '{OSLO}', answer: Done., spans: {RIGHT}}}\n"
    traced.expect(RIGHT, more=rome)
    result = traced.run("-p", "no:randomly")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["3 spans after the verdict on cases/weather.fc.yaml::oslo: not judged; let the app wait *"]
    )


def test_spans_of_a_process_that_the_app_starts_belong_to_its_case(traced: Traced) -> None:
    traced.shop.file(
        "agent.py",
        """
        import subprocess
        import sys

        CODE = "import os, sys, traced; traced.run_tools(sys.argv[1]); traced.provider.shutdown()"
        CODE += "; assert os.environ['TRACEPARENT'].endswith('-01')"

        def answer(request):
            subprocess.run([sys.executable, "-c", CODE, request.messages[-1]["content"]], check=True)
            return "Done."
        """,
    )
    traced.expect(RIGHT)
    traced.run().assert_outcomes(passed=1)


def test_the_spans_of_all_steps_of_a_conversation_are_judged_together(traced: Traced) -> None:
    calls = "[{get_weather: {city: Oslo}}, {then: [{get_weather: {city: Oslo}}]}]"
    traced.shop.cases(
        f"""
        cases:
          - id: twice
            turns:
              - {{user: '{OSLO}', answer: Done.}}
              - {{user: '{OSLO}', answer: Done.}}
            spans: {{calls: {calls}}}
        """
    )
    traced.run().assert_outcomes(passed=1)
    traced.run("--fc-replay").assert_outcomes(passed=1)


def test_spans_travel_through_version_control(traced: Traced) -> None:
    traced.expect(RIGHT)
    traced.run().assert_outcomes(passed=1)
    exported = fcall(traced.path, "record", "--export")
    assert exported.returncode == 0, exported.stderr
    (path,) = traced.path.glob("cases/__fcall__/*/*.replies.jsonl")
    reviewed = [line for line in map(json.loads, path.read_text("utf-8").splitlines()) if "reply" in line]
    ran = [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    assert [line["reply"]["spans"] for line in reviewed] == [{"tools": ran, "models": ["tiny-1"]}]
    (traced.path / ".fcall" / "replies.db").unlink()
    traced.run("--fc-replay").assert_outcomes(passed=1)


def test_a_tool_that_runs_no_more_is_a_regression(traced: Traced) -> None:
    traced.expect("{calls: [get_weather: {city: Oslo}]}")
    traced.run("--fc-accept", "--fc-confirm=0").assert_outcomes(passed=1)
    path = traced.path / "traced.py"
    path.write_text(path.read_text("utf-8").replace("for call in calls:", "for call in ():"), "utf-8")
    result = traced.run("--fc-confirm=0")
    result.assert_outcomes(failed=1)
    assert "edited" not in result.stdout.str()
    traced.run("--fc-accept=all", "--fc-confirm=0")
    traced.run("--fc-confirm=0").assert_outcomes(xfailed=1)


ASKING = """
import openai

from traced import run_tools


def answer(request):
    with openai.OpenAI(max_retries=0) as client:
        client.chat.completions.create(model="exam-1", messages=request.messages)
    return run_tools(request.messages[-1]["content"])
"""


def test_an_app_that_runs_again_in_a_replay_is_traced_anew(
    traced: Traced, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    traced.shop.file("agent.py", ASKING)
    traced.expect(RIGHT)
    traced.run().assert_outcomes(passed=1)
    traced.run("--fc-replay").assert_outcomes(passed=1)
    traced.shop.file("agent.py", ASKING.replace("return run_tools", "return 'Done.' or run_tools"))
    traced.configure("fc_spans_wait = 0.1")
    assert_errors(traced.run("--fc-replay"), "oslo: `spans` cannot be judged: no span of this case came within *")
    assert len(server.asked) == 1


APP = """
import os

from opentelemetry.propagate import extract

from small_server import serve
from traced import run_tools, tracer


def answer(asked, headers):
    context = extract(headers) if os.environ.get("GOES_ON", "yes") == "yes" else None
    with tracer.start_as_current_span("POST /chat", context=context):
        said = run_tools(asked["messages"][-1]["content"])
    return 200, {"role": "assistant", "content": said}


def look(headers):
    with tracer.start_as_current_span("GET /", context=extract(headers)):
        pass


serve(answer, look)
"""


def serve(traced: Traced, *lines: str, wait: int = 60) -> None:
    """Have the app answer behind an address, in a process that the run starts."""
    traced.shop.app(APP)
    told = [
        "[tool.fcall.models.shop]",
        'model = "http:http://127.0.0.1:{port}/chat"',
        f"serve = \"'{sys.executable}' app.py\"",
        "forwards = true",
        *lines,
        "[tool.pytest.ini_options]",
        f"fc_spans_wait = {wait}",
    ]
    traced.shop.file("pyproject.toml", "\n".join(told))


def cities(*names: str) -> str:
    cases = (
        CASES.partition("\n")[2]
        .partition("\n")[2]
        .replace("oslo", name.lower())
        .format(said=OSLO.replace("Oslo", name), spans=RIGHT.replace("Oslo", name))
        for name in names
    )
    return "".join(cases)


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_spans_of_an_app_behind_an_address_are_those_of_each_case(traced: Traced, workers: str) -> None:
    serve(traced)
    traced.expect(RIGHT, more=cities("Rome", "Paris", "Bergen", "Lima"))
    result = traced.run("--fc-live", workers, app="http:shop")
    result.assert_outcomes(passed=5)
    assert "no known case" not in result.stdout.str()
    traced.run("--fc-replay", workers, app="http:shop").assert_outcomes(passed=5)


def test_spans_in_traces_of_their_own_are_told_and_judged_nowhere(traced: Traced) -> None:
    serve(traced, 'environment = {GOES_ON = "no"}', wait=3)
    traced.expect(RIGHT)
    result = traced.run("--fc-live", app="http:shop")
    assert_errors(
        result,
        "oslo: *no span of this case came within 3 s, but spans of other traces did, from shop: *",
    )
    result.stdout.fnmatch_lines(["spans of no known case: not judged; from shop (4)"])


@pytest.mark.skipif(sys.platform == "win32", reason="processes of POSIX")
def test_spans_of_an_app_started_by_hand_reach_all_runs_that_may_know_them(traced: Traced) -> None:
    serve(traced)
    traced.expect(RIGHT, more=cities("Rome", "Paris", "Bergen"))
    nobody = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:9/v1/traces"
    with started_by_hand(traced.path, "-", "--variable", nobody, OTEL_BSP_SCHEDULE_DELAY="100") as url:
        lines = ["[tool.fcall.models.shop]", f'model = "http:{url}"', "forwards = true", "[tool.pytest.ini_options]"]
        lines += ["fc_spans_wait = 60"]
        traced.shop.file("pyproject.toml", "\n".join(lines))
        result = traced.run("--fc-live", "-n2", app="http:shop")
    result.assert_outcomes(passed=4)
    assert "no known case" not in result.stdout.str()


@pytest.mark.parametrize("inside", ["spans: {calls: no_call}", "wire: {count: 0}"])
def test_what_is_about_an_app_alone_is_an_error_where_a_model_is_asked_directly(exam: Exam, inside: str) -> None:
    prompt = called("Paris")
    exam.shop.cases(f"cases: [{{id: a, prompt: '{prompt}', {inside}}}]")
    told = "a expects nothing but of the inside of an app, and a model was asked directly"
    assert_errors(exam.shop.run(exam.model), told)
    exam.shop.cases(f"cases: [{{id: a, prompt: '{prompt}', expect: [get_weather: {{city: Paris}}], {inside}}}]")
    exam.shop.run(exam.model).assert_outcomes(passed=1)
