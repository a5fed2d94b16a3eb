from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from subprocess import run

import pytest

from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.backends.openai.chat import request_body
from pytest_fcall.backends.openai.endpoint import wire_request
from pytest_fcall.backends.openai.settings import RequestSettings
from pytest_fcall.backends.settings import SettingsError
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Tool
from tests.servers import Server, chat
from tests.unit.backends.openai.asking import NOWHERE, USER, WEATHER, answered, ask, request, sent, thread

QUERY = {
    "temperature": "0.5",
    "seed": "7",
    "top_p": "1",
    "max_tokens": "20",
    "parallel_tool_calls": "false",
    "tool_choice": "required",
    "reasoning_effort": "low",
    "extra_body": '{"top_k": 1}',
}
SENT = {
    "temperature": 0.5,
    "seed": 7,
    "top_p": 1,
    "max_tokens": 20,
    "parallel_tool_calls": False,
    "tool_choice": "required",
    "reasoning_effort": "low",
    "top_k": 1,
}


def beside_the_question(server: Server) -> dict[str, Json]:
    return {name: value for name, value in sent(server).items() if name not in ("model", "messages", "tools")}


def test_a_query_sets_what_is_sent(server: Server) -> None:
    ask(server, request(WEATHER), **QUERY)
    assert beside_the_question(server) == SENT


def test_an_entry_sets_what_is_sent_and_a_query_comes_before_it(server: Server, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.fcall.models."openai:exam"]\ntemperature = 1\nseed = 3\nheaders = {X-Team = "blue"}\n'
    )
    answered(Model("openai", "exam", {"base_url": server.url, "seed": "7"}), request(WEATHER), tmp_path)
    assert beside_the_question(server) == {"temperature": 1, "seed": 7}
    assert server.asked[0].headers["x-team"] == "blue"


def test_a_case_comes_before_both_and_may_say_more(server: Server) -> None:
    ask(server, request(WEATHER, temperature=0, user="tests", extra_body={}), **QUERY)
    assert beside_the_question(server) == {
        **{name: value for name, value in SENT.items() if name != "top_k"},
        "temperature": 0,
        "user": "tests",
    }


def test_each_sample_has_a_seed_of_its_own(server: Server) -> None:
    ask(server, replace(request(WEATHER), sample=2), seed="7")
    ask(server, replace(request(WEATHER), sample=2))
    assert [asked.json.get("seed") for asked in server.asked] == [9, None]


def test_an_alias_is_asked_under_the_name_that_the_provider_knows(server: Server, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.fcall.models.fast]\nmodel = "openai:exam-5"\nreasoning_effort = "low"\n'
    )
    answered(Model("openai", "fast", {"base_url": server.url}), request(), tmp_path)
    assert sent(server) == {"model": "exam-5", "messages": [USER], "reasoning_effort": "low"}


def test_the_settings_that_shape_an_answer_are_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.fcall.models."openai:exam"]\nseed = 3\ntimeout = 5\n')
    options = {"base_url": "http://127.0.0.1:1/v1", "api_key_env": "KEY", "headers": '{"a": "b"}', "api": "chat"}
    assert openai_backend(Model("openai", "exam", options), tmp_path).settings == {"seed": 3, "api": "chat"}


def test_what_is_said_of_tools_is_left_out_where_there_are_none(server: Server) -> None:
    ask(server, request(), tool_choice="required", parallel_tool_calls="true", seed="1")
    assert beside_the_question(server) == {"seed": 1}


def test_strict_binds_the_model_and_says_what_that_does_to_arguments(server: Server) -> None:
    server.script(chat(calls=[("get_weather", {"city": "Oslo", "days": None})]))
    reply = ask(server, request(WEATHER), strict="true")
    function = sent(server)["tools"][0]["function"]
    assert function["strict"] is True
    assert function["parameters"]["additionalProperties"] is False
    assert reply.engine["wire"] == ["nulls"]


