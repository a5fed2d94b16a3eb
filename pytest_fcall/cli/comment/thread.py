"""The comments of a pull request on GitHub or a merge request on GitLab, and the one among them that is ours."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from pytest_fcall.backends.http_answers import parse_body
from pytest_fcall.cli.comment.api import (
    LONGEST_WAIT,
    ApiError,
    HostApi,
    Unavailable,
    UnusableEnvironment,
    api_address,
    open_api,
)
from pytest_fcall.core.files import read_regular
from pytest_fcall.core.values import Json

WAITS: tuple[float, ...] = (1.0, 4.0)
"""Seconds before a server is asked again that names none."""
_PAGE: Final = 100
_MOST_PAGES: Final = 50
_MOST_SECONDS: Final = 300.0
_GITHUB_API: Final = "https://api.github.com"
_REF: Final = re.compile(r"refs/pull/([0-9]{1,9})/(?:merge|head)")


class NoThread(Exception):
    """There is nowhere to write to. The text says why, without a subject."""


@dataclass(frozen=True, slots=True)
class Thread:
    """The addresses and fields of the comments of one pull request, in the API of its host."""

    host: str
    """GitHub or GitLab."""
    name: str
    """The pull request in words."""
    headers: Mapping[str, str] = field(repr=False)
    """Those of every request, with the token."""
    comments: str
    """The address of the comments."""
    order: str
    """The query by which they are listed, oldest first."""
    comment: str
    """The address of a comment, without its number."""
    update: str
    """The method by which a comment is replaced."""
    author: tuple[str, str]
    """The fields of a comment with the name of its author."""
    own_name: Callable[[HostApi], Awaitable[Json]]
    """Asks for the name that the token's comments bear."""
    page: Callable[[Mapping[str, Json]], str]
    """The page of a comment that was written."""
    job: str
    """The page of this job; empty where it is not known."""


def github_thread(environment: Mapping[str, str], token: str, number: int | None) -> Thread:
    """The comments of the pull request with this number, or else of the one that the job is for.

    Raises NoThread, and UnusableEnvironment.
    """
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not re.fullmatch(r"\w[\w-]*/(?!\.\.?$)[\w.-]+", repository, re.ASCII):
        raise UnusableEnvironment(f"GITHUB_REPOSITORY: must be a name such as octo/shop, not {repository!r}")
    number = number or _pull_request(environment)
    base = api_address(environment.get("GITHUB_API_URL") or _GITHUB_API, "GITHUB_API_URL")
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
    return _field_of(answer, "data", "viewer", "login")


def _pull_request(environment: Mapping[str, str]) -> int:
    """The number of the pull request that the job is for. Raises NoThread."""
    event = _event(environment.get("GITHUB_EVENT_PATH", ""))
    issue = _field_of(event, "issue")
    numbers = [
        _field_of(event, "pull_request", "number"),
        _field_of(issue, "number") if _field_of(issue, "pull_request") else None,
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
    return _field_of(await api.ask("say whose token it is", "GET", address), "username")


def _number(text: str, variable: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise UnusableEnvironment(f"{variable}: must be a number, not {text!r}")
    return int(text)


async def write_comment(thread: Thread, body: str) -> str:
    """Replace our comment, or write it, and return its address. Raises ApiError."""
    try:
        async with asyncio.timeout(_MOST_SECONDS), open_api(thread.host, thread.headers) as api:
            return await _attempts(api, thread, body)
    except TimeoutError:
        raise ApiError(f"{thread.host} has taken more than {_MOST_SECONDS:g} s") from None


async def _attempts(api: HostApi, thread: Thread, body: str) -> str:
    """Each attempt looks for the comment anew: a server that failed may have written it all the same."""
    for wait in WAITS:
        try:
            return await _write(api, thread, body)
        except Unavailable as error:
            seconds = wait if error.wait is None else error.wait
            if seconds > LONGEST_WAIT:
                raise
        await asyncio.sleep(seconds)
    return await _write(api, thread, body)


async def _write(api: HostApi, thread: Thread, body: str) -> str:
    own = [number async for number in _own_comments(api, thread, body.partition("\n")[0])]
    if own:
        task, method, address = f"replace the comment on {thread.name}", thread.update, f"{thread.comment}{own[0]}"
    else:
        task, method, address = f"take a comment on {thread.name}", "POST", thread.comments
    written = await api.ask(task, method, address, {"body": body})
    for number in own[1:]:  # two jobs may have written at the same moment
        await api.ask(f"remove a second comment on {thread.name}", "DELETE", f"{thread.comment}{number}")
    return thread.page(written) if isinstance(written, Mapping) else ""


async def _own_comments(api: HostApi, thread: Thread, marker: str) -> AsyncIterator[int]:
    """The numbers of the comments that begin with the marker and are ours, oldest first.

    What another person has written is never taken for ours, whatever it says: its author could change it afterwards.
    """
    own_name = await thread.own_name(api)
    if not isinstance(own_name, str) or not own_name:
        raise ApiError(f"{thread.host} does not say whose token it is, so no comment is known as its own")
    for page in range(1, _MOST_PAGES + 1):
        address = f"{thread.comments}?{thread.order}per_page={_PAGE}&page={page}"
        found = await api.ask(f"list the comments on {thread.name}", "GET", address)
        if not isinstance(found, list):
            raise ApiError(f"{thread.host} does not list the comments on {thread.name}: its answer is no list")
        for each in found:
            number = _field_of(each, "id")
            if _field_of(each, *thread.author) == own_name and isinstance(number, int):
                text = _field_of(each, "body")
                if isinstance(text, str) and _is_marked(text, marker):
                    yield number
        if len(found) < _PAGE:
            return
    raise ApiError(f"{thread.name} has more than {_PAGE * _MOST_PAGES:,} comments")


def _is_marked(text: str, marker: str) -> bool:
    """Whether a comment begins with this line."""
    return text.partition("\n")[0].strip() == marker


def _field_of(data: Json, *names: str) -> Json:
    """The value in a field of a field; None where there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data
