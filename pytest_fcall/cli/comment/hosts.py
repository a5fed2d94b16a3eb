"""The comments of a pull request on GitHub, as a job of GitHub Actions sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from pytest_fcall.backends.http_answers import parse_body
from pytest_fcall.cli.comment.api import HostApi, UnusableEnvironment, api_address
from pytest_fcall.cli.comment.thread import NoThread, Thread, field_of
from pytest_fcall.core.files import read_regular
from pytest_fcall.core.values import Json

_API: Final = "https://api.github.com"
_REF: Final = re.compile(r"refs/pull/([0-9]{1,9})/(?:merge|head)")


def github_thread(environment: Mapping[str, str], token: str, number: int | None) -> Thread:
    """The comments of the pull request with this number, or else of the one that the job is for.

    Raises NoThread, and UnusableEnvironment.
    """
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not re.fullmatch(r"\w[\w-]*/(?!\.\.?$)[\w.-]+", repository, re.ASCII):
        raise UnusableEnvironment(f"GITHUB_REPOSITORY: must be a name such as octo/shop, not {repository!r}")
    number = number or _pull_request(environment)
    base = api_address(environment.get("GITHUB_API_URL") or _API, "GITHUB_API_URL")
    server, job = environment.get("GITHUB_SERVER_URL", ""), environment.get("GITHUB_RUN_ID", "")
    return Thread(
        host="GitHub",
        name=f"pull request {number} of {repository}",
        headers={
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
        comments=f"{base}/repos/{repository}/issues/{number}/comments",
        order="",
        comment=f"{base}/repos/{repository}/issues/comments/",
        update="PATCH",
        author=("user", "login"),
        own_name=partial(_login, f"{base.removesuffix('/v3')}/graphql"),
        page=lambda written: str(written.get("html_url") or ""),
        job=f"{server}/{repository}/actions/runs/{job}" if server and job else "",
    )


async def _login(address: str, api: HostApi) -> Json:
    """The owner of the token. That of a job belongs to an app, whose name only GraphQL gives."""
    answer = await api.ask("say whose token it is", "POST", address, {"query": "query { viewer { login } }"})
    return field_of(answer, "data", "viewer", "login")


def _pull_request(environment: Mapping[str, str]) -> int:
    """The number of the pull request that the job is for. Raises NoThread."""
    event = _event(environment.get("GITHUB_EVENT_PATH", ""))
    issue = field_of(event, "issue")
    numbers = [
        field_of(event, "pull_request", "number"),
        field_of(issue, "number") if field_of(issue, "pull_request") else None,
    ]
    if found := next((number for number in numbers if isinstance(number, int) and number > 0), None):
        return found
    if ref := _REF.fullmatch(environment.get("GITHUB_REF", "")):
        return int(ref[1])
    name = environment.get("GITHUB_EVENT_NAME") or "of this job"
    raise NoThread(f"the event {name} belongs to no pull request; --pull-request names one")


def _event(path: str) -> Json:
    """The event that has started the job. Raises UnusableEnvironment."""
    if not path:
        return None
    try:
        return parse_body(read_regular(Path(path)))
    except OSError as error:
        raise UnusableEnvironment(f"GITHUB_EVENT_PATH: {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UnusableEnvironment(f"GITHUB_EVENT_PATH: {path} is {error}") from None


def gitlab_thread(environment: Mapping[str, str], token: str, number: int | None) -> Thread:
    """The comments of the merge request with this number, or else of the one that the job is for.

    Raises NoThread, and UnusableEnvironment.
    """
    named = environment.get("CI_MERGE_REQUEST_IID", "")
    if not number and not named:
        raise NoThread("the pipeline belongs to no merge request; --pull-request names one")
    number = number or _number(named, "CI_MERGE_REQUEST_IID")
    # Where a fork's pipeline runs in the fork, the merge request is in the project that it came from.
    variable = "CI_MERGE_REQUEST_PROJECT_ID" if environment.get("CI_MERGE_REQUEST_PROJECT_ID") else "CI_PROJECT_ID"
    project = _number(environment.get(variable, ""), variable)
    base = api_address(environment.get("CI_API_V4_URL", ""), "CI_API_V4_URL")
    notes = f"{base}/projects/{project}/merge_requests/{number}/notes"
    web = environment.get("CI_MERGE_REQUEST_PROJECT_URL") or environment.get("CI_PROJECT_URL") or ""
    return Thread(
        host="GitLab",
        name=f"merge request {number} of project {project}",
        headers={"PRIVATE-TOKEN": token},
        comments=notes,
        order="order_by=created_at&sort=asc&",
        comment=f"{notes}/",
        update="PUT",
        author=("author", "username"),
        own_name=partial(_username, f"{base}/user"),
        page=lambda written: f"{web}/-/merge_requests/{number}#note_{written.get('id')}",
        job=environment.get("CI_JOB_URL", ""),
    )


async def _username(address: str, api: HostApi) -> Json:
    return field_of(await api.ask("say whose token it is", "GET", address), "username")


def _number(text: str, variable: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise UnusableEnvironment(f"{variable}: must be a number, not {text!r}")
    return int(text)