def test_prompt_mode_tells_the_tools_in_the_prompt_and_reads_the_text(server: Server) -> None:
    server.script(chat('<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'))
    reply = ask(server, request(WEATHER), mode="prompt", decoder="hermes", tool_choice="required")
    body = sent(server)
    assert "tools" not in body
    assert "tool_choice" not in body
    assert "get_weather" in body["messages"][0]["content"]
    assert body["messages"][-1] == USER
    assert reply.decoder == "hermes"


def test_where_no_tools_are_told_no_form_of_calls_is_expected(server: Server) -> None:
    reply = ask(server, request(), mode="prompt", decoder="json")
    assert reply.decoder is None


def test_a_decoder_reads_the_text_of_a_model_that_is_told_its_tools_natively(server: Server) -> None:
    assert ask(server, request(WEATHER), decoder="mistral").decoder == "mistral"
    assert "tools" in sent(server)


def test_openai_itself_knows_the_limit_by_its_newer_name() -> None:
    asked = wire_request("m", request(), RequestSettings(sampling={"max_tokens": 5}), official=True)
    assert request_body(asked) == {"model": "m", "messages": [USER], "max_completion_tokens": 5}


def test_the_environment_names_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert answered(Model("openai", "exam"), request()).text == "You said: Weather in Oslo?"


def test_an_address_may_have_a_query(server: Server) -> None:
    with pytest.raises(ModelUnavailable):  # the server knows the path only without one
        ask(server, request(), base_url=f"{server.url}/?api-version=1")
    assert server.asked[0].path == "/v1/chat/completions?api-version=1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temprature": "1"}, "`temprature` is not a setting; available: base_url, api_key_env, headers"),
        ({"temperature": "warm"}, "`temperature` must be a number, 0 or greater"),
        ({"temperature": "-1"}, "`temperature` must be a number, 0 or greater"),
        ({"temperature": "nan"}, "`temperature` must be a number, 0 or greater"),
        ({"top_p": "1e999"}, "`top_p` must be a number"),
        ({"seed": "1.5"}, "`seed` must be an integer"),
        ({"seed": "9" * 5000}, "`seed` must be an integer"),
        ({"max_tokens": "0"}, "`max_tokens` must be a positive integer"),
        ({"timeout": "0"}, "`timeout` must be a positive number of seconds"),
        ({"strict": "yes"}, "`strict` must be true or false"),
        ({"api": "completions"}, "`api` must be one of chat, responses"),
        ({"headers": "X-Team: blue"}, "`headers` must be a mapping of ASCII names to one-line ASCII strings"),
        ({"headers": '{"X": "a\\r\\nY: b"}'}, "`headers` must be a mapping of ASCII names to one-line ASCII strings"),
        ({"headers": '{"X": "\u00e9"}'}, "`headers` must be a mapping of ASCII names to one-line ASCII strings"),
        ({"headers": '{"X Y": "z"}'}, "`headers` must be a mapping of ASCII names to one-line ASCII strings"),
        ({"headers": '{"": "z"}'}, "`headers` must be a mapping of ASCII names to one-line ASCII strings"),
        ({"headers": '{"X": 1}'}, "`headers` must be a mapping of ASCII names to one-line ASCII strings"),
        ({"extra_body": "["}, "`extra_body` must be a mapping of JSON values"),
        ({"extra_body": "[" * 100_000}, "`extra_body` must be a mapping of JSON values"),
        ({"api_key": "sk-secret"}, "`api_key` must not be written here: set `api_key_env` to the name"),
        ({"base_url": "localhost:8000/v1"}, "`base_url` is not a valid address; write it in full"),
        ({"base_url": "http://"}, "`base_url` is not a valid address"),
        ({"base_url": "http://[::1/v1"}, "`base_url` is not a valid address"),
        ({"base_url": "http://a..b/v1"}, "`base_url` is not a valid address"),
        ({"base_url": "http://127.0.0.1:99999/v1"}, "`base_url` is not a valid address"),
        ({"base_url": "file:///etc/passwd"}, "`base_url` is not a valid address"),
        ({"base_url": "http://me:hunter2@127.0.0.1/v1"}, "`base_url` must not contain a name and password"),
        ({"mode": "prompt", "decoder": "curly"}, "with `mode=prompt`, `decoder` must be one of"),
    ],
)
def test_a_setting_that_cannot_be_is_told_without_its_value(options: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        openai_backend(Model("openai", "exam", options), NOWHERE)
    assert message in str(caught.value)
    assert isinstance(caught.value, ModelUnavailable)
    assert isinstance(caught.value, ValueError)
    assert not any(value in str(caught.value) for value in options.values() if len(value) > 8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": "warm"}, "`temperature` must be a number, 0 or greater"),
        ({"timeout": -1}, "`timeout` must be a positive number of seconds"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "`base_url` cannot be set by a case"),
        ({"api_key": "sk-secret"}, "`api_key` cannot be set by a case"),
        ({"stream": True}, "`stream` cannot be set by a case"),
        ({"extra_body": {"stream": True}}, "`stream` is not supported: answers are read whole"),
        ({"mode": "prompt", "decoder": "curly"}, "curly"),
        ({"user": float("nan")}, "not JSON compliant"),
    ],
)
def test_a_case_is_told_what_it_cannot_say(server: Server, settings: dict[str, Json], message: str) -> None:
    with pytest.raises(CaseRefused, match=message):
        ask(server, request(WEATHER, **settings))
    assert server.asked == []


