"""What the server of comments may answer, by accident or on purpose: one sentence tells it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cli import main
from pytest_fcall.cli.comment import api, thread
from tests.integration.ci_job import REPORT, github_job, gitlab_job
from tests.servers import Answer, Server, broken, cut_off, huge, invalid_utf8, reset, reset_mid_body, silent
from tests.servers.comment_apis import TOKEN, GitHubApi, answer

Post = Callable[..., tuple[int, str, str]]
LOGIN = answer({"data": {"viewer": {"login": GitHubApi.own_name}}})


@pytest.fixture
def post(
    tmp_path: Path, github_server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Post:
    """Runs `fcall comment` in a job; gives its exit status, its output and its errors."""
    monkeypatch.setattr(thread, "WAITS", (0.0, 0.0))
    monkeypatch.setattr(api, "REQUEST_SECONDS", 5.0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.md").write_text(REPORT, encoding="utf-8")

    def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
        for name, value in (github_job(tmp_path, github_server) | environment).items():
            monkeypatch.setenv(name, value)
        status = main(["comment", "report.md", *arguments])
        said = capsys.readouterr()
        assert TOKEN not in said.out + said.err
        assert said.err.count("\n") <= 1
        assert (said.out + said.err).replace("\n", "").isprintable()
        return status, said.out, said.err

    return run


def redirect(status: int, location: str) -> Answer:
    return Answer(b"", status, headers={"location": location})


def packed(size: int) -> Answer:
    return Answer(gzip.compress(b" " * size), headers={"content-encoding": "gzip"})


ANSWERS: dict[str, Answer] = {
    "nothing": Answer(b""),
    "null": answer(None),
    "a number": answer(7),
    "a text": answer("comments"),
    "an object": answer({"message": "here are your comments"}),
    "a web page": Answer(b"<html></html>", 200, "text/html"),
    "not a number": Answer(b"[NaN]"),
    "nested deeply": Answer(b"[" * 200_000),
    "not UTF-8": invalid_utf8(),
    "a bomb": packed(40_000_000),
    "a broken bomb": Answer(b"\x1f\x8bnothing", headers={"content-encoding": "gzip"}),
    "another encoding": Answer(b"[]", headers={"content-encoding": "br"}),
    "cut off": cut_off(),
    "reset": reset(),
    "reset in the middle": reset_mid_body(),
    "not HTTP": broken(),
    "a flood": huge(40_000_000),
    "a redirect without an address": Answer(b"", 302),
    "a redirect to itself": redirect(307, GitHubApi.list_path),
    "a redirect to a file": redirect(302, "file:///etc/passwd"),
    "a redirect to a port": redirect(308, "http://127.0.0.1:1/"),
    "a redirect with a name": redirect(307, "http://root:toor@127.0.0.1:1/"),
    "a redirect to nonsense": redirect(301, "http://[::"),
    "a terminal": answer({"message": "\x1b]0;owned\x07\u202e\n::error::owned"}, 422),
    "a long message": answer({"message": "x" * 100_000}, 422),
    "a message of its own kind": answer({"message": {"errors": [1, 2]}}, 422),
    "an error without words": Answer(b"\xff\xfe", 418),
    "a wait without end": Answer(b"", 503, headers={"retry-after": "9" * 9}),
    "a wait that is none": Answer(b"", 503, headers={"retry-after": "-1"}),
    "a wait with a date": Answer(b"", 429, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "a wait of nonsense": Answer(b"", 429, headers={"retry-after": "²"}),
}


@pytest.mark.parametrize("said", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("step", ["whose token", "list"])
def test_an_answer_that_is_none_is_told_and_nothing_is_written(
    post: Post, github_server: Server, github: GitHubApi, said: Answer, step: str
) -> None:
    first = [LOGIN] if step == "list" else []
    github_server.script(*first, *[said] * 30)
    status, printed, told = post()
    assert (status, printed) == (1, "")
    assert told.startswith("fcall comment: the comment is not written: GitHub does not ")
    assert len(told) < 800
    assert github.comments == []


@pytest.mark.parametrize("said", ["", None, 7, ["x"], {"login": None}], ids=repr)
def test_a_token_of_nobody_owns_no_comment(post: Post, github_server: Server, github: GitHubApi, said: Any) -> None:
    github.add("<!-- pytest-fcall -->", "")
    github_server.script(answer({"data": {"viewer": {"login": said}}}))
    status, _, told = post()
    assert status == 1
    assert "no comment is known as its own" in told
    assert github.bodies == ["<!-- pytest-fcall -->"]


ODD: list[Any] = [
    *(None, 7, "text", [], {}),
    {"id": "7", "body": "<!-- pytest-fcall -->", "user": {"login": GitHubApi.own_name}},
    {"id": 7, "body": None, "user": {"login": GitHubApi.own_name}},
    {"id": 7, "body": "<!-- pytest-fcall -->", "user": None},
    {"id": 7, "body": "<!-- pytest-fcall -->", "user": [GitHubApi.own_name]},
    {"id": None, "body": "<!-- pytest-fcall -->", "user": {"login": GitHubApi.own_name}},
]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_entry_that_is_no_comment_of_ours_is_passed_over(
    post: Post, github_server: Server, github: GitHubApi, odd: Any
) -> None:
    github_server.script(LOGIN, answer([odd]))
    status, _, told = post()
    assert (status, told, len(github.comments)) == (0, "", 1)


def test_a_list_without_an_end_is_left(post: Post, github_server: Server) -> None:
    page = answer([{"id": number, "body": "x", "user": {"login": "x"}} for number in range(100)])
    github_server.default = lambda asked: LOGIN if asked.method == "POST" else page
    status, _, told = post()
    assert status == 1
    assert "pull request 7 of octo/shop has more than 5,000 comments" in told


def test_a_server_that_says_nothing_is_left(post: Post, github_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "REQUEST_SECONDS", 0.05)
    github_server.default = lambda _: silent()
    status, _, told = post()
    assert status == 1
    assert "there is no answer within 0.05 s" in told


@pytest.mark.parametrize("page", ["https://x.example/\nstatus=0", "\x1b[2J", {"a": 1}, None, 7], ids=repr)
def test_the_address_of_a_comment_is_one_line_that_a_terminal_can_show(
    post: Post, github_server: Server, page: Any
) -> None:
    github_server.script(LOGIN, answer([]), answer({"id": 1, "html_url": page}, 201))
    status, printed, told = post()
    assert (status, told) == (0, "")
    assert printed.count("\n") == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_never_follows_a_redirect(post: Post, github_server: Server, status: int) -> None:
    with Server(GitHubApi()) as other:
        github_server.default = lambda asked: redirect(status, f"http://{other.host}{asked.path}")
        done, _, told = post()
        assert other.asked == []
    assert done == 1
    assert "which is another server, so nothing was sent there" in told


def test_passwords_of_this_machine_do_not_take_the_place_of_the_token(
    post: Post, github_server: Server, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login mallory password open-sesame\n")
    assert post(NETRC=str(tmp_path / ".netrc"))[0] == 0
    assert {asked.headers["authorization"] for asked in github_server.asked} == {f"Bearer {TOKEN}"}


EVENTS = {
    "no JSON": b"{",
    "nested deeply": b"[" * 200_000,
    "not UTF-8": b"\xff",
    "a negative number": b'{"pull_request": {"number": -7}}',
    "a path": b'{"pull_request": {"number": "7/../../user"}}',
    "a list": b'[{"number": 7}]',
}


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_an_event_that_names_no_pull_request_leads_to_none(
    tmp_path: Path,
    github_server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    event: bytes,
) -> None:
    for name, value in github_job(tmp_path, github_server).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "event.json").write_bytes(event)
    (tmp_path / "report.md").write_text(REPORT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["comment", "report.md"]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
    assert github_server.asked == []


@pytest.mark.parametrize("number", ["7/../..", "-7", "٧", "seven", "7 "])
def test_a_number_of_gitlab_is_a_number(
    tmp_path: Path,
    github_server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: str,
) -> None:
    for name, value in (gitlab_job(github_server) | {"CI_MERGE_REQUEST_IID": number}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert main(["comment", "report.md"]) == 2
    assert "CI_MERGE_REQUEST_IID: must be a number" in capsys.readouterr().err
    assert github_server.asked == []


REPORTS = {
    "a marker in the middle": "x\n<!-- pytest-fcall -->\n",
    "one line of a megabyte": "<!-- pytest-fcall -->\n### " + "x" * 1_000_000,
    "a thousand details": "<!-- pytest-fcall -->\n### x\n" + "<details>\n" * 10_000,
    "surrogates": "<!-- pytest-fcall -->\n### \ud800\n",
}


@pytest.mark.parametrize("text", REPORTS.values(), ids=REPORTS)
def test_no_report_is_too_much_for_a_comment(post: Post, github: GitHubApi, tmp_path: Path, text: str) -> None:
    (tmp_path / "report.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    post()
    (body,) = github.bodies
    assert body.startswith("<!-- pytest-fcall -->\n")
    assert len(body) <= 65_536


def test_a_folder_in_the_place_of_a_report_is_told(post: Post, tmp_path: Path, github: GitHubApi) -> None:
    (tmp_path / "report.md").unlink()
    (tmp_path / "report.md").mkdir()
    status, _, told = post()
    assert status == 1
    assert "report.md cannot be read: it is a folder, not a regular file" in told
    assert "fcall: no report" in github.bodies[0]


@pytest.mark.parametrize("data", ["", "{", "[]", '{"results": 7}', "\x00"], ids=repr)
def test_a_damaged_run_is_told_in_the_comment(
    tmp_path: Path, github_server: Server, github: GitHubApi, monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    for name, value in github_job(tmp_path, github_server).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "run.json").write_text(data)
    assert main(["comment", str(tmp_path / "run.json")]) == 1
    assert "fcall: no report" in github.bodies[0]
