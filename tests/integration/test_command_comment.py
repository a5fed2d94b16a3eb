"""`fcall comment`: one comment on a pull request, which each run replaces."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.ci_job import REPORT, github_job, gitlab_job
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import weather_in
from tests.servers import Answer, Proxy, Server, refused_connection
from tests.servers.comment_apis import TOKEN, GitHubApi, GitLabApi, answer, refusal

ELSEWHERE = "https://other.example/api"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "report.md").write_text(REPORT, encoding="utf-8")
    return tmp_path


def comment(
    folder: Path, github_server: Server, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return fcall_here(folder, "comment", "report.md", *arguments, **github_job(folder, github_server) | environment)


def test_the_first_run_writes_a_comment_and_the_next_one_replaces_it(
    folder: Path, github_server: Server, github: GitHubApi
) -> None:
    done = comment(folder, github_server)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "https://github.example/octo/shop/pull/7#issuecomment-1\n"
    (folder / "report.md").write_text(REPORT.replace("✅ fcall: passed", "❌ fcall: failed"), encoding="utf-8")
    again = comment(folder, github_server, "--link", "https://github.example/artifact/5")
    assert again.stdout == done.stdout
    assert github.bodies == [
        "<!-- pytest-fcall -->\n### ❌ fcall: failed\n\n2 answers judged, nothing is worse.\n\n"
        "<sub>[job](https://github.example/octo/shop/actions/runs/1001), "
        "[report](https://github.example/artifact/5)</sub>\n"
    ]


def test_jobs_with_names_have_comments_of_their_own(folder: Path, github_server: Server, github: GitHubApi) -> None:
    for name in ("openai:gpt-5.2", "linux small", "openai:gpt-5.2", ""):
        assert comment(folder, github_server, "--name", name).returncode == 0
    assert [body.splitlines()[:2] for body in github.bodies] == [
        ["<!-- pytest-fcall openai:gpt-5.2 -->", "### ✅ fcall: passed (openai:gpt-5.2)"],
        ["<!-- pytest-fcall linux small -->", "### ✅ fcall: passed (linux small)"],
        ["<!-- pytest-fcall -->", "### ✅ fcall: passed"],
    ]


def test_our_comment_is_found_behind_hundreds_of_others(folder: Path, github_server: Server, github: GitHubApi) -> None:
    for number in range(230):
        github.add(f"comment {number}", "somebody")
    ours = github.add("<!-- pytest-fcall -->\r\n### old")
    assert comment(folder, github_server).stdout.endswith(f"#issuecomment-{ours}\n")
    assert len(github.comments) == 231
    assert "fcall: passed" in github.bodies[-1]


def test_what_others_write_is_left_alone_whatever_it_says(
    folder: Path, github_server: Server, github: GitHubApi
) -> None:
    others = [
        ("<!-- pytest-fcall -->\n### ✅ fcall: passed", "mallory"),
        ("<!-- pytest-fcall -->\n### ✅ fcall: passed", "github-actions"),
        ("<!-- pytest-fcall -->\n### ✅ fcall: passed", "other-app[bot]"),
        ("> <!-- pytest-fcall -->\n> quoted", None),
        ("Look:\n<!-- pytest-fcall -->", None),
        ("<!-- pytest-fcall gpt -->\n### another job", None),
    ]
    for body, author in others:
        github.add(body, author)
    assert comment(folder, github_server).returncode == 0
    assert github.bodies[:-1] == [body for body, _ in others]


def test_of_two_comments_that_are_ours_one_remains(folder: Path, github_server: Server, github: GitHubApi) -> None:
    for _ in range(2):
        github.add("<!-- pytest-fcall -->\n### ✅ fcall: passed")
    assert comment(folder, github_server).stdout.endswith("#issuecomment-1\n")
    assert len(github.comments) == 1


@pytest.mark.parametrize(
    ("event", "ref"),
    [
        ({"issue": {"number": 7, "pull_request": {"url": "…"}}}, ""),
        ({"ref": "refs/heads/main"}, "refs/pull/7/merge"),
    ],
    ids=["comment", "ref"],
)
def test_the_job_says_which_pull_request_it_is_for(
    folder: Path, github_server: Server, github: GitHubApi, event: object, ref: str
) -> None:
    done = fcall_here(folder, "comment", "report.md", **github_job(folder, github_server, event), GITHUB_REF=ref)
    assert (done.returncode, len(github.comments)) == (0, 1)


@pytest.mark.parametrize(
    "event", [{"ref": "refs/heads/main"}, *map(by_night, [{"issue": {"number": 7}}, [], {"pull_request": 7}])]
)
def test_without_a_pull_request_nothing_is_written_and_that_is_told(
    folder: Path, github_server: Server, event: object
) -> None:
    job = github_job(folder, github_server, event)
    done = fcall_here(folder, "comment", "report.md", **job)
    assert done.returncode == 0
    assert done.stderr == (
        "fcall comment: no comment is written: the event push belongs to no pull request; --pull-request names one\n"
    )
    assert github_server.asked == []
    assert fcall_here(folder, "comment", "report.md", "--required", **job).returncode == 1
    assert fcall_here(folder, "comment", "report.md", "--pull-request=7", **job).returncode == 0


def test_a_token_that_may_only_read_is_told_and_fails_where_the_comment_is_required(
    folder: Path, github_server: Server, github: GitHubApi
) -> None:
    github.writable = False
    done = comment(folder, github_server)
    assert done.returncode == 0
    assert done.stderr == (
        "fcall comment: no comment is written: GitHub does not take a comment on pull request 7 of octo/shop: "
        "HTTP 403: Resource not accessible by integration\n"
    )
    assert comment(folder, github_server, "--required").returncode == 1


def test_a_job_without_a_token_is_told(folder: Path, github_server: Server) -> None:
    done = comment(folder, github_server, GITHUB_TOKEN="")
    assert done.returncode == 0
    assert done.stderr == "fcall comment: no comment is written: GITHUB_TOKEN is empty, so there is no token\n"
    assert comment(folder, github_server, "--required", GITHUB_TOKEN="").returncode == 1


def test_another_variable_may_hold_the_token(folder: Path, github_server: Server, github: GitHubApi) -> None:
    assert comment(folder, github_server, "--token-variable=BOT", GITHUB_TOKEN="", BOT=TOKEN).returncode == 0
    assert len(github.comments) == 1


FAULTS = {
    "not valid": (refusal(401, "Bad credentials"), "HTTP 401: Bad credentials (the token is not valid)"),
    "not there": (refusal(404, "Not Found"), "HTTP 404: Not Found (it is not there, or the token may not see it)"),
    "refused": (refusal(422, "Validation Failed"), "HTTP 422: Validation Failed"),
    "long wait": (
        Answer(b"", 429, headers={"retry-after": "3600"}),
        "HTTP 429 (it asks to wait 3600 s): too many requests with this token",
    ),
    "elsewhere": (
        Answer(b"", 307, headers={"location": ELSEWHERE}),
        f"a redirect leads to {ELSEWHERE}, which is another server, so nothing was sent there",
    ),
    "web page": (Answer(b"<html>", 200, "text/html"), "its answer is not JSON"),
}


@pytest.mark.parametrize(("fault", "reason"), FAULTS.values(), ids=FAULTS)
def test_what_a_server_does_not_do_is_told_in_one_sentence(
    folder: Path, github_server: Server, github: GitHubApi, fault: Answer, reason: str
) -> None:
    github_server.script(github_login(), answer([]), fault)
    done = comment(folder, github_server)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "fcall comment: the comment is not written: "
        f"GitHub does not take a comment on pull request 7 of octo/shop: {reason}\n"
    )
    assert github.comments == []


def github_login() -> Answer:
    return answer({"data": {"viewer": {"login": GitHubApi.own_name}}})


@pytest.mark.parametrize(
    "fault",
    [
        Answer(b"", 502, headers={"retry-after": "0"}),
        refusal(403, "You have exceeded a secondary rate limit", **{"retry-after": "0"}),
        Answer(b"", 429, headers={"retry-after": "0"}),
    ],
    ids=["server error", "secondary rate limit", "rate limit"],
)
def test_a_server_is_asked_again_and_what_it_wrote_meanwhile_is_found(
    folder: Path, github_server: Server, github: GitHubApi, fault: Answer
) -> None:
    github_server.script(github_login(), answer([]), fault)
    github.add("<!-- pytest-fcall -->\nwritten by the request that failed")
    done = comment(folder, github_server)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(github.comments) == 1
    assert "fcall: passed" in github.bodies[0]


def test_a_server_that_stays_down_is_given_up(folder: Path, github_server: Server) -> None:
    github_server.default = lambda _: Answer(b"", 503, headers={"retry-after": "0"})
    done = comment(folder, github_server)
    assert (done.returncode, len(github_server.asked)) == (1, 3)
    assert "GitHub does not say whose token it is: HTTP 503" in done.stderr


def test_a_server_that_nobody_runs_is_told(
    folder: Path, github_server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_fcall.cli import main
    from pytest_fcall.cli.comment import thread

    monkeypatch.setattr(thread, "WAITS", (0.0,))
    monkeypatch.chdir(folder)
    for name, value in (github_job(folder, github_server) | {"GITHUB_API_URL": refused_connection()}).items():
        monkeypatch.setenv(name, value)
    assert main(["comment", "report.md"]) == 1
    assert "GitHub does not say whose token it is: there is no connection (" in capsys.readouterr().err


def test_a_redirect_at_the_same_server_is_followed(folder: Path, github_server: Server, github: GitHubApi) -> None:
    moved = f"http://{github_server.host}{GitHubApi.list_path}"
    github_server.script(github_login(), answer([]), Answer(b"", 307, headers={"location": moved}))
    assert comment(folder, github_server).returncode == 0
    assert len(github.comments) == 1


def test_a_report_that_is_too_long_is_cut_at_a_line(folder: Path, github_server: Server, github: GitHubApi) -> None:
    rows = "".join(f"| row {number} | {'x' * 200} |\n" for number in range(1_000))
    text = f"{REPORT}<details><summary>rows</summary>\n\n{rows}\n</details>\n"
    (folder / "report.md").write_text(text, encoding="utf-8")
    assert comment(folder, github_server).returncode == 0
    (body,) = github.bodies
    assert len(body) < 65_000
    assert body.endswith("x |\n\n</details>\n\n*The report goes on: it is longer than a comment may be.*\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "report.md was not written"),
        ("# Another text\n", "report.md is no report of pytest-fcall in Markdown"),
        ("", "report.md is no report of pytest-fcall in Markdown"),
    ],
    ids=["missing", "another text", "empty"],
)
def test_without_a_report_the_comment_says_so_and_no_longer_what_an_earlier_run_said(
    folder: Path, github_server: Server, github: GitHubApi, text: str | None, told: str
) -> None:
    comment(folder, github_server)
    (folder / "report.md").unlink()
    if text is not None:
        (folder / "report.md").write_text(text, encoding="utf-8")
    done = comment(folder, github_server)
    assert (done.returncode, done.stderr) == (1, f"fcall comment: {told}\n")
    assert github.bodies[0].startswith("<!-- pytest-fcall -->\n### ❌ fcall: no report\n\nreport.md ")


def test_secrets_of_the_job_are_left_out_of_the_comment(folder: Path, github_server: Server, github: GitHubApi) -> None:
    key = "pw-8c1f7d2e9b3a"
    (folder / "report.md").write_text(f"{REPORT}\nThe model said {key} and {TOKEN}.\n", encoding="utf-8")
    assert comment(folder, github_server, SHOP_PASSWORD=key).returncode == 0
    assert "The model said [secret left out] and [secret left out]." in github.bodies[0]


def test_a_run_file_gives_the_comment_that_its_report_gives(
    shop: Shop, github_server: Server, github: GitHubApi
) -> None:
    shop.cases(weather_in(["Oslo"]))
    shop.ask("--fc-report=report.md", "--fc-report=run.json")
    folder = shop.pytester.path
    (kept,) = (folder / ".fcall/runs").glob("*.json")
    assert fcall_here(folder, "comment", str(kept), **github_job(folder, github_server)).returncode == 0
    assert github.bodies[0].startswith((folder / "report.md").read_text(encoding="utf-8").rstrip())


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        (
            [],
            {"GITHUB_ACTIONS": ""},
            "this is no job of GitHub or GitLab: --github or --gitlab says which one is meant",
        ),
        ([], {"GITHUB_REPOSITORY": "../x"}, "GITHUB_REPOSITORY: must be a name such as octo/shop, not '../x'"),
        (
            [],
            {"GITHUB_API_URL": "file:///etc"},
            "GITHUB_API_URL: must be an address such as https://api.example.com, not 'file:///etc'",
        ),
        (["--name=a-->b"], {}, "argument --name: must be at most 80 letters*, not 'a-->b'"),
        (["--link=javascript:x"], {}, "argument --link: must be an address*, not 'javascript:x'"),
        ([], {"GITHUB_TOKEN": "two\nlines"}, "GITHUB_TOKEN: holds characters that no token has"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_sent(
    folder: Path, github_server: Server, arguments: list[str], environment: dict[str, str], told: str
) -> None:
    done = comment(folder, github_server, *arguments, **environment)
    assert done.returncode == 2
    assert told.partition("*")[0] in done.stderr
    assert github_server.asked == []


def test_a_merge_request_of_gitlab_has_one_note(folder: Path) -> None:
    gitlab = GitLabApi()
    for body, author in (("<!-- pytest-fcall -->\n### ✅", "mallory"), ("hello", None)):
        gitlab.add(body, author)
    with Server(gitlab) as github_server:
        for _ in range(2):
            done = fcall_here(folder, "comment", "report.md", **gitlab_job(github_server))
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout == "https://gitlab.example/octo/shop/-/merge_requests/7#note_3\n"
    assert len(gitlab.comments) == 3
    assert gitlab.bodies[2].endswith("<sub>[job](https://gitlab.example/octo/shop/-/jobs/9)</sub>\n")
    listed = [asked.path for asked in github_server.asked if asked.method == "GET" and "notes" in asked.path]
    assert listed[0].endswith("/notes?order_by=created_at&sort=asc&per_page=100&page=1")


def test_a_pipeline_of_a_branch_has_no_merge_request(folder: Path, github_server: Server) -> None:
    job = gitlab_job(github_server) | {"CI_MERGE_REQUEST_IID": ""}
    done = fcall_here(folder, "comment", "report.md", **job)
    assert done.returncode == 0
    assert "the pipeline belongs to no merge request; --pull-request names one" in done.stderr
    job = gitlab_job(github_server) | {"GITLAB_TOKEN": ""}
    assert "GITLAB_TOKEN is empty, so there is no token" in fcall_here(folder, "comment", "report.md", **job).stderr


def test_the_token_goes_to_nobody_by_way_of_a_message(folder: Path, github_server: Server) -> None:
    github_server.default = lambda asked: refusal(422, json.dumps(dict(asked.headers)))
    done = comment(folder, github_server, "--token-variable=BOT", GITHUB_TOKEN="", BOT=TOKEN)
    assert done.returncode == 1
    assert TOKEN not in done.stderr
    assert "[secret left out]" in done.stderr


def test_a_report_that_is_missing_counts_also_where_no_comment_may_be_written(
    folder: Path, github_server: Server, github: GitHubApi
) -> None:
    github.writable = False
    (folder / "report.md").unlink()
    done = comment(folder, github_server)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "fcall comment: report.md was not written"


def test_the_proxy_of_the_environment_is_used(folder: Path, github_server: Server, github: GitHubApi) -> None:
    with Proxy() as proxy:
        done = comment(folder, github_server, HTTP_PROXY=f"http://{proxy.host}", NO_PROXY="")
    assert (done.returncode, len(github.comments)) == (0, 1), done.stderr
    assert proxy.passed[0].target == f"http://{github_server.host}/api/graphql"


def test_a_proxy_of_another_kind_is_refused(folder: Path, github_server: Server) -> None:
    done = comment(folder, github_server, ALL_PROXY="socks5://127.0.0.1:1", NO_PROXY="")
    assert done.returncode == 2
    assert "ALL_PROXY: must be an address such as http://127.0.0.1:3128" in done.stderr