def test_tools_that_would_have_one_name_are_refused(server: Server) -> None:
    with pytest.raises(CaseRefused, match=r"`a\.b` and `a_b` would both be sent as `a_b`"):
        ask(server, request(Tool("a.b"), Tool("a_b")))


def test_what_is_changed_on_the_way_out_is_told_without_asking(server: Server) -> None:
    backend = openai_backend(Model("openai", "exam", {"base_url": server.url}), NOWHERE)
    assert backend.changes(request(WEATHER)) == ()
    assert backend.changes(request(Tool("weather.get"))) == ("`weather.get` is sent as `weather_get`",)
    assert server.asked == []


def test_a_picture_that_is_gone_is_named(server: Server, tmp_path: Path) -> None:
    picture: Json = {"path": str(tmp_path / "gone.png"), "media_type": "image/png", "sha256": ""}
    message: dict[str, Json] = {"role": "user", "content": [{"type": "image_file", "image_file": picture}]}
    with pytest.raises(CaseRefused, match=r"gone\.png"):
        ask(server, thread([message]))


def test_a_key_is_needed_by_openai_only(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    ask(server, request())
    assert server.asked[0].headers["authorization"] == "Bearer none"
    with pytest.raises(
        ModelUnavailable, match=r"^openai:exam: the variable OPENAI_API_KEY is not set; export"
    ) as caught:
        answered(Model("openai", "exam"), request())
    assert "\n" not in str(caught.value)


def test_the_key_comes_from_the_variable_that_is_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one")
    monkeypatch.setenv("MY_KEY", " sk-two\n")
    ask(server, request())
    ask(server, request(), api_key_env="MY_KEY")
    assert [asked.headers["authorization"] for asked in server.asked] == ["Bearer sk-one", "Bearer sk-two"]


def test_a_key_that_cannot_be_sent_is_told_of_without_the_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ключ")
    with pytest.raises(ModelUnavailable, match="the variable OPENAI_API_KEY is not a valid key") as caught:
        ask(server, request())
    assert "ключ" not in str(caught.value)


def test_the_library_is_loaded_with_the_first_request_only() -> None:
    program = (
        "import sys; from pathlib import Path; from pytest_fcall.core import Model; "
        "from pytest_fcall.backends.openai import openai_backend; "
        "openai_backend(Model('openai', 'exam', {'base_url': 'http://127.0.0.1:1'}), Path('.')); "
        "print(sorted({'openai', 'aiohttp', 'pydantic', 'httpx2', 'asyncio'} & set(sys.modules)))"
    )
    done = run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
