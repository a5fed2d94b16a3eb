from __future__ import annotations

import asyncio
import sys
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from pytest_fcall.backends.apps import python_backend
from pytest_fcall.backends.apps.python import CopyableTools, PythonBackend, app_request, find_app
from pytest_fcall.core import Json, Model, ModelUnavailable, Request, Tool
from pytest_fcall.core.request import AppRequest

NOW = datetime(2026, 11, 21, 16, 30, tzinfo=UTC)
REQUEST = Request(
    ({"role": "user", "content": "Weather in Oslo?"},),
    (Tool("get_weather", "Weather", {"type": "object", "properties": {"city": {"type": "string"}}}),),
    {"temperature": 0},
    now=NOW,
)


def test_an_app_is_handed_plain_lists_and_dicts_in_openais_form() -> None:
    asked = app_request(REQUEST, CopyableTools(REQUEST.tools))
    assert asked == AppRequest(
        messages=[{"role": "user", "content": "Weather in Oslo?"}],
        tools=[
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "Weather",
                    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
                },
            }
        ],
        settings={"temperature": 0},
        now=NOW,
    )


def test_an_app_may_change_what_it_was_handed() -> None:
    def rude(request: AppRequest) -> str:
        request.messages.clear()
        request.tools[0]["function"]["parameters"]["properties"].clear()
        return "done"

    seen: list[AppRequest] = []

    def watchful(request: AppRequest) -> str:
        seen.append(deepcopy(request))
        return rude(request)

    backend = PythonBackend(lambda: watchful)
    asyncio.run(backend.complete(REQUEST))
    asyncio.run(backend.complete(REQUEST))
    assert seen[0] == seen[1]


def test_an_image_arrives_as_a_data_url(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(b"PNG")
    image = {"path": str(tmp_path / "dot.png"), "media_type": "image/png", "sha256": "x"}
    content: list[Json] = [{"type": "text", "text": "What is it?"}, {"type": "image_file", "image_file": image}]
    (message,) = app_request(Request(({"role": "user", "content": content},)), CopyableTools(())).messages
    assert message["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
    ]


def test_a_reply_says_how_long_the_app_took() -> None:
    reply = asyncio.run(PythonBackend(lambda: lambda _: "hello").complete(REQUEST))
    assert reply.seconds is not None
    assert reply.seconds >= 0


def test_an_app_is_found_inside_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "found_inside.py").write_text("class Shop:\n    @staticmethod\n    def answer(request): return 'hi'\n")
    monkeypatch.setattr("sys.path", ["/nowhere"])
    assert callable(find_app("found_inside:Shop.answer", tmp_path))


def test_a_module_that_an_app_needs_and_lacks_is_the_apps_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_more.py").write_text("import there_is_no_such_module\n")
    monkeypatch.setattr("sys.path", ["/nowhere"])
    with pytest.raises(
        ModelUnavailable, match=r"importing needs_more fails at needs_more.py:1: ModuleNotFoundError: No"
    ):
        find_app("needs_more:answer", tmp_path)


@pytest.mark.parametrize("line", ["1 / 0", "raise SystemExit('no key')"])
def test_a_module_that_fails_is_run_once_and_not_for_each_case(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "falls_over.py").write_text(f"import runs_counted; runs_counted.append('.')\n{line}\n")
    runs: list[str] = []
    monkeypatch.setitem(sys.modules, "runs_counted", cast("ModuleType", runs))
    backend = python_backend(Model("python", "falls_over:answer"), tmp_path)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r"importing falls_over fails at falls_over.py:2: (Zero|SystemExit)"):
            asyncio.run(backend.complete(Request(())))
    assert runs == ["."]


@pytest.mark.parametrize("name", ["nothing", "nothing:", ":x", "nothing.at.all:x", "json:nothing", "json:decoder"])
def test_what_is_not_there_makes_the_model_unavailable(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=f"python:{name}"):
        find_app(name, tmp_path)


def test_making_a_backend_imports_nothing(tmp_path: Path) -> None:
    assert python_backend(Model("python", "nowhere:answer"), tmp_path).reusable is False
